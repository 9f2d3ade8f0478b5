//! Threads and affinity.

use crate::subject::ModelKind;

use super::meaning;
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let all = &sources.show.scaling;
    if all.is_empty() {
        return None;
    }
    let mut kernels: Vec<(&str, &str)> = Vec::new();
    for runs in all {
        let kernel = (runs.kernel.as_str(), runs.variant.as_str());
        if !kernels.contains(&kernel) {
            kernels.push(kernel);
        }
    }
    let table = |(kernel, variant): (&str, &str)| {
        let of = all.iter().filter(|runs| (&*runs.kernel, &*runs.variant) == (kernel, variant));
        let rows = of.map(|runs| {
            let mean = runs.paced.as_ref().map(|paced| {
                Figure::new(
                    paced.mean_gb_per_s,
                    Some([paced.min_gb_per_s, paced.max_gb_per_s]),
                    Unit::GbPerS,
                )
            });
            let count = runs.paced.as_ref().map_or(0, |paced| paced.runs_gb_per_s.len());
            vec![
                Cell::text(runs.threads.to_string()),
                Cell::text(runs.affinity.as_str()),
                Cell::of(&runs.case, mean, Counted::PacedBytes),
                Cell::of(&runs.case, runs.bandwidth.as_ref().map(Figure::sum), Counted::Bytes),
                Cell::text(count.to_string()),
            ]
        });
        Table {
            caption: format!("{kernel}, {variant}"),
            columns: vec![
                Column::words("threads"),
                Column::words("affinity"),
                Column::of("mean by pace (least to most)", Unit::GbPerS),
                Column::of("median of the sum", Unit::GbPerS),
                Column::words("runs"),
            ],
            rows: rows.collect(),
            notes: Vec::new(),
        }
    };
    let (findings, model_text) = meaning(sources, &[ModelKind::Distribution]);
    Some(Section {
        id: "scaling",
        title: "Threads and affinity",
        about:
            "Runs with fresh buffers and threads. By pace: threads x the slowest thread, what a \
                statically divided loop sees."
                .into(),
        tables: kernels.into_iter().map(table).collect(),
        findings,
        model_text,
    })
}
