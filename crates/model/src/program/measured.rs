//! What a record's own runs of a workload took, beside what is predicted of it.

use nearfar_machine::GroupBy;
use nearfar_record::{Estimate, ProgramProfile};
use nearfar_stats::estimate_median;
use nearfar_units::Seconds;

use crate::record_figures::RecordFigures;
use crate::workloads::place_of_workload;

/// Times of the timed parts of a workload's runs on a pair, by as many threads as the CPUs of the
/// profile have cores.
pub(super) struct MeasuredTimes(Vec<((u32, u32), Estimate<Seconds>)>);

impl MeasuredTimes {
    /// Those that a record holds; none of a program that is no workload.
    pub fn of(figures: &RecordFigures<'_>, profile: &ProgramProfile) -> Self {
        let groups = figures.record().header.machine.cpu_groups(GroupBy::Memory);
        let cores = |initiator: u32| {
            let group = groups.iter().find(|group| group.initiator == initiator)?;
            u32::try_from(group.cores.len()).ok()
        };
        let times = figures.places(place_of_workload).filter_map(|(place, case)| {
            let pair = (place.initiator?, place.memory_node?);
            if place.workload != profile.name || Some(place.threads) != cores(pair.0) {
                return None;
            }
            let runs = case.samples().iter().filter_map(|sample| sample.workload.as_ref());
            let seconds: Vec<f64> = runs.map(|run| run.timed_ns as f64 / 1e9).collect();
            let median = estimate_median(&seconds)?;
            Some((pair, Estimate::of_rounds(&median, &case.planned().id)))
        });
        Self(times.collect())
    }

    pub fn on(&self, pair: (u32, u32)) -> Option<Estimate<Seconds>> {
        self.0.iter().find(|(measured, _)| *measured == pair).map(|(_, time)| time.clone())
    }
}
