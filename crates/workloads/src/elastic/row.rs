//! Velocities and stresses of a row of cells, half a step further.

use super::grid::{Four, difference};
use super::{CELL, STEP};

/// The four rows, as long as what is computed from them.
#[inline(always)]
fn fit(of: Four<'_>, cells: usize) -> Four<'_> {
    of.map(|row| &row[..cells])
}

/// velocity += step / density (divergence of a row of the stress tensor), for a row of cells.
#[inline(never)]
pub fn accelerate(velocity: &mut [f64], density: &[f64], [x, y, z]: [Four<'_>; 3]) {
    let cells = velocity.len();
    let density = &density[..cells];
    let (x, y, z) = (fit(x, cells), fit(y, cells), fit(z, cells));
    for k in 0..cells {
        let force = difference(x, k) + difference(y, k) + difference(z, k);
        velocity[k] += STEP / CELL / density[k] * force;
    }
}

/// The normal stresses of a row of cells by the strains along the axes.
#[inline(never)]
pub fn stretch([xx, yy, zz]: [&mut [f64]; 3], [lambda, mu]: [&[f64]; 2], [x, y, z]: [Four<'_>; 3]) {
    let cells = xx.len();
    let (yy, zz) = (&mut yy[..cells], &mut zz[..cells]);
    let (lambda, mu) = (&lambda[..cells], &mu[..cells]);
    let (x, y, z) = (fit(x, cells), fit(y, cells), fit(z, cells));
    for k in 0..cells {
        let (dx, dy, dz) = (difference(x, k), difference(y, k), difference(z, k));
        let (lambda, mu) = (STEP / CELL * lambda[k], STEP / CELL * mu[k]);
        let all = lambda * (dx + dy + dz);
        xx[k] += all + 2.0 * mu * dx;
        yy[k] += all + 2.0 * mu * dy;
        zz[k] += all + 2.0 * mu * dz;
    }
}

/// A shear stress of a row of cells.
#[inline(never)]
pub fn shear(stress: &mut [f64], mu: &[f64], [a, b]: [Four<'_>; 2]) {
    let cells = stress.len();
    let mu = &mu[..cells];
    let (a, b) = (fit(a, cells), fit(b, cells));
    for k in 0..cells {
        stress[k] += STEP / CELL * mu[k] * (difference(a, k) + difference(b, k));
    }
}
