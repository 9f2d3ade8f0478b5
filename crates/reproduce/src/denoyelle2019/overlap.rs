//! Table 6 and section 6: what of one kind of transfer's time does not overlap with another's, and
//! how near the model comes. Ours is fitted to what the engine measures of the simulated
//! machines, without bounds, as the paper's is.

use nearfar_model::HybridOverlap;

use crate::error::ReproduceError;
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};
use crate::simulated_record::Machines;

use super::facts::OverlapFacts;
use super::machines::MeasuredOverlap;

/// The rows of table 6, then those of the model's error.
pub(super) fn rows(
    facts: &OverlapFacts,
    machines: &Machines<MeasuredOverlap>,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for machine in facts.machines.keys() {
        rows.extend(theta_rows(facts, machine, machines.find(machine)?));
    }
    for machine in facts.machines.keys() {
        rows.extend(error_rows(facts, machine, machines.find(machine)?));
    }
    Ok(rows)
}

fn theta_rows(facts: &OverlapFacts, machine: &str, measured: &MeasuredOverlap) -> Vec<Row> {
    let mut rows = Vec::new();
    for (dominating, row) in facts.machines.get(machine).into_iter().flatten() {
        for (beside, &value) in row {
            let is_own = |it: &&HybridOverlap| {
                (it.dominating.as_str(), it.beside.as_str()) == (dominating, beside)
            };
            let found = measured.exact.overlaps.iter().find(is_own);
            let ours = found.and_then(|it| it.fit.found()).map(|it| it.overlap_theta.value.0);
            let table = &facts.table;
            let item =
                format!("table {table}, {machine}, {beside} beside {dominating}, overlap theta");
            let printed = Printed { value, decimals: facts.decimals };
            rows.push(Comparison::of(item, printed, ours).judge().after_round_trip());
        }
    }
    rows
}

/// How far the error on points that were never fitted lies below the paper's bound; both are on the
/// same side of zero where it holds.
fn error_rows(facts: &OverlapFacts, machine: &str, measured: &MeasuredOverlap) -> [Row; 2] {
    let errors = measured.noisy.errors.found();
    let bound = facts.error_percent_below;
    let row = |measure: &str, ours: Option<f64>| {
        let item = format!("section 6, {machine}, by {measure}, %");
        let printed = Printed { value: bound, decimals: 0 };
        let ours = ours.map(|ours| 100.0 * ours);
        Comparison { room: Room::Bound, ..Comparison::of(item, printed, ours) }.judge()
    };
    [
        row("the paper's measure", errors.map(|errors| errors.paper_measure)),
        row("true relative RMS", errors.map(|errors| errors.relative_rms)),
    ]
}
