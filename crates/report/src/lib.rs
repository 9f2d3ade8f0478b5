//! Values in words and tables. A view ([`TopoView`], [`ShowView`], ..) is what a
//! command's `--json` prints; the text beside it is made from the same view, so
//! the two cannot differ. Nothing here measures or models.

mod characterize;
mod class_map;
mod classes;
mod classes_text;
mod doctor;
mod figures;
mod pair_words;
mod predict;
mod predict_text;
mod printable;
mod record_doctor;
mod record_doctor_text;
mod relations;
mod reproduce;
mod reproduce_text;
mod show;
mod show_text;
mod table;
mod topo;
mod topo_text;

pub use characterize::{CharacterizeView, DryRunView};
pub use classes::{
    ClassFigureView, ClassPairView, ClassView, ClassesView, GammaView, ModelView, ThreadsView,
};
pub use doctor::DoctorView;
pub use predict::{AlphaKind, AlphaSource, PredictRow, PredictView};
pub use printable::printable;
pub use record_doctor::{PartView, RecordDoctorView, ShortfallView};
pub use reproduce::{PaperView, ReproduceView};
pub use show::{AbsentView, CellView, FigureView, ShowView};
pub use topo::{ClusterView, DeviceView, NodeView, TopoView};
