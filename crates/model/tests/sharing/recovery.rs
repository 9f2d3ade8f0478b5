//! Laws come back from tables that they made, and nothing that a record can hold makes a figure
//! that is none.

use nearfar_model::{Law, ProcessSplit, RecordFigures, SplitVerdict, WorkSharing, sharing};
use proptest::prelude::*;

use crate::sharing::grid;
use crate::sharing::paper_table::{add_cell, record_of};

type Table = [[f64; 5]; 5];

fn tables(of_cell: impl Fn(usize, usize) -> (f64, f64)) -> (Table, Table) {
    let (mut local, mut remote) = ([[0.0; 5]; 5], [[0.0; 5]; 5]);
    for n in 0..5 {
        for m in 0..5 {
            (local[n][m], remote[n][m]) = of_cell(n, m);
        }
    }
    (local, remote)
}

const NEAR: [f64; 5] = [0.0, 9000.0, 15000.0, 18000.0, 19000.0];
const FAR: [f64; 5] = [0.0, 6000.0, 9000.0, 9500.0, 9400.0];

fn noisy(random: &mut fastrand::Rng, table: &Table) -> Table {
    table.map(|row| row.map(|value| value * (1.0 + 0.005 * (2.0 * random.f64() - 1.0))))
}

#[test]
fn the_pressure_law_comes_back_through_noise() {
    let mut random = fastrand::Rng::with_seed(5);
    let (a, b) = (0.6, 0.4);
    let (local, remote) = tables(|n, m| {
        let (near, far) = (NEAR[n], FAR[m]);
        let queue = f64::from(u32::try_from(n).unwrap()) * NEAR[1] / NEAR[4];
        (near / (1.0 + a * near / NEAR[4] * far / FAR[3]), far / (1.0 + b * queue * far / FAR[3]))
    });
    let all: Vec<_> = crate::sharing::paper_table::mixed().collect();
    let record = record_of(&noisy(&mut random, &local), &noisy(&mut random, &remote), &all);
    let found = grid(&record);
    let Law::Pressure { a: found_a, b: found_b } = found.fit.law else { panic!("{found:?}") };
    assert!((found_a - a).abs() < 0.02 && (found_b - b).abs() < 0.02, "{found_a} {found_b}");
    assert!(found.fit.left_out.unwrap().all < 0.01);
}

#[test]
fn the_saturation_law_comes_back_and_is_preferred() {
    let mut random = fastrand::Rng::with_seed(6);
    let (limit, sharpness, weight) = (20_000.0, 5.0, 0.8);
    let (local, remote) = tables(|n, m| {
        let (near, far) = (NEAR[n], FAR[m]);
        if n == 0 || m == 0 {
            return (near, far);
        }
        let total: f64 =
            ((near + far).powf(-sharpness) + f64::powf(limit, -sharpness)).powf(-1.0 / sharpness);
        let beta = weight * far / (near + weight * far);
        ((1.0 - beta) * total, beta * total)
    });
    let all: Vec<_> = crate::sharing::paper_table::mixed().collect();
    let record = record_of(&noisy(&mut random, &local), &noisy(&mut random, &remote), &all);
    let found = grid(&record).fit;
    let Law::Saturation { limit: k, sharpness: p, remote_weight } = found.law else {
        panic!("{found:?}")
    };
    assert!((k.0 / (limit * 1e6) - 1.0).abs() < 0.02, "{k:?}");
    assert!((p / sharpness - 1.0).abs() < 0.2 && (remote_weight / weight - 1.0).abs() < 0.02);
}

/// Groups that do not slow each other: neither law finds a loss.
#[test]
fn no_interference_is_found_where_there_is_none() {
    let (local, remote) = tables(|n, m| (NEAR[n], FAR[m]));
    let all: Vec<_> = crate::sharing::paper_table::mixed().collect();
    let grid = grid(&record_of(&local, &remote, &all));
    for (n, m) in crate::sharing::paper_table::mixed() {
        let found = grid.cell(n, m).unwrap().predicted.unwrap();
        let truth = (NEAR[n as usize] + FAR[m as usize]) * 1e6;
        assert!((found.total().0 / truth - 1.0).abs() < 0.005, "{n} {m} {found:?}");
    }
    let fairness = grid.fairness.unwrap();
    assert!(fairness.local.mean.abs() < 1e-6 && fairness.remote.mean.abs() < 1e-6);
}

/// Whether a split is better than another one by more than both can be off.
fn gains(split: &ProcessSplit, other: &ProcessSplit, work: WorkSharing) -> bool {
    let both = split.room(work).unwrap().hypot(other.room(work).unwrap());
    split.figure(work).value / other.figure(work).value > 1.0 + both
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any coordinates and rates, zeros among them: figures are finite and not below zero, both
    /// laws stay below the lone figures together, and a ranking begins with its best.
    #[test]
    fn any_grid_gives_sound_figures(
        cells in proptest::collection::vec(
            (0..70_u32, 0..70_u32, prop_oneof![Just(0.0), 1.0..1e12_f64], 1.0..1e12_f64), 1..24),
    ) {
        let mut record = nearfar_specimen::record();
        for &(n, m, local, remote) in cells.iter().filter(|(n, m, ..)| n + m > 0) {
            let rounds = [(local, remote)];
            add_cell(&mut record, (n, m), &rounds);
        }
        let figures = RecordFigures::new(&record);
        let Ok(model) = sharing(&figures) else { return Ok(()) };
        for grid in &model.grids {
            for cell in &grid.cells {
                for shares in [cell.predicted, cell.by_other_law].into_iter().flatten() {
                    prop_assert!(shares.local.0 >= 0.0 && shares.remote.0 >= 0.0, "{shares:?}");
                    let lone = grid.local.at(cell.local_threads).0
                        + grid.remote.at(cell.remote_threads).0;
                    prop_assert!(shares.total().0 <= lone * 1.000_001, "{shares:?} of {lone}");
                    prop_assert!(shares.total().0.is_finite());
                }
            }
            for work in WorkSharing::ALL {
                let Some(ranking) = grid.ranking(grid.local.most_threads, work) else { continue };
                let best = ranking.splits[0].figure(work).value;
                let near = ranking.all_near.as_ref().filter(|_| ranking.verdict == SplitVerdict::Gain);
                for split in near.iter().flat_map(|_| ranking.best()) {
                    prop_assert!(gains(split, near.unwrap(), work), "{split:?} {near:?}");
                }
                let good = ranking.best().count();
                prop_assert!(good + ranking.unsure.len() <= ranking.splits.len());
                prop_assert!(ranking.splits.iter().all(|split| split.figure(work).value.0.is_finite()));
                prop_assert!(ranking.gain.is_none_or(f64::is_finite));
                prop_assert!(ranking.splits[0].is_as_good_as_best);
                for split in &ranking.splits {
                    let [low, high] = split.figure(work).interval.unwrap_or([0.0.into(), best]);
                    prop_assert!(low.0.is_finite() && high.0.is_finite() && low <= high, "{split:?}");
                }
            }
        }
    }

    /// In another unit the same parameters.
    #[test]
    fn the_unit_does_not_matter(scale in 1e-3..1e3_f64) {
        let fit = |scale: f64| {
            let tables = [crate::sharing::paper_table::LOCAL, crate::sharing::paper_table::REMOTE];
            let [local, remote] = tables.map(|table| table.map(|row| row.map(|it| it * scale)));
            grid(&record_of(&local, &remote, &crate::sharing::paper_table::FOUR)).fit
        };
        let (one, other) = (fit(1.0), fit(scale));
        let (Law::Pressure { a, b }, Law::Pressure { a: c, b: d }) = (one.law, other.law) else {
            panic!()
        };
        prop_assert!((a - c).abs() < 1e-3 && (b - d).abs() < 1e-3, "{} {} {} {}", a, b, c, d);
    }
}
