//! BT: a flow by an implicit scheme that is split by direction: along every line of cells a system with
//! three diagonals of blocks of 5 by 5. Bound by arithmetic, with the streams of state and change
//! behind it.
//!
//! Source: NAS Parallel Benchmarks 3.4, BT; braithwaite2012, figures 6.3 and 6.4.

use std::ops::Range;

use super::blocks::{Point, factor, solve, subtract_product};
use super::known;
use super::lines::{
    FETCHED, LineSolver, Lines, Part, Unknowns, solve_across_planes, solve_in_planes, touch,
};
use super::rhs::{Flow, fields};
use super::state::march;
use super::traffic::{Loops, Names, Solver};
use super::wide::{Wide, vector};
use super::{Case, Cell, Factors, Grid, real};
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::size::Class;
use crate::team::Team;
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

/// Lines side by side.
const LINES: usize = 2;

/// Fields of the state.
const FIELDS: usize = 6;

/// BT of a class.
#[derive(Debug, Clone, Copy)]
pub struct Bt {
    case: Case,
}

impl Bt {
    pub fn new(class: Class) -> Self {
        let (n, dt, steps) = match class {
            Class::S => (12, 0.01, 60),
            Class::W => (24, 0.0008, 200),
            Class::A => (64, 0.0008, 200),
            Class::B => (102, 0.0003, 200),
            Class::C => (162, 0.0001, 200),
        };
        let (residual, error) = known::of_bt(class);
        Self { case: Case { grid: Grid::new(n), dt, steps, residual, error } }
    }

    /// It by another number of steps, of which no result is known.
    pub fn of_steps(self, steps: usize) -> Self {
        Self { case: Case { steps, ..self.case } }
    }
}

/// The systems of all lines at a state.
struct Systems<'a> {
    case: Case,
    factors: [Factors; 3],
    u: &'a [Cell],
    fields: [&'a [f64]; FIELDS],
}

/// What is kept of a place: the block after the diagonal, and the right-hand side.
type Place = [[[f64; LINES]; 5]; 6];

impl Systems<'_> {
    #[inline(always)]
    fn point(&self, lines: Lines, place: usize) -> Point<LINES> {
        let volume = lines.load(self.fields[fields::VOLUME], place);
        let kinetic = lines.load(self.fields[fields::KINETIC], place);
        Point::new(lines.load_cells(self.u, place), volume, kinetic)
    }
}

impl LineSolver for Systems<'_> {
    type Place = Place;

    const LINES: usize = LINES;

    fn solve<const D: usize, P: Part>(
        &self,
        lines: Lines,
        unknowns: &mut Unknowns<P>,
        places: &mut [Place],
    ) {
        let n = self.case.grid.n;
        let Factors { central, second, diffusion, .. } = self.factors[D];
        let mut low = self.point(lines, 0);
        let mut here = self.point(lines, 1);
        let mut before: Place = [[[0.0; LINES]; 5]; 6];
        for (place, to_keep) in (1..n - 1).zip(&mut places[1..]) {
            let high = self.point(lines, place + 1);
            let lower = low.block::<D>(-central, -second, -diffusion);
            let upper = high.block::<D>(central, -second, -diffusion);
            let mut diagonal = here.viscous_block::<D>(2.0 * second, 1.0 + 2.0 * diffusion);
            let [known @ .., r_before] = before;
            for (column, known) in diagonal.iter_mut().zip(known) {
                subtract_product::<D, LINES>(column, &lower, &vector(|m| Wide(known[m])));
            }
            factor(&mut diagonal);
            let mut r = unknowns.load(place);
            subtract_product::<D, LINES>(&mut r, &lower, &vector(|m| Wide(r_before[m])));
            solve(&diagonal, &mut r);
            before[5].iter_mut().zip(r).for_each(|(kept, value)| *kept = value.0);
            for (kept, mut column) in before.iter_mut().zip(upper) {
                solve(&diagonal, &mut column);
                kept.iter_mut().zip(column).for_each(|(kept, value)| *kept = value.0);
            }
            *to_keep = before;
            (low, here) = (here, high);
        }
        let mut next = [Wide::ZERO; 5];
        for place in (1..n - 1).rev() {
            let [upper @ .., r] = &places[place];
            let mut r = vector(|m| Wide(r[m]));
            for (column, next) in upper.iter().zip(next) {
                r.iter_mut().zip(column).for_each(|(r, entry)| *r -= Wide(*entry) * next);
            }
            unknowns.store(place, r);
            next = r;
        }
    }

    fn touch(&self, cells: Range<usize>) -> f64 {
        let fields = [fields::VOLUME, fields::KINETIC];
        let of_fields = fields.map(|field| touch(&self.fields[field][cells.clone()]));
        touch(self.u[cells].as_flattened()) + of_fields.iter().sum::<f64>()
    }
}

impl Bt {
    fn step(flow: &mut Flow<'_, FIELDS>, places: &mut [Place], team: &Team, clock: &mut Clock) {
        clock.time("rhs", || flow.right_hand_side(team));
        let (case, grid) = (flow.case, flow.case.grid);
        let systems = &Systems {
            case,
            factors: [0, 1, 2].map(|direction| case.factors(direction)),
            u: flow.u,
            fields: flow.fields.each_ref().map(|field| &**field),
        };
        let change = &mut *flow.change;
        clock.time("x-solve", || {
            solve_in_planes::<0, _>(systems, grid, &flow.planes, change, places, team);
        });
        clock.time("y-solve", || {
            solve_in_planes::<1, _>(systems, grid, &flow.planes, change, places, team);
        });
        clock.time("z-solve", || {
            solve_across_planes(systems, grid, &flow.planes, change, places, team);
        });
        clock.time("add", || flow.add(1.0, team));
    }
}

impl Program for Bt {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let grid = self.case.grid;
        let field = |name| grid.plan::<f64>(name, threads, false);
        vec![
            grid.plan::<Cell>("u", threads, true),
            grid.plan::<Cell>("rhs", threads, true),
            grid.plan::<Cell>("forcing", threads, true),
            field("rho_i"),
            field("qs"),
            field("square"),
            field("us"),
            field("vs"),
            field("ws"),
            ArrayPlan::shared::<Place>("lhs", (threads, grid.n), threads, false),
        ]
    }

    fn work(&self) -> f64 {
        let n = real(self.case.grid.n);
        let step = 3478.8 * n.powi(3) - 17_655.7 * n.powi(2) + 28_023.7 * n;
        real(self.case.steps) * step / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let fields = &["rho_i", "qs", "square", "us", "vs", "ws"];
        let names = Names { change: "rhs", forcing: "forcing", fields };
        let loops = Loops { case: self.case, names, cache_bytes };
        let solver = Solver { lines: LINES, fetched: FETCHED, place: size_of::<Place>() };
        let solve = |direction| loops.solve(direction, solver, &["u", "rho_i", "qs"], 776.0);
        let [state, rhs] = loops.right_hand_side();
        let step = [state, rhs, solve(0), solve(1), solve(2), loops.add()];
        loops.steps(&step, &[])
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        march(self.case, arrays, team, clock, Self::step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_time_step_or_a_step_too_few_is_found() {
        let bt = Bt::new(Class::S);
        assert!(is_verified(&checks_of(&bt, 2)));
        let dt = Case { dt: 0.0149, ..bt.case };
        assert!(!is_verified(&checks_of(&Bt { case: dt }, 2)));
        let steps = Case { steps: 99, ..bt.case };
        assert!(!is_verified(&checks_of(&Bt { case: steps }, 2)));
    }

    #[test]
    fn threads_may_be_more_than_planes() {
        assert!(is_verified(&checks_of(&Bt::new(Class::S), 13)));
    }
}
