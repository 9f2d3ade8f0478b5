//! Many machines: how a run over them is started, what each leaves in its folder, and who falls short of its
//! peers. Nothing here measures, and no machine knows of another; a folder is all that they share.

mod cell_table;
mod change;
mod comparison;
mod drift;
mod fleet_error;
mod host_list;
mod identity;
mod judgement;
mod kind;
mod launch;
mod machine_name;
mod manifest;
mod parts;
mod peers;
mod reading;
mod run_folder;
mod summary;
mod verdict;

pub use change::{Change, ChangeShape, Detector, find_changes, successive_spread};
pub use comparison::{
    FleetCell, FleetChoices, FleetComparison, FleetGroup, FleetMachine, JoinedGroup,
};
pub use drift::{DriftRun, FleetDrift, FleetShift, MachineDrift, PartChange, SegmentBreak};
pub use fleet_error::FleetError;
pub use host_list::{HostListError, expand_hosts, fold_hosts};
pub use identity::Identity;
pub use judgement::{FLEET_FLOOR, Shortfall};
pub use kind::{KindInitiator, KindNode, MachineKind};
pub use launch::{Engine, Launch};
pub use machine_name::{MachineName, MachineNameError};
pub use manifest::{MANIFEST_SCHEMA, Manifest, ManifestError};
pub use parts::MachinePart;
pub use reading::{Problem, ProblemKind};
pub use run_folder::{FoundMeasurement, Measurement, RunFolder};
pub use summary::{
    MachineSummary, MeasurementEnd, MeasurementHealth, MeasurementStatus, MedianSpan,
    SUMMARY_SCHEMA, SummaryCell, SummaryError,
};
pub use verdict::{ToldVerdict, VERDICT_SCHEMA, Verdict, VerdictKind};
