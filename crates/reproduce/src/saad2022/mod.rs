//! M. W. Saad et al., Memory System Performance in a NUMA (2022): the tables of total, local and
//! remote bandwidth, what equations give of them, and the best split of processes.

mod equations;
mod facts;
mod printed_grid;
mod reason;
mod splits;
mod tables;

pub use facts::{Facts, facts};
pub use printed_grid::PrintedGrid;
pub use reason::KnownReason;

use nearfar_flow::read_machine;
use nearfar_machine::Machine;
use nearfar_model::{RecordFigures, SharedGrid, sharing};

use crate::error::ReproduceError;
use crate::paper::Paper;
use crate::row::Row;

/// The paper's key, which is the name of its file in `papers/`.
pub const KEY: &str = "saad2022";

/// The mixed cells that the law is fitted to: local and remote processes. They are those of a
/// sparse grid of such a machine.
pub const FITTED: [(usize, usize); 4] = [(1, 1), (2, 2), (4, 1), (4, 4)];

/// Works the paper's figures out from these numbers.
///
/// # Errors
/// When the numbers contradict each other, or a model refuses what they ask of it.
pub fn reproduce(facts: &Facts) -> Result<Paper, ReproduceError> {
    let name = &facts.sharing.machine;
    let machine = read_machine(name)
        .map_err(|source| ReproduceError::Machine { machine: name.clone(), source: source.into() })?
        .machine;
    let fitted = grid_of(facts, &machine, |at| FITTED.contains(&at))?;
    let whole = grid_of(facts, &machine, |_| true)?;
    let mut rows = tables::rows(facts, &fitted);
    rows.extend(equations::rows(facts, &whole));
    rows.extend(splits::rows(facts, &fitted));
    rows.extend(kernel_rows(facts));
    Ok(Paper { key: facts.key.clone(), title: facts.title.clone(), rows })
}

/// The model of a record with all lone cells and these mixed ones.
fn grid_of(
    facts: &Facts,
    machine: &Machine,
    is_given: impl Fn((usize, usize)) -> bool,
) -> Result<SharedGrid, ReproduceError> {
    let title = format!("{KEY}, tables of bandwidth");
    let record = PrintedGrid { title: title.clone(), machine, facts: &facts.sharing }
        .record(is_given)
        .map_err(|what| ReproduceError::Contradiction { key: KEY.into(), what })?;
    let model = sharing(&RecordFigures::new(&record)).map_err(|source| ReproduceError::Model {
        what: title.clone(),
        model: "sharing",
        source,
    })?;
    model.grids.into_iter().next().ok_or(ReproduceError::Contradiction {
        key: KEY.into(),
        what: "the tables have no grid".into(),
    })
}

fn kernel_rows(facts: &Facts) -> Vec<Row> {
    let table = &facts.kernels;
    let row = |row: &facts::KernelRow| {
        let values = table.columns.iter().zip(&row.values);
        values
            .map(|(column, &value)| {
                let facts::KernelRow { threads, kernel, .. } = row;
                let unit = table.unit.as_str();
                let item =
                    format!("table of kernels, {threads} thread, {kernel}, {column}, {unit}");
                Row::given(
                    item,
                    value,
                    "an input: the paper does not say where these threads and their memory lay, so \
                     nothing is worked out of it",
                )
            })
            .collect::<Vec<_>>()
    };
    table.rows.iter().flat_map(row).collect()
}
