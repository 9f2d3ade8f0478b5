//! Loads and stores over a fast and a slow memory.

use crate::subject::{FittedView, HybridModelView, ModelKind};

use super::{meaning, model};
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let all = &sources.show.hybrid;
    if all.is_empty() {
        return None;
    }
    let rows = all.iter().map(|point| {
        let share = |value: f64| Cell::Figure(Figure::new(value, None, Unit::One));
        vec![
            Cell::text(format!(
                "cluster {}, fast node {}, slow node {}",
                point.cluster, point.fast_node, point.slow_node
            )),
            Cell::text(point.point),
            share(point.load_share),
            share(point.fast_share),
            Cell::of(&point.case, point.bandwidth.as_ref().map(Figure::sum), Counted::Bytes),
        ]
    });
    let mut tables = vec![Table {
        caption: "Measured points".into(),
        columns: vec![
            Column::words("memories"),
            Column::words("point"),
            Column::of("share of loads", Unit::One),
            Column::of("share of fast memory", Unit::One),
            Column::of("bandwidth", Unit::GbPerS),
        ],
        rows: rows.collect(),
        notes: Vec::new(),
    }];
    if let Some(FittedView::Hybrid(view)) = model(sources, ModelKind::Hybrid) {
        tables.extend(overlaps(view));
    }
    let (findings, model_text) = meaning(sources, &[ModelKind::Hybrid]);
    Some(Section {
        id: "hybrid",
        title: "Fast and slow memory",
        about: "A cluster's loads and stores with pages dealt out over a fast and a slow memory. \
                The model's time is that of the kind of transfer that takes longest and a share, \
                theta, of each other's."
            .into(),
        tables,
        findings,
        model_text,
    })
}

fn overlaps(view: &HybridModelView) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = view
        .pairs
        .iter()
        .flat_map(|pair| pair.overlaps.iter().map(move |overlap| (pair, overlap)))
        .map(|(pair, overlap)| {
            let unknown = || overlap.unknown.clone().unwrap_or_else(|| "not known".into());
            let theta = overlap
                .overlap_theta
                .map(|theta| Cell::Figure(Figure::new(theta, overlap.interval, Unit::One)));
            vec![
                Cell::text(format!(
                    "cluster {}, nodes {} and {}",
                    pair.cluster, pair.fast_node, pair.slow_node
                )),
                Cell::text(overlap.dominating.as_str()),
                Cell::text(overlap.beside.as_str()),
                theta.unwrap_or_else(|| Cell::not_measured(unknown())),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Overlap: of the time of the kind beside, the share that is not hidden".into(),
        columns: vec![
            Column::words("memories"),
            Column::words("longest"),
            Column::words("beside"),
            Column::of("theta", Unit::One),
        ],
        rows,
        notes: Vec::new(),
    })
}
