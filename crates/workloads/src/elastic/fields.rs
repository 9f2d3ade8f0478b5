//! All fields of a run: how they are set, taken a step further, and compared with what is known.

use std::ops::Range;

use super::grid::{Four, GHOST, Grid, Row, Side, difference};
use super::row::{accelerate, shear, stretch};
use super::wave::{Known, medium};
use super::{CELL, DENSITY, STEP};
use crate::arithmetic::larger;
use crate::clock::Clock;
use crate::pieces::{again, pieces};
use crate::team::Team;

/// All arrays of a run.
pub struct Fields<'a> {
    pub grid: Grid,
    pub medium: [&'a mut [f64]; 3],
    pub velocity: [&'a mut [f64]; 3],
    pub stress: [&'a mut [f64]; 6],
}

impl Fields<'_> {
    fn velocities(&mut self, rows: &[Range<usize>], team: &Team) {
        let grid = self.grid;
        let [density, ..] = &self.medium;
        let [xx, yy, zz, xy, xz, yz] = self.stress.each_ref().map(|field| &**field);
        team.each(pieces(again(&mut self.velocity), rows, grid.pitch()), |thread, own| {
            for (row, [vx, vy, vz]) in grid.rows(rows[thread].clone(), own) {
                let inner = GHOST..GHOST + grid.cells;
                let density = grid.own(density, &row);
                accelerate(
                    &mut vx[inner.clone()],
                    density,
                    [
                        grid.along_x(xx, &row, Side::Below),
                        grid.along_y(xy, &row, Side::Below),
                        grid.along_z(xz, &row, Side::Below),
                    ],
                );
                accelerate(
                    &mut vy[inner.clone()],
                    density,
                    [
                        grid.along_x(xy, &row, Side::Above),
                        grid.along_y(yy, &row, Side::Above),
                        grid.along_z(yz, &row, Side::Below),
                    ],
                );
                accelerate(
                    &mut vz[inner],
                    density,
                    [
                        grid.along_x(xz, &row, Side::Above),
                        grid.along_y(yz, &row, Side::Below),
                        grid.along_z(zz, &row, Side::Above),
                    ],
                );
                [vx, vy, vz].into_iter().for_each(|cells| grid.close(cells));
            }
        });
    }

    fn stresses(&mut self, rows: &[Range<usize>], team: &Team) {
        let grid = self.grid;
        let [_, lambda, mu] = &self.medium;
        let [vx, vy, vz] = self.velocity.each_ref().map(|field| &**field);
        team.each(pieces(again(&mut self.stress), rows, grid.pitch()), |thread, own| {
            for (row, [xx, yy, zz, xy, xz, yz]) in grid.rows(rows[thread].clone(), own) {
                let inner = GHOST..GHOST + grid.cells;
                let (lambda, mu) = (grid.own(lambda, &row), grid.own(mu, &row));
                stretch(
                    [&mut xx[inner.clone()], &mut yy[inner.clone()], &mut zz[inner.clone()]],
                    [lambda, mu],
                    [
                        grid.along_x(vx, &row, Side::Above),
                        grid.along_y(vy, &row, Side::Below),
                        grid.along_z(vz, &row, Side::Below),
                    ],
                );
                shear(
                    &mut xy[inner.clone()],
                    mu,
                    [grid.along_x(vy, &row, Side::Below), grid.along_y(vx, &row, Side::Above)],
                );
                shear(
                    &mut xz[inner.clone()],
                    mu,
                    [grid.along_x(vz, &row, Side::Below), grid.along_z(vx, &row, Side::Above)],
                );
                shear(
                    &mut yz[inner],
                    mu,
                    [grid.along_y(vz, &row, Side::Above), grid.along_z(vy, &row, Side::Above)],
                );
                [xx, yy, zz, xy, xz, yz].into_iter().for_each(|cells| grid.close(cells));
            }
        });
    }

    /// Writes the medium and the waves as they are known.
    pub fn set(&mut self, known: &Known, rows: &[Range<usize>], team: &Team) {
        let grid = self.grid;
        let [lambda, mu] = medium();
        let media = pieces(again(&mut self.medium), rows, grid.pitch()).into_iter();
        let velocities = pieces(again(&mut self.velocity), rows, grid.pitch()).into_iter();
        let stresses = pieces(again(&mut self.stress), rows, grid.pitch());
        team.each(media.zip(velocities).zip(stresses), |thread, ((media, velocity), stress)| {
            for (part, value) in media.into_iter().zip([DENSITY, lambda, mu]) {
                part.fill(value);
            }
            let fields = velocity.into_iter().chain(stress);
            for (field, part) in fields.enumerate() {
                for (row, [cells]) in grid.rows(rows[thread].clone(), [part]) {
                    known.row(field, row.at, |k, value| cells[GHOST + k] = value);
                    grid.close(cells);
                }
            }
        });
    }

    /// The largest deviation of velocities and of stresses from what is known, by the amplitudes.
    pub fn deviations(&self, known: &Known, rows: &[Range<usize>], team: &Team) -> [f64; 2] {
        let fields = || self.velocity.iter().chain(&self.stress).enumerate();
        let of_threads = team.all(|thread| {
            let mut found = [0.0; 2];
            for (field, values) in fields() {
                let largest_of = &mut found[usize::from(field >= 3)];
                let amplitude = known.amplitude(field);
                for row in rows[thread].clone() {
                    let row = self.grid.row(row);
                    let cells = self.grid.own(values, &row);
                    known.row(field, row.at, |k, value| {
                        let apart = (cells[k] - value).abs() / amplitude;
                        *largest_of = larger(*largest_of, apart);
                    });
                }
            }
            found
        });
        [0, 1].map(|of| of_threads.iter().map(|it| it[of]).fold(0.0, larger))
    }

    /// What the discrete equations conserve: v and v at the same time, and stresses of half a step
    /// before and after it.
    pub fn energy(&self, rows: &[Range<usize>], team: &Team) -> f64 {
        let of_threads: Vec<f64> = team.all(|thread| {
            let own = rows[thread].clone();
            own.map(|row| self.row_energy(&self.grid.row(row))).sum()
        });
        of_threads.into_iter().sum()
    }

    fn row_energy(&self, row: &Row) -> f64 {
        let grid = self.grid;
        let [lambda, mu] = medium();
        let [vx, vy, vz] = self.velocity.each_ref().map(|field| &**field);
        let velocity = [vx, vy, vz].map(|field| grid.own(field, row));
        let stress = self.stress.each_ref().map(|field| grid.own(field, row));
        let strains = [
            vec![grid.along_x(vx, row, Side::Above)],
            vec![grid.along_y(vy, row, Side::Below)],
            vec![grid.along_z(vz, row, Side::Below)],
            vec![grid.along_x(vy, row, Side::Below), grid.along_y(vx, row, Side::Above)],
            vec![grid.along_x(vz, row, Side::Below), grid.along_z(vx, row, Side::Above)],
            vec![grid.along_y(vz, row, Side::Above), grid.along_z(vy, row, Side::Above)],
        ];
        let energy = |k: usize| {
            let motion: f64 = velocity.iter().map(|row| DENSITY * row[k] * row[k]).sum();
            let trace: f64 = stress[..3].iter().map(|row| row[k]).sum();
            let square = |of: &[&[f64]]| of.iter().map(|row| row[k] * row[k]).sum::<f64>();
            let compliance = square(&stress[..3]) / (2.0 * mu)
                - lambda * trace * trace / (2.0 * mu * (3.0 * lambda + 2.0 * mu))
                + square(&stress[3..]) / mu;
            // Half a step before, the stresses were less by the strains of the step.
            let strain = |of: &Vec<Four<'_>>| of.iter().map(|it| difference(*it, k)).sum::<f64>();
            let step: f64 =
                strains.iter().zip(stress).map(|(of, row)| strain(of) * row[k]).sum::<f64>();
            0.5 * (motion + compliance - STEP / CELL * step)
        };
        (0..grid.cells).map(energy).sum()
    }

    pub fn step(&mut self, rows: &[Range<usize>], team: &Team, clock: &mut Clock) {
        clock.time("velocity", || self.velocities(rows, team));
        clock.time("stress", || self.stresses(rows, team));
    }
}
