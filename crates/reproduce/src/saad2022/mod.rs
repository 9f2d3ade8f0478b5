//! M. W. Saad et al., Memory System Performance in a NUMA (2022): the tables of total, local and
//! remote bandwidth, what equations give of them, and the best split of processes.

mod equations;
mod facts;
mod printed_grid;
mod splits;
mod tables;

pub use facts::Facts;
use printed_grid::PrintedGrid;

use nearfar_machine::Machine;
use nearfar_model::{RecordFigures, SharedGrid, sharing};

use crate::error::{ReproduceError, contradiction, refused};
use crate::paper::PaperFacts;
use crate::row::Row;
use crate::simulated_record::simulated;

pub(crate) const KEY: &str = "saad2022";

/// The mixed cells that the law is fitted to: local and remote processes. They are those of a
/// sparse grid of such a machine.
const FITTED: [(usize, usize); 4] = [(1, 1), (2, 2), (4, 1), (4, 4)];

impl PaperFacts for Facts {
    const KEY: &'static str = KEY;
    const FILE: &'static str = include_str!("../../papers/saad2022.json");
    type Measured = Machine;

    fn check(&self) -> Result<(), String> {
        self.check_fit()
    }

    fn measure(&self) -> Result<Machine, ReproduceError> {
        Ok(simulated(&self.sharing.machine)?.machine)
    }

    fn rows(&self, machine: &Machine) -> Result<Vec<Row>, ReproduceError> {
        let fitted = grid_of(self, machine, |at| FITTED.contains(&at))?;
        let whole = grid_of(self, machine, |_| true)?;
        let mut rows = tables::rows(self, &fitted);
        rows.extend(equations::rows(self, &whole));
        rows.extend(splits::rows(self, &fitted));
        rows.extend(kernel_rows(self));
        Ok(rows)
    }
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
        .map_err(|what| contradiction(KEY, what))?;
    let model = sharing(&RecordFigures::new(&record)).map_err(refused(title))?;
    model.grids.into_iter().next().ok_or_else(|| contradiction(KEY, "the tables have no grid"))
}

fn kernel_rows(facts: &Facts) -> Vec<Row> {
    let facts::KernelTable { unit, columns, rows } = &facts.kernels;
    let why = "an input: the paper does not say where these threads and their memory lay, so \
               nothing is computed from it";
    let of_row = |row: &facts::KernelRow| {
        let named = format!("table of kernels, {} thread, {}", row.threads, row.kernel);
        let given = |(column, &value): (&String, &f64)| {
            Row::given(format!("{named}, {column}, {unit}"), value, why)
        };
        columns.iter().zip(&row.values).map(given).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of_row).collect()
}
