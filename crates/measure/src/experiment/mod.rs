//! The experiments: each a function from a machine to cases. Nothing else decides
//! what is measured.

mod affinity;
mod cache_window;
mod commands;
mod cpu_places;
mod devices;
mod exchange;
mod hybrid;
mod latency;
mod links;
mod mixes;
mod network;
mod omitted;
mod pair_thinning;
mod pairs;
mod roofs;
mod scaling;
mod setting;
mod sharing;
mod stream;
mod thread_spread;
mod whole_initiator;
mod working_set;
mod workloads;

use nearfar_record::{Absent, Case, Experiment, Record};

use self::setting::Setting;
use crate::executor::OfferedVariants;

pub use affinity::{compact_order, scatter_order, spread_order};
pub use cpu_places::{CpuPlaces, last_level_bytes};
pub use thread_spread::spread_over_l3_domains;
pub use working_set::{
    Slices, WorkingSet, lay_out_steps, memory_working_set, node_memory_is_known, slice_stride,
};

/// Cases, and what of them does not apply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Planned {
    pub cases: Vec<Case>,
    /// What is left out, with the reasons.
    pub absent: Vec<Absent>,
}

impl Extend<Result<Case, Absent>> for Planned {
    fn extend<Cases: IntoIterator<Item = Result<Case, Absent>>>(&mut self, cases: Cases) {
        for case in cases {
            match case {
                Ok(case) => self.cases.push(case),
                Err(absent) => self.absent.push(absent),
            }
        }
    }
}

/// Parts of an experiment that are planned one after the other: the cases of a later part
/// follow from the samples of the earlier ones.
pub fn phases(experiment: Experiment) -> u32 {
    match experiment {
        Experiment::Pairs | Experiment::Hybrid => 2,
        Experiment::Scaling
        | Experiment::Sharing
        | Experiment::Links
        | Experiment::Roofs
        | Experiment::Mixes
        | Experiment::Latency
        | Experiment::Exchange
        | Experiment::Devices
        | Experiment::Network
        | Experiment::Workloads
        | Experiment::Commands => 1,
    }
}

/// One phase of an experiment, counted from 0, in the variants that an executor offers. `record`
/// holds the samples of those before it.
pub fn plan(
    experiment: Experiment,
    phase: u32,
    variants: &OfferedVariants,
    record: &Record,
) -> Planned {
    let places = CpuPlaces::of(&record.header.machine);
    let setting = Setting::of(record, &places, variants);
    match experiment {
        Experiment::Pairs if phase == 0 => pairs::screening_cases(setting),
        Experiment::Pairs => pairs::plan_matrix(setting, record),
        Experiment::Scaling => scaling::plan(setting),
        Experiment::Sharing => sharing::plan(setting),
        Experiment::Links => links::plan(setting),
        Experiment::Roofs => roofs::plan(setting),
        Experiment::Hybrid if phase == 0 => hybrid::plan_corners(setting),
        Experiment::Hybrid => hybrid::plan_points(setting, record),
        Experiment::Mixes => mixes::plan(setting),
        Experiment::Latency => latency::plan(setting),
        Experiment::Exchange => exchange::plan(setting),
        Experiment::Devices => devices::plan(setting),
        Experiment::Network => network::plan(setting),
        Experiment::Workloads => workloads::plan(setting),
        Experiment::Commands => commands::plan(setting),
    }
}
