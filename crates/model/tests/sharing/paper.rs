//! The table of saad2022, by its own cells; cells that the fit has not seen, and equation 4, are rows
//! of `crates/reproduce`.

use nearfar_model::{Law, Support, WhoLosesMore};

use crate::sharing::grid;
use crate::sharing::paper_table::{LOCAL, REMOTE, mixed, printed, record_of};

/// On all cells: the parameters of the machine file, and its errors.
#[test]
fn the_whole_table_gives_the_pressure_law() {
    let all: Vec<_> = mixed().collect();
    let grid = grid(&record_of(&LOCAL, &REMOTE, &all));
    let Law::Pressure { a, b } = grid.fit.law else { panic!("{:?}", grid.fit) };
    assert!((a - 0.384).abs() < 0.01 && (b - 0.249).abs() < 0.01, "{a} {b}");
    for (n, m) in mixed() {
        let cell = grid.cell(n, m).unwrap();
        let found = cell.predicted.unwrap();
        let (local, remote) = (printed(&LOCAL, n, m) * 1e6, printed(&REMOTE, n, m) * 1e6);
        assert!((found.total().0 / (local + remote) - 1.0).abs() < 0.023, "{n} {m} {found:?}");
        assert!((found.local.0 / local - 1.0).abs() < 0.028, "{n} {m} {found:?}");
        assert!((found.remote.0 / remote - 1.0).abs() < 0.023, "{n} {m} {found:?}");
        assert_eq!(cell.support, Support::Measured);
    }
    assert!(grid.fit.left_out.unwrap().total < 0.012, "{:?}", grid.fit);
    let Law::Saturation { limit, sharpness, remote_weight } = grid.other.law else { panic!() };
    assert!((limit.0 / 14.9e9 - 1.0).abs() < 0.02 && (sharpness - 4.25).abs() < 0.6);
    assert!((remote_weight - 0.98).abs() < 0.05, "{remote_weight}");
}

#[test]
fn the_remote_processes_lose_more_under_load() {
    let all: Vec<_> = mixed().collect();
    let fairness = grid(&record_of(&LOCAL, &REMOTE, &all)).fairness.unwrap();
    assert_eq!(fairness.cells, 16);
    assert_eq!(fairness.on_average, WhoLosesMore::Neither);
    assert_eq!(fairness.under_full_load, WhoLosesMore::Remote);
    assert!((fairness.local.under_full_load - (1.0 - 9302.0 / 12925.0)).abs() < 1e-6);
    assert!((fairness.remote.under_full_load - (1.0 - 4416.0 / 6807.0)).abs() < 1e-6);
    let (local, remote) = (fairness.local.slope.unwrap(), fairness.remote.slope.unwrap());
    assert!(remote > local && local > 0.01 && remote < 0.1, "{fairness:?}");
}
