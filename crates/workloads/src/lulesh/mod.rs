//! The three loops of LULESH that memory bounds, each alone: the corner forces of stresses, those
//! that resist hourglass modes, and the loop that fills the latter's arrays. Nodes are found through
//! lists, though they lie in order: streams of elements, gathers that are near to one another.
//!
//! Source: LULESH 2.0 (Sedov blast, unstructured hexahedra); denoyelle2019, figures 3 and 4, whose
//! third loop is not named there: the heaviest writer stands for it.

mod corners;
mod fill;
mod hexahedron;
mod hourglass;
mod mesh;
mod stress;

pub use fill::LuleshFill;
pub use hourglass::LuleshHourglass;
pub use stress::LuleshStress;

/// Relative to the largest of what adds up.
const TOLERANCE: f64 = 1e-12;
