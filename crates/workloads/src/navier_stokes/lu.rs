//! LU: a flow by symmetric successive over-relaxation: a sweep over all cells from one corner of the
//! cube to the other, and one back, in which each cell waits for its three neighbours. Bound by the
//! blocks of 5 by 5 of a plane, which are made, kept and then used, their arithmetic, and how fast a thread
//! learns that the one before it has done a plane.
//!
//! Source: NAS Parallel Benchmarks 3.4, LU; braithwaite2012, figures 6.3 and 6.4.

use super::known;
use super::rhs::Flow;
use super::sweep::{CellBlocks, OVER_RELAXATION, Sweep};
use super::traffic::{Loops, Names};
use super::{C2, Case, Cell, Grid, real};
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::size::Class;
use crate::team::Team;
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

const TOLERANCE: f64 = 1e-8;

/// Fields of the state.
const FIELDS: usize = 2;

/// LU of a class.
#[derive(Debug, Clone, Copy)]
pub struct Lu {
    case: Case,
    /// Of the pressure over a surface.
    integral: f64,
}

impl Lu {
    pub fn new(class: Class) -> Self {
        let (n, dt, steps) = match class {
            Class::S => (12, 0.5, 50),
            Class::W => (33, 0.0015, 300),
            Class::A => (64, 2.0, 250),
            Class::B => (102, 2.0, 250),
            Class::C => (162, 2.0, 250),
        };
        let (residual, error) = known::of_lu(class);
        let case = Case { grid: Grid::new(n), dt, steps, residual, error };
        Self { case, integral: known::integral(class) }
    }

    /// It by another number of steps, of which no result is known.
    pub fn of_steps(self, steps: usize) -> Self {
        Self { case: Case { steps, ..self.case }, ..self }
    }

    /// A step from its right-hand side to that of the next.
    fn step(
        flow: &mut Flow<'_, FIELDS>,
        blocks: &mut [CellBlocks],
        team: &Team,
        clock: &mut Clock,
    ) {
        let fields = flow.fields.each_ref().map(|field| &**field);
        let sweep = Sweep::new(flow.case, &flow.planes, flow.u, fields);
        let change = &mut *flow.change;
        clock.time("blts", || sweep.forward(change, blocks, team));
        clock.time("buts", || sweep.backward(change, blocks, team));
        let times = 1.0 / (OVER_RELAXATION * (2.0 - OVER_RELAXATION));
        clock.time("add", || flow.add(times, team));
        clock.time("rhs", || flow.right_hand_side(team));
    }
}

/// The integral of the pressure over the faces of a box within the cube.
fn integral_of_pressure(grid: Grid, u: &[Cell]) -> f64 {
    let pressure = |[i, j, k]: [usize; 3]| {
        let [density, x, y, z, energy] = u[grid.at(i, j, k)];
        C2 * (energy - 0.5 * (x * x + y * y + z * z) / density)
    };
    // First and last place in x, y and z.
    let faces = [[1, grid.n - 2], [1, grid.n - 3], [2, grid.n - 2]];
    let mut sum = 0.0;
    for across in 0..3 {
        let (a, b) = ((across + 1) % 3, (across + 2) % 3);
        for on in faces[across] {
            for at_a in faces[a][0]..faces[a][1] {
                for at_b in faces[b][0]..faces[b][1] {
                    for (step_a, step_b) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let mut place = [0; 3];
                        (place[across], place[a], place[b]) = (on, at_a + step_a, at_b + step_b);
                        sum += pressure(place);
                    }
                }
            }
        }
    }
    0.25 * sum * grid.spacing().powi(2)
}

impl Program for Lu {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let grid = self.case.grid;
        vec![
            grid.plan::<Cell>("u", threads, true),
            grid.plan::<Cell>("rsd", threads, true),
            grid.plan::<Cell>("frct", threads, true),
            grid.plan::<f64>("rho_i", threads, false),
            grid.plan::<f64>("qs", threads, false),
            grid.plan_of_plane::<CellBlocks>("cjac", threads, true),
        ]
    }

    fn work(&self) -> f64 {
        let n = real(self.case.grid.n);
        let step = 1984.77 * n.powi(3) - 10_923.3 * n.powi(2) + 27_770.9 * n - 144_010.0;
        real(self.case.steps) * step / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let names = Names { change: "rsd", forcing: "frct", fields: &["rho_i", "qs"] };
        let loops = Loops { case: self.case, names, cache_bytes };
        let [state, rhs] = loops.right_hand_side();
        let there = loops.sweep("blts", 471.0);
        let back = loops.sweep("buts", 476.0).back();
        let step = [there, back, loops.add(), state.clone(), rhs.clone()];
        loops.steps(&step, &[state, rhs])
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [u, change, forcing, volume, kinetic, blocks] = arrays else {
            unreachable!("the arrays that were planned")
        };
        let flow = &mut Flow {
            case: self.case,
            planes: self.case.grid.shares(team.threads()),
            u: u.of_mut(),
            forcing: forcing.of_mut(),
            change: change.of_mut(),
            fields: [volume.of_mut(), kinetic.of_mut()],
        };
        let blocks = blocks.of_mut();
        flow.prepare(team);
        flow.right_hand_side(team);
        Self::step(flow, blocks, team, clock);
        flow.begin(team);
        flow.right_hand_side(team);
        clock.start();
        for _ in 0..self.case.steps {
            Self::step(flow, blocks, team, clock);
        }
        clock.stop();
        let mut checks = flow.checks(team);
        let integral = integral_of_pressure(self.case.grid, flow.u);
        checks.push(Check::relative("integral of pressure", self.integral, integral, TOLERANCE));
        checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_time_step_or_a_step_too_few_or_a_wrong_integral_is_found() {
        let lu = Lu::new(Class::S);
        assert!(is_verified(&checks_of(&lu, 2)));
        let dt = Case { dt: 0.499, ..lu.case };
        assert!(!is_verified(&checks_of(&Lu { case: dt, ..lu }, 2)));
        let steps = Case { steps: 49, ..lu.case };
        assert!(!is_verified(&checks_of(&Lu { case: steps, ..lu }, 2)));
        let integral = lu.integral * (1.0 + 1e-7);
        assert!(!is_verified(&checks_of(&Lu { integral, ..lu }, 2)));
    }

    #[test]
    fn threads_may_be_more_than_rows() {
        for threads in [5, 10, 11, 40] {
            assert!(is_verified(&checks_of(&Lu::new(Class::S), threads)), "{threads} threads");
        }
    }
}
