//! Graph500's list of edges: R-MAT, bit by bit as its reference makes it.

use crate::bfs::random::{Mrg, Steps};

/// An undirected edge.
pub type Edge = [u32; 2];

/// Of 10000: an edge's ends have a bit of 0 and 1, 1 and 0, or 0 and 0 below these; otherwise 1 and 1.
const BELOW: [u64; 3] = [1900, 3800, 9500];

/// Makes edges of a graph of 2^scale vertices.
#[derive(Debug, Clone, Copy)]
pub struct EdgeList {
    scale: u32,
    seeds: [u64; 2],
    /// What vertices are scrambled with.
    scramble: [u64; 2],
}

impl EdgeList {
    pub fn new(scale: u32, seeds: [u64; 2]) -> Self {
        let mut random = Mrg::new(seeds).after(50, 7);
        let mut wide = || random.draw().wrapping_mul(0xFFFF_FFFF).wrapping_add(random.draw());
        let scramble = [wide(), wide()];
        Self { scale, seeds, scramble }
    }

    /// Writes the edges from the `first` on.
    pub fn write(&self, first: usize, edges: &mut [Edge]) {
        let next = Steps::to_next_stream();
        let mut stream = Mrg::new(self.seeds).after(0, first as u64);
        for edge in edges {
            *edge = self.edge(stream).map(|end| self.scrambled(end));
            stream = stream.and(&next);
        }
    }

    fn edge(&self, mut random: Mrg) -> [u64; 2] {
        let [mut from, mut to] = [0, 0];
        for _ in 0..self.scale {
            let draw = parted(&mut random);
            let (mut down, mut right) = if draw < BELOW[0] {
                (0, 1)
            } else if draw < BELOW[1] {
                (1, 0)
            } else if draw < BELOW[2] {
                (0, 0)
            } else {
                (1, 1)
            };
            // Of equal ends the first is to be the lower.
            if from == to && down > right {
                (down, right) = (right, down);
            }
            from = 2 * from + down;
            to = 2 * to + right;
        }
        [from, to]
    }

    fn scrambled(&self, vertex: u64) -> u32 {
        let [first, second] = self.scramble;
        let mut vertex = vertex.wrapping_add(first).wrapping_add(second);
        for factor in [first | 0x4519_8402_1149_3211, second | 0x3050_8521_02C8_43A5] {
            vertex = vertex.wrapping_mul(factor).reverse_bits() >> (64 - self.scale);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a scale is below 32")]
        let vertex = vertex as u32;
        vertex
    }
}

/// An even number below 10000.
fn parted(random: &mut Mrg) -> u64 {
    // Values below 2^31 - 1 mod 10000 would make the lowest numbers too likely.
    loop {
        let value = random.draw();
        if value >= 3647 {
            return value % 10_000;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_the_references_wherever_a_thread_begins() {
        let list = EdgeList::new(12, [2, 3]);
        assert_eq!(list.scramble, [0x62af_6660_b44f_ce69, 0x2a3d_763b_3a6b_1f0c]);
        let mut edges = [[0; 2]; 100];
        list.write(0, &mut edges);
        assert_eq!(edges[..4], [[2477, 2850], [684, 2881], [2400, 3127], [185, 2209]]);
        let mut later = [[0; 2]; 60];
        list.write(40, &mut later);
        assert_eq!(later, edges[40..]);
    }
}
