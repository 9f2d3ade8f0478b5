//! Records that hold too little.

use nearfar_model::{RecordFigures, Support, sharing};

use crate::grid;
use crate::paper_table::{LOCAL, REMOTE, add_cell, record_of};

fn of(cells: &[(u32, u32)]) -> Result<nearfar_model::Sharing, nearfar_model::Inapplicable> {
    let mut record = nearfar_specimen::record();
    for &(n, m) in cells {
        let rounds = [(9e9, 5e9)];
        add_cell(&mut record, (n, m), &rounds);
    }
    sharing(&RecordFigures::new(&record))
}

#[test]
fn what_is_missing_is_said_with_the_command_that_adds_it() {
    for (cells, why) in [
        (&[(1, 0), (0, 1)][..], "no figure of local and remote threads side by side"),
        (&[(1, 0), (1, 1)], "no figure of the remote threads alone"),
        (&[(0, 1), (1, 1)], "no figure of the local threads alone"),
        (
            &[(1, 0), (0, 1), (4, 4)],
            "no figure near enough of what the threads side by side move alone",
        ),
    ] {
        let refused = of(cells).unwrap_err();
        assert_eq!(refused.why, why);
        assert!(refused.remedy.unwrap().starts_with("nearfar characterize"), "{cells:?}");
    }
    let refused = of(&[]).unwrap_err();
    assert!(refused.why.contains("the machine has one initiator"), "{refused:?}");
    assert_eq!(refused.remedy, None, "no command adds an initiator");
    assert!(of(&[(1, 0), (0, 1), (1, 1)]).is_ok());
}

/// Three threads were not measured alone, nor beside others: the model says so of its figure and
/// makes room for what the curve can be off.
#[test]
fn figures_between_and_beyond_measured_counts_say_so() {
    let mut record = nearfar_specimen::record();
    let whole = record_of(&LOCAL, &REMOTE, &[(1, 1), (2, 2)]);
    for (case, sample) in whole.cases.into_iter().zip(whole.samples) {
        let place = case.id.clone();
        if ["0x3+", "0x4+", "1x3/", "1x4/"].iter().all(|absent| !place.contains(absent)) {
            record.cases.push(case);
            record.samples.push(sample);
        }
    }
    let rounds = [(12925e6, 0.0)];
    add_cell(&mut record, (4, 0), &rounds);
    let grid = grid(&record);
    let three = grid.cell(3, 1).unwrap();
    assert_eq!((three.support, three.lone_support), (Support::Extrapolated, Support::Interpolated));
    assert!(grid.room(&three, |residual| residual.total).unwrap() >= 0.08);
    let far = grid.cell(2, 4).unwrap();
    assert_eq!((far.support, far.lone_support), (Support::Extrapolated, Support::Extrapolated));
    assert!(far.predicted.unwrap().total().0 < (11024e6 + 6998e6));
    // What four far ones move alone is only bounded.
    assert_eq!(grid.room(&far, |residual| residual.total), None);
}

/// A law is not blamed for lone figures that nobody knows: the cells of four near threads, of
/// which one alone and two alone were measured, are left out of the fit.
#[test]
fn cells_beyond_the_lone_figures_are_not_fitted() {
    let cells = [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (2, 2)];
    let fitted = |more: &[(u32, u32)]| {
        let model = of(&[&cells[..], more].concat()).unwrap();
        model.grids[0].fit
    };
    assert_eq!(fitted(&[(4, 1), (4, 2), (1, 4)]), fitted(&[]));
    assert_eq!(fitted(&[(2, 1)]).cells, 3);
}
