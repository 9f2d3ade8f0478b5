//! Tables 3.4 and A.2: class maxima by compiler, at one thread and at all. The
//! simulated machines hold these figures, so agreement shows that nothing between the machine's
//! capacities and its classes loses them: executor, engine, record, pairs, classes.

use nearfar_model::{ClassSet, ThreadChoice};

use crate::error::ReproduceError;
use crate::printed::Printed;
use crate::row::{Comparison, Row};

use super::facts::{
    Asymmetry, AsymmetryRow, ClassTable, Facts, StreamClasses, Threads, TransferClasses,
};
use super::machines::{Measured, direction_of};

pub(super) fn rows(
    facts: &Facts,
    table: &str,
    measured: &Measured,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for table in facts.class_tables.iter().filter(|known| known.table == table) {
        for stream in &table.streams {
            rows.extend(stream_rows(table, stream, measured)?);
        }
        for transfer in &table.transfers {
            rows.extend(transfer_rows(table, transfer, measured)?);
        }
    }
    Ok(rows)
}

fn stream_rows(
    table: &ClassTable,
    stream: &StreamClasses,
    measured: &Measured,
) -> Result<Vec<Row>, ReproduceError> {
    let set = measured.machines.find(&table.machine)?.classes_of(&stream.compiler)?;
    // With another number of classes theirs and ours do not correspond.
    let as_many = set.classes.len() == stream.max.len();
    let (threads, compiler) = (stream.threads.as_str(), &stream.compiler);
    let rows = stream.max.iter().enumerate().map(|(class, &printed)| {
        let max = maximum(set, class, stream.threads).filter(|_| as_many);
        row(table, &format!("memory, {threads}, {compiler}, class {class}"), printed, max)
    });
    Ok(rows.collect())
}

/// A printed maximum beside ours, bytes/s.
fn row(table: &ClassTable, what: &str, value: f64, ours: Option<f64>) -> Row {
    let printed = Printed { value, decimals: table.decimals };
    let ours = ours.map(|max| max / table.unit.bytes_per_s());
    Comparison::of(item(table, what), printed, ours).judge().after_round_trip()
}

fn item(table: &ClassTable, what: &str) -> String {
    let ClassTable { table, machine, unit, .. } = table;
    format!("table {table}, {machine}, {what}, maximum, {unit}")
}

/// Copies of the simulated machine's devices, where the table names the interface that these have.
fn transfer_rows(
    table: &ClassTable,
    transfer: &TransferClasses,
    measured: &Measured,
) -> Result<Vec<Row>, ReproduceError> {
    let interface =
        transfer.interface.as_ref().map_or_else(String::new, |name| format!("{name}, "));
    let what = |class: usize| format!("{}, {interface}class {class}", transfer.direction);
    let direction = direction_of(&transfer.direction)?;
    let copies = &measured.machines.find(&table.machine)?.copies;
    let ours = copies.iter().find(|classes| {
        classes.direction == direction
            && Some(classes.backend.as_str()) == transfer.interface.as_deref()
    });
    let Some(ours) = ours else {
        let why = match transfer.interface {
            Some(_) => "an input: the simulated devices are shown by one interface, CUDA",
            None => "an input: the simulated devices have the figures of table A.6",
        };
        let given = |(class, &value)| Row::given(item(table, &what(class)), value, why);
        return Ok(transfer.max.iter().enumerate().map(given).collect());
    };
    // With another number of classes theirs and ours do not correspond.
    let as_many = ours.classes.len() == transfer.max.len();
    let rows = transfer.max.iter().enumerate().map(|(class, &value)| {
        let found = ours.classes.get(class).filter(|_| as_many);
        row(table, &what(class), value, found.map(|found| found.max))
    });
    Ok(rows.collect())
}

/// The partition comes from one thread; what all threads give is reported on it.
fn maximum(set: &ClassSet, class: usize, threads: Threads) -> Option<f64> {
    let class = set.classes.get(class)?;
    match threads {
        Threads::One => Some(class.max),
        Threads::All => class
            .others
            .iter()
            .find(|figure| figure.threads == ThreadChoice::All)
            .map(|figure| figure.max),
    }
}

/// The two directions of a pair of nodes that differ. The text says no thread count; the
/// simulated machine has them for all threads, so that one thread keeps its class.
pub(super) fn asymmetry_rows(
    asymmetry: &Asymmetry,
    measured: &Measured,
) -> Result<Vec<Row>, ReproduceError> {
    let Asymmetry { section, machine, unit, decimals, rows } = asymmetry;
    let matrix = &measured.machines.find(machine)?.matrix;
    let rows = rows.iter().map(|row| {
        let AsymmetryRow { cpu_node, memory_node, value } = *row;
        let cpu_group = matrix.cpu_groups.iter().find(|it| it.cpu_node == Some(cpu_node));
        let ours = cpu_group.and_then(|cpu_group| {
            let kernel = matrix.kernels.first()?;
            let &threads = matrix.thread_counts(cpu_group.index, kernel).last()?;
            let best = matrix.cell(cpu_group.index, memory_node, kernel, threads)?.best()?;
            Some(best.summary.best_sum / unit.bytes_per_s())
        });
        let item = format!(
            "appendix {section}, {machine}, memory, from node {cpu_node} to node {memory_node}, {unit}"
        );
        let printed = Printed { value, decimals: *decimals };
        Comparison::of(item, printed, ours).judge().after_round_trip()
    });
    Ok(rows.collect())
}
