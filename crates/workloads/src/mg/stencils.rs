//! What goes over the grids row by row. A row's loop is a function of its own, whose slices LLVM then
//! knows apart.

use super::count;
use super::grid::Grid;
use crate::team::Team;

/// Weights of the operator A: of the point, of those next to it by an edge and by a corner. Those next
/// to it by a face have none.
const OPERATOR: [f64; 3] = [-8.0 / 3.0, 1.0 / 6.0, 1.0 / 12.0];

/// r = v - A u; where v is not given, r -= A u.
pub fn resid(grid: &Grid, u: &[f64], v: Option<&[f64]>, r: &mut [f64], team: &Team) {
    grid.each_row(r, team, |plane, row, r, scratch| {
        let sums = grid.rows_around(u, plane, row).sums(scratch);
        if let Some(v) = v {
            resid_row(r, &grid.row(v, plane, row)[1..], sums);
        } else {
            resid_row_in_place(r, sums);
        }
    });
}

/// A row as each point's neighbour before it, itself, and that behind it see it.
#[inline(always)]
fn shifted(row: &[f64], points: usize) -> [&[f64]; 3] {
    [&row[..points], &row[1..][..points], &row[2..][..points]]
}

#[inline(never)]
fn resid_row(r: &mut [f64], v: &[f64], rows: [&[f64]; 3]) {
    let points = r.len();
    let [midst, near, far] = rows;
    let ([_, midst, _], near, far) =
        (shifted(midst, points), shifted(near, points), shifted(far, points));
    let v = &v[..points];
    for at in 0..points {
        r[at] = v[at] - product(midst[at], near.map(|row| row[at]), far.map(|row| row[at]));
    }
}

#[inline(never)]
fn resid_row_in_place(r: &mut [f64], rows: [&[f64]; 3]) {
    let points = r.len();
    let [midst, near, far] = rows;
    let ([_, midst, _], near, far) =
        (shifted(midst, points), shifted(near, points), shifted(far, points));
    for at in 0..points {
        r[at] -= product(midst[at], near.map(|row| row[at]), far.map(|row| row[at]));
    }
}

/// A u at a point.
#[inline(always)]
fn product(midst: f64, near: [f64; 3], far: [f64; 3]) -> f64 {
    let [of_point, of_edges, of_corners] = OPERATOR;
    of_point * midst + of_edges * (far[1] + (near[0] + near[2])) + of_corners * (far[0] + far[2])
}

/// u += S r.
pub fn psinv(grid: &Grid, smoother: [f64; 3], r: &[f64], u: &mut [f64], team: &Team) {
    grid.each_row(u, team, |plane, row, u, scratch| {
        psinv_row(u, grid.rows_around(r, plane, row).sums(scratch), smoother);
    });
}

#[inline(never)]
fn psinv_row(u: &mut [f64], rows: [&[f64]; 3], smoother: [f64; 3]) {
    let [of_point, of_faces, of_edges] = smoother;
    let points = u.len();
    let [midst, near, far] = rows;
    let (midst, near, [_, far, _]) =
        (shifted(midst, points), shifted(near, points), shifted(far, points));
    for at in 0..points {
        u[at] += of_point * midst[1][at]
            + of_faces * (near[1][at] + (midst[0][at] + midst[2][at]))
            + of_edges * (far[at] + (near[0][at] + near[2][at]));
    }
}

/// Has each point of the coarser grid take the mean of the finer grid's points around it, weighted.
pub fn rprj3([fine, coarse]: [&Grid; 2], from: &[f64], to: &mut [f64], team: &Team) {
    coarse.each_row(to, team, |plane, row, to, scratch| {
        let rows = fine.rows_around(from, 2 * plane + 1, 2 * row + 1);
        let [midst, near, far] = rows.sums(scratch);
        let rows = triples(midst).zip(triples(near)).zip(triples(far));
        to.iter_mut().zip(rows).for_each(|(to, ((midst, near), far))| {
            *to = 0.5 * midst[1]
                + 0.25 * (near[1] + (midst[0] + midst[2]))
                + 0.125 * (far[1] + (near[0] + near[2]))
                + 0.0625 * (far[0] + far[2]);
        });
    });
}

/// Interpolates the coarser grid's points, and adds that to the finer grid or writes it there.
pub fn interp<const ADDS: bool>(
    [fine, coarse]: [&Grid; 2],
    from: &[f64],
    to: &mut [f64],
    team: &Team,
) {
    fine.each_row(to, team, |plane, row, to, scratch| {
        // Every other place is that of a coarse point, the others lie between two.
        let between = |place: usize| {
            let [before, at, _] = coarse.around(place / 2);
            if place.is_multiple_of(2) { [before, at] } else { [at, at] }
        };
        let ([below, above], [before, behind]) = (between(plane), between(row));
        let coarse_row = |plane, row| coarse.row(from, plane, row);
        let sums = &mut scratch.near[..coarse.row_len()];
        let from = match (below == above, before == behind) {
            (true, true) => coarse_row(above, behind),
            (true, false) => mean(sums, [coarse_row(above, before), coarse_row(above, behind)]),
            (false, true) => mean(sums, [coarse_row(below, behind), coarse_row(above, behind)]),
            (false, false) => {
                let rows = [(below, before), (below, behind), (above, before), (above, behind)];
                sum(sums, rows.map(|(plane, row)| coarse_row(plane, row)));
                sums.iter_mut().for_each(|sum| *sum *= 0.25);
                sums
            }
        };
        to.chunks_exact_mut(2).zip(from.windows(2)).for_each(|(to, from)| {
            let [between, at] = [0.5 * (from[0] + from[1]), from[1]];
            if ADDS {
                to[0] += between;
                to[1] += at;
            } else {
                to[0] = between;
                to[1] = at;
            }
        });
    });
}

/// Each second place of a row with those before and behind it.
fn triples(row: &[f64]) -> impl Iterator<Item = &[f64]> {
    row[1..].windows(3).step_by(2)
}

/// Sums four rows.
#[inline(never)]
fn sum<'a>(sums: &'a mut [f64], [a, b, c, d]: [&[f64]; 4]) -> &'a [f64] {
    let rows = a.iter().zip(b).zip(c.iter().zip(d));
    sums.iter_mut().zip(rows).for_each(|(sum, ((a, b), (c, d)))| *sum = (a + b) + (c + d));
    sums
}

fn mean<'a>(means: &'a mut [f64], [a, b]: [&[f64]; 2]) -> &'a [f64] {
    means.iter_mut().zip(a.iter().zip(b)).for_each(|(mean, (a, b))| *mean = 0.5 * (a + b));
    means
}

/// The root of the mean square.
pub fn norm(grid: &Grid, values: &[f64], team: &Team) -> f64 {
    let of_threads = team.all(|thread| {
        let planes = grid.planes[thread].clone();
        let own = &values[planes.start * grid.plane_len()..planes.end * grid.plane_len()];
        let rows = own.chunks_exact(grid.row_len());
        rows.map(|row| squares(&row[1..=grid.points])).sum::<f64>()
    });
    (of_threads.into_iter().sum::<f64>() / count(grid.points).powi(3)).sqrt()
}

/// The sum of squares, several at a time.
fn squares(values: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let parts = values.chunks_exact(sums.len());
    let rest: f64 = parts.remainder().iter().map(|value| value * value).sum();
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value * value);
    }
    rest + sums.iter().sum::<f64>()
}
