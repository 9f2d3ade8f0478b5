//! What limits an initiator at each arithmetic intensity: one chart for each initiator, with the roofs
//! of arithmetic, of its caches, and of memory near, far and shared.
//!
//! ```text
//! attainable(I) = min(I b, F)        ridge of a roof below F = F / b
//! ```
//!
//! | symbol | unit | what it is |
//! | --- | --- | --- |
//! | I | FLOPs per byte | arithmetic intensity: operations / bytes that the cores request |
//! | b | useful bytes/s | a roof of bandwidth: all threads of the initiator together |
//! | F | FLOP/s | a roof of arithmetic, called a ceiling: all threads together |
//!
//! A roof, and a point below it, is the median over rounds of the round values: what disturbs a
//! window lowers both alike, and the best round of few would be the more lucky of two.
//!
//! Source: denoyelle2019, sections 3 to 5, tables 1 to 5; the roofs of a program that uses two
//! memories: its section 6 (`hybrid`).
//!
//! Holds when: a program runs one thread on each core of the initiator, streams through memory, and
//! the machine runs as it was measured (clock, placement, who else is there).
//!
//! Fails when: loads are too few or too dependent to cover the latency (a point then lies below
//! all roofs, which is said), bytes are counted where they leave a cache and not where the core
//! requests them, or a clock differs between a roof and a program. Where the record's own points
//! of known intensity are off by more than 25 %, the roofs predict nothing, which is said.
//!
//! Pinned by: `crates/model/tests/roofline` (charts, errors and verdicts by hand) and
//! `crates/reproduce/tests/wrong_numbers.rs` (tables 2, 4 and 5).

mod chart;
mod conclusions;
mod hybrid_roof;
mod placed_programs;
mod placement_advice;
mod program_point;
mod validation;
mod workload_points;

pub use chart::{BandwidthRoof, Ceiling, Chart, Corner, Ridge};
pub use conclusions::{
    Expected, GFLOP_RATES, INTENSITIES, IntensityKind, PROGRAMS, Program, ProgramExpectation,
    ProgramPoint, RooflineAdvice,
};
pub use hybrid_roof::{HybridRoof, HybridStanding, ProgramShares};
pub use placed_programs::{PlacedProgram, PlacedPrograms, RoofCommands};
pub use placement_advice::{AtRoofs, PlacementAdvice, RefutingPoints, RoofSort};
pub use program_point::{Placement, Standing, UnderRoof};
pub use validation::{RoofErrors, RoofValidation, ValidationPoint, roof_errors};
pub use workload_points::{LEAST_OF_A_LIMIT, PhaseLimit, PhasePoint};

use nearfar_record::Experiment;
use serde::Serialize;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;
use crate::roofs::roofs;

/// What limits each initiator at each arithmetic intensity (denoyelle2019).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Roofline {
    /// A chart for each initiator that has roofs.
    pub charts: Vec<Chart>,
    /// What would tell more.
    pub commands: RoofCommands,
}

/// The charts of a record.
///
/// # Errors
/// Where the record holds no roof of anything.
pub fn roofline(figures: &RecordFigures<'_>) -> Result<Roofline, Inapplicable> {
    let record = figures.record();
    let mut charts = Chart::all(&record.header.machine, &roofs(figures));
    for chart in &mut charts {
        chart.workloads = chart.workload_points(figures);
    }
    if charts.is_empty() {
        return Err(Inapplicable::without(record, Experiment::Roofs));
    }
    Ok(Roofline { charts, commands: RoofCommands::of(record) })
}
