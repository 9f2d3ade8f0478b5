//! The loop that gathers each element's corners and writes them, and how its volume grows as they move
//! (`CalcHourglassControlForElems`). Bound by what it writes: 48 numbers an element.

use std::ops::Range;

use super::TOLERANCE;
use super::hexahedron::{Corners, gather, gradient, volume};
use super::mesh::{Mesh, SIZE};
use crate::arithmetic::larger;
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::pieces::{again, pieces};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

/// Of the products of edges, what is the gradient of a volume.
const SHARE: f64 = 1.0 / 12.0;

pub const NAMES: [&str; 6] = ["x8n", "y8n", "z8n", "dvdx", "dvdy", "dvdz"];

/// The loop of LULESH that fills what hourglass control reads.
#[derive(Debug, Clone, Copy)]
pub struct LuleshFill {
    mesh: Mesh,
    passes: usize,
    /// `SHARE`, where the result is right.
    share: f64,
}

/// What is filled, and from what.
pub struct Filled<'a> {
    pub positions: [&'a [f64]; 3],
    pub nodes: &'a [u32],
    /// Volumes at first, and now by those.
    pub volumes: [&'a [f64]; 2],
    pub now: &'a mut [f64],
    /// As in `NAMES`.
    pub of_corners: [&'a mut [f64]; 6],
}

/// Fills the numbers of some elements.
#[inline(never)]
fn fill(
    (nodes, positions): (&[[u32; 8]], [&[f64]; 3]),
    [first, relative]: [&[f64]; 2],
    now: &mut [f64],
    of_corners: [&mut [f64]; 6],
    share: f64,
) {
    let (first, relative) = (&first[..nodes.len()], &relative[..nodes.len()]);
    let now = &mut now[..nodes.len()];
    let [x, y, z, dx, dy, dz] = of_corners.map(|of| &mut of.as_chunks_mut::<8>().0[..nodes.len()]);
    for (element, nodes) in nodes.iter().enumerate() {
        let at = gather(nodes, positions);
        [dx[element], dy[element], dz[element]] = gradient(&at, share);
        [x[element], y[element], z[element]] = at;
        now[element] = first[element] * relative[element];
    }
}

impl Filled<'_> {
    pub fn fill(&mut self, elements: &[Range<usize>], team: &Team) {
        self.pass(SHARE, elements, team);
    }

    fn pass(&mut self, share: f64, elements: &[Range<usize>], team: &Team) {
        let parts = cut(self.now, elements, 1).into_iter().zip(pieces(
            again(&mut self.of_corners),
            elements,
            8,
        ));
        team.each(parts, |thread, (now, of_corners)| {
            let own = elements[thread].clone();
            let volumes = self.volumes.map(|of| &of[own.clone()]);
            let nodes = &self.nodes.as_chunks::<8>().0[own];
            fill((nodes, self.positions), volumes, now, of_corners, share);
        });
    }

    fn corners(&self, element: usize) -> [Corners; 2] {
        let of = |array: usize| self.of_corners[array].as_chunks::<8>().0[element];
        [[of(0), of(1), of(2)], [of(3), of(4), of(5)]]
    }

    /// How many elements have wrong corners; by the largest part of a gradient, the largest sum of one;
    /// by the volume, the largest deviation of one by its gradient, and of the one that was written.
    fn deviations(&self, elements: &[Range<usize>], team: &Team) -> (u64, [f64; 3]) {
        let found = team.all(|thread| {
            let (mut wrong, mut found) = (0, [0.0; 3]);
            for element in elements[thread].clone() {
                let known = gather(&self.nodes.as_chunks::<8>().0[element], self.positions);
                let [at, gradient] = self.corners(element);
                let bits = |of: Corners| of.map(|of| of.map(f64::to_bits));
                wrong += u64::from(bits(at) != bits(known));
                let volume = volume(&known);
                for (at, parts) in at.iter().zip(&gradient) {
                    let largest = parts.iter().map(|part| part.abs()).fold(0.0, larger);
                    found[0] = larger(found[0], parts.iter().sum::<f64>().abs() / largest);
                    let product = |(at_corner, part): (&f64, &f64)| (at_corner - at[0]) * part;
                    let by_gradient: f64 = at.iter().zip(parts).map(product).sum();
                    found[1] = larger(found[1], (by_gradient / volume - 1.0).abs());
                }
                found[2] = larger(found[2], (self.now[element] / volume - 1.0).abs());
            }
            (wrong, found)
        });
        let largest = [0, 1, 2].map(|of| found.iter().map(|it| it.1[of]).fold(0.0, larger));
        (found.iter().map(|it| it.0).sum(), largest)
    }
}

/// Writes the volumes of elements, and that they are what they were at first.
pub fn write_volumes(
    (nodes, positions): (&[u32], [&[f64]; 3]),
    volumes: [&mut [f64]; 2],
    elements: &[Range<usize>],
    team: &Team,
) {
    team.each(pieces(volumes, elements, 1), |thread, [first, relative]| {
        relative.fill(1.0);
        let nodes = &nodes.as_chunks::<8>().0[elements[thread].clone()];
        let own = first.iter_mut().zip(nodes);
        own.for_each(|(first, nodes)| *first = volume(&gather(nodes, positions)));
    });
}

impl LuleshFill {
    pub fn new(class: Class) -> Self {
        let (mesh, passes) = Mesh::of(class);
        Self { mesh, passes, share: SHARE }
    }

    /// A cube of this many elements an edge.
    pub fn of_edge(edge: usize, passes: usize) -> Self {
        Self { mesh: Mesh { edge: edge.max(1) }, passes, share: SHARE }
    }
}

impl Program for LuleshFill {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let mesh = self.mesh;
        let mut plans = Vec::from(mesh.of_nodes(["x", "y", "z"], threads));
        plans.push(mesh.of_elements::<u32>("nodelist", 8, threads, false));
        let elements = |name| mesh.of_elements::<f64>(name, 1, threads, false);
        plans.extend(["volo", "v", "determ"].map(elements));
        plans.extend(NAMES.map(|name| mesh.of_elements::<f64>(name, 8, threads, true)));
        plans
    }

    fn work(&self) -> f64 {
        self.mesh.element_passes(self.passes) / 1e6
    }

    fn unit(&self) -> &'static str {
        "Melement"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let passes = self.mesh.passes(self, self.passes, cache_bytes);
        let elements = self.mesh.element_passes(self.passes);
        let mut arrays = Vec::from(passes.of_nodes(["x", "y", "z"]));
        arrays.push(passes.read("nodelist", 32.0));
        arrays.extend(["volo", "v"].map(|array| passes.read(array, 8.0)));
        arrays.push(passes.written("determ", 8.0));
        arrays.extend(NAMES.map(|array| passes.written(array, 64.0)));
        // 21 differences, 36 for the sums of 12 edges, 24 products of those, 24 parts by a factor.
        let flops = (21.0 + 36.0 + 24.0 * 12.0 - 24.0 + 24.0 + 1.0) * elements;
        vec![PhaseTraffic { phase: "elements", flops, arrays }]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [x, y, z, list, first, relative, determ, of_corners @ ..] = arrays else {
            unreachable!("the arrays that were planned")
        };
        let [x8, y8, z8, dx, dy, dz] = of_corners else {
            unreachable!("the arrays that were planned")
        };
        let elements = &team.shares(self.mesh.elements());
        self.mesh.write(team, [&mut *x, &mut *y, &mut *z], list);
        let (nodes, positions) = (list.of(), [x, y, z].map(|array| array.of()));
        let volumes = [&mut *first, &mut *relative].map(|array| array.of_mut());
        write_volumes((nodes, positions), volumes, elements, team);
        let mut filled = Filled {
            positions,
            nodes,
            volumes: [first, relative].map(|array| array.of()),
            now: determ.of_mut(),
            of_corners: [x8, y8, z8, dx, dy, dz].map(|array| array.of_mut()),
        };
        filled.pass(self.share, elements, team);
        clock.start();
        for _ in 0..self.passes {
            clock.time("elements", || filled.pass(self.share, elements, team));
        }
        clock.stop();
        let (wrong, [sum, by_gradient, volume]) = filled.deviations(elements, team);
        vec![
            Check::exact("elements with wrong corners", 0, wrong),
            Check::relative("sum of a gradient", 0.0, sum, TOLERANCE),
            Check::relative("error of a volume by its gradient", 0.0, by_gradient, TOLERANCE),
            Check::relative("error of a volume", 0.0, volume, TOLERANCE),
            Check::relative("volume", SIZE.powi(3), filled.now.iter().sum(), TOLERANCE),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_factor_is_found() {
        let fill = LuleshFill::of_edge(5, 3);
        for threads in [1, 2, 3, 40] {
            let checks = checks_of(&fill, threads);
            assert!(is_verified(&checks), "{threads} threads: {checks:#?}");
        }
        assert!(!is_verified(&checks_of(&LuleshFill { share: SHARE + 1e-10, ..fill }, 2)));
    }

    #[test]
    fn one_element_and_more_threads_than_planes_verify() {
        for edge in [1, 2] {
            assert!(is_verified(&checks_of(&LuleshFill::of_edge(edge, 1), 40)));
        }
    }
}
