//! From any pressures to ones that are balanced, where sweeps do not get there.
//!
//! With y the logarithms of the pressures, B(y) the balanced ones and a any start, the
//! points (y, t) with
//!
//! ```text
//! y = (1 - t) a + t B(y)
//! ```
//!
//! form a curve that begins at (a, 0). For a smooth B that keeps within bounds it ends,
//! for almost every a, at a solution with t = 1 (Chow, Mallet-Paret and Yorke, Math. Comp.
//! 32, 1978). It may turn back on the way, which is why Newton's method and damped sweeps,
//! which only look forward, stop there; so it is followed by its length (Keller 1977;
//! Allgower and Georg, Numerical Continuation Methods, 1990).

use crate::linear_system;
use crate::pressures::Pressures;

const MOST_STARTS: u32 = 5;
const FIRST_STEP: f64 = 0.1;
const SHORTEST_STEP: f64 = 1e-9;
const LONGEST_STEP: f64 = 30.0;
const MOST_STEPS: u32 = 500;
/// Corrections that bring a predicted point back onto the curve, or the step was too long.
const MOST_CORRECTIONS: u32 = 4;
/// Of the angle by which the curve turns in a step.
const LEAST_COSINE: f64 = 0.8;
const LENGTHENED: f64 = 1.5;
/// Onto the curve: near enough for the next step.
const NEAR: f64 = 1e-7;
/// At its end a correction of ln h is rounding.
const SOLVED: f64 = 1e-12;
/// Successive corrections at the end.
const MOST_LAST_CORRECTIONS: u32 = 12;

/// Goes from the present pressures to balanced ones; whether it came there. Where the curve
/// is too sharp to follow, another is begun from the place.
pub(crate) fn go_to_balance(pressures: &mut Pressures<'_>) -> bool {
    (0..MOST_STARTS).any(|_| follow(pressures))
}

fn follow(pressures: &mut Pressures<'_>) -> bool {
    let used = pressures.shared().to_vec();
    let start = pressures.at(&used);
    let mut curve = Curve { pressures, used, start };
    let mut point = Point { ln_h: curve.start.clone(), t: 0.0 };
    let mut upwards = vec![0.0; point.ln_h.len()];
    upwards.push(1.0);
    let Some(mut ahead) = curve.direction(&point, &upwards) else { return false };
    let mut step = FIRST_STEP;
    for _ in 0..MOST_STEPS {
        match curve.next(&point, &ahead, step) {
            Some((next, _)) if next.t >= 1.0 && curve.finish(&point, &next) => return true,
            Some((next, direction)) if next.t < 1.0 => {
                (point, ahead) = (next, direction);
                step = LONGEST_STEP.min(step * LENGTHENED);
            }
            _ => {
                step /= 2.0;
                if step < SHORTEST_STEP {
                    return false;
                }
            }
        }
    }
    false
}

struct Point {
    ln_h: Vec<f64>,
    t: f64,
}

impl Point {
    fn moved(&self, direction: &[f64], step: f64) -> Self {
        let ln_h = self.ln_h.iter().zip(direction).map(|(at, along)| at + step * along).collect();
        Self { ln_h, t: self.t + step * direction[self.ln_h.len()] }
    }
}

struct Curve<'a, 'b> {
    pressures: &'a mut Pressures<'b>,
    used: Vec<usize>,
    start: Vec<f64>,
}

impl Curve<'_, '_> {
    /// What is left of y - (1 - t) a - t B(y) at a point, and its derivatives by y and t.
    fn equations(&mut self, point: &Point) -> (Vec<f64>, Vec<Vec<f64>>) {
        self.pressures.put(&self.used, &point.ln_h);
        let balanced = self.pressures.all_balanced(&self.used);
        let mut left = Vec::new();
        let mut rows = Vec::new();
        for (row, &resource) in self.used.iter().enumerate() {
            let (from, to) = (self.start[row], balanced[row]);
            left.push(point.ln_h[row] - (1.0 - point.t) * from - point.t * to);
            let mut slopes = self.pressures.slopes(resource, &self.used);
            slopes.iter_mut().for_each(|slope| *slope *= -point.t);
            slopes[row] += 1.0;
            slopes.push(from - to);
            rows.push(slopes);
        }
        (left, rows)
    }

    /// The unit vector along the curve that goes on the way of `before`.
    fn direction(&mut self, point: &Point, before: &[f64]) -> Option<Vec<f64>> {
        let (_, mut rows) = self.equations(point);
        rows.push(before.to_vec());
        let mut right = vec![0.0; before.len()];
        right[before.len() - 1] = 1.0;
        let along = linear_system::solve(rows, right)?;
        let length = along.iter().map(|part| part * part).sum::<f64>().sqrt();
        Some(along.iter().map(|part| part / length).collect())
    }

    /// The point of the curve a step further and the way on from there; `None` when the
    /// step was too long to be sure of the same branch.
    fn next(&mut self, point: &Point, ahead: &[f64], step: f64) -> Option<(Point, Vec<f64>)> {
        let next = self.correct(point.moved(ahead, step), ahead)?;
        let direction = self.direction(&next, ahead)?;
        let cosine: f64 = ahead.iter().zip(&direction).map(|(a, b)| a * b).sum();
        (cosine > LEAST_COSINE && next.t > 0.0).then_some((next, direction))
    }

    /// The point of the curve at right angles to `ahead`.
    fn correct(&mut self, mut point: Point, ahead: &[f64]) -> Option<Point> {
        for _ in 0..MOST_CORRECTIONS {
            let (mut left, mut rows) = self.equations(&point);
            rows.push(ahead.to_vec());
            // Every correction keeps at right angles.
            left.push(0.0);
            let back = linear_system::solve(rows, left)?;
            point = point.moved(&back, -1.0);
            if largest(&back) < NEAR {
                return Some(point);
            }
        }
        None
    }

    /// The end of the curve between two of its points, by Newton's method.
    fn finish(&mut self, before: &Point, beyond: &Point) -> bool {
        let part = (1.0 - before.t) / (beyond.t - before.t);
        let between = |(a, b): (&f64, &f64)| a + part * (b - a);
        let ln_h = before.ln_h.iter().zip(&beyond.ln_h).map(between).collect();
        let mut point = Point { ln_h, t: 1.0 };
        for _ in 0..MOST_LAST_CORRECTIONS {
            let (left, mut rows) = self.equations(&point);
            rows.iter_mut().for_each(|row| row.truncate(left.len()));
            let Some(back) = linear_system::solve(rows, left) else { return false };
            point.ln_h.iter_mut().zip(&back).for_each(|(at, back)| *at -= back);
            let scale = largest(&point.ln_h).max(1.0);
            if largest(&back) < SOLVED * scale {
                self.pressures.put(&self.used, &point.ln_h);
                return true;
            }
        }
        false
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}
