//! Geometry of a hexahedron whose sides are bilinear.

/// For each axis a number a corner.
pub type Corners = [[f64; 8]; 3];

/// Corners of the sides, counter-clockwise as seen from outside.
const SIDES: [[usize; 4]; 6] =
    [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];

type Vector = [f64; 3];

#[inline(always)]
fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// What the nodes of an element hold.
#[inline(always)]
pub fn gather(nodes: &[u32; 8], [x, y, z]: [&[f64]; 3]) -> Corners {
    let (y, z) = (&y[..x.len()], &z[..x.len()]);
    let mut corners = [[0.0; 8]; 3];
    for (corner, &node) in nodes.iter().enumerate() {
        let node = node as usize;
        corners[0][corner] = x[node];
        corners[1][corner] = y[node];
        corners[2][corner] = z[node];
    }
    corners
}

/// A side's area vector, outward, four times.
#[inline(always)]
fn area(of: &Corners, side: [usize; 4]) -> Vector {
    let [a, b, c, d] = side;
    // Between the middles of opposite edges, twice.
    let along = of.each_ref().map(|at| (at[b] + at[c]) - (at[a] + at[d]));
    let across = of.each_ref().map(|at| (at[c] + at[d]) - (at[a] + at[b]));
    cross(along, across)
}

/// Of each corner, a share of the area vectors of its sides.
#[inline(always)]
pub fn normals(of: &Corners, share: f64) -> Corners {
    // One after another: in a loop, places would not be known to the compiler.
    let [below, above, front, right, back, left] = SIDES;
    let (below, above) = (area(of, below), area(of, above));
    let (front, back) = (area(of, front), area(of, back));
    let (right, left) = (area(of, right), area(of, left));
    let share = 0.25 * share;
    [0, 1, 2].map(|axis| {
        let [below, above] = [share * below[axis], share * above[axis]];
        let [front, back] = [share * front[axis], share * back[axis]];
        let [right, left] = [share * right[axis], share * left[axis]];
        let around = [front + left, front + right, back + right, back + left];
        let [a, b, c, d] = around;
        [below + a, below + b, below + c, below + d, above + a, above + b, above + c, above + d]
    })
}

/// Adds, to the corners of a side, its part of the gradient. At the corner o of the side o, a, c, b, the
/// integral of o's shape function is a 36th of (2 (a - o) + c - b) x (2 (b - o) + c - a); in the sum over
/// the three sides of o that is a twelfth of (a + c) x (c + b).
#[inline(always)]
fn add_gradient(sums: &mut Corners, at: &Corners, side: [usize; 4]) {
    let edge = |from: usize| {
        let (a, b) = (side[from], side[(from + 1) % 4]);
        [at[0][a] + at[0][b], at[1][a] + at[1][b], at[2][a] + at[2][b]]
    };
    let edges = [edge(0), edge(1), edge(2), edge(3)];
    for corner in 0..4 {
        let part = cross(edges[(corner + 1) % 4], edges[(corner + 2) % 4]);
        for axis in 0..3 {
            sums[axis][side[corner]] += part[axis];
        }
    }
}

/// How the volume grows as each corner moves along each axis, where `share` is a twelfth.
#[inline(always)]
pub fn gradient(of: &Corners, share: f64) -> Corners {
    // By the first corner: what is added up is no larger than the element.
    let at = of.map(|at| at.map(|part| part - at[0]));
    let mut sums = [[0.0; 8]; 3];
    let [a, b, c, d, e, f] = SIDES;
    add_gradient(&mut sums, &at, a);
    add_gradient(&mut sums, &at, b);
    add_gradient(&mut sums, &at, c);
    add_gradient(&mut sums, &at, d);
    add_gradient(&mut sums, &at, e);
    add_gradient(&mut sums, &at, f);
    sums.map(|of| of.map(|part| share * part))
}

/// The volume, by three triple products of diagonals.
pub fn volume(of: &Corners) -> f64 {
    let from_to = |b: usize, a: usize| [0, 1, 2].map(|axis| of[axis][a] - of[axis][b]);
    let triple = |a: Vector, b: Vector, c: Vector, d: Vector| {
        let normal = cross(c, d);
        (0..3).map(|axis| (a[axis] + b[axis]) * normal[axis]).sum::<f64>()
    };
    (triple(from_to(1, 3), from_to(2, 7), from_to(3, 6), from_to(0, 2))
        + triple(from_to(3, 4), from_to(7, 5), from_to(4, 6), from_to(0, 7))
        + triple(from_to(4, 1), from_to(5, 2), from_to(1, 6), from_to(0, 5)))
        / 12.0
}

#[cfg(test)]
pub mod tests {
    use super::super::mesh::shaken;
    use super::*;

    /// A hexahedron far from regular.
    pub fn some(seed: usize) -> Corners {
        let cube = [
            [0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0],
            [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        ];
        let mut place = 24 * seed;
        cube.map(|of: [f64; 8]| {
            of.map(|part| {
                place += 1;
                part + 0.2 * shaken(place)
            })
        })
    }

    #[test]
    fn the_gradient_is_that_of_the_volume() {
        for seed in 0..5 {
            let hexahedron = some(seed);
            let gradient = gradient(&hexahedron, 1.0 / 12.0);
            for axis in 0..3 {
                for corner in 0..8 {
                    // The volume is linear in each coordinate.
                    let mut moved = hexahedron;
                    moved[axis][corner] += 1.0;
                    let grown = volume(&moved) - volume(&hexahedron);
                    assert!((gradient[axis][corner] - grown).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn the_sides_of_a_cube_face_outward() {
        let cube = some(0).map(|of| of.map(f64::round));
        for (axis, of) in normals(&cube, 0.25).iter().enumerate() {
            for (corner, part) in of.iter().enumerate() {
                assert!((part - (cube[axis][corner] - 0.5) / 2.0).abs() < 1e-15);
            }
        }
    }
}
