//! Table 6 and section 6: what of one kind of transfer's time does not overlap with another's, and
//! how near the model comes. Ours is fitted to what the engine measures of the simulated
//! machines, without bounds, as the paper's is.

use nearfar_model::{Hybrid, HybridOverlap, HybridPair, OverlapBounds, RecordFigures, hybrid};
use nearfar_record::{Experiment, Suite};

use crate::error::{ReproduceError, contradiction, refused};
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};
use crate::simulated_record::{measure, rounds, simulated};

use super::KEY;
use super::facts::OverlapFacts;

/// Rounds of a case.
const ROUNDS: u32 = 6;

/// The rows of table 6, then those of the model's error.
pub(super) fn rows(facts: &OverlapFacts) -> Result<Vec<Row>, ReproduceError> {
    let mut thetas = Vec::new();
    let mut errors = Vec::new();
    for machine in facts.machines.keys() {
        thetas.extend(theta_rows(facts, machine)?);
        errors.extend(error_rows(facts, machine)?);
    }
    Ok(thetas.into_iter().chain(errors).collect())
}

fn theta_rows(facts: &OverlapFacts, machine: &str) -> Result<Vec<Row>, ReproduceError> {
    let model = model_of(machine, false)?;
    let pair = first_pair(&model, machine)?;
    let mut rows = Vec::new();
    for (dominating, row) in facts.machines.get(machine).into_iter().flatten() {
        for (beside, &value) in row {
            let is_own = |it: &&HybridOverlap| {
                (it.dominating.as_str(), it.beside.as_str()) == (dominating, beside)
            };
            let found = pair.overlaps.iter().find(is_own);
            let ours = found.and_then(|it| it.fit.found()).map(|it| it.overlap_theta.value.0);
            let table = &facts.table;
            let item =
                format!("table {table}, {machine}, {beside} beside {dominating}, overlap theta");
            let printed = Printed { value, decimals: facts.decimals };
            rows.push(Comparison::of(item, printed, ours).judge().after_round_trip());
        }
    }
    Ok(rows)
}

/// How far the error on points that were never fitted lies below the paper's bound; both are on the
/// same side of zero where it holds.
fn error_rows(facts: &OverlapFacts, machine: &str) -> Result<Vec<Row>, ReproduceError> {
    let model = model_of(machine, true)?;
    let errors = first_pair(&model, machine)?.errors.found();
    let bound = facts.error_percent_below;
    let row = |measure: &str, ours: Option<f64>| {
        let item = format!(
            "section 6, {machine}, bound of the hybrid model's error less ours by {measure}, percent"
        );
        let printed = Printed { value: bound, decimals: 0 };
        let ours = ours.map(|ours| bound - 100.0 * ours);
        Comparison { room: Room::Sign, ..Comparison::of(item, printed, ours) }.judge()
    };
    Ok(vec![
        row("the paper's measure", errors.map(|errors| errors.paper_measure)),
        row("true relative RMS", errors.map(|errors| errors.relative_rms)),
    ])
}

fn first_pair<'a>(model: &'a Hybrid, machine: &str) -> Result<&'a HybridPair, ReproduceError> {
    let what = || format!("{machine} has no two memories of one initiator");
    model.pairs.first().ok_or_else(|| contradiction(KEY, what()))
}

/// The model of a simulated machine's own sixteen points, with the whole surface beside them.
fn model_of(name: &str, noise: bool) -> Result<Hybrid, ReproduceError> {
    let inputs = rounds(vec![Experiment::Hybrid], ROUNDS, Suite::Full);
    let record = measure(&simulated(name)?, inputs, noise)?;
    hybrid(&RecordFigures::new(&record), OverlapBounds::None)
        .map_err(refused(format!("the hybrid model of {name}")))
}
