//! Values in words and tables. A view ([`TopoView`], [`ShowView`], ..) is what a
//! command's `--json` prints; the text beside it is made from the same view, so
//! the two cannot differ. Nothing here measures or models.

mod characterize;
mod class_map;
mod classes;
mod classes_text;
mod doctor;
mod figures;
mod kernels;
mod machines;
mod pair_position;
mod pair_words;
mod paragraph;
mod predict;
mod predict_text;
mod printable;
mod record_doctor;
mod record_doctor_checks;
mod record_doctor_text;
mod relations;
mod reproduce;
mod reproduce_text;
mod sealing;
mod show;
mod show_text;
mod table;
mod topo;
mod topo_text;

pub use characterize::{CharacterizeView, DryRunView};
pub use classes::{
    ClassFigureView, ClassPairView, ClassView, ClassesView, GammaView, LeftOutView, ModelView,
    ThreadsView,
};
pub use doctor::DoctorView;
pub use kernels::{KernelView, KernelsView};
pub use machines::{MachineTitle, MachinesView};
pub use predict::{AlphaKind, AlphaSource, PlaceView, PredictRow, PredictView};
pub use printable::printable;
pub use record_doctor::{
    HiddenLevelView, NotComparedView, PartView, RecordDoctorView, ShortfallView, UnmeasuredView,
    UnsteadinessView,
};
pub use reproduce::{PaperView, ReproduceView};
pub use sealing::SealingView;
pub use show::{AbsentView, CellView, FigureView, ShowView};
pub use topo::{ClusterView, DeviceView, NodeView, TopoView};
