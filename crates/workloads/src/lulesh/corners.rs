//! What meets in each node, added up through a list of corners.

use std::ops::Range;

use super::mesh::Mesh;
use crate::arithmetic::real;
use crate::pieces::{again, pieces};
use crate::team::Team;
use crate::traffic::ArrayTraffic;

/// The corners that meet in each node.
#[derive(Clone, Copy)]
pub struct CornerList<'a> {
    pub starts: &'a [u32],
    pub list: &'a [u32],
}

impl CornerList<'_> {
    /// The sums over a node's corners.
    #[inline(always)]
    fn sums(&self, begin: u32, end: u32, [x, y, z]: [&[f64]; 3]) -> [f64; 3] {
        let (y, z) = (&y[..x.len()], &z[..x.len()]);
        let mut sums = [0.0; 3];
        for &corner in &self.list[begin as usize..end as usize] {
            let corner = corner as usize;
            sums[0] += x[corner];
            sums[1] += y[corner];
            sums[2] += z[corner];
        }
        sums
    }

    /// Calls `take` with each of some nodes' numbers and its sums.
    #[inline(always)]
    fn each(
        &self,
        nodes: Range<usize>,
        of: [&[f64]; 3],
        forces: [&mut [f64]; 3],
        take: impl Fn(&mut f64, f64),
    ) {
        let [x, y, z] = forces;
        let starts = self.starts[nodes.start..].windows(2);
        for (bounds, ((x, y), z)) in starts.zip(x.iter_mut().zip(y).zip(z)) {
            let sums = self.sums(bounds[0], bounds[1], of);
            take(x, sums[0]);
            take(y, sums[1]);
            take(z, sums[2]);
        }
    }

    /// Writes the forces of nodes.
    pub fn write(
        &self,
        of: [&[f64]; 3],
        forces: &mut [&mut [f64]; 3],
        nodes: &[Range<usize>],
        team: &Team,
    ) {
        team.each(pieces(again(forces), nodes, 1), |thread, own| {
            self.each(nodes[thread].clone(), of, own, |force, sum| *force = sum);
        });
    }

    /// Adds to the forces of nodes.
    pub fn add(
        &self,
        of: [&[f64]; 3],
        forces: &mut [&mut [f64]; 3],
        nodes: &[Range<usize>],
        team: &Team,
    ) {
        team.each(pieces(again(forces), nodes, 1), |thread, own| {
            self.each(nodes[thread].clone(), of, own, |force, sum| *force += sum);
        });
    }
}

/// What a loop over elements, or nodes, moves in all its passes: planes of the mesh follow one another,
/// and each has to do with two planes of the other kind.
#[derive(Clone, Copy)]
pub struct Passes {
    mesh: Mesh,
    /// Those whose arrays are not all in the cache.
    moved: f64,
    /// How often nodes, which belong to two planes of elements, are fetched in one.
    nodes_come: f64,
    /// The same of corners and planes of nodes: two planes of corners lie between.
    corners_come: f64,
}

/// Of an element's corners and nodes, what is touched before its corners are come back to.
const BETWEEN_CORNERS: f64 = 2.0 * 3.0 * 64.0 + 32.0 + 4.0 + 3.0 * 8.0;

impl Passes {
    /// Of arrays of this many bytes, a plane of which comes to `plane` bytes.
    pub fn new(mesh: Mesh, passes: f64, bytes: f64, cache_bytes: f64) -> Self {
        let plane = bytes / real(mesh.edge);
        let moved = if bytes <= cache_bytes { 0.0 } else { passes };
        let come = |between: f64| if between <= cache_bytes { 1.0 } else { 2.0 };
        let corners_come = come(BETWEEN_CORNERS * real(mesh.edge).powi(2));
        Self { mesh, moved, nodes_come: come(plane), corners_come }
    }

    fn elements(&self) -> f64 {
        self.moved * real(self.mesh.elements())
    }

    fn nodes(&self) -> f64 {
        self.moved * real(self.mesh.nodes())
    }

    /// An element's bytes, read by elements.
    pub fn read(&self, array: &'static str, bytes: f64) -> ArrayTraffic {
        ArrayTraffic::read(array, bytes * self.elements())
    }

    /// An element's bytes, written by elements.
    pub fn written(&self, array: &'static str, bytes: f64) -> ArrayTraffic {
        ArrayTraffic::written(array, bytes * self.elements())
    }

    /// Numbers of nodes, read by elements.
    pub fn of_nodes<const N: usize>(&self, arrays: [&'static str; N]) -> [ArrayTraffic; N] {
        arrays.map(|array| ArrayTraffic::read(array, 8.0 * self.nodes_come * self.nodes()))
    }

    /// Numbers of corners, added up by nodes.
    pub fn gathered(&self) -> Vec<ArrayTraffic> {
        let corners = ["fx_elem", "fy_elem", "fz_elem"]
            .map(|array| ArrayTraffic::read(array, 64.0 * self.corners_come * self.elements()));
        let forces =
            ["fx", "fy", "fz"].map(|array| ArrayTraffic::written(array, 8.0 * self.nodes()));
        let lists = [
            ArrayTraffic::read("nodeElemStart", 4.0 * self.nodes()),
            ArrayTraffic::read("nodeElemCornerList", 32.0 * self.elements()),
        ];
        lists.into_iter().chain(corners).chain(forces).collect()
    }
}
