//! Elastic waves in three dimensions: velocities and stresses on grids that are staggered by half a
//! cell, differences of fourth order in space and leaps of second order in time, on a periodic
//! homogeneous grid. Bound by the streams of its arrays: half a FLOP a byte. Every thread comes back
//! to the same pages.
//!
//! Source: the kernel of Ondes 3D without its absorbing layers and sources; ribeiro2010, figures 6
//! to 9. The medium is read at each cell as it is, without means over neighbours.

mod fields;
mod grid;
mod row;
mod wave;

use fields::Fields;
use grid::Grid;
use wave::Known;

use crate::arithmetic::real;
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::size::Class;
use crate::team::Team;
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;

const NAMES: [&str; 12] =
    ["rho", "lambda", "mu", "vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"];

/// Weights of the differences to the nearest and to the next neighbours.
const NEAR: f64 = 9.0 / 8.0;
const FAR: f64 = 1.0 / 24.0;

/// Edge of a cell in m.
const CELL: f64 = 200.0;

/// kg/m^3.
const DENSITY: f64 = 2700.0;

/// Speeds of pressure and shear waves, m/s.
const SPEEDS: [f64; 2] = [6000.0, 3460.0];

/// Seconds a step: nine tenths of the longest that is stable.
const STEP: f64 = 0.9 * 0.4949 * CELL / SPEEDS[0];

/// Of the amplitude.
const TOLERANCE: f64 = 1e-10;

const ENERGY_TOLERANCE: f64 = 1e-12;

/// Elastic waves of a class.
#[derive(Debug, Clone, Copy)]
pub struct Elastic {
    /// Cells an edge.
    cells: usize,
    steps: usize,
    /// What the result is compared with goes by these speeds; the medium's are `SPEEDS`.
    speeds: [f64; 2],
}

impl Elastic {
    pub fn new(class: Class) -> Self {
        let (cells, steps) = match class {
            Class::S => (24, 100),
            Class::W => (64, 50),
            Class::A => (128, 30),
            Class::B => (192, 20),
            Class::C => (288, 20),
        };
        Self { cells, steps, speeds: SPEEDS }
    }
}

impl Program for Elastic {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let rows = (self.cells * self.cells, Grid { cells: self.cells }.pitch());
        NAMES.map(|name| ArrayPlan::shared::<f64>(name, rows, threads, true)).into()
    }

    fn work(&self) -> f64 {
        real(self.cells).powi(3) * real(self.steps) / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mcell-step"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let cells = real(self.cells).powi(3) * real(self.steps);
        let pitch = real(Grid { cells: self.cells }.pitch());
        let array = 8.0 * real(self.cells).powi(2) * pitch;
        let plane = array / real(self.cells);
        let steps = real(self.steps);
        let passes = if 12.0 * array <= cache_bytes { 0.0 } else { steps };
        // Three arrays are differenced across planes: each of their planes is read for four planes of
        // the result, one after another, and is to stay meanwhile.
        let across = |others: f64| {
            let fits = (3.0 * 4.0 + others) * plane <= cache_bytes;
            [passes, if fits { passes } else { 4.0 * passes }]
        };
        let (velocity, stress) = (across(7.0), across(8.0));
        let read = |name, passes| ArrayTraffic::read(name, passes * array);
        let written = |name, passes| ArrayTraffic::written(name, passes * array);
        vec![
            PhaseTraffic {
                phase: "velocity",
                flops: 57.0 * cells,
                arrays: vec![
                    read("rho", velocity[0]),
                    written("vx", velocity[0]),
                    written("vy", velocity[0]),
                    written("vz", velocity[0]),
                    read("sxx", velocity[1]),
                    read("syy", velocity[0]),
                    read("szz", velocity[0]),
                    read("sxy", velocity[1]),
                    read("sxz", velocity[1]),
                    read("syz", velocity[0]),
                ],
            },
            PhaseTraffic {
                phase: "stress",
                flops: 66.0 * cells,
                arrays: vec![
                    read("lambda", stress[0]),
                    read("mu", stress[0]),
                    read("vx", stress[1]),
                    read("vy", stress[1]),
                    read("vz", stress[1]),
                    written("sxx", stress[0]),
                    written("syy", stress[0]),
                    written("szz", stress[0]),
                    written("sxy", stress[0]),
                    written("sxz", stress[0]),
                    written("syz", stress[0]),
                ],
            },
        ]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [rho, lambda, mu, vx, vy, vz, xx, yy, zz, xy, xz, yz] = arrays else {
            unreachable!("the arrays that were planned")
        };
        let rows = &team.shares(self.cells * self.cells);
        let mut fields = Fields {
            grid: Grid { cells: self.cells },
            medium: [rho, lambda, mu].map(|array| array.of_mut()),
            velocity: [vx, vy, vz].map(|array| array.of_mut()),
            stress: [xx, yy, zz, xy, xz, yz].map(|array| array.of_mut()),
        };
        let at_first = Known::after(0, self.cells, self.speeds);
        fields.set(&at_first, rows, team);
        fields.step(rows, team, clock);
        fields.set(&at_first, rows, team);
        let energy = fields.energy(rows, team);
        clock.start();
        for _ in 0..self.steps {
            fields.step(rows, team, clock);
        }
        clock.stop();
        let at_last = Known::after(self.steps, self.cells, self.speeds);
        let [velocity, stress] = fields.deviations(&at_last, rows, team);
        vec![
            Check::relative("error of the velocities", 0.0, velocity, TOLERANCE),
            Check::relative("error of the stresses", 0.0, stress, TOLERANCE),
            Check::relative("energy", energy, fields.energy(rows, team), ENERGY_TOLERANCE),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_speed_is_found() {
        let elastic = Elastic { steps: 20, ..Elastic::new(Class::S) };
        let checks = checks_of(&elastic, 2);
        assert!(is_verified(&checks), "{checks:?}");
        for speeds in [[6000.0, 3461.0], [5999.0, 3460.0]] {
            assert!(!is_verified(&checks_of(&Elastic { speeds, ..elastic }, 2)));
        }
    }

    #[test]
    fn more_threads_than_rows_do_no_harm() {
        let elastic = Elastic { cells: 4, ..Elastic::new(Class::S) };
        let checks = checks_of(&elastic, 17);
        assert!(is_verified(&checks), "{checks:?}");
    }
}
