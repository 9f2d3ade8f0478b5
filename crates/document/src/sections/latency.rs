//! How long an access takes, idle and beside traffic.

use nearfar_report::{FittedView, LatencyModelView, LoadedCurveView, ModelKind};
use nearfar_units::Bytes;

use super::{grid::Grid, meaning, model};
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    if sources.show.latency.is_empty() {
        return None;
    }
    let mut tables: Vec<Table> = idle(sources).into_iter().collect();
    if let Some(FittedView::Latency(view)) = model(sources, ModelKind::Latency) {
        tables.extend(factors(view));
        tables.extend(levels(view));
        tables.extend(view.curves.iter().map(loaded));
    }
    let (findings, model_text) = meaning(sources, &[ModelKind::Latency]);
    Some(Section {
        id: "latency",
        title: "Time of an access",
        about:
            "A thread follows a chain of cache lines in random order, so that each access waits \
                for the one before. Median over rounds, huge pages where they were got."
                .into(),
        tables,
        findings,
        model_text,
    })
}

fn idle(sources: &Sources<'_>) -> Option<Table> {
    let mut grid = Grid::default();
    for chase in sources.show.latency.iter().filter(|chase| chase.in_matrix) {
        let cell =
            Cell::of(&chase.case, chase.latency.as_ref().map(Figure::time), Counted::AccessTime);
        let (row, column) =
            (format!("cluster {}", chase.cluster), format!("node {}", chase.memory_node));
        grid.add(row, column, cell);
    }
    grid.table("Idle: one thread of a cluster on each node".into(), "", Unit::Ns)
}

fn factors(view: &LatencyModelView) -> Option<Table> {
    let mut grid = Grid::default();
    for factor in &view.factors {
        let unknown = || factor.numa_factor_unknown.clone().unwrap_or_else(|| "not known".into());
        let figure = factor
            .numa_factor
            .map(|value| Cell::Figure(Figure::new(value, factor.numa_factor_interval, Unit::One)));
        let cell = figure.unwrap_or_else(|| Cell::not_measured(unknown()));
        let (row, column) =
            (format!("cluster {}", factor.cluster), format!("node {}", factor.memory_node));
        grid.add(row, column, cell);
    }
    let caption = "NUMA factor: idle time / the least of the cluster's own nodes";
    grid.table(caption.into(), "", Unit::One)
}

fn levels(view: &LatencyModelView) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = view
        .levels
        .iter()
        .map(|level| {
            let name = level.level.map_or_else(|| "memory".into(), |level| format!("L{level}"));
            vec![
                Cell::text(format!("cluster {}, node {}", level.cluster, level.memory_node)),
                Cell::text(name),
                Cell::text(Bytes(level.working_set_bytes).to_string()),
                Cell::Figure(Figure::new(level.median_ns, Some(level.interval_ns), Unit::Ns)),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Idle, by the level that answers".into(),
        columns: vec![
            Column::words("place"),
            Column::words("level"),
            Column::words("set"),
            Column::of("time", Unit::Ns),
        ],
        rows,
        notes: Vec::new(),
    })
}

fn loaded(curve: &LoadedCurveView) -> Table {
    let mut rows = Vec::new();
    if let Some(ns) = curve.unloaded_ns {
        let time = Figure::new(ns, curve.unloaded_interval_ns, Unit::Ns);
        rows.push(vec![Cell::text("no load"), Cell::Figure(time)]);
    }
    for point in &curve.points {
        let traffic = Figure::new(
            point.traffic_gb_per_s,
            Some(point.traffic_interval_gb_per_s),
            Unit::GbPerS,
        );
        let time = Figure::new(point.median_ns, Some(point.interval_ns), Unit::Ns);
        rows.push(vec![Cell::Figure(traffic), Cell::Figure(time)]);
    }
    Table {
        caption: format!(
            "Loaded: cluster {} on node {}, beside {} threads of {} {}",
            curve.cluster, curve.memory_node, curve.threads, curve.kernel, curve.variant
        ),
        columns: vec![Column::of("traffic", Unit::GbPerS), Column::of("time", Unit::Ns)],
        rows,
        notes: Vec::new(),
    }
}
