//! The corner forces of an element's stress, and their sums in nodes (`IntegrateStressForElems`).
//! Bound by the stream of corner forces, that is written by elements and read by nodes.

use std::ops::Range;

use super::TOLERANCE;
use super::corners::CornerList;
use super::hexahedron::{Corners, gather, normals};
use super::mesh::{Mesh, SIZE};
use crate::arithmetic::larger;
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::pieces::{again, pieces};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

/// Of a side's area, what belongs to a corner of it.
const SHARE: f64 = 0.25;

/// The stress along each axis, the same in all elements.
const STRESSES: [f64; 3] = [-1.0, -2.0, -3.0];

/// The stress loop of LULESH.
#[derive(Debug, Clone, Copy)]
pub struct LuleshStress {
    mesh: Mesh,
    passes: usize,
    /// `SHARE`, where the result is right.
    share: f64,
}

/// All arrays of a run.
struct Fields<'a> {
    positions: [&'a [f64]; 3],
    nodes: &'a [u32],
    stresses: [&'a [f64]; 3],
    corners: CornerList<'a>,
    volumes: &'a mut [f64],
    of_corners: [&'a mut [f64]; 3],
    forces: [&'a mut [f64]; 3],
}

/// The volume by what a cube is stretched to at an element's centre.
#[inline(always)]
fn volume_at_centre(of: &Corners) -> f64 {
    let [x, y, z] = of.each_ref().map(|at| {
        let diagonals = [at[6] - at[0], at[5] - at[3], at[7] - at[1], at[4] - at[2]];
        let [a, b, c, d] = diagonals;
        [(a + b) - (c + d), (a + c) - (b + d), (a + d) + (b + c)].map(|part| 0.25 * part)
    });
    x[0] * (y[1] * z[2] - y[2] * z[1])
        + y[0] * (z[1] * x[2] - z[2] * x[1])
        + z[0] * (x[1] * y[2] - x[2] * y[1])
}

/// The corner forces of some elements, and their volumes.
#[inline(never)]
fn corner_forces(
    (nodes, positions): (&[[u32; 8]], [&[f64]; 3]),
    stresses: [&[f64]; 3],
    volumes: &mut [f64],
    [fx, fy, fz]: [&mut [f64]; 3],
    share: f64,
) {
    let [xx, yy, zz] = stresses.map(|of| &of[..nodes.len()]);
    let volumes = &mut volumes[..nodes.len()];
    let forces = [fx, fy, fz].map(|of| &mut of.as_chunks_mut::<8>().0[..nodes.len()]);
    let [fx, fy, fz] = forces;
    for (element, nodes) in nodes.iter().enumerate() {
        let at = gather(nodes, positions);
        volumes[element] = volume_at_centre(&at);
        let [x, y, z] = normals(&at, share);
        fx[element] = x.map(|part| -xx[element] * part);
        fy[element] = y.map(|part| -yy[element] * part);
        fz[element] = z.map(|part| -zz[element] * part);
    }
}

impl Fields<'_> {
    fn pass(
        &mut self,
        share: f64,
        (elements, nodes): (&[Range<usize>], &[Range<usize>]),
        team: &Team,
        clock: &mut Clock,
    ) {
        clock.time("elements", || {
            let parts = cut(self.volumes, elements, 1).into_iter().zip(pieces(
                again(&mut self.of_corners),
                elements,
                8,
            ));
            team.each(parts, |thread, (volumes, forces)| {
                let own = elements[thread].clone();
                let stresses = self.stresses.map(|of| &of[own.clone()]);
                let nodes = &self.nodes.as_chunks::<8>().0[own];
                corner_forces((nodes, self.positions), stresses, volumes, forces, share);
            });
        });
        clock.time("nodes", || {
            let of = self.of_corners.each_ref().map(|of| &**of);
            self.corners.write(of, &mut self.forces, nodes, team);
        });
    }

    /// The largest net force of an element, and the largest deviation of its volume from the triple
    /// product of what joins the middles of opposite sides: by a corner force, and by the volume.
    fn of_elements(&self, elements: &[Range<usize>], team: &Team) -> [f64; 2] {
        let found = team.all(|thread| {
            let mut found = [0.0; 2];
            for element in elements[thread].clone() {
                for of in &self.of_corners {
                    found[0] = larger(found[0], imbalance(&of[8 * element..8 * element + 8]));
                }
                let nodes = &self.nodes.as_chunks::<8>().0[element];
                let known = between_sides(&gather(nodes, self.positions));
                found[1] = larger(found[1], (self.volumes[element] / known - 1.0).abs());
            }
            found
        });
        [0, 1].map(|of| found.iter().map(|it| it[of]).fold(0.0, larger))
    }

    /// The largest force on an inner node, by that on one of its corners.
    fn of_inner(&self, mesh: Mesh) -> f64 {
        let mut found = 0.0;
        for node in (0..mesh.nodes()).filter(|&node| mesh.is_inner(node)) {
            let bounds = &self.corners.starts[node..node + 2];
            let own = &self.corners.list[bounds[0] as usize..bounds[1] as usize];
            for (force, of) in self.forces.iter().zip(&self.of_corners) {
                let largest = own.iter().map(|&corner| of[corner as usize].abs()).fold(0.0, larger);
                found = larger(found, force[node].abs() / largest);
            }
        }
        found
    }
}

/// The sum of these forces, by the largest.
fn imbalance(forces: &[f64]) -> f64 {
    let largest = forces.iter().map(|force| force.abs()).fold(0.0, larger);
    forces.iter().sum::<f64>().abs() / largest
}

/// The triple product of what joins the middles of opposite sides.
fn between_sides(of: &Corners) -> f64 {
    let middle = |corners: [usize; 4]| {
        of.each_ref().map(|at| corners.iter().map(|&corner| at[corner]).sum::<f64>() / 4.0)
    };
    let join = |from: [usize; 4], to: [usize; 4]| {
        let (from, to) = (middle(from), middle(to));
        [0, 1, 2].map(|axis| to[axis] - from[axis])
    };
    let a = join([0, 3, 7, 4], [1, 2, 6, 5]);
    let b = join([0, 1, 5, 4], [3, 2, 6, 7]);
    let c = join([0, 1, 2, 3], [4, 5, 6, 7]);
    (0..3).map(|i| a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3])).sum()
}

impl LuleshStress {
    pub fn new(class: Class) -> Self {
        let (mesh, passes) = Mesh::of(class);
        Self { mesh, passes, share: SHARE }
    }

    /// A cube of this many elements an edge.
    pub fn of_edge(edge: usize, passes: usize) -> Self {
        Self { mesh: Mesh { edge: edge.max(1) }, passes, share: SHARE }
    }
}

impl Program for LuleshStress {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let mesh = self.mesh;
        let elements = |name| mesh.of_elements::<f64>(name, 1, threads, false);
        let mut plans = Vec::from(mesh.of_nodes(["x", "y", "z"], threads));
        plans.push(mesh.of_elements::<u32>("nodelist", 8, threads, false));
        plans.extend(["sigxx", "sigyy", "sigzz", "determ"].map(elements));
        let corners = ["fx_elem", "fy_elem", "fz_elem"];
        plans.extend(corners.map(|name| mesh.of_elements::<f64>(name, 8, threads, true)));
        plans.extend(mesh.of_corners(threads));
        plans.extend(mesh.of_nodes(["fx", "fy", "fz"], threads));
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
        arrays.extend(["sigxx", "sigyy", "sigzz"].map(|array| passes.read(array, 8.0)));
        arrays.push(passes.written("determ", 8.0));
        let corners: [ArrayTraffic; 3] =
            ["fx_elem", "fy_elem", "fz_elem"].map(|array| passes.written(array, 64.0));
        arrays.extend(corners);
        vec![
            // For each of 6 sides 18 FLOPs to join middles and 9 for the area; on each of 3 axes 18 to add
            // shares of those up; 27 for the forces, and 62 for the volume.
            PhaseTraffic { phase: "elements", flops: (6.0 * 27.0 + 143.0) * elements, arrays },
            PhaseTraffic { phase: "nodes", flops: 24.0 * elements, arrays: passes.gathered() },
        ]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [x, y, z, list, xx, yy, zz, determ, cx, cy, cz, starts, corners, fx, fy, fz] = arrays
        else {
            unreachable!("the arrays that were planned")
        };
        let mesh = self.mesh;
        let shares = (&*team.shares(mesh.elements()), &*team.shares(mesh.nodes()));
        mesh.write(team, [&mut *x, &mut *y, &mut *z], list);
        mesh.write_corners(starts.of_mut(), corners.of_mut());
        for (array, stress) in [&mut *xx, &mut *yy, &mut *zz].into_iter().zip(STRESSES) {
            team.each(cut(array.of_mut::<f64>(), shares.0, 1), |_, own| own.fill(stress));
        }
        let mut fields = Fields {
            positions: [x, y, z].map(|array| array.of()),
            nodes: list.of(),
            stresses: [xx, yy, zz].map(|array| array.of()),
            corners: CornerList { starts: starts.of(), list: corners.of() },
            volumes: determ.of_mut(),
            of_corners: [cx, cy, cz].map(|array| array.of_mut()),
            forces: [fx, fy, fz].map(|array| array.of_mut()),
        };
        fields.pass(self.share, shares, team, clock);
        clock.start();
        for _ in 0..self.passes {
            fields.pass(self.share, shares, team, clock);
        }
        clock.stop();
        let [imbalance, volume] = fields.of_elements(shares.0, team);
        let mut checks = vec![
            Check::relative("net force of an element", 0.0, imbalance, TOLERANCE),
            Check::relative("error of an element's volume", 0.0, volume, TOLERANCE),
            Check::relative("force on an inner node", 0.0, fields.of_inner(mesh), TOLERANCE),
        ];
        // Only the sides of the cube are left of the sum of positions and forces on them.
        let virials = fields.positions.iter().zip(&fields.forces).zip(STRESSES);
        checks.extend(virials.map(|((at, force), stress)| {
            let found = at.iter().zip(&**force).map(|(at, force)| at * force).sum();
            Check::relative("virial", -stress * SIZE.powi(3), found, TOLERANCE)
        }));
        checks
    }
}

#[cfg(test)]
mod tests {
    use super::super::hexahedron::tests::some;
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_share_of_a_side_is_found() {
        let stress = LuleshStress::of_edge(5, 3);
        for threads in [1, 2, 3, 40] {
            let checks = checks_of(&stress, threads);
            assert!(is_verified(&checks), "{threads} threads: {checks:#?}");
        }
        assert!(!is_verified(&checks_of(&LuleshStress { share: 0.25 + 1e-9, ..stress }, 2)));
    }

    #[test]
    fn one_element_and_more_threads_than_planes_verify() {
        for edge in [1, 2] {
            assert!(is_verified(&checks_of(&LuleshStress::of_edge(edge, 1), 40)));
        }
    }

    #[test]
    fn each_element_has_its_own_stress() {
        let at = [some(1), some(2)];
        let positions: [Vec<f64>; 3] =
            [0, 1, 2].map(|axis| at.iter().flat_map(|at: &Corners| at[axis]).collect());
        let nodes = [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]];
        let stresses = [[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]];
        let (mut volumes, mut forces) = ([0.0; 2], [[0.0; 16]; 3]);
        let [x, y, z] = &mut forces;
        corner_forces(
            (&nodes, positions.each_ref().map(|of| &**of)),
            stresses.each_ref().map(|of| of.as_slice()),
            &mut volumes,
            [x, y, z],
            SHARE,
        );
        for element in 0..2 {
            let known = normals(&at[element], SHARE);
            for axis in 0..3 {
                for corner in 0..8 {
                    let found = forces[axis][8 * element + corner];
                    let known = -stresses[axis][element] * known[axis][corner];
                    assert!((found - known).abs() < 1e-15);
                }
            }
        }
    }
}
