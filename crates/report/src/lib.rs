//! Values in words and tables. A view ([`TopoView`], [`ShowView`], ..) is what a
//! command's `--json` prints; the text beside it is made from the same view, so
//! the two cannot differ. Nothing here measures or models.

mod characterize;
mod doctor;
mod figures;
mod printable;
mod show;
mod show_text;
mod table;
mod topo;
mod topo_text;

pub use characterize::{CharacterizeView, DryRunView};
pub use doctor::DoctorView;
pub use printable::printable;
pub use show::{AbsentView, CellView, FigureView, ShowView};
pub use topo::{ClusterView, DeviceView, NodeView, TopoView};
