//! A cube of hexahedra whose inner nodes are shaken, as lists of an unstructured mesh.

use super::corners::Passes;
use crate::arithmetic::real;
use crate::array::{Array, ArrayPlan};
use crate::pieces::pieces;
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut, shares};

/// Edge of the cube.
pub const SIZE: f64 = 1.125;

/// How far nodes are shaken along each axis, by the edge of an element.
const SHAKE: f64 = 0.15;

/// A cube of this many elements an edge. Along x first, then y, then z.
#[derive(Debug, Clone, Copy)]
pub struct Mesh {
    pub edge: usize,
}

/// A number from -1 to 1, always the same one of the same place.
#[expect(clippy::cast_precision_loss, reason = "53 bits")]
pub fn shaken(place: usize) -> f64 {
    let mixed = (place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[expect(clippy::cast_possible_truncation, reason = "below 2^32 up to 812 elements an edge")]
fn index(place: usize) -> u32 {
    place as u32
}

impl Mesh {
    /// The mesh of a class, and passes over it.
    pub fn of(class: Class) -> (Self, usize) {
        let (edge, passes) = match class {
            Class::S => (12, 100),
            Class::W => (30, 50),
            Class::A => (60, 40),
            Class::B => (120, 10),
            Class::C => (200, 5),
        };
        (Self { edge }, passes)
    }

    pub fn elements(self) -> usize {
        self.edge.pow(3)
    }

    /// Elements that are gone through in this many passes.
    pub fn element_passes(self, passes: usize) -> f64 {
        real(self.elements()) * real(passes)
    }

    pub fn nodes(self) -> usize {
        (self.edge + 1).pow(3)
    }

    fn node(self, [i, j, k]: [usize; 3]) -> usize {
        (k * (self.edge + 1) + j) * (self.edge + 1) + i
    }

    /// Of a node, where it is in the cube.
    fn steps(self, node: usize) -> [usize; 3] {
        let row = self.edge + 1;
        [node % row, node / row % row, node / row / row]
    }

    /// Whether elements are all around a node.
    pub fn is_inner(self, node: usize) -> bool {
        self.steps(node).iter().all(|&step| step > 0 && step < self.edge)
    }

    /// Where a node is: those on a side of the cube stay on it.
    pub fn position(self, node: usize) -> [f64; 3] {
        let steps = self.steps(node);
        [0, 1, 2].map(|axis| {
            let step = steps[axis];
            let is_free = step > 0 && step < self.edge;
            let shake = if is_free { SHAKE * shaken(3 * node + axis) } else { 0.0 };
            SIZE * ((real(step) + shake) / real(self.edge))
        })
    }

    /// The nodes of an element: four below, counter-clockwise, then the four above them.
    fn nodes_of(self, element: usize) -> [usize; 8] {
        let (i, j, k) =
            (element % self.edge, element / self.edge % self.edge, element / self.edge / self.edge);
        let square = [(0, 0), (1, 0), (1, 1), (0, 1)];
        std::array::from_fn(|corner| {
            let (x, y) = square[corner % 4];
            self.node([i + x, j + y, k + corner / 4])
        })
    }

    /// A program's passes over it, and what they move.
    pub fn passes(self, program: &dyn Program, passes: usize, cache_bytes: f64) -> Passes {
        let bytes = program.arrays(1).iter().map(|plan| real(plan.bytes)).sum();
        Passes::new(self, real(passes), bytes, cache_bytes)
    }

    /// Corners that meet in the first this many nodes.
    fn corners_before(self, node: usize) -> usize {
        if node == self.nodes() {
            return 8 * self.elements();
        }
        let [i, j, k] = self.steps(node);
        // Along an axis, the ends have one neighbour and others two.
        let around = |step: usize| if step == 0 || step == self.edge { 1 } else { 2 };
        let before = |step: usize| if step == 0 { 0 } else { 2 * step - 1 };
        let all = 2 * self.edge;
        (before(k) * all + around(k) * before(j)) * all + around(k) * around(j) * before(i)
    }

    /// Writes where nodes are, and the nodes of each element.
    pub fn write(self, team: &Team, positions: [&mut Array; 3], list: &mut Array) {
        let nodes = &team.shares(self.nodes());
        let positions = positions.map(|array| array.of_mut::<f64>());
        team.each(pieces(positions, nodes, 1), |thread, [x, y, z]| {
            for (node, ((x, y), z)) in nodes[thread].clone().zip(x.iter_mut().zip(y).zip(z)) {
                [*x, *y, *z] = self.position(node);
            }
        });
        let elements = &team.shares(self.elements());
        team.each(cut(list.of_mut::<u32>(), elements, 8), |thread, list| {
            let own = list.as_chunks_mut::<8>().0.iter_mut().zip(elements[thread].clone());
            own.for_each(|(nodes, element)| *nodes = self.nodes_of(element).map(index));
        });
    }

    /// Writes the corners that meet in each node, by elements in ascending order, and where each
    /// node's begin.
    pub fn write_corners(self, starts: &mut [u32], list: &mut [u32]) {
        for (node, start) in starts.iter_mut().enumerate() {
            *start = index(self.corners_before(node));
        }
        let corners = (0..self.nodes()).flat_map(|node| self.corners_at(node));
        list.iter_mut().zip(corners).for_each(|(list, corner)| *list = index(corner));
    }

    /// The corners that meet in a node: 8 for each element before its own, and its own number.
    fn corners_at(self, node: usize) -> impl Iterator<Item = usize> {
        let steps = self.steps(node);
        (0..8).filter_map(move |neighbour| {
            // Where the node is in the neighbour: at its far end first.
            let within = [0, 1, 2].map(|axis| 1 - (neighbour >> axis & 1));
            let mut at = [0; 3];
            for axis in 0..3 {
                at[axis] = steps[axis].checked_sub(within[axis]).filter(|&at| at < self.edge)?;
            }
            let element = (at[2] * self.edge + at[1]) * self.edge + at[0];
            Some(8 * element + [[0, 1], [3, 2]][within[1]][within[0]] + 4 * within[2])
        })
    }

    /// An array of this many elements of `T` a hexahedron.
    pub fn of_elements<T>(
        self,
        name: &'static str,
        unit: usize,
        threads: usize,
        is_hot: bool,
    ) -> ArrayPlan {
        ArrayPlan::shared::<T>(name, (self.elements(), unit), threads, is_hot)
    }

    /// Arrays of one number a node.
    pub fn of_nodes<const N: usize>(
        self,
        names: [&'static str; N],
        threads: usize,
    ) -> [ArrayPlan; N] {
        names.map(|name| ArrayPlan::shared::<f64>(name, (self.nodes(), 1), threads, false))
    }

    /// Arrays of the corners that meet in nodes.
    pub fn of_corners(self, threads: usize) -> [ArrayPlan; 2] {
        let begin = |node: usize| size_of::<u32>() * self.corners_before(node);
        let owners =
            shares(self.nodes(), threads).into_iter().map(|it| begin(it.start)..begin(it.end));
        [
            ArrayPlan::shared::<u32>("nodeElemStart", (self.nodes() + 1, 1), threads, false),
            ArrayPlan {
                name: "nodeElemCornerList",
                bytes: begin(self.nodes()),
                is_hot: false,
                owners: owners.collect(),
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_corner_is_in_the_list_of_its_node() {
        for edge in 1..5 {
            let mesh = Mesh { edge };
            let mut starts = vec![0; mesh.nodes() + 1];
            let mut list = vec![u32::MAX; 8 * mesh.elements()];
            mesh.write_corners(&mut starts, &mut list);
            assert_eq!(starts[mesh.nodes()] as usize, list.len());
            for node in 0..mesh.nodes() {
                let own = &list[starts[node] as usize..starts[node + 1] as usize];
                assert_eq!(own.len() == 8, mesh.is_inner(node), "node {node}");
                assert!(own.is_sorted());
                for &corner in own {
                    let corner = corner as usize;
                    assert_eq!(mesh.nodes_of(corner / 8)[corner % 8], node);
                }
            }
        }
    }

    #[test]
    fn shares_of_the_corner_list_have_no_gap() {
        let [_, list] = Mesh { edge: 3 }.of_corners(5);
        assert!(list.owners.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(list.owners.last().map(|it| it.end), Some(4 * 8 * 27));
    }
}
