//! What a document tells of, a file for each subject: values for programs, and in words and tables for people.

mod advise;
mod advise_device;
mod advise_text;
mod characterize;
mod class_map;
pub(crate) mod classes;
pub(crate) mod compare;
mod counter_reasons;
pub(crate) mod devices;
mod distribution;
mod doctor;
mod figures;
pub(crate) mod flow;
pub(crate) mod hybrid;
mod hybrid_advice;
mod kernels;
mod latency;
mod machines;
mod measured;
mod model;
mod model_advice;
mod model_kind;
mod pair_words;
mod predict;
mod predict_flow;
mod profile;
mod record_doctor;
mod record_doctor_words;
mod reproduce;
mod reproduce_text;
mod result;
pub(crate) mod roofline;
mod roofline_program;
mod run_text;
mod sealing;
mod sensitivity;
mod sensitivity_counters;
mod sharing;
mod sharing_splits;
mod show;
mod show_text;
pub(crate) mod strategy;
mod topo;
mod topo_text;
mod topology_export;

pub use advise::{
    AdviceBasisView, AdviceProfileView, AdviseView, AdvisedThreadsView, CandidateView, DemandView,
    NodeAccessView,
};
pub use advise_device::{AdviseDeviceView, DevicePlaceView};
pub use characterize::{CharacterizeView, DryRunView};
pub(crate) use class_map::class_map;
pub use compare::Comparison;
pub use devices::device_classes_text;
pub(crate) use distribution::section as distribution_section;
pub use doctor::DoctorView;
pub(crate) use hybrid_advice::placement_words;
pub use hybrid_advice::predict_hybrid_text;
pub use kernels::{KernelView, KernelsView};
pub(crate) use latency::{
    answer as latency_answer, cell as latency_cell, section as latency_section, walk_words,
};
pub use machines::{MachineTitle, MachinesView};
pub use measured::MeasuredView;
pub use model::{FittedView, ModelView, UnavailableView};
pub use model_kind::{Fit, ModelChoices, ModelKind};
pub use predict::PredictView;
pub use predict_flow::predict_flow_text;
pub use profile::profile_text;
pub use record_doctor::RecordDoctor;
pub use reproduce::{PaperView, ReproduceView};
pub use result::ModelResult;
pub use roofline_program::predict_roofline_text;
pub use run_text::run_text;
pub use sealing::SealingView;
pub use sensitivity::ProgramRuns;
pub(crate) use sharing::{measured_beta, section as sharing_section};
pub use sharing_splits::predict_sharing_text;
pub use show::ShowView;
pub use show_text::show_text;
pub use topo::{ClusterView, DeviceView, NodeView, TopoView};
pub use topology_export::{ExportedTopology, TopologyExport};
