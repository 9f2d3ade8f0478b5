//! The cases of two records: those that were compared, and why others were not.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nearfar_model::{CaseStanding, ComparedCase, RecordComparison, UncomparedCase, Verdict};

use super::figures::capitalised;
use crate::document::Section;
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn cases(found: &RecordComparison, verdicts: &[Verdict], most_rows: usize) -> Section {
    let mut tables = Vec::new();
    for &verdict in verdicts {
        for unit in [Unit::GbPerS, Unit::GflopPerS, Unit::Ns] {
            let of = found.cases.iter().filter(|case| case.verdict == verdict);
            let cases: Vec<_> = of.filter_map(|case| Some((case, values(case, unit)?))).collect();
            tables.extend(table(verdict, unit, cases, most_rows));
        }
    }
    Section::new(
        "cases",
        "Case by case",
        "Medians of the undisturbed rounds of both records, and B / A with the 95 % interval of \
         each case.",
        tables,
    )
}

fn table(
    verdict: Verdict,
    unit: Unit,
    mut cases: Vec<(&ComparedCase, [f64; 2])>,
    most_rows: usize,
) -> Option<Table> {
    let all = cases.len();
    if all == 0 {
        return None;
    }
    // The clearest first.
    cases.sort_by(|(one, _), (other, _)| other.score.abs().total_cmp(&one.score.abs()));
    cases.truncate(most_rows);
    let figure = |value, interval, unit| Cell::Figure(Figure::new(value, interval, unit));
    let row = |(case, [a, b]): &(&ComparedCase, [f64; 2])| {
        vec![
            Cell::text(&case.a_id),
            figure(*a, None, unit),
            figure(*b, None, unit),
            figure(case.ratio, Some(case.interval.into()), Unit::One),
            Cell::text(format!("{}, {}", case.a_rounds, case.b_rounds)),
        ]
    };
    let more = all - cases.len();
    let shown = if more > 0 { format!(", the clearest {}", cases.len()) } else { String::new() };
    let note = format!("{more} more are in what `nearfar compare --json` prints.");
    Some(
        Table::new(
            format!("{}, {}: {all}{shown}", capitalised(verdict.as_str()), quantity(unit)),
            vec![
                Column::words("case"),
                Column::of("A", unit),
                Column::of("B", unit),
                Column::of("B / A", Unit::One),
                Column::words("rounds of A, of B"),
            ],
            cases.iter().map(row),
        )
        .with_notes((more > 0).then_some(note))
        .toned(verdict.into()),
    )
}

pub(crate) fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::GbPerS => "bandwidth",
        Unit::GflopPerS => "arithmetic",
        Unit::Ns => "time of an access",
        Unit::Us | Unit::S => "time",
        Unit::PerS => "rate",
        Unit::One => "ratio",
    }
}

/// Both figures of a case; `None` where its figures have another unit.
pub(crate) fn values(case: &ComparedCase, unit: Unit) -> Option<[f64; 2]> {
    let (values, own) = case.figures.shown();
    (own == unit).then_some(values)
}

/// How a case stands in both records.
pub(super) type Standings = (&'static str, &'static str);

/// Cases that are not compared by how they stand in A and in B, most first.
pub(super) fn kinds_of_uncompared(
    found: &RecordComparison,
) -> Vec<(Standings, Vec<&UncomparedCase>)> {
    let mut kinds: BTreeMap<Standings, Vec<&UncomparedCase>> = BTreeMap::new();
    for case in &found.not_compared {
        kinds.entry((case.a.as_str(), case.b.as_str())).or_default().push(case);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, cases)| Reverse(cases.len()));
    kinds
}

pub(super) fn not_compared(found: &RecordComparison) -> Option<Section> {
    let kinds = kinds_of_uncompared(found);
    if kinds.is_empty() {
        return None;
    }
    let rows = kinds.iter().map(|((a, b), cases)| {
        let first = cases.first();
        let reason = first.and_then(|first| first.a.reason().or(first.b.reason()));
        vec![
            Cell::text(cases.len()),
            Cell::text(a.replace('_', " ")),
            Cell::text(b.replace('_', " ")),
            first.map_or(Cell::Empty, |first| Cell::text(&first.id)),
            reason.map_or(Cell::Empty, Cell::text),
        ]
    });
    let has = |standings: Standings| kinds.iter().any(|(known, _)| *known == standings);
    let (one, other) = (CaseStanding::Measured.as_str(), CaseStanding::NotPlanned.as_str());
    let screening = "Screening can keep other variants each time: the same --isa, --kernel and --seed \
                     for both records give more cases in common.";
    let is_screened = found.roles.is_empty() && has((one, other)) && has((other, one));
    let table = Table::new(
        "Cases that are not compared, by reason",
        ["cases", "in A", "in B", "the first", "why"].map(Column::words),
        rows,
    )
    .with_notes(is_screened.then(|| screening.into()));
    Some(Section::new(
        "not-compared",
        "What is not compared",
        "A case is compared where both records have at least three undisturbed rounds of it.",
        vec![table],
    ))
}
