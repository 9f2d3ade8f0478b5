//! Plane waves that the discrete equations solve.

use std::f64::consts::PI;

use super::{CELL, DENSITY, FAR, NEAR, SPEEDS, STEP};
use crate::arithmetic::real;

/// Lame's parameters of the medium.
pub fn medium() -> [f64; 2] {
    let [pressure, shear] = SPEEDS.map(|speed| DENSITY * speed * speed);
    [pressure - 2.0 * shear, shear]
}

/// Where a field is known within a cell, in half cells.
const PLACES: [[usize; 3]; 9] = [
    [0, 0, 0],
    [1, 1, 0],
    [1, 0, 1],
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 1],
];

/// A plane wave of the discrete equations.
struct Wave {
    /// Periods along each axis.
    periods: [usize; 3],
    frequency: f64,
    /// Of the nine fields.
    amplitudes: [f64; 9],
}

impl Wave {
    /// A wave whose direction of motion is that of its wave vector, or across to it.
    fn new(cells: usize, periods: [usize; 3], speed: f64, is_shear: bool) -> Self {
        let half = |periods: usize| PI * real(periods) / real(cells);
        let along = periods.map(|periods| {
            2.0 * (NEAR * half(periods).sin() - FAR * (3.0 * half(periods)).sin()) / CELL
        });
        let length = norm(along);
        let motion = if is_shear { [along[1], -along[0], 0.0] } else { along };
        let size = norm(motion);
        let motion = motion.map(|part| part / size);
        let frequency = 2.0 / STEP * (speed * STEP * length / 2.0).asin();
        let rate = 2.0 / STEP * (frequency * STEP / 2.0).sin();
        let [lambda, mu] = medium();
        let divergence: f64 = along.iter().zip(motion).map(|(along, motion)| along * motion).sum();
        let stress = |i: usize, j: usize| {
            let diagonal = if i == j { lambda * divergence } else { 0.0 };
            -(diagonal + mu * (along[i] * motion[j] + along[j] * motion[i])) / rate
        };
        let [vx, vy, vz] = motion;
        let amplitudes = [
            vx,
            vy,
            vz,
            stress(0, 0),
            stress(1, 1),
            stress(2, 2),
            stress(0, 1),
            stress(0, 2),
            stress(1, 2),
        ];
        Self { periods, frequency, amplitudes }
    }
}

fn norm(of: [f64; 3]) -> f64 {
    of.iter().map(|part| part * part).sum::<f64>().sqrt()
}

/// Waves at a time: what each adds to a field is looked up by its phase in half cells.
pub struct Known {
    cells: usize,
    waves: Vec<(Wave, [Vec<f64>; 2])>,
}

impl Known {
    /// The waves after some steps: velocities there, stresses half a step later.
    pub fn after(steps: usize, cells: usize, speeds: [f64; 2]) -> Self {
        let waves = [
            Wave::new(cells, [1, 2, 1], speeds[0], false),
            Wave::new(cells, [2, 1, 3], speeds[1], true),
        ];
        let table = |wave: &Wave, time: f64| {
            (0..2 * cells)
                .map(|phase| (PI * real(phase) / real(cells) - wave.frequency * time).cos())
                .collect()
        };
        let time = STEP * real(steps);
        let waves = waves.map(|wave| {
            let tables = [table(&wave, time), table(&wave, time + STEP / 2.0)];
            (wave, tables)
        });
        Self { cells, waves: waves.into() }
    }

    /// Calls `take` with each cell of a field's row and what is known of it.
    pub fn row(&self, field: usize, (i, j): (usize, usize), mut take: impl FnMut(usize, f64)) {
        let [x, y, z] = PLACES[field];
        for k in 0..self.cells {
            let value = |(wave, tables): &(Wave, [Vec<f64>; 2])| {
                let [of_x, of_y, of_z] = wave.periods;
                let phase = of_x * (2 * i + x) + of_y * (2 * j + y) + of_z * (2 * k + z);
                let table = &tables[usize::from(field >= 3)];
                wave.amplitudes[field] * table[phase % (2 * self.cells)]
            };
            take(k, self.waves.iter().map(value).sum());
        }
    }

    /// Largest amplitude of a field.
    pub fn amplitude(&self, field: usize) -> f64 {
        self.waves.iter().map(|(wave, _)| wave.amplitudes[field].abs()).sum()
    }
}
