//! Roofs of bandwidth and of arithmetic, and points below them.

use crate::subject::{ModelKind, RoofView};
use nearfar_record::RoofPurpose;

use super::meaning;
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let all = &sources.show.roofs;
    if all.is_empty() {
        return None;
    }
    let mut clusters: Vec<u32> = all.iter().map(|roof| roof.cluster).collect();
    clusters.sort_unstable();
    clusters.dedup();
    let tables = clusters.into_iter().flat_map(|cluster| {
        let of: Vec<&RoofView> = all.iter().filter(|roof| roof.cluster == cluster).collect();
        [ceilings(cluster, &of), roofs(cluster, &of), points(cluster, &of)]
    });
    let (findings, model_text) = meaning(sources, &[ModelKind::Roofline]);
    Some(Section {
        id: "roofline",
        title: "Roofline",
        about:
            "What a cluster's threads attain together: the lower of a ceiling of arithmetic and \
                arithmetic intensity x a roof of bandwidth."
                .into(),
        tables: tables.flatten().collect(),
        findings,
        model_text,
    })
}

fn is_roof(roof: &RoofView) -> bool {
    roof.purpose == RoofPurpose::Roof
}

fn flops(roof: &RoofView) -> Cell {
    let counted = Counted::ActorFlops(roof.actor);
    Cell::of(&roof.case, roof.flops.as_ref().map(Figure::flops), counted)
}

fn ceilings(cluster: u32, all: &[&RoofView]) -> Option<Table> {
    let mut grid = Grid::default();
    for roof in all.iter().filter(|roof| is_roof(roof) && roof.limit == "compute") {
        let cell = flops(roof);
        grid.add(roof.kernel.clone(), roof.variant.clone(), cell);
    }
    let caption = format!("Cluster {cluster}: arithmetic on registers");
    grid.table(caption, "kernel", Unit::GflopPerS)
}

fn roofs(cluster: u32, all: &[&RoofView]) -> Option<Table> {
    let mut grid = Grid::default();
    for roof in all.iter().filter(|roof| is_roof(roof) && roof.limit != "compute") {
        let counted = Counted::ActorBytes(roof.actor);
        let cell = Cell::of(&roof.case, roof.bandwidth.as_ref().map(Figure::sum), counted);
        grid.add(roof.name.clone(), format!("{} {}", roof.kernel, roof.variant), cell);
    }
    let caption = format!("Cluster {cluster}: roofs of bandwidth");
    grid.table(caption, "roof", Unit::GbPerS)
}

fn points(cluster: u32, all: &[&RoofView]) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = all
        .iter()
        .filter(|roof| !is_roof(roof))
        .map(|roof| {
            let ratio = |value: Option<f64>| {
                value.map_or(Cell::Empty, |value| Cell::Figure(Figure::new(value, None, Unit::One)))
            };
            vec![
                Cell::text(roof.name.clone()),
                Cell::text(format!("{} {}", roof.kernel, roof.variant)),
                ratio(roof.flops_per_byte),
                flops(roof),
                ratio(roof.attainable_ratio),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: format!("Cluster {cluster}: points of known intensity below their roofs"),
        columns: vec![
            Column::words("roof"),
            Column::words("mix"),
            Column::of("FLOPs per byte", Unit::One),
            Column::of("measured", Unit::GflopPerS),
            Column::of("measured / attainable", Unit::One),
        ],
        rows,
        notes: Vec::new(),
    })
}
