//! Forces between atoms by Lennard-Jones' potential over lists of 128 neighbours; what is counted is
//! pairs of the lists.

use bytemuck::cast_slice_mut;

use super::Role::{Input, Output};
use super::{Buffer, Reference, Setup, Value, Words, index, launch, of};
use crate::content::fill_with_pattern;
use crate::device_workload::{DeviceWorkload, ProblemSize};

/// Neighbours of a list, and the square of the cutoff.
const NEIGHBOURS: usize = 128;
const CUTOFF_SQUARED: f64 = 9.0;
/// Atoms of a group.
const GROUP: usize = 64;
/// Between places of the lattice. This and what is added are multiples of 2^-10: whether two atoms are
/// within the cutoff is exact in single precision, whatever a device's rounding.
const SPACING: f32 = 1.25;
/// The most that an atom is off its place, of each coordinate, in steps of 2^-10.
const OFF: u64 = 128;

/// Places of the lattice, whose product is SHOC's number of atoms.
const LATTICES: [[usize; 3]; 4] = [[16, 24, 32], [24, 32, 32], [32, 32, 36], [32, 48, 48]];

pub(crate) fn setup(size: ProblemSize) -> Setup {
    let atoms: usize = size.of(LATTICES).iter().product();
    Setup {
        workload: DeviceWorkload::Md,
        work: (atoms * NEIGHBOURS) as f64 / 1e6,
        sources: vec![include_str!("md.cl").into()],
        needs_double: false,
        buffers: vec![
            Buffer::of::<[f32; 4]>(Input, "positions", atoms),
            Buffer::of::<u32>(Input, "neighbours", atoms * NEIGHBOURS),
            Buffer::of::<[f32; 4]>(Output, "forces", atoms),
        ],
        launches: vec![launch(c"md", (atoms / GROUP, GROUP), &[0, 1, 2].map(Value::Of))],
        result: Reference { fill, expected, found, tolerance: 1e-5 },
    }
}

fn fill(inputs: &mut [&mut [u64]]) {
    let [positions, neighbours] = inputs else { unreachable!("two inputs") };
    let positions = cast_slice_mut::<u64, [f32; 4]>(positions);
    let neighbours = cast_slice_mut::<u64, u32>(neighbours);
    let atoms = positions.len();
    let sides = LATTICES.into_iter().find(|it| it.iter().product::<usize>() == atoms);
    let sides = sides.unwrap_or_else(|| unreachable!("a lattice's atoms"));
    let mut chance = vec![0; 3 * atoms];
    fill_with_pattern(&mut chance, 0);
    let nearest = nearest_places();
    for (atom, position) in positions.iter_mut().enumerate() {
        let place = place_of(atom, sides);
        for axis in 0..3 {
            position[axis] = coordinate(place[axis], chance[3 * atom + axis]);
        }
        position[3] = 0.0;
        for (k, offset) in nearest.iter().enumerate() {
            let other = neighbour(place, *offset, sides);
            neighbours[k * atoms + atom] = index(other.unwrap_or(atom));
        }
    }
}

fn place_of(atom: usize, [x, y, _]: [usize; 3]) -> [usize; 3] {
    [atom % x, atom / x % y, atom / x / y]
}

#[expect(clippy::cast_precision_loss, reason = "small integers are exact")]
fn coordinate(place: usize, chance: u64) -> f32 {
    let steps = chance % (2 * OFF + 1);
    place as f32 * SPACING + (steps as f32 - OFF as f32) / 1024.0
}

/// The atom that is this far from a place, where the lattice has one.
fn neighbour(place: [usize; 3], offset: [isize; 3], sides: [usize; 3]) -> Option<usize> {
    let along = |axis: usize| {
        place[axis].checked_add_signed(offset[axis]).filter(|&there| there < sides[axis])
    };
    Some(along(0)? + sides[0] * (along(1)? + sides[1] * along(2)?))
}

/// The places that are nearest to one, in order.
fn nearest_places() -> Vec<[isize; 3]> {
    const FAR: isize = 4;
    let all = || -FAR..=FAR;
    let mut places: Vec<[isize; 3]> =
        all().flat_map(|x| all().flat_map(move |y| all().map(move |z| [x, y, z]))).collect();
    places.sort_by_key(|[x, y, z]| x * x + y * y + z * z);
    // The first is the place itself.
    places[1..=NEIGHBOURS].to_vec()
}

fn expected(inputs: &Words<'_>) -> Vec<f64> {
    let (positions, neighbours) = (of::<[f32; 4]>(inputs[0]), of::<u32>(inputs[1]));
    let atoms = positions.len();
    let mut forces = vec![0.0; 3 * atoms];
    for row in neighbours.chunks_exact(atoms) {
        for (atom, &other) in row.iter().enumerate() {
            let there = positions[other as usize];
            let apart: [f64; 3] = std::array::from_fn(|axis| {
                f64::from(positions[atom][axis]) - f64::from(there[axis])
            });
            let squared: f64 = apart.iter().map(|it| it * it).sum();
            if other as usize != atom && squared < CUTOFF_SQUARED {
                // -dV/dr / r of V = 4 (r^-12 - r^-6).
                let strength = 48.0 * squared.powi(-7) - 24.0 * squared.powi(-4);
                (0..3).for_each(|axis| forces[3 * atom + axis] += apart[axis] * strength);
            }
        }
    }
    forces
}

fn found(_: &Words<'_>, outputs: &Words<'_>) -> Vec<f64> {
    of::<[f32; 4]>(outputs[0]).iter().flat_map(|[x, y, z, _]| [*x, *y, *z].map(f64::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::workloads::planted::{is_right, is_seen};

    /// Of each pair that is in both lists one's force is the other's, turned round; the sum is zero.
    #[test]
    fn forces_add_up_to_nothing_and_lists_are_mutual() {
        let setup = setup(ProblemSize::ALL[0]);
        let mut inputs: Vec<Vec<u64>> =
            setup.buffers[..2].iter().map(|it| vec![0; it.bytes / 8]).collect();
        fill(&mut inputs.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        let words: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
        let forces = expected(&words);
        let largest = forces.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
        for axis in 0..3 {
            let sum: f64 = forces.iter().skip(axis).step_by(3).sum();
            assert!(sum.abs() < 1e-9 * largest * forces.len() as f64, "{sum} of {largest}");
        }
        assert!(largest > 1.0);
    }

    #[test]
    #[ignore = "needs PoCL: make devices"]
    fn it_is_right_and_a_wrong_constant_is_seen() {
        is_right(setup);
        is_seen(setup, "24.0f", "24.01f");
        is_seen(setup, "CUTOFF 3.0f", "CUTOFF 2.9f");
    }
}
