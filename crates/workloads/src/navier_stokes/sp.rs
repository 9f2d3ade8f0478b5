//! SP: a flow by an implicit scheme whose equations along x, y and z are made diagonal: of each
//! component a system with five diagonals along every line of cells. Bound by the streams of state
//! and change, which every direction reads and writes, along z a plane apart.
//!
//! Source: NAS Parallel Benchmarks 3.4, SP; braithwaite2012, figures 6.3 and 6.4.

use std::ops::Range;

use super::known;
use super::lines::{
    FETCHED, LineSolver, Lines, Part, Unknowns, solve_across_planes, solve_in_planes, touch,
};
use super::rhs::{Flow, fields};
use super::state::march;
use super::traffic::{Loops, Names, Solver};
use super::wide::Wide;
use super::{C2, C15, C34, Case, Cell, Factors, Grid, real};
use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::program::Program;
use crate::size::Class;
use crate::team::Team;
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

/// Lines side by side.
const LINES: usize = 4;

/// sqrt(1/2).
const ROOT_OF_HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// By component, which system solves it: those of the velocity, of it with the speed of sound, of it
/// without.
const SYSTEM_OF: [usize; 5] = [0, 0, 0, 1, 2];

/// Fields of the state.
const FIELDS: usize = 7;

/// SP of a class.
#[derive(Debug, Clone, Copy)]
pub struct Sp {
    case: Case,
}

impl Sp {
    pub fn new(class: Class) -> Self {
        let (n, dt, steps) = match class {
            Class::S => (12, 0.015, 100),
            Class::W => (36, 0.0015, 400),
            Class::A => (64, 0.0015, 400),
            Class::B => (102, 0.001, 400),
            Class::C => (162, 0.000_67, 400),
        };
        let (residual, error) = known::of_sp(class);
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
    fields: [&'a [f64]; FIELDS],
}

/// What a cell gives to the coefficients of its line.
#[derive(Clone, Copy)]
struct Point<const L: usize> {
    /// dt / 2h times the velocity along the line.
    velocity: Wide<L>,
    /// dt / 2h times the speed of sound.
    sound: Wide<L>,
    /// dt / h^2 times the greatest diffusion.
    diffusion: Wide<L>,
}

/// A row of a system: the coefficients of a place before, here and of a place after. Those two places
/// away are the same in all lines.
struct Row<const L: usize>([Wide<L>; 3]);

/// Rows once what is before the diagonal is eliminated: x = r - p x(+1) - q x(+2).
#[derive(Clone, Copy)]
struct Upper<const L: usize> {
    p: Wide<L>,
    q: Wide<L>,
}

/// How right-hand sides follow: r = (r - before x r(-1) - farthest x r(-2)) x pivot.
struct Factor<const L: usize> {
    before: Wide<L>,
    pivot: Wide<L>,
}

impl<const L: usize> Row<L> {
    /// Eliminates what is before the diagonal by the two rows before.
    #[inline(always)]
    fn eliminate(
        self,
        outer: [f64; 2],
        before: Upper<L>,
        farther: Upper<L>,
    ) -> (Upper<L>, Factor<L>) {
        let Self([low, here, high]) = self;
        let low = low - farther.p * outer[0];
        let pivot = (here - farther.q * outer[0] - low * before.p).reciprocal();
        let upper = Upper { p: (high - low * before.q) * pivot, q: pivot * outer[1] };
        (upper, Factor { before: low, pivot })
    }
}

impl<const L: usize> Factor<L> {
    #[inline(always)]
    fn apply(&self, farthest: f64, r: Wide<L>, before: Wide<L>, farther: Wide<L>) -> Wide<L> {
        (r - farther * farthest - before * self.before) * self.pivot
    }
}

/// What is kept of a place: p and q of the three systems, and the right-hand sides.
type Place = [[f64; LINES]; 11];

impl Systems<'_> {
    #[inline(always)]
    fn point<const D: usize>(&self, lines: Lines, place: usize) -> Point<LINES> {
        let load = |field: usize| lines.load(self.fields[field], place);
        let Factors { central, second, diffusion, .. } = self.factors[D];
        Point {
            velocity: load(fields::VELOCITY + D) * central,
            sound: load(fields::SOUND) * central,
            // Conduction of heat is the greatest of the viscous ones.
            diffusion: load(fields::VOLUME) * (second * C34 * C15) + Wide::of(diffusion),
        }
    }

    /// Of the change to what waves it is made of: the system becomes diagonal.
    #[inline(always)]
    fn to_waves(&self, lines: Lines, place: usize, r: [Wide<LINES>; 5]) -> [Wide<LINES>; 5] {
        let load = |field: usize| lines.load::<LINES>(self.fields[field], place);
        let velocity = |d: usize| load(fields::VELOCITY + d);
        let (u, v, w) = (velocity(0), velocity(1), velocity(2));
        let (volume, sound) = (load(fields::VOLUME), load(fields::SOUND));
        let all = load(fields::KINETIC) * r[0] - u * r[1] - v * r[2] - w * r[3] + r[4];
        let t1 = all * C2 / (sound * sound);
        let scale = volume * ROOT_OF_HALF;
        let t2 = scale * (u * r[0] - r[1]);
        let t3 = scale * sound * t1;
        [r[0] - t1, (r[3] - w * r[0]) * volume, (v * r[0] - r[2]) * volume, t3 - t2, t2 + t3]
    }

    /// And back.
    #[inline(always)]
    fn of_waves(&self, lines: Lines, place: usize, r: [Wide<LINES>; 5]) -> [Wide<LINES>; 5] {
        let load = |field: usize| lines.load::<LINES>(self.fields[field], place);
        let velocity = |d: usize| load(fields::VELOCITY + d);
        let (u, v, w) = (velocity(0), velocity(1), velocity(2));
        let (volume, sound) = (load(fields::VOLUME), load(fields::SOUND));
        let density = volume.reciprocal();
        let scale = density * ROOT_OF_HALF;
        let a1 = scale / sound * (r[3] + r[4]);
        let a2 = r[2] + a1;
        let a3 = scale * (r[3] - r[4]);
        [
            a2,
            u * a2 - density * r[1],
            v * a2 + density * r[0],
            w * a2 + a3,
            density * (v * r[0] - u * r[1])
                + load(fields::KINETIC) * a2
                + sound * sound * a1 * (1.0 / C2)
                + w * a3,
        ]
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
        let none = Upper { p: Wide::ZERO, q: Wide::ZERO };
        let (mut before, mut farther) = ([none; 3], [none; 3]);
        let (mut r_before, mut r_farther) = ([Wide::ZERO; 5], [Wide::ZERO; 5]);
        let mut low = self.point::<D>(lines, 0);
        let mut here = self.point::<D>(lines, 1);
        for (place, to_keep) in (1..n - 1).zip(&mut places[1..]) {
            let high = self.point::<D>(lines, place + 1);
            let mut weights = self.case.fourth_difference(place);
            weights.iter_mut().for_each(|weight| *weight *= self.factors[D].dissipation);
            let [far_low, near_low, at, near_high, far_high] = weights;
            let outer = [far_low, far_high];
            // Without sound, with it and against it.
            let before_here = Wide::of(near_low) - low.velocity - low.diffusion;
            let own = Wide::of(1.0 + at) + here.diffusion * 2.0;
            let after_here = Wide::of(near_high) + high.velocity - high.diffusion;
            let rows = [
                Row([before_here, own, after_here]),
                Row([before_here - low.sound, own, after_here + high.sound]),
                Row([before_here + low.sound, own, after_here - high.sound]),
            ];
            let mut kept = [[0.0; LINES]; 11];
            let mut r = unknowns.load(place);
            if D == 0 {
                r = self.to_waves(lines, place, r);
            }
            let mut factors = [const { Factor { before: Wide::ZERO, pivot: Wide::ZERO } }; 3];
            for (system, row) in rows.into_iter().enumerate() {
                let (upper, factor) = row.eliminate(outer, before[system], farther[system]);
                (farther[system], before[system]) = (before[system], upper);
                factors[system] = factor;
                (kept[2 * system], kept[2 * system + 1]) = (upper.p.0, upper.q.0);
            }
            for m in 0..5 {
                let factor = &factors[SYSTEM_OF[m]];
                let value = factor.apply(far_low, r[m], r_before[m], r_farther[m]);
                (r_farther[m], r_before[m]) = (r_before[m], value);
                kept[6 + m] = value.0;
            }
            *to_keep = kept;
            (low, here) = (here, high);
        }
        let (mut next, mut after) = ([Wide::ZERO; 5], [Wide::ZERO; 5]);
        for place in (1..n - 1).rev() {
            let kept = &places[place];
            for m in 0..5 {
                let system = SYSTEM_OF[m];
                let (p, q) = (Wide(kept[2 * system]), Wide(kept[2 * system + 1]));
                let value = Wide(kept[6 + m]) - p * next[m] - q * after[m];
                (after[m], next[m]) = (next[m], value);
            }
            let r = next;
            let sum = (r[3] + r[4]) * 0.5;
            let difference = (r[3] - r[4]) * ROOT_OF_HALF;
            unknowns.store(
                place,
                match D {
                    0 => {
                        let turned = r[2] * ROOT_OF_HALF;
                        [-r[1], r[0], difference, sum - turned, sum + turned]
                    }
                    1 => {
                        let turned = r[0] * ROOT_OF_HALF;
                        [difference, -r[2], r[1], sum - turned, sum + turned]
                    }
                    _ => self.of_waves(lines, place, r),
                },
            );
        }
    }

    fn touch(&self, cells: Range<usize>) -> f64 {
        let but_square = [0, 1, 3, 4, 5, 6];
        but_square.iter().map(|&field: &usize| touch(&self.fields[field][cells.clone()])).sum()
    }
}

impl Sp {
    fn step(flow: &mut Flow<'_, FIELDS>, places: &mut [Place], team: &Team, clock: &mut Clock) {
        clock.time("rhs", || flow.right_hand_side(team));
        let (case, grid) = (flow.case, flow.case.grid);
        let systems = &Systems {
            case,
            factors: [0, 1, 2].map(|direction| case.factors(direction)),
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

impl Program for Sp {
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
            field("speed"),
            ArrayPlan::shared::<Place>("lhs", (threads, grid.n), threads, false),
        ]
    }

    fn work(&self) -> f64 {
        let n = real(self.case.grid.n);
        let step = 881.174 * n.powi(3) - 4683.91 * n.powi(2) + 11_484.5 * n - 19_272.4;
        real(self.case.steps) * step / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let fields = &["rho_i", "qs", "square", "us", "vs", "ws", "speed"];
        let names = Names { change: "rhs", forcing: "forcing", fields };
        let loops = Loops { case: self.case, names, cache_bytes };
        let solver = Solver { lines: LINES, fetched: FETCHED, place: size_of::<Place>() };
        let but_square = ["rho_i", "qs", "us", "vs", "ws", "speed"];
        let [state, rhs] = loops.right_hand_side();
        let step = [
            state,
            rhs,
            loops.solve(0, solver, &but_square, 141.0),
            loops.solve(1, solver, &["rho_i", "vs", "speed"], 115.0),
            loops.solve(2, solver, &but_square, 140.0),
            loops.add(),
        ];
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
        let sp = Sp::new(Class::S);
        assert!(is_verified(&checks_of(&sp, 2)));
        let dt = Case { dt: 0.0149, ..sp.case };
        assert!(!is_verified(&checks_of(&Sp { case: dt }, 2)));
        let steps = Case { steps: 99, ..sp.case };
        assert!(!is_verified(&checks_of(&Sp { case: steps }, 2)));
    }

    #[test]
    fn threads_may_be_more_than_planes() {
        assert!(is_verified(&checks_of(&Sp::new(Class::S), 13)));
    }
}
