//! MG: Poisson's equation on a periodic cube by V-cycles of a multigrid method, whose stencils have 27
//! points. Bound by the streams of the finest grids; the coarse ones fit in caches.
//!
//! A row begins and ends with a copy of its other end; around the cube in the other directions go the
//! loops, so that no planes are copied. Each level is an array of its own, whose planes are shared out.
//!
//! Source: NAS Parallel Benchmarks 3.4, MG; ribeiro2010, section 5; denoyelle2019, section 5.

mod charges;
mod grid;
mod stencils;

use charges::charge;
use grid::Grid;
use stencils::{interp, norm, psinv, resid, rprj3};

use crate::array::{Array, ArrayPlan};
use crate::clock::Clock;
use crate::passes::{Pass, Touch, traffic_of};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut};
use crate::traffic::PhaseTraffic;
use crate::verification::Check;

/// Levels of the largest class.
const MOST_LEVELS: usize = 9;

/// Of each level, the finest first.
const U: [&str; MOST_LEVELS] = ["u", "u/2", "u/4", "u/8", "u/16", "u/32", "u/64", "u/128", "u/256"];
const R: [&str; MOST_LEVELS] = ["r", "r/2", "r/4", "r/8", "r/16", "r/32", "r/64", "r/128", "r/256"];

const TOLERANCE: f64 = 1e-8;

/// MG of a class.
#[derive(Debug, Clone, Copy)]
pub struct Mg {
    /// log2 of the points along an edge of the finest grid.
    levels: usize,
    iterations: usize,
    /// Weights of the smoother S: of the point, of those next to it by a face and by an edge. Those
    /// next to it by a corner have none.
    smoother: [f64; 3],
    norm: f64,
}

impl Mg {
    pub fn new(class: Class) -> Self {
        let small = [-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0];
        let large = [-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0];
        let (levels, iterations, smoother, norm) = match class {
            Class::S => (5, 4, small, 0.530_770_700_573_4e-4),
            Class::W => (7, 4, small, 0.646_732_937_533_9e-5),
            Class::A => (8, 4, small, 0.243_336_530_906_9e-5),
            Class::B => (8, 20, large, 0.180_056_440_135_5e-5),
            Class::C => (9, 20, large, 0.570_673_228_574_0e-6),
        };
        Self { levels, iterations, smoother, norm }
    }

    /// The grids, the finest first.
    fn grids(&self, threads: usize) -> Vec<Grid> {
        let sizes = (1..=self.levels).rev().map(|level| 1 << level);
        sizes.map(|points| Grid::new(points, threads)).collect()
    }

    /// r = v - A u, on the finest grid.
    fn residual(&self, run: &mut Run<'_>, clock: &mut Clock) {
        clock.time("resid", || resid(&run.grids[0], run.u[0], Some(run.v), run.r[0], run.team));
    }

    /// Smooths a level's u by its r.
    fn smooth(&self, run: &mut Run<'_>, depth: usize, clock: &mut Clock) {
        let (u, r) = (&mut *run.u[depth], &*run.r[depth]);
        clock.time("psinv", || psinv(&run.grids[depth], self.smoother, r, u, run.team));
    }

    /// A V-cycle: the residual goes down to the coarsest grid, corrections come up to the finest one.
    fn cycle(&self, run: &mut Run<'_>, clock: &mut Clock) {
        let coarsest = self.levels - 1;
        for depth in 0..coarsest {
            let (fine, coarse) = run.r.split_at_mut(depth + 1);
            let (fine, coarse) = (&*fine[depth], &mut *coarse[0]);
            let grids = [&run.grids[depth], &run.grids[depth + 1]];
            clock.time("rprj3", || rprj3(grids, fine, coarse, run.team));
        }
        run.u[coarsest].fill(0.0);
        self.smooth(run, coarsest, clock);
        for depth in (0..coarsest).rev() {
            let (fine, coarse) = run.u.split_at_mut(depth + 1);
            let (fine, coarse) = (&mut *fine[depth], &*coarse[0]);
            let grids = [&run.grids[depth], &run.grids[depth + 1]];
            if depth == 0 {
                clock.time("interp", || interp::<true>(grids, coarse, fine, run.team));
                self.residual(run, clock);
            } else {
                clock.time("interp", || interp::<false>(grids, coarse, fine, run.team));
                let (u, r) = (&*run.u[depth], &mut *run.r[depth]);
                clock.time("resid", || resid(&run.grids[depth], u, None, r, run.team));
            }
            self.smooth(run, depth, clock);
        }
    }
}

/// What a run works with: all levels' u and r, the finest first.
struct Run<'a> {
    grids: &'a [Grid],
    v: &'a [f64],
    u: Vec<&'a mut [f64]>,
    r: Vec<&'a mut [f64]>,
    team: &'a Team,
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn count(things: usize) -> f64 {
    things as f64
}

impl Program for Mg {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let grids = self.grids(threads);
        let plan = |name, grid: &Grid| {
            ArrayPlan::shared::<f64>(name, (grid.points, grid.plane_len()), threads, true)
        };
        let plans = |names: [&'static str; MOST_LEVELS]| -> Vec<ArrayPlan> {
            names.into_iter().zip(&grids).map(|(name, grid)| plan(name, grid)).collect()
        };
        [vec![plan("v", &grids[0])], plans(U), plans(R)].concat()
    }

    fn work(&self) -> f64 {
        58.0 * count(self.iterations) * count(1 << (3 * self.levels)) / 1e6
    }

    fn unit(&self) -> &'static str {
        "Mop"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        let grids = self.grids(1);
        let points = |depth: usize| count(grids[depth].points).powi(3);
        let bytes = |depth: usize| 8.0 * count(grids[depth].points * grids[depth].plane_len());
        let read = |of: [&'static str; MOST_LEVELS], depth| Touch::read(of[depth], bytes(depth));
        let written =
            |of: [&'static str; MOST_LEVELS], depth| Touch::written(of[depth], bytes(depth));
        let resid = |depth| {
            let mut touches = vec![read(U, depth), written(R, depth)];
            touches.extend((depth == 0).then(|| Touch::read("v", bytes(0))));
            Pass::new("resid", 15.0 * points(depth), touches)
        };
        let norm = || Pass::new("norm", 2.0 * points(0), vec![read(R, 0)]);
        let psinv = |depth| {
            Pass::new("psinv", 16.0 * points(depth), vec![read(R, depth), written(U, depth)])
        };
        let coarsest = self.levels - 1;
        let down = (0..coarsest).map(|depth| {
            let touches = vec![read(R, depth), written(R, depth + 1)];
            Pass::new("rprj3", 24.0 * points(depth + 1), touches)
        });
        let up = (0..coarsest).rev().flat_map(|depth| {
            let flops = if depth == 0 { 3.0 } else { 2.0 };
            let touches = vec![read(U, depth + 1), written(U, depth)];
            [Pass::new("interp", flops * points(depth), touches), resid(depth), psinv(depth)]
        });
        let cycle: Vec<Pass> = down.chain([psinv(coarsest)]).chain(up).chain([resid(0)]).collect();
        let mut passes = vec![
            Pass::untimed(cycle.iter().flat_map(|pass| pass.touches().to_vec()).collect()),
            Pass::untimed(vec![Touch::written("v", bytes(0))]),
            Pass::untimed(vec![written(U, 0)]),
            resid(0),
            norm(),
        ];
        (0..self.iterations).for_each(|_| passes.extend_from_slice(&cycle));
        passes.push(norm());
        traffic_of(&passes, cache_bytes)
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let grids = self.grids(team.threads());
        let [v, levels @ ..] = arrays else { unreachable!("the arrays that were planned") };
        charge(&grids[0], v.of_mut(), team);
        let mut u: Vec<&mut [f64]> = levels.iter_mut().map(Array::of_mut).collect();
        let r = u.split_off(self.levels);
        let run = &mut Run { grids: &grids, v: v.of(), u, r, team };
        self.residual(run, clock);
        self.cycle(run, clock);
        team.each(cut(run.u[0], &grids[0].planes, grids[0].plane_len()), |_, u| u.fill(0.0));
        clock.start();
        self.residual(run, clock);
        std::hint::black_box(clock.time("norm", || norm(&grids[0], run.r[0], team)));
        for _ in 0..self.iterations {
            self.cycle(run, clock);
            self.residual(run, clock);
        }
        let found = clock.time("norm", || norm(&grids[0], run.r[0], team));
        clock.stop();
        vec![Check::relative("norm of the residual", self.norm, found, TOLERANCE)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::checks_of;
    use crate::verification::is_verified;

    #[test]
    fn a_wrong_weight_or_too_few_iterations_are_found() {
        let mg = Mg::new(Class::S);
        for threads in [1, 2, 3, 5, 40] {
            assert!(is_verified(&checks_of(&mg, threads)), "{threads} threads");
        }
        assert!(!is_verified(&checks_of(&Mg { iterations: 3, ..mg }, 2)));
        let smoother = [mg.smoother[0], mg.smoother[1], 0.0];
        assert!(!is_verified(&checks_of(&Mg { smoother, ..mg }, 2)));
    }
}
