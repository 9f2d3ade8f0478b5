//! What the loops of a flow's solvers move between memory and a cache.
//!
//! A loop that comes back to cells while they are in the cache moves them once. What it touches before
//! it comes back decides: a few planes of the right-hand side and of the sweeps, a few lines of cells
//! of the solvers. Of a row of cells whole lines of the cache move.

use super::sweep::CellBlocks;
use super::{Case, Cell, Grid, real};
use crate::passes::{Pass, Touch, traffic_of};
use crate::traffic::PhaseTraffic;

const LINE: f64 = 64.0;

/// How far a number may lie from the ends of its line: what a row of cells moves besides itself.
const RAGGED: f64 = LINE - 8.0;

const CELL: usize = size_of::<Cell>();

/// Fields of which neighbours are read for the right-hand side.
const READ_FIELDS: usize = 6;

/// The arrays of a solver besides the state u.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    pub change: &'static str,
    pub forcing: &'static str,
    pub fields: &'static [&'static str],
}

/// How lines of cells are solved.
#[derive(Debug, Clone, Copy)]
pub struct Solver {
    /// Solved side by side.
    pub lines: usize,
    /// Lines across planes that are fetched side by side.
    pub fetched: usize,
    /// Bytes that are kept of a place of these lines.
    pub place: usize,
}

/// The loops of a solver, before a cache.
#[derive(Debug, Clone, Copy)]
pub struct Loops {
    pub case: Case,
    pub names: Names,
    pub cache_bytes: f64,
}

/// A touch, and what comes again to it while the pass goes on.
fn repeated(
    touch: impl Fn(&'static str, f64) -> Touch,
    array: &'static str,
    bytes: f64,
    times: f64,
) -> Vec<Touch> {
    let again = (times > 1.0).then(|| touch(array, (times - 1.0) * bytes));
    [touch(array, bytes)].into_iter().chain(again).collect()
}

impl Loops {
    fn grid(&self) -> Grid {
        self.case.grid
    }

    /// Cells on the boundary and not, along an edge.
    fn edges(&self) -> [f64; 2] {
        [real(self.grid().n), real(self.grid().n - 2)]
    }

    /// Bytes of rows of cells, each cell of `bytes`: rows follow each other, so that no
    /// more than all of it moves.
    fn rows(&self, rows: f64, cells: f64, bytes: usize) -> f64 {
        let whole = real(self.grid().row() * bytes);
        rows * whole.min(cells * real(bytes) + RAGGED)
    }

    /// By whether the cache holds what is touched in the meantime.
    fn if_held(&self, bytes: f64, held: f64, not: f64) -> f64 {
        if bytes <= self.cache_bytes { held } else { not }
    }

    /// By how often each row is come back to: a plane later, and a row later.
    fn times(&self, plane: f64, row: f64, [held, by_row, not]: [f64; 3]) -> f64 {
        self.if_held(plane, held, self.if_held(row, by_row, not))
    }

    /// Fields that the state gives, then the right-hand side.
    pub fn right_hand_side(&self) -> [Pass; 2] {
        let ([n, within], Names { change, forcing, fields }) = (self.edges(), self.names);
        let read = &fields[..fields.len().min(READ_FIELDS)];
        let [cells, numbers] = [CELL, 8].map(|bytes| self.rows(1.0, n, bytes));
        let plane = within * ((5.0 + 2.0) * cells + 3.0 * real(read.len()) * numbers);
        let row = (9.0 + 2.0) * cells + 5.0 * real(read.len()) * numbers;
        let all = |bytes| self.rows(n * n, n, bytes);
        let inner = self.rows(within * within, within, CELL);
        let of_state = self.times(plane, row, [1.0, 5.0, 9.0]);
        let of_fields = self.times(plane, row, [1.0, 3.0, 5.0]);
        let mut first = vec![Touch::read("u", all(CELL))];
        first.extend(fields.iter().map(|&field| Touch::written(field, all(8))));
        let mut then = vec![Touch::read(forcing, inner), Touch::written(change, inner)];
        then.extend(repeated(Touch::read, "u", all(CELL), of_state));
        then.extend(read.iter().flat_map(|&it| repeated(Touch::read, it, all(8), of_fields)));
        // By the number of fields: of each cell to have them, and of each within for its change.
        let [to_have, to_use] = match fields.len() {
            2 => [9.0, 343.0],
            6 => [12.0, 315.0],
            _ => [16.0, 315.0],
        };
        [
            Pass::new("rhs", to_have * n.powi(3), first),
            Pass::new("rhs", to_use * within.powi(3), then),
        ]
    }

    /// Solves all lines along a direction, that reads these of the arrays.
    pub fn solve(
        &self,
        direction: usize,
        Solver { lines, fetched, place }: Solver,
        reads: &[&'static str],
        flops: f64,
    ) -> Pass {
        let [n, within] = self.edges();
        let phase = ["x-solve", "y-solve", "z-solve"][direction];
        let bytes_of = |array: &str| if array == "u" { CELL } else { 8 };
        let sizes = || reads.iter().map(|array| bytes_of(array)).chain([CELL]);
        let kept = real(place) * n;
        // What lies beside each other while a few lines are solved.
        let beside = real([0, lines, fetched][direction]);
        let piece = |bytes: usize| beside * real(bytes) + RAGGED;
        let held = match direction {
            0 => kept + sizes().map(|bytes| self.rows(real(lines), n, bytes)).sum::<f64>(),
            _ => kept + n * sizes().map(piece).sum::<f64>(),
        };
        // Else lines of the cache come once for each piece that lies in them, and once more when they
        // are solved after having been fetched; the change comes on the way there and back.
        let comes = |bytes: usize, times: f64| {
            let ragged = if direction == 0 { 1.0 } else { piece(bytes) / (beside * real(bytes)) };
            self.if_held(held, 1.0, ragged * times)
        };
        let fetches = if direction == 2 { 2.0 } else { 1.0 };
        let all = |bytes: usize| match direction {
            0 => self.rows(within * within, n, bytes),
            _ => self.rows(within * n, within, bytes),
        };
        let inner = self.rows(within * within, within, CELL);
        let groups = self.if_held(held, 1.0, within * within / real(lines));
        let change = self.names.change;
        let mut touches = repeated(Touch::written, change, inner, comes(CELL, 1.0));
        touches.extend(repeated(Touch::written, "lhs", kept, groups));
        touches.extend(reads.iter().flat_map(|&array| {
            let bytes = bytes_of(array);
            repeated(Touch::read, array, all(bytes), comes(bytes, fetches))
        }));
        if held > self.cache_bytes {
            touches.push(Touch::read(change, comes(CELL, fetches) * inner));
            touches.push(Touch::read("lhs", groups * kept));
        }
        let pass = Pass::new(phase, flops * within.powi(3), touches);
        if direction == 2 { pass.across() } else { pass }
    }

    /// A sweep of over-relaxation, from the first cell on: of every plane the blocks are made, then used.
    pub fn sweep(&self, phase: &'static str, flops: f64) -> Pass {
        let ([n, within], Names { change, fields, .. }) = (self.edges(), self.names);
        let [cells, numbers] = [CELL, 8].map(|bytes| self.rows(1.0, n, bytes));
        let state = cells + real(fields.len()) * numbers;
        let of_row = (n - 1.0) * real(size_of::<CellBlocks>());
        let blocks = within * of_row;
        let plane = blocks + n * (2.0 * cells + state);
        let times = self.times(plane, 2.0 * of_row + 3.0 * state, [1.0, 2.0, 3.0]);
        let all = |bytes| self.rows((n - 1.0) * (n - 1.0), n, bytes);
        let mut touches = vec![Touch::written(change, all(CELL))];
        touches.extend(repeated(Touch::read, "u", all(CELL), times));
        touches.extend(fields.iter().flat_map(|&it| repeated(Touch::read, it, all(8), times)));
        touches.extend((times > 1.0).then(|| Touch::read(change, (times - 1.0) * all(CELL))));
        let planes = self.if_held(plane, 1.0, within);
        touches.extend(repeated(Touch::written, "cjac", blocks, planes));
        touches.extend((planes > 1.0).then(|| Touch::read("cjac", planes * blocks)));
        Pass::new(phase, flops * within.powi(3), touches)
    }

    /// The change added to the state.
    pub fn add(&self) -> Pass {
        let within = self.edges()[1];
        let inner = self.rows(within * within, within, CELL);
        let touches = vec![Touch::written("u", inner), Touch::read(self.names.change, inner)];
        Pass::new("add", 10.0 * within.powi(3), touches)
    }

    /// All steps, after one that is not timed, the state set anew and what else precedes the first.
    pub fn steps(&self, step: &[Pass], first: &[Pass]) -> Vec<PhaseTraffic> {
        let n = self.edges()[0];
        let state = Touch::written("u", self.rows(n * n, n, CELL));
        let mut passes = step.to_vec();
        passes.push(Pass::untimed(vec![state]));
        passes.extend_from_slice(first);
        let mut passes: Vec<Pass> = passes.into_iter().map(Pass::before_the_clock).collect();
        (0..self.case.steps).for_each(|_| passes.extend_from_slice(step));
        traffic_of(&passes, self.cache_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bt, Lu, Sp};
    use crate::array::Array;
    use crate::clock::Clock;
    use crate::program::Program;
    use crate::size::Class;
    use crate::team::Team;
    use crate::traffic::ArrayTraffic;

    fn programs(class: Class) -> [Box<dyn Program>; 3] {
        [Box::new(Bt::new(class)), Box::new(Sp::new(class)), Box::new(Lu::new(class))]
    }

    #[test]
    fn phases_and_arrays_are_those_of_a_run() {
        for program in programs(Class::S) {
            let team = Team::of_threads(1).unwrap();
            let plans = program.arrays(1);
            let planned: Vec<&str> = plans.iter().map(|plan| plan.name).collect();
            let mut arrays: Vec<Array> =
                plans.into_iter().map(|plan| Array::map(plan).unwrap()).collect();
            let mut clock = Clock::default();
            team.lead(|| program.run(&mut arrays, &team, &mut clock));
            let timed: Vec<&str> = clock.phases().iter().map(|phase| phase.name).collect();
            for cache_bytes in [0.0, 1e5, 1e9] {
                let traffic = program.traffic(cache_bytes);
                let declared: Vec<&str> = traffic.iter().map(|it| it.phase).collect();
                assert_eq!(timed, declared);
                let mut arrays = traffic.iter().flat_map(|phase| &phase.arrays);
                assert!(arrays.all(|it| planned.contains(&it.array)));
                assert!(traffic.iter().all(|phase| phase.flops > 0.0));
            }
        }
    }

    #[test]
    fn traffic_falls_with_the_cache_to_what_moves_once() {
        for class in [Class::S, Class::A] {
            for program in programs(class) {
                let moved = |cache_bytes: f64, of: fn(&ArrayTraffic) -> f64| -> f64 {
                    let phases = program.traffic(cache_bytes);
                    phases.iter().flat_map(|phase| &phase.arrays).map(of).sum()
                };
                for of in [|it: &ArrayTraffic| it.read_bytes, |it: &ArrayTraffic| it.written_bytes]
                {
                    let caches = (10..28).map(|bits| f64::from(1 << bits));
                    let all: Vec<f64> =
                        [0.0].into_iter().chain(caches).map(|it| moved(it, of)).collect();
                    assert!(all[0] > 0.0);
                    assert!(
                        all.is_sorted_by(|less, more| *less >= *more * (1.0 - 1e-9)),
                        "{all:?}"
                    );
                    // The forcing at most was not in the cache before.
                    assert!(all.last().is_some_and(|least| *least < 1e-3 * all[0]), "{all:?}");
                }
            }
        }
    }
}
