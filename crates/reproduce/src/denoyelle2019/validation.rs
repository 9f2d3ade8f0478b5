//! Sections 4 and 5: how near points of known intensity come to the roofs. Ours are measured on
//! the simulated machines with their noise, and judged by the model that serves any record.

use nearfar_model::{RoofErrors, Roofline};

use crate::error::ReproduceError;
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};
use crate::simulated_record::Machines;

use super::facts::{ValidationBound, ValidationErrors};
use super::machines::MeasuredRoofs;

pub(super) fn rows(
    errors: &ValidationErrors,
    machines: &Machines<MeasuredRoofs>,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for bound in &errors.bounds {
        let noisy = &machines.find(&bound.machine)?.noisy;
        rows.push(row(bound, "the paper", largest(noisy, |errors| errors.paper)));
        let rms = largest(noisy, |errors| errors.relative_rms);
        rows.push(row(bound, "relative RMS", rms));
    }
    Ok(rows)
}

/// The bound, and the error of the roof that is worst.
fn row(bound: &ValidationBound, measure: &str, ours: Option<f64>) -> Row {
    let ValidationBound { section, machine, percent, .. } = bound;
    let item = format!("section {section}, {machine}, worst roof by {measure}, %");
    let printed = Printed { value: *percent, decimals: 0 };
    let ours = ours.map(|ours| 100.0 * ours);
    Comparison { room: Room::Bound, ..Comparison::of(item, printed, ours) }.judge()
}

/// The largest error of any roof of the first initiator; `None` where a roof has no points.
fn largest(roofline: &Roofline, measure: impl Fn(RoofErrors) -> f64) -> Option<f64> {
    let chart = roofline.charts.first()?;
    let errors = chart.validations.iter().map(|of| of.errors.map(&measure));
    errors.collect::<Option<Vec<f64>>>()?.into_iter().max_by(f64::total_cmp)
}
