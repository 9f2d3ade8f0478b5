//! The module `nearfar._nearfar`: records, models and rankings for Python. What Python's users see stands in
//! `python/nearfar`; here is what it is made of. Answers cross as the JSON that the program prints, frames as Arrow's C
//! streams. Other threads of Python run while something is computed, but for rankings, which take microseconds.

mod answer;
mod failure;
mod fleet;
mod frame;
mod ranking;
mod record;

use pyo3::pymodule;

#[pymodule]
mod _nearfar {
    #[pymodule_export]
    use crate::failure::Error;
    #[pymodule_export]
    use crate::fleet::{compare_fleet, fleet_cells, fleet_drift};
    #[pymodule_export]
    use crate::frame::RecordFrame;
    #[pymodule_export]
    use crate::ranking::{PlaceOfRanking, PyRankedNode, PyRankedPlace};
    #[pymodule_export]
    use crate::ranking::{PyRanking, RankedNodes, RankedPlaces};
    #[pymodule_export]
    use crate::record::{ReadRecord, read_record, simulate_record};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name of it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
