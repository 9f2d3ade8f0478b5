//! A run of many machines: its folder is read, and nothing is written into it.

use std::path::{Path, PathBuf};

use nearfar_document::{FLEET_COLUMNS, fleet_answer, fleet_drift_answer, read_fleet_cells};
use nearfar_fleet::{
    FLEET_FLOOR, FleetChoices, FleetComparison, FleetDrift, MachineSummary, RunFolder,
};
use nearfar_measure::now_utc;
use pyo3::prelude::*;

use crate::answer::{Told, told};
use crate::failure::failed;
use crate::frame::RecordFrame;
use crate::record::{checked_floor, read_file};

fn compared(
    folder: &Path,
    floor: Option<f64>,
    target: Option<&Path>,
) -> Result<FleetComparison, String> {
    let floor = checked_floor(floor.unwrap_or(FLEET_FLOOR))?;
    let target = target.map(|path| -> Result<(String, MachineSummary), String> {
        Ok((path.display().to_string(), MachineSummary::of_target(&read_file(path)?)))
    });
    let target = target.transpose()?;
    let choices = FleetChoices {
        floor,
        target: target.as_ref().map(|(path, summary)| (path.as_str(), summary)),
        now: &now_utc(),
    };
    FleetComparison::read(&RunFolder::new(folder), &choices).map_err(|error| error.to_string())
}

#[pyfunction]
#[pyo3(signature = (folder, floor, target))]
pub fn compare_fleet(
    py: Python<'_>,
    folder: PathBuf,
    floor: Option<f64>,
    target: Option<PathBuf>,
) -> PyResult<Told> {
    let compare = || {
        let found = compared(&folder, floor, target.as_deref())?;
        told(&found, &fleet_answer(&found))
    };
    py.detach(compare).map_err(failed)
}

#[pyfunction]
#[pyo3(signature = (folder, floor, target))]
pub fn fleet_cells(
    py: Python<'_>,
    folder: PathBuf,
    floor: Option<f64>,
    target: Option<PathBuf>,
) -> PyResult<RecordFrame> {
    py.detach(|| {
        let found = compared(&folder, floor, target.as_deref()).map_err(failed)?;
        RecordFrame::laid_out(&FLEET_COLUMNS, |take| read_fleet_cells(&found, &mut &mut *take))
    })
}

#[pyfunction]
pub fn fleet_drift(py: Python<'_>, folders: Vec<PathBuf>) -> PyResult<Told> {
    let look = || -> Result<Told, String> {
        if folders.len() < 2 {
            return Err("what changed is seen between two runs or more: give their folders".into());
        }
        let folders: Vec<RunFolder> = folders.iter().map(|it| RunFolder::new(it)).collect();
        let drift = FleetDrift::read(&folders, &now_utc()).map_err(|error| error.to_string())?;
        told(&drift, &fleet_drift_answer(&drift))
    };
    py.detach(look).map_err(failed)
}
