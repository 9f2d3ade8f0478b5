//! Records that hold too little.

use nearfar_model::{RecordFigures, SplitQuestion, Support, WorkSharing, sharing};

use crate::sharing::grid;
use crate::sharing::paper_table::{LOCAL, REMOTE, add_cell, record_of};

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

/// Laws that were 61 and 90 % off were printed as a grid of predictions.
#[test]
fn a_law_that_is_far_off_predicts_nothing() {
    let mut record = nearfar_specimen::record();
    // Next to the other group, one of the two gets a tenth, and which one follows no law.
    for cell in [(1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (0, 3)] {
        add_cell(&mut record, cell, &[(9e9, 9e9)]);
    }
    let measured = [(1, 1), (1, 2), (2, 1), (2, 2)];
    for (number, cell) in measured.into_iter().enumerate() {
        let rates = if number % 3 == 0 { (9e9, 9e8) } else { (9e8, 9e9) };
        add_cell(&mut record, cell, &[rates]);
    }
    let model = sharing(&RecordFigures::new(&record)).unwrap();
    let grid = &model.grids[0];
    assert!(grid.fit.left_out.unwrap().all > 0.34, "{:?}", grid.fit);
    assert!(!grid.is_predictive);
    // Of two and three processes every split was measured.
    let ranked: Vec<u32> = grid.rankings.iter().map(|ranking| ranking.processes).collect();
    assert_eq!(ranked, [2, 2, 3, 3]);
    for cell in (1..=3).flat_map(|n| (1..=3).map(move |m| (n, m))) {
        let found = grid.cell(cell.0, cell.1).unwrap();
        assert_eq!(found.measured.is_some(), measured.contains(&cell), "{cell:?}");
        assert_eq!((found.predicted, found.predicted_total), (None, None), "{cell:?}");
    }
    let asked = |processes, splits| SplitQuestion {
        node: None,
        kernels: Vec::new(),
        work: WorkSharing::ALL.to_vec(),
        processes,
        splits,
    };
    for question in [asked(Some(4), Vec::new()), asked(None, vec![(3, 3)])] {
        let refused = model.answer(&question).unwrap_err();
        assert!(refused.contains("more than a third, and predicts nothing"), "{refused}");
        assert!(refused.contains("nearfar characterize"), "{refused}");
        assert!(refused.contains("ask for 2, 3 processes"), "{refused}");
    }
    let of_two = model.answer(&asked(Some(2), Vec::new())).unwrap();
    for ranking in &of_two.grids[0].rankings {
        let both = ranking.splits.iter().find(|split| split.near == 1).unwrap();
        assert_eq!((ranking.splits.len(), both.support), (3, Support::Measured), "{ranking:?}");
    }
    assert!(model.answer(&asked(None, vec![(1, 1)])).is_ok(), "what was measured is told");
}
