//! How long an access takes, idle and beside traffic.

use std::collections::HashMap;

use nearfar_report::{
    FittedView, LatencyModelView, LatencyView, LoadedCurveView, LoadedPointView, ModelKind,
};
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
        let chases = Chases::new(&sources.show.latency);
        tables.extend(view.curves.iter().map(|curve| loaded(curve, &chases)));
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

/// Chases by cluster, node and the bits of their times: what curves are made of.
pub(crate) struct Chases<'a>(HashMap<(u32, u32, u64), Vec<&'a LatencyView>>);

impl<'a> Chases<'a> {
    pub fn new(all: &'a [LatencyView]) -> Self {
        let mut chases: HashMap<_, Vec<&LatencyView>> = HashMap::new();
        for chase in all {
            let Some(time) = &chase.latency else { continue };
            let key = (chase.cluster, chase.memory_node, time.median_ns.to_bits());
            chases.entry(key).or_default().push(chase);
        }
        Self(chases)
    }

    /// The time of the same access without load; `None` where it was not measured.
    pub fn unloaded(&self, curve: &LoadedCurveView) -> Option<Figure> {
        let figure = Figure::new(curve.unloaded_ns?, curve.unloaded_interval_ns, Unit::Ns);
        Some(self.with_samples(curve, figure, |chase| chase.load.is_none()))
    }

    /// The time of an access at a point of a curve.
    pub fn loaded(&self, curve: &LoadedCurveView, point: &LoadedPointView) -> Figure {
        let figure = Figure::new(point.median_ns, Some(point.interval_ns), Unit::Ns);
        self.with_samples(curve, figure, |chase| {
            chase.load.as_ref().is_some_and(|load| {
                (&load.kernel, &load.variant) == (&curve.kernel, &curve.variant)
                    && (load.threads, load.pause_cycles) == (curve.threads, point.pause_cycles)
            })
        })
    }

    fn with_samples(
        &self,
        curve: &LoadedCurveView,
        time: Figure,
        is_it: impl Fn(&LatencyView) -> bool,
    ) -> Figure {
        let key = (curve.cluster, curve.memory_node, time.value.to_bits());
        let found = self.0.get(&key).and_then(|all| all.iter().find(|chase| is_it(chase)));
        match found {
            Some(chase) => time.of_samples(&chase.case.case, Counted::AccessTime),
            None => time,
        }
    }
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

fn loaded(curve: &LoadedCurveView, chases: &Chases<'_>) -> Table {
    let mut rows = Vec::new();
    if let Some(time) = chases.unloaded(curve) {
        rows.push(vec![Cell::text("no load"), Cell::Figure(time)]);
    }
    for point in &curve.points {
        let traffic = Figure::new(
            point.traffic_gb_per_s,
            Some(point.traffic_interval_gb_per_s),
            Unit::GbPerS,
        );
        rows.push(vec![Cell::Figure(traffic), Cell::Figure(chases.loaded(curve, point))]);
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
