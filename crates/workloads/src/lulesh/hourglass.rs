//! The corner forces that resist an element's hourglass modes, and their sums in nodes
//! (`CalcFBHourglassForceForElems`). Bound by the streams of what hourglass control filled, 48 numbers
//! an element, and of corner forces.

use std::ops::Range;

use super::TOLERANCE;
use super::corners::CornerList;
use super::fill::{Filled, NAMES, write_volumes};
use super::hexahedron::{Corners, gather};
use super::mesh::{Mesh, shaken};
use crate::arithmetic::{larger, real};
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::pieces::{again, pieces};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

/// How a hexahedron's corners move in each mode that changes neither its volume nor its mean strain.
const MODES: [[f64; 8]; 4] = [
    [1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0],
    [1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0],
];

/// LULESH's `hgcoef`.
const RESISTANCE: f64 = 3.0;

/// Velocities of the second field, and how they change along each axis.
const LINEAR: [[f64; 4]; 3] =
    [[0.25, 1.0, -0.5, 0.75], [-0.5, 0.5, 1.25, -1.0], [1.0, -0.75, 0.25, 0.5]];

/// The hourglass loop of LULESH.
#[derive(Debug, Clone, Copy)]
pub struct LuleshHourglass {
    mesh: Mesh,
    passes: usize,
    /// `RESISTANCE`, where the result is right.
    resistance: f64,
}

/// What an element resists by: its volume, the speed of sound in it, and its mass.
#[derive(Clone, Copy)]
struct Matter<'a> {
    volumes: &'a [f64],
    speeds: &'a [f64],
    masses: &'a [f64],
}

impl<'a> Matter<'a> {
    fn part(&self, range: Range<usize>) -> Self {
        let of = |all: &'a [f64]| &all[range.clone()];
        Self { volumes: of(self.volumes), speeds: of(self.speeds), masses: of(self.masses) }
    }

    #[inline(always)]
    fn coefficient(&self, element: usize, resistance: f64) -> f64 {
        -0.01 * resistance * self.speeds[element] * self.masses[element]
            / self.volumes[element].cbrt()
    }
}

/// All arrays of a run.
struct Fields<'a> {
    nodes: &'a [u32],
    velocities: [&'a mut [f64]; 3],
    matter: Matter<'a>,
    /// As in `NAMES`.
    filled: [&'a [f64]; 6],
    corners: CornerList<'a>,
    of_corners: [&'a mut [f64]; 3],
    forces: [&'a mut [f64]; 3],
}

#[inline(always)]
fn product(a: &[f64; 8], b: &[f64; 8]) -> f64 {
    // Pairs of corners have a sum each.
    let of = |at: usize| a[at] * b[at] + a[at + 2] * b[at + 2];
    (of(0) + of(4)) + (of(1) + of(5))
}

/// How corners move in a mode, without what of it is a change of volume or strain.
#[inline(always)]
fn shape(
    mode: &[f64; 8],
    [x, y, z]: [&[f64; 8]; 3],
    [dx, dy, dz]: [&[f64; 8]; 3],
    per_volume: f64,
) -> [f64; 8] {
    let (by_x, by_y, by_z) = (
        per_volume * product(mode, x),
        per_volume * product(mode, y),
        per_volume * product(mode, z),
    );
    let mut shape = [0.0; 8];
    for corner in 0..8 {
        shape[corner] = mode[corner] - (dx[corner] * by_x + dy[corner] * by_y + dz[corner] * by_z);
    }
    shape
}

/// The corner forces along an axis.
#[inline(always)]
fn force(modes: &[[f64; 8]; 4], velocity: &[f64; 8], coefficient: f64) -> [f64; 8] {
    let size = |mode: usize| coefficient * product(&modes[mode], velocity);
    let sizes = [size(0), size(1), size(2), size(3)];
    let mut force = [0.0; 8];
    for corner in 0..8 {
        force[corner] = (modes[0][corner] * sizes[0] + modes[1][corner] * sizes[1])
            + (modes[2][corner] * sizes[2] + modes[3][corner] * sizes[3]);
    }
    force
}

/// The corner forces of some elements.
#[inline(never)]
fn resist(
    (nodes, velocities): (&[[u32; 8]], [&[f64]; 3]),
    matter: Matter<'_>,
    filled: [&[f64]; 6],
    forces: [&mut [f64]; 3],
    resistance: f64,
) {
    let all = nodes.len();
    let matter = matter.part(0..all);
    let [x, y, z, dx, dy, dz] = filled.map(|of| &of.as_chunks::<8>().0[..all]);
    let [fx, fy, fz] = forces.map(|of| &mut of.as_chunks_mut::<8>().0[..all]);
    for (element, nodes) in nodes.iter().enumerate() {
        let coefficient = matter.coefficient(element, resistance);
        let per_volume = 1.0 / matter.volumes[element];
        let at = [&x[element], &y[element], &z[element]];
        let gradient = [&dx[element], &dy[element], &dz[element]];
        // One after another: in a loop, signs would not be known to the compiler.
        let modes = [
            shape(&MODES[0], at, gradient, per_volume),
            shape(&MODES[1], at, gradient, per_volume),
            shape(&MODES[2], at, gradient, per_volume),
            shape(&MODES[3], at, gradient, per_volume),
        ];
        let velocity = gather(nodes, velocities);
        fx[element] = force(&modes, &velocity[0], coefficient);
        fy[element] = force(&modes, &velocity[1], coefficient);
        fz[element] = force(&modes, &velocity[2], coefficient);
    }
}

/// What forces are known to be, all elements of a thread or of all.
#[derive(Default)]
struct Found {
    /// The rate at which hourglass modes lose energy.
    power: f64,
    /// Elements that gain some.
    gain: u64,
    /// The largest net force of an element, by its largest corner force.
    imbalance: f64,
}

impl Fields<'_> {
    fn pass(
        &mut self,
        resistance: f64,
        (elements, nodes): (&[Range<usize>], &[Range<usize>]),
        team: &Team,
        clock: &mut Clock,
    ) {
        clock.time("elements", || {
            let velocities = self.velocities.each_ref().map(|of| &**of);
            team.each(pieces(again(&mut self.of_corners), elements, 8), |thread, forces| {
                let own = elements[thread].clone();
                let filled = self.filled.map(|of| &of[8 * own.start..8 * own.end]);
                let matter = self.matter.part(own.clone());
                let nodes = &self.nodes.as_chunks::<8>().0[own];
                resist((nodes, velocities), matter, filled, forces, resistance);
            });
        });
        clock.time("nodes", || {
            let of = self.of_corners.each_ref().map(|of| &**of);
            self.corners.add(of, &mut self.forces, nodes, team);
        });
    }

    fn corners<'b>(of: &[&'b [f64]], element: usize) -> [&'b [f64; 8]; 3] {
        [0, 1, 2].map(|axis| &of[axis].as_chunks::<8>().0[element])
    }

    /// The power by the modes of what is left of velocities without their mean gradient.
    fn power(&self, element: usize, velocity: &Corners) -> f64 {
        let at = Self::corners(&self.filled[..3], element);
        let gradient = Self::corners(&self.filled[3..], element);
        let volume = self.matter.volumes[element];
        let of_axis = |velocity: &[f64; 8]| -> f64 {
            let mean = gradient.map(|gradient| {
                let product = |(velocity, part): (&f64, &f64)| velocity * part;
                velocity.iter().zip(gradient).map(product).sum::<f64>() / volume
            });
            let rest: [f64; 8] = std::array::from_fn(|corner| {
                let linear: f64 = (0..3).map(|axis| mean[axis] * at[axis][corner]).sum();
                velocity[corner] - linear
            });
            let size = |mode: &[f64; 8]| {
                mode.iter().zip(&rest).map(|(mode, rest)| mode * rest).sum::<f64>()
            };
            MODES.iter().map(|mode| size(mode).powi(2)).sum()
        };
        self.matter.coefficient(element, RESISTANCE) * velocity.iter().map(of_axis).sum::<f64>()
    }

    fn of_elements(&self, elements: &[Range<usize>], team: &Team) -> Found {
        let velocities = self.velocities.each_ref().map(|of| &**of);
        let forces = self.of_corners.each_ref().map(|of| &**of);
        let found = team.all(|thread| {
            let mut found = Found::default();
            for element in elements[thread].clone() {
                let velocity = gather(&self.nodes.as_chunks::<8>().0[element], velocities);
                found.power += self.power(element, &velocity);
                let forces = Self::corners(&forces, element);
                let mut power = 0.0;
                for (velocity, force) in velocity.iter().zip(forces) {
                    power += velocity.iter().zip(force).map(|(v, f)| v * f).sum::<f64>();
                    let largest = force.iter().map(|force| force.abs()).fold(0.0, larger);
                    let sum = force.iter().sum::<f64>().abs() / largest;
                    found.imbalance = larger(found.imbalance, sum);
                }
                found.gain += u64::from(power > 0.0 || power.is_nan());
            }
            found
        });
        found.into_iter().fold(Found::default(), |all, it| Found {
            power: all.power + it.power,
            gain: all.gain + it.gain,
            imbalance: larger(all.imbalance, it.imbalance),
        })
    }

    /// The rate at which nodes' forces change energy.
    fn nodes_power(&self) -> f64 {
        let products = self.velocities.iter().zip(&self.forces);
        products.map(|(of, by)| of.iter().zip(&**by).map(|(v, f)| v * f).sum::<f64>()).sum()
    }

    /// The largest corner force, by what a velocity of 1 at one corner would cause.
    fn largest_force(&self, elements: &[Range<usize>], team: &Team) -> f64 {
        let forces = self.of_corners.each_ref().map(|of| &**of);
        let found = team.all(|thread| {
            let of_element = |element: usize| {
                let by = self.matter.coefficient(element, RESISTANCE).abs();
                let forces = Self::corners(&forces, element).into_iter().flatten();
                forces.map(|force| force.abs() / by).fold(0.0, larger)
            };
            elements[thread].clone().map(of_element).fold(0.0, larger)
        });
        found.into_iter().fold(0.0, larger)
    }

    fn set_velocities(
        &mut self,
        nodes: &[Range<usize>],
        team: &Team,
        velocity: impl Fn(usize, usize) -> f64 + Sync,
    ) {
        team.each(pieces(again(&mut self.velocities), nodes, 1), |thread, own| {
            for (axis, own) in own.into_iter().enumerate() {
                let own = own.iter_mut().zip(nodes[thread].clone());
                own.for_each(|(own, node)| *own = velocity(node, axis));
            }
        });
    }
}

impl LuleshHourglass {
    pub fn new(class: Class) -> Self {
        let (mesh, passes) = Mesh::of(class);
        Self { mesh, passes, resistance: RESISTANCE }
    }

    /// A cube of this many elements an edge.
    pub fn of_edge(edge: usize, passes: usize) -> Self {
        Self { mesh: Mesh { edge: edge.max(1) }, passes, resistance: RESISTANCE }
    }
}

impl Program for LuleshHourglass {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let mesh = self.mesh;
        let mut plans = Vec::from(mesh.of_nodes(["x", "y", "z", "xd", "yd", "zd"], threads));
        plans.push(mesh.of_elements::<u32>("nodelist", 8, threads, false));
        let elements = |name| mesh.of_elements::<f64>(name, 1, threads, false);
        plans.extend(["volo", "v", "determ", "ss", "elemMass"].map(elements));
        let corners = |name| mesh.of_elements::<f64>(name, 8, threads, true);
        plans.extend(NAMES.map(corners));
        plans.extend(["fx_elem", "fy_elem", "fz_elem"].map(corners));
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
        let mut arrays = Vec::from(passes.of_nodes(["xd", "yd", "zd"]));
        arrays.push(passes.read("nodelist", 32.0));
        arrays.extend(["determ", "ss", "elemMass"].map(|array| passes.read(array, 8.0)));
        arrays.extend(NAMES.map(|array| passes.read(array, 64.0)));
        let corners = ["fx_elem", "fy_elem", "fz_elem"];
        arrays.extend(corners.map(|array| passes.written(array, 64.0)));
        // Of each of 4 modes 3 x 8 for what positions have of it, 48 for its shape; on each of 3 axes
        // 4 x 16 for what velocities have of it and 56 for forces; the coefficient.
        let flops = (4.0 * (24.0 + 48.0) + 3.0 * (64.0 + 56.0) + 6.0) * elements;
        vec![
            PhaseTraffic { phase: "elements", flops, arrays },
            PhaseTraffic { phase: "nodes", flops: 24.0 * elements, arrays: passes.gathered() },
        ]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let (nodes, elements) = arrays.split_at_mut(6);
        let [x, y, z, xd, yd, zd] = nodes else { unreachable!("the arrays that were planned") };
        let (elements, nodes) = elements.split_at_mut(12);
        let [list, first, relative, determ, ss, mass, x8, y8, z8, dx, dy, dz] = elements else {
            unreachable!("the arrays that were planned")
        };
        let [cx, cy, cz, starts, corners, fx, fy, fz] = nodes else {
            unreachable!("the arrays that were planned")
        };
        let mesh = self.mesh;
        let shares = (&*team.shares(mesh.elements()), &*team.shares(mesh.nodes()));
        mesh.write(team, [&mut *x, &mut *y, &mut *z], list);
        mesh.write_corners(starts.of_mut(), corners.of_mut());
        let (nodes, positions) = (list.of::<u32>(), [x, y, z].map(|array| array.of::<f64>()));
        let volumes = [&mut *first, &mut *relative].map(|array| array.of_mut());
        write_volumes((nodes, positions), volumes, shares.0, team);
        Filled {
            positions,
            nodes,
            volumes: [&*first, &*relative].map(|array| array.of()),
            now: determ.of_mut(),
            of_corners: [&mut *x8, &mut *y8, &mut *z8, &mut *dx, &mut *dy, &mut *dz]
                .map(|array| array.of_mut()),
        }
        .fill(shares.0, team);
        // Matter of density 1.
        mass.of_mut::<f64>().copy_from_slice(first.of());
        team.each(cut(ss.of_mut::<f64>(), shares.0, 1), |thread, own| {
            let own = own.iter_mut().zip(shares.0[thread].clone());
            own.for_each(|(own, element)| *own = 1.0 + 0.5 * shaken(element));
        });
        let mut fields = Fields {
            nodes,
            velocities: [xd, yd, zd].map(|array| array.of_mut()),
            matter: Matter { volumes: determ.of(), speeds: ss.of(), masses: mass.of() },
            filled: [x8, y8, z8, dx, dy, dz].map(|array| array.of()),
            corners: CornerList { starts: starts.of(), list: corners.of() },
            of_corners: [cx, cy, cz].map(|array| array.of_mut()),
            forces: [fx, fy, fz].map(|array| array.of_mut()),
        };
        // A linear field first, that has none of the modes.
        fields.set_velocities(shares.1, team, |node, axis| {
            let [constant, by @ ..] = LINEAR[axis];
            constant + (0..3).map(|axis| by[axis] * positions[axis][node]).sum::<f64>()
        });
        fields.pass(self.resistance, shares, team, clock);
        let of_linear = fields.largest_force(shares.0, team);
        fields.set_velocities(shares.1, team, |node, axis| shaken(3 * node + axis));
        for forces in again(&mut fields.forces) {
            team.each(cut(forces, shares.1, 1), |_, own| own.fill(0.0));
        }
        clock.start();
        for _ in 0..self.passes {
            fields.pass(self.resistance, shares, team, clock);
        }
        clock.stop();
        let found = fields.of_elements(shares.0, team);
        let power = real(self.passes) * found.power;
        vec![
            Check::relative("forces of a linear field", 0.0, of_linear, TOLERANCE),
            Check::relative("net force of an element", 0.0, found.imbalance, TOLERANCE),
            Check::exact("elements that gain energy", 0, found.gain),
            Check::relative("power, of all passes", power, fields.nodes_power(), TOLERANCE),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_coefficient_is_found() {
        let hourglass = LuleshHourglass::of_edge(5, 3);
        for threads in [1, 2, 3, 40] {
            let checks = checks_of(&hourglass, threads);
            assert!(is_verified(&checks), "{threads} threads: {checks:#?}");
        }
        assert!(!is_verified(&checks_of(
            &LuleshHourglass { resistance: 3.000_001, ..hourglass },
            2
        )));
    }

    #[test]
    fn one_element_and_more_threads_than_planes_verify() {
        for edge in [1, 2] {
            assert!(is_verified(&checks_of(&LuleshHourglass::of_edge(edge, 1), 40)));
        }
    }

    #[test]
    fn modes_are_apart_from_one_another_and_from_what_moves_all_corners_alike() {
        for (at, mode) in MODES.iter().enumerate() {
            assert!(mode.iter().sum::<f64>().abs() < 1e-15);
            for other in &MODES[..at] {
                assert!(product(mode, other).abs() < 1e-15);
            }
        }
    }
}
