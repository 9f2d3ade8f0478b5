//! The right side: charges at the places of the extreme random numbers.

use super::grid::Grid;
use crate::nas_random::{NasRandom, SEED};
use crate::team::Team;

/// Points of charge +1, and as many of -1.
const CHARGES: usize = 10;

/// A value and its place in the cube.
type Placed = (f64, usize);

/// Writes v: of random numbers on the grid the places of the largest get +1, of the smallest -1.
pub fn charge(grid: &Grid, v: &mut [f64], team: &Team) {
    let per_plane = grid.points * grid.points;
    let of_threads = team.all(|thread| {
        let planes = grid.planes[thread].clone();
        let mut random = NasRandom::new(SEED).after((planes.start * per_plane) as u64);
        let (mut largest, mut smallest) = (Vec::new(), Vec::new());
        for place in planes.start * per_plane..planes.end * per_plane {
            let value = random.draw();
            keep(&mut largest, (value, place));
            keep(&mut smallest, (-value, place));
        }
        [largest, smallest]
    });
    v.fill(0.0);
    for (which, charge) in [1.0, -1.0].into_iter().enumerate() {
        let mut of_all: Vec<Placed> = Vec::new();
        let found = of_threads.iter().flat_map(|found| &found[which]);
        found.for_each(|&placed| keep(&mut of_all, placed));
        for (_, place) in of_all {
            let (row, place) = (place / grid.points, place % grid.points);
            let row = &mut v[row * grid.row_len()..(row + 1) * grid.row_len()];
            row[place + 1] = charge;
            row[0] = row[grid.points];
            row[grid.points + 1] = row[1];
        }
    }
}

/// Keeps the largest ones, in ascending order.
fn keep(largest: &mut Vec<Placed>, (value, place): Placed) {
    if largest.len() == CHARGES && value <= largest[0].0 {
        return;
    }
    let at = largest.partition_point(|known| known.0 < value);
    largest.insert(at, (value, place));
    if largest.len() > CHARGES {
        largest.remove(0);
    }
}
