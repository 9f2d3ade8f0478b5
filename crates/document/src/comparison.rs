//! Two records beside each other as a document.

use crate::subject::{
    CompareView, ComparedCaseView, ComparedGroupView, ComparedPartView, EnvironmentDifferenceView,
    group_words,
};
use nearfar_record::Executor;
use nearfar_units::format_significant;

use crate::document::{Document, PROGRAM, Section};
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, Table};

/// Rows of one table; `compare --json` has all.
const MOST_ROWS: usize = 1000;

/// Verdicts on a case, what matters most first.
pub(crate) const VERDICTS: [&str; 4] = ["worse", "better", "unclear", "same"];

impl Document {
    pub fn of_comparison(view: &CompareView) -> Self {
        let is_simulated =
            [&view.a, &view.b].into_iter().any(|of| of.executor == Executor::Simulated);
        let sections = [
            environment(view),
            Some(groups(view)),
            (!view.parts.is_empty()).then(|| parts(&view.parts)),
            Some(cases(view)),
            not_compared(view),
        ];
        Self {
            title: format!(
                "A: {}, {}; B: {}, {}",
                view.a.host, view.a.started, view.b.host, view.b.started
            ),
            is_simulated,
            program: PROGRAM,
            cautions: cautions(view),
            summary: summary(view),
            sections: sections.into_iter().flatten().collect(),
            paper_tables: Vec::new(),
        }
    }
}

fn cautions(view: &CompareView) -> Vec<String> {
    let records = [("A", &view.a), ("B", &view.b)];
    let simulated = records.iter().filter(|(_, of)| of.executor == Executor::Simulated);
    let simulated: Vec<&str> = simulated.map(|(name, _)| *name).collect();
    let mut cautions = Vec::new();
    if !simulated.is_empty() {
        let names = simulated.join(" and of ");
        cautions.push(format!("SIMULATED: the figures of {names} were worked out, not measured."));
    }
    cautions.extend(
        records
            .iter()
            .filter_map(|(name, of)| Some(format!("WARNING: {name}: {}.", of.sealing.finding()?))),
    );
    cautions
}

fn summary(view: &CompareView) -> Vec<String> {
    let mut sentences = vec![format!("{}.", capitalised(&view.counts()))];
    sentences.extend(
        view.findings().iter().map(|(label, words)| format!("{}: {words}.", capitalised(label))),
    );
    let names: Vec<String> =
        differing(view).map(|difference| difference.name.replace('_', " ")).collect();
    if !names.is_empty() {
        sentences.push(format!("Beside the figures differ: {}.", names.join(", ")));
    }
    sentences
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn environment(view: &CompareView) -> Option<Section> {
    if view.environment.is_empty() {
        return None;
    }
    let value = |text: &Option<String>| {
        text.as_ref().map_or_else(|| Cell::not_measured("the record does not say"), Cell::text)
    };
    let row = |it: &EnvironmentDifferenceView| {
        vec![Cell::text(it.name.replace('_', " ")), value(&it.a), value(&it.b)]
    };
    let one_sided = view.environment.iter().filter(|it| it.a.is_none() || it.b.is_none());
    let table = |caption: &str, rows: Vec<Vec<Cell>>| Table {
        caption: caption.into(),
        columns: ["", "A", "B"].map(Column::words).into(),
        rows,
        notes: Vec::new(),
    };
    let tables = [
        table("What differs beside the figures", differing(view).map(row).collect()),
        table("Known of one record only, which is no difference", one_sided.map(row).collect()),
    ];
    Some(section(
        "environment",
        "What differs beside the figures",
        "Machine, system and inputs as the records tell of them.",
        tables.into_iter().filter(|table| !table.rows.is_empty()).collect(),
    ))
}

/// What both records know and do not agree about.
fn differing(view: &CompareView) -> impl Iterator<Item = &EnvironmentDifferenceView> {
    view.environment.iter().filter(|it| it.a.is_some() && it.b.is_some())
}

fn groups(view: &CompareView) -> Section {
    let percent = |fraction: f64| Cell::text(format!("{} %", three(100.0 * fraction)));
    let row = |group: &ComparedGroupView| {
        let shift = group.shift.as_ref();
        vec![
            Cell::text(group_words(group.group)),
            Cell::text(group.cases.to_string()),
            percent(group.a_noise),
            percent(group.b_noise),
            Cell::Figure(Figure::new(group.excess, None, Unit::One)),
            shift.map_or(
                Cell::not_measured("too few of its cases, or they do not agree"),
                |shift| {
                    Cell::Figure(Figure::new(shift.gain_ratio, Some(shift.interval), Unit::One))
                },
            ),
            shift.map_or(Cell::Empty, |shift| Cell::text(shift.verdict)),
        ]
    };
    let table = Table {
        caption: "Groups of cases, their noise, and what all of a group have in common".into(),
        columns: vec![
            Column::words("group"),
            Column::words("cases"),
            Column::words("noise of a round in A"),
            Column::words("in B"),
            Column::of("scatter beyond it", Unit::One),
            Column::of("gain in common", Unit::One),
            Column::words("verdict"),
        ],
        rows: view.groups.iter().map(row).collect(),
        notes: vec![
            "A gain above 1 is better: of times, A / B. Scatter beyond noise widens intervals."
                .into(),
        ],
    };
    section(
        "groups",
        "What cases have in common",
        "Cases whose noise and common causes are alike are judged together.",
        vec![table],
    )
}

fn parts(parts: &[ComparedPartView]) -> Section {
    let row = |part: &ComparedPartView| {
        vec![
            Cell::text(part.verdict),
            Cell::text(part.words()),
            Cell::text(format!("{} of {}", part.cases, part.cases_of_part)),
            Cell::Figure(Figure::new(part.gain_ratio, None, Unit::One)),
        ]
    };
    let table = Table {
        caption: "Parts of the machine that worse or better cases use".into(),
        columns: vec![
            Column::words("verdict"),
            Column::words("part"),
            Column::words("cases that use it"),
            Column::of("median gain", Unit::One),
        ],
        rows: parts.iter().map(row).collect(),
        notes: vec!["What cases have in common need not be the cause.".into()],
    };
    section(
        "parts",
        "Parts in common",
        "The parts that most of the cases with a finding use.",
        vec![table],
    )
}

fn cases(view: &CompareView) -> Section {
    let mut tables = Vec::new();
    for verdict in VERDICTS {
        for unit in [Unit::GbPerS, Unit::GflopPerS, Unit::Ns] {
            let of = view.cases.iter().filter(|case| case.verdict == verdict);
            let cases: Vec<_> = of.filter_map(|case| Some((case, values(case, unit)?))).collect();
            tables.extend(table(verdict, unit, cases));
        }
    }
    section(
        "cases",
        "Case by case",
        "Medians of the undisturbed rounds of both records, and B / A with its 95 % interval, each \
         by itself.",
        tables,
    )
}

fn table(
    verdict: &str,
    unit: Unit,
    mut cases: Vec<(&ComparedCaseView, [f64; 2])>,
) -> Option<Table> {
    let all = cases.len();
    if all == 0 {
        return None;
    }
    // The clearest first.
    cases.sort_by(|(one, _), (other, _)| other.score.abs().total_cmp(&one.score.abs()));
    cases.truncate(MOST_ROWS);
    let figure = |value, interval, unit| Cell::Figure(Figure::new(value, interval, unit));
    let row = |(case, [a, b]): &(&ComparedCaseView, [f64; 2])| {
        vec![
            Cell::text(&case.case),
            figure(*a, None, unit),
            figure(*b, None, unit),
            figure(case.ratio, Some(case.interval), Unit::One),
            Cell::text(format!("{}, {}", case.a_rounds, case.b_rounds)),
        ]
    };
    let more = all - cases.len();
    let note = format!("{more} more are in what `nearfar compare --json` prints.");
    Some(Table {
        caption: format!("{}, {}: {all}", capitalised(verdict), quantity(unit)),
        columns: vec![
            Column::words("case"),
            Column::of("A", unit),
            Column::of("B", unit),
            Column::of("B / A", Unit::One),
            Column::words("rounds of A, of B"),
        ],
        rows: cases.iter().map(row).collect(),
        notes: (more > 0).then_some(note).into_iter().collect(),
    })
}

pub(crate) fn quantity(unit: Unit) -> &'static str {
    match unit {
        Unit::GbPerS => "bandwidth",
        Unit::GflopPerS => "arithmetic",
        Unit::Ns => "time of an access",
        Unit::One => "ratio",
    }
}

/// Both figures of a case; `None` where its figures have another unit.
pub(crate) fn values(case: &ComparedCaseView, unit: Unit) -> Option<[f64; 2]> {
    let (a, b) = match unit {
        Unit::GbPerS => (case.a_gb_per_s, case.b_gb_per_s),
        Unit::GflopPerS => (case.a_gflop_per_s, case.b_gflop_per_s),
        Unit::Ns => (case.a_ns, case.b_ns),
        Unit::One => (None, None),
    };
    Some([a?, b?])
}

fn not_compared(view: &CompareView) -> Option<Section> {
    let kinds = view.kinds_of_uncompared();
    if kinds.is_empty() {
        return None;
    }
    let rows = kinds.iter().map(|((a, b), cases)| {
        let first = cases.first();
        let reason = first.and_then(|first| first.a_reason.as_ref().or(first.b_reason.as_ref()));
        vec![
            Cell::text(cases.len().to_string()),
            Cell::text(a.replace('_', " ")),
            Cell::text(b.replace('_', " ")),
            first.map_or(Cell::Empty, |first| Cell::text(&first.case)),
            reason.map_or(Cell::Empty, Cell::text),
        ]
    });
    let table = Table {
        caption: "Cases that are not compared, by how they stand".into(),
        columns: ["cases", "in A", "in B", "the first", "why"].map(Column::words).into(),
        rows: rows.collect(),
        notes: vec![
            "Screening can keep other variants each time: the same --isa, --kernel and --seed for \
             both records give more cases in common."
                .into(),
        ],
    };
    Some(section(
        "not-compared",
        "What is not compared",
        "A case is compared where both records have at least three undisturbed rounds of it.",
        vec![table],
    ))
}

fn section(id: &'static str, title: &'static str, about: &str, tables: Vec<Table>) -> Section {
    Section { id, title, about: about.into(), tables, findings: Vec::new(), model_text: None }
}

fn three(value: f64) -> String {
    format_significant(value, 3)
}
