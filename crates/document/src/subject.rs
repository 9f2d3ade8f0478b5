//! What a document tells of, a file for each subject: values for programs, and in words and tables for people.

mod advise;
mod advise_device;
mod advise_text;
mod characterize;
mod class_map;
pub(crate) mod classes;
mod compare;
mod compare_text;
mod counter_reasons;
pub(crate) mod devices;
mod distribution;
mod doctor;
mod figures;
mod kernels;
mod latency;
mod machines;
mod measured;
mod model;
mod model_advice;
mod model_flow;
mod model_flow_part;
mod model_flow_text;
mod model_hybrid;
mod model_hybrid_answer;
mod model_hybrid_placement;
mod model_hybrid_text;
mod model_kind;
mod model_roofline;
mod model_roofline_advice;
mod model_roofline_text;
mod model_strategy;
mod model_strategy_advice;
mod model_strategy_text;
mod pair_words;
mod predict;
mod predict_flow;
mod predict_hybrid;
mod predict_roofline;
mod predict_roofline_advice;
mod predict_roofline_text;
mod profile;
mod record_doctor;
mod record_doctor_checks;
mod record_doctor_text;
mod reproduce;
mod reproduce_text;
mod result;
mod roofline_place;
mod run_text;
mod sealing;
mod sensitivity;
mod sensitivity_counters;
mod sensitivity_counters_text;
mod sensitivity_text;
mod sharing;
mod sharing_splits;
mod show;
mod show_devices;
mod show_devices_text;
mod show_figure;
mod show_grid;
mod show_hybrid;
mod show_latency;
mod show_latency_text;
mod show_links;
mod show_mixes;
mod show_pairs;
mod show_roofs;
mod show_roofs_text;
mod show_scaling;
mod show_sharing;
mod show_text;
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
pub use compare::{
    CommonShiftView, CompareView, ComparedCaseView, ComparedGroupView, ComparedPartView,
    EnvironmentDifferenceView, UncomparedCaseView,
};
pub use compare_text::{Standings, group_words};
pub use devices::device_classes_text;
pub(crate) use distribution::section as distribution_section;
pub use doctor::DoctorView;
pub use kernels::{KernelView, KernelsView};
pub(crate) use latency::{answer as latency_answer, section as latency_section};
pub use machines::{MachineTitle, MachinesView};
pub use measured::MeasuredView;
pub use model::{FittedView, ModelView, UnavailableView};
pub use model_flow::FlowView;
pub use model_hybrid::HybridModelView;
pub use model_hybrid_answer::HybridAnswerView;
pub use model_hybrid_placement::{HybridGainView, HybridPlacementView};
pub use model_kind::{Fit, ModelChoices, ModelKind};
pub use model_roofline::RooflineView;
pub use model_strategy::{
    ExpectationView, LineCostView, ParameterView, StrategyTimeView, StrategyView,
};
pub use predict::PredictView;
pub use predict_flow::PredictFlowView;
pub use predict_hybrid::PredictHybridView;
pub use predict_roofline::{HybridRoofView, PredictRooflineView, ProgramShares};
pub use profile::profile_text;
pub use record_doctor::{
    HiddenLevelView, NotComparedView, PartView, RecordDoctorView, ShortfallView, UnmeasuredView,
    UnsteadinessView,
};
pub use reproduce::{PaperView, ReproduceView};
pub use result::ModelResult;
pub use roofline_place::RoofPlaceView;
pub use run_text::run_text;
pub use sealing::SealingView;
pub use sensitivity::{
    BestOfPairView, MemoryShareView, MetricView, PlacedRunsView, PlacementBoundsView,
    ProgramClassView, ProgramPairView, ProgramView, RunFigureView, SensitivityView,
};
pub use sensitivity_counters::{CountedFigureView, CountedRunsView};
pub(crate) use sharing::{measured_beta, section as sharing_section};
pub use sharing_splits::predict_sharing_text;
pub use show::ShowView;
pub use show_devices::{BesideView, TransferView, largest_transfers};
pub use show_figure::{AbsentView, BandwidthView, CaseView, FlopsView, RoundsView};
pub use show_hybrid::HybridView;
pub use show_latency::{LatencyView, LoadView};
pub use show_links::LinkView;
pub use show_mixes::{MixStreamView, MixView};
pub use show_pairs::{CellView, FigureView};
pub use show_roofs::RoofView;
pub use show_scaling::{RunsView, ScalingView, WidestRuns};
pub use show_sharing::SharingView;
pub use topo::{ClusterView, DeviceView, NodeView, TopoView};
pub use topology_export::{
    ExportedAttributeView, ExportedTopology, ExportedValueView, TopologyExportView,
    UnmeasuredAttributeView,
};
