//! Bandwidth classes and pairs of memory and of devices as braithwaite2012 prints them (tables 5.2 to
//! 5.5).

use nearfar_machine::{TheoreticalMaximum, TransferDirection};
use nearfar_model::{Class, Classes, DeviceClasses, DevicePair, PlacedCell};
use nearfar_record::Outcome;

use super::classes::{alpha_figure, kernels_and_threads, rate};
use super::sources::Sources;
use crate::figure::{Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Column, GB, ONE, Table, WORDS};

/// The tables; none where there are no classes.
pub(crate) fn paper_tables(sources: &Sources<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    if let Some(model) = sources.classes() {
        tables.push(classes(model));
        tables.extend(pairs(model, &sources.show.pairs));
    }
    if let Some(model) = sources.devices() {
        let one_way = |set: &&DeviceClasses| {
            matches!(set.direction, TransferDirection::ToDevice | TransferDirection::ToHost)
        };
        for set in model.class_sets.iter().filter(one_way) {
            tables.push(device_classes(set));
            tables.extend(device_pairs(set));
        }
    }
    tables
}

/// As the thesis has it after SHOC.
fn way(direction: TransferDirection) -> &'static str {
    match direction {
        TransferDirection::ToDevice => "download (to the device)",
        TransferDirection::ToHost => "readback (to the host)",
        other => other.words(),
    }
}

/// Class, maximum, alpha of memory: table 5.2.
fn classes(model: &Classes) -> Table {
    let classes = model.sets.iter().flat_map(|set| &set.classes);
    let caption = format!("Bandwidth classes (as table 5.2): {}", kernels_and_threads(model));
    class_table(caption, classes, "gamma", &model.gamma)
}

/// The same of the copies one way: table 5.4.
fn device_classes(set: &DeviceClasses) -> Table {
    let (backend, way) = (set.backend, way(set.direction));
    let caption = format!("Bandwidth classes of devices (as table 5.4): {backend}, {way}");
    class_table(caption, set.classes.iter(), "phi", &set.phi)
}

fn class_table<'a, Pair: 'a>(
    caption: String,
    classes: impl Iterator<Item = &'a Class<Pair>>,
    name: &str,
    whole: &Outcome<TheoreticalMaximum>,
) -> Table {
    let rows = classes.map(|class| {
        let alpha = match (class.alpha, whole.as_result()) {
            (Some(alpha), _) => Cell::Figure(alpha_figure(alpha)),
            (None, whole) => Cell::not_measured(whole.err().unwrap_or("no theoretical maximum")),
        };
        vec![Cell::text(class.class), Cell::Figure(rate(class.max)), alpha]
    });
    Table::new(caption, Column::all(["class", "maximum", "alpha"], [WORDS, GB, ONE]), rows)
        .with_notes(whole.found().map(|it| format!("{name}: {}", paper_words(it))))
}

/// A row for each device, a column for each memory node: table 5.5.
fn device_pairs(set: &DeviceClasses) -> Option<Table> {
    let mut pairs: Vec<&DevicePair> = set.classes.iter().flat_map(|class| &class.pairs).collect();
    pairs.sort_by_key(|pair| (pair.memory_node, &pair.device));
    let mut grid = Grid::default();
    for pair in pairs {
        let median = Cell::Figure(Figure::of(&pair.median));
        grid.add(pair.device.clone(), format!("node {}", pair.memory_node), median);
    }
    let caption = format!(
        "Devices and memory nodes (as table 5.5): {}, {}, median",
        set.backend,
        way(set.direction)
    );
    grid.table(caption, "device", Unit::GbPerS)
}

fn paper_words(maximum: &TheoreticalMaximum) -> String {
    let rate = Figure::new(maximum.gb_per_s(), None, Unit::GbPerS).words();
    format!("{}, {rate} ({})", maximum.name, maximum.source)
}

/// A row for each kernel and variant, a column for each pair that is in a class: table 5.3.
fn pairs(model: &Classes, cells: &[PlacedCell]) -> Option<Table> {
    let classed = model.sets.iter().flat_map(|set| &set.classes).flat_map(|class| &class.pairs);
    let mut places: Vec<(u32, u32, u32)> =
        classed.map(|pair| (pair.cpu_group, pair.memory_node, pair.threads)).collect();
    places.sort_unstable();
    places.dedup();
    let mut grid = Grid::default();
    for (index, node, threads) in places {
        let of_pair = cells.iter().filter(|cell| {
            (cell.row.index, cell.memory_node, cell.threads) == (index, node, threads)
        });
        for cell in of_pair {
            for figure in &cell.cell.figures {
                let row = format!("{}, {}", cell.kernel, figure.variant);
                let sum = Cell::Figure(Figure::sum(&figure.summary));
                grid.add(row, format!("{index}-{node}"), sum);
            }
        }
    }
    let caption = format!(
        "Pairs of {} and memory node (as table 5.3): median of {}",
        model.group_by.group(),
        model.rule.threads
    );
    grid.table(caption, "kernel, variant", Unit::GbPerS)
}
