//! What the state of a flow changes by in a step taken explicitly: the right-hand side of the implicit
//! step.

use std::ops::Range;

use super::wide::{Vector, Wide, cell_of, side_by_side, vector};
use super::{C1, C2, C15, C34, Case, Cell, Factors};
use crate::team::{Team, cut};

/// Cells of a row side by side.
const LANES: usize = 2;

/// A flow: its state, what drives it, and fields of a number a cell that its state gives. Of these
/// there are `F`: 2, 6 or 7, in the order of [`fields`].
pub struct Flow<'a, const F: usize> {
    pub case: Case,
    /// Each thread's planes.
    pub planes: Vec<Range<usize>>,
    /// The state.
    pub u: &'a mut [Cell],
    pub forcing: &'a mut [Cell],
    /// What the state is to change by.
    pub change: &'a mut [Cell],
    pub fields: [&'a mut [f64]; F],
}

/// Places of the fields.
pub mod fields {
    /// 1 / density.
    pub const VOLUME: usize = 0;
    /// Kinetic energy of a mass.
    pub const KINETIC: usize = 1;
    /// Kinetic energy of a volume.
    pub const SQUARE: usize = 2;
    /// Velocity in x; those in y and z follow.
    pub const VELOCITY: usize = 3;
    /// Speed of sound.
    pub const SOUND: usize = 6;
}

/// A row of cells, all but those at its ends, `L` side by side.
struct Row<'a, const F: usize, const L: usize> {
    u: &'a [[Cell; L]],
    fields: [&'a [[f64; L]]; F],
}

/// What the fluxes of cells side by side are made of.
struct Point<const L: usize> {
    u: Vector<L>,
    velocity: [Wide<L>; 3],
    /// Kinetic energy of a mass and of a volume.
    kinetic: Wide<L>,
    square: Wide<L>,
    /// Energy of a mass.
    energy: Wide<L>,
}

#[inline(always)]
fn groups<T, const L: usize>(row: &[T], begin: usize, count: usize) -> &[[T; L]] {
    row[begin..begin + count * L].as_chunks().0
}

#[inline(always)]
fn transposed<const L: usize>(cells: &[Cell; L]) -> Vector<L> {
    side_by_side(|lane| cells[lane])
}

impl<'a, const F: usize, const L: usize> Row<'a, F, L> {
    #[inline(always)]
    fn new((u, fields): (&'a [Cell], &[&'a [f64]; F]), begin: usize, count: usize) -> Self {
        let u = &groups(u, begin, count)[..count];
        Self { u, fields: fields.map(|field| &groups(field, begin, count)[..count]) }
    }

    #[inline(always)]
    fn point(&self, at: usize) -> Point<L> {
        let u = transposed(&self.u[at]);
        let volume = Wide(self.fields[fields::VOLUME][at]);
        let kinetic = Wide(self.fields[fields::KINETIC][at]);
        let velocity = |d: usize| {
            if F > fields::VELOCITY {
                Wide(self.fields[fields::VELOCITY + d][at])
            } else {
                u[1 + d] * volume
            }
        };
        let velocity = [velocity(0), velocity(1), velocity(2)];
        let square =
            if F > fields::SQUARE { Wide(self.fields[fields::SQUARE][at]) } else { u[0] * kinetic };
        Point { u, velocity, kinetic, square, energy: u[4] * volume }
    }
}

/// The factors of all that cells give to the right-hand side.
#[derive(Clone, Copy)]
struct Weights {
    central: f64,
    viscous: f64,
    third: f64,
    heat: f64,
}

impl Weights {
    /// Cells are cubes: factors but those of diffusion are alike in all directions.
    fn new(Factors { central, second, .. }: Factors) -> Self {
        let viscous = second * C34;
        Self { central, viscous, third: viscous / 3.0, heat: viscous * C15 }
    }

    /// What cells give themselves, but for diffusion and dissipation.
    #[inline(always)]
    fn add_own<const L: usize>(&self, sum: &mut Vector<L>, here: &Point<L>) {
        for m in 0..3 {
            sum[1 + m] -= here.velocity[m] * (4.0 * self.viscous + 8.0 * self.third);
        }
        sum[4] -= here.kinetic * (6.0 * (self.viscous - self.heat) + 2.0 * self.third);
        sum[4] -= here.energy * (6.0 * self.heat);
    }

    /// What the neighbours in direction `D` give, but for diffusion and dissipation.
    #[inline(always)]
    fn add_neighbours<const D: usize, const L: usize>(
        &self,
        sum: &mut Vector<L>,
        low: &Point<L>,
        high: &Point<L>,
    ) {
        let (w_low, w_high) = (low.velocity[D], high.velocity[D]);
        sum[0] -= (high.u[1 + D] - low.u[1 + D]) * self.central;
        for m in 0..3 {
            let mut flux = high.u[1 + m] * w_high - low.u[1 + m] * w_low;
            if m == D {
                flux += ((high.u[4] - high.square) - (low.u[4] - low.square)) * C2;
            }
            let viscous = if m == D { 4.0 * self.third } else { self.viscous };
            sum[1 + m] += (high.velocity[m] + low.velocity[m]) * viscous - flux * self.central;
        }
        let enthalpy = |point: &Point<L>| point.u[4] * C1 - point.square * C2;
        let flux = enthalpy(high) * w_high - enthalpy(low) * w_low;
        sum[4] += (high.kinetic + low.kinetic) * (self.viscous - self.heat)
            + (w_high * w_high + w_low * w_low) * (0.5 * self.third)
            + (high.energy + low.energy) * self.heat
            - flux * self.central;
    }
}

#[inline(always)]
fn add_times<const L: usize>(sum: &mut Vector<L>, cell: &Vector<L>, weight: Wide<L>) {
    sum.iter_mut().zip(cell).for_each(|(sum, value)| *sum += *value * weight);
}

/// Adds the neighbours in a direction by their weights, of which the middle one is that of the cells
/// themselves.
#[inline(always)]
fn add_differences<const L: usize>(
    sum: &mut Vector<L>,
    [lowest, low, high, highest]: [&Vector<L>; 4],
    weights: Vector<L>,
) {
    add_times(sum, lowest, weights[0]);
    add_times(sum, low, weights[1]);
    add_times(sum, high, weights[3]);
    add_times(sum, highest, weights[4]);
}

/// What drives the flow, times so much.
#[derive(Clone, Copy)]
struct Driven<'a> {
    forcing: &'a [Cell],
    times: f64,
}

/// Where a row begins, and those beside it in y and z: two before, one before, one after, two after.
#[derive(Clone, Copy)]
struct Places {
    begin: usize,
    y: [usize; 4],
    z: [usize; 4],
}

/// Writes a row of the right-hand side. Of each place along x, and of the row along y and z, there are
/// the weights of the state in the sum of second and fourth difference.
#[inline(always)]
fn write_row<const F: usize, const L: usize>(
    rhs: &mut [[Cell; L]],
    state: (&[Cell], &[&[f64]; F]),
    places: Places,
    driven: Driven<'_>,
    (along_x, along): (&[[f64; 5]], [[f64; 5]; 2]),
    weights: Weights,
) {
    let count = rhs.len();
    let row = |begin: usize| Row::<F, L>::new(state, begin, count);
    let cells = |begin: usize| &groups::<_, L>(state.0, begin, count)[..count];
    let here = row(places.begin);
    let [x_low, x_high] = [places.begin - 1, places.begin + 1].map(row);
    let [y_low, y_high] = [places.y[1], places.y[2]].map(row);
    let [z_low, z_high] = [places.z[1], places.z[2]].map(row);
    let x_far = [places.begin - 2, places.begin + 2].map(cells);
    let y_far = [places.y[0], places.y[3]].map(cells);
    let z_far = [places.z[0], places.z[3]].map(cells);
    let along_x = &groups::<_, L>(along_x, 0, count)[..count];
    let forcing = &groups::<_, L>(driven.forcing, places.begin, count)[..count];
    let y = vector(|m| Wide::of(along[0][m]));
    let z = vector(|m| Wide::of(along[1][m]));
    for at in 0..count {
        let x = transposed(&along_x[at]);
        let mut sum = transposed(&forcing[at]);
        sum.iter_mut().for_each(|value| *value = *value * driven.times);
        let point = here.point(at);
        let own = x[2] + y[2] + z[2];
        add_times(&mut sum, &point.u, own);
        weights.add_own(&mut sum, &point);

        let (low, high) = (x_low.point(at), x_high.point(at));
        let far = [transposed(&x_far[0][at]), transposed(&x_far[1][at])];
        add_differences(&mut sum, [&far[0], &low.u, &high.u, &far[1]], x);
        weights.add_neighbours::<0, L>(&mut sum, &low, &high);

        let (low, high) = (y_low.point(at), y_high.point(at));
        let far = [transposed(&y_far[0][at]), transposed(&y_far[1][at])];
        add_differences(&mut sum, [&far[0], &low.u, &high.u, &far[1]], y);
        weights.add_neighbours::<1, L>(&mut sum, &low, &high);

        let (low, high) = (z_low.point(at), z_high.point(at));
        let far = [transposed(&z_far[0][at]), transposed(&z_far[1][at])];
        add_differences(&mut sum, [&far[0], &low.u, &high.u, &far[1]], z);
        weights.add_neighbours::<2, L>(&mut sum, &low, &high);

        let cells = rhs[at].iter_mut().enumerate();
        cells.for_each(|(lane, cell)| *cell = cell_of(&sum, lane));
    }
}

/// A row's fields from its state.
#[inline(always)]
fn write_fields<const F: usize>(u: &[Cell], fields: [&mut [f64]; F]) {
    let count = u.len();
    let fields = fields.map(|field| &mut field[..count]);
    for at in 0..count {
        let [density, x, y, z, energy] = u[at];
        let volume = 1.0 / density;
        let square = 0.5 * (x * x + y * y + z * z) * volume;
        fields[fields::VOLUME][at] = volume;
        fields[fields::KINETIC][at] = square * volume;
        if F > fields::SQUARE {
            fields[fields::SQUARE][at] = square;
        }
        if F > fields::VELOCITY {
            fields[fields::VELOCITY][at] = x * volume;
            fields[fields::VELOCITY + 1][at] = y * volume;
            fields[fields::VELOCITY + 2][at] = z * volume;
        }
        if F > fields::SOUND {
            fields[fields::SOUND][at] = (C1 * C2 * volume * (energy - square)).sqrt();
        }
    }
}

impl<const F: usize> Flow<'_, F> {
    /// dt times what the equations are not fulfilled by; and the fields of the state.
    pub fn right_hand_side(&mut self, team: &Team) {
        self.write_fields(team);
        let Self { case, planes, u, forcing, change, fields } = self;
        let (grid, u, forcing) = (case.grid, &**u, &**forcing);
        let fields = &fields.each_ref().map(|field| &**field);
        let factors = [0, 1, 2].map(|direction| case.factors(direction));
        // Of each place, the weights of the state in the sum of second and fourth difference.
        let of = |direction: usize, place: usize| -> [f64; 5] {
            let Factors { diffusion, dissipation, .. } = factors[direction];
            let fourth = case.fourth_difference(place).map(|weight| -dissipation * weight);
            let second = [0.0, diffusion, -2.0 * diffusion, diffusion, 0.0];
            std::array::from_fn(|at| fourth[at] + second[at])
        };
        let along_x: Vec<[f64; 5]> = grid.interior().map(|place| of(0, place)).collect();
        let weights = Weights::new(factors[0]);
        let neighbours = |begin: usize, stride: usize, place: usize| {
            // Where there is no cell, its weight is 0.
            let lowest = if place >= 2 { begin - 2 * stride } else { begin };
            let highest = if place + 2 < grid.n { begin + 2 * stride } else { begin };
            [lowest, begin - stride, begin + stride, highest]
        };
        let [_, row, plane] = grid.strides;
        team.each(cut(change, planes, grid.plane()), |thread, change| {
            let share = &planes[thread];
            for (k, j) in grid.within(share).flat_map(|k| grid.interior().map(move |j| (k, j))) {
                let begin = grid.at(1, j, k);
                let own = begin - share.start * grid.plane();
                let rhs = &mut change[own..own + grid.n - 2];
                let (rhs, last) = rhs.as_chunks_mut::<LANES>();
                let places = |begin: usize| Places {
                    begin,
                    y: neighbours(begin, row, j),
                    z: neighbours(begin, plane, k),
                };
                let along = [of(1, j), of(2, k)];
                let done = rhs.len() * LANES;
                let driven = Driven { forcing, times: case.dt };
                write_row(rhs, (u, fields), places(begin), driven, (&along_x, along), weights);
                let last = last.as_chunks_mut::<1>().0;
                let along = (&along_x[done..], along);
                write_row(last, (u, fields), places(begin + done), driven, along, weights);
            }
        });
    }

    fn write_fields(&mut self, team: &Team) {
        let (grid, u, planes) = (self.case.grid, &*self.u, &self.planes);
        let mut of_threads: Vec<Vec<&mut [f64]>> = planes.iter().map(|_| Vec::new()).collect();
        for field in &mut self.fields {
            let parts = cut(field, planes, grid.plane());
            of_threads.iter_mut().zip(parts).for_each(|(own, part)| own.push(part));
        }
        team.each(of_threads, |thread, mut own| {
            let share = &planes[thread];
            for (k, j) in share.clone().flat_map(|k| (0..grid.n).map(move |j| (k, j))) {
                let begin = grid.at(0, j, k);
                let own_begin = begin - share.start * grid.plane();
                let mut own = own.iter_mut();
                let row: [&mut [f64]; F] = std::array::from_fn(|_| {
                    let field = own.next().unwrap_or_else(|| unreachable!("a part of each field"));
                    &mut field[own_begin..own_begin + grid.n]
                });
                write_fields(&u[begin..begin + grid.n], row);
            }
        });
    }
}
