//! Workloads: which there are, and a run of one.

use nearfar_record::{PageNodes, ResultCheck, WorkloadArray, WorkloadPhase};
use nearfar_units::{Bytes, format_duration, words_of};
use nearfar_workloads::{Class, Workload, WorkloadName, WorkloadReport};
use serde::Serialize;

use super::figures::{count, percent_words, significant};
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Rows of the tables of phases, arrays and checks that the first screen has room for.
const FIRST_ROWS: usize = 10;

/// The workloads; `workload list --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadList {
    pub schema: &'static str,
    pub workloads: Vec<ListedWorkload>,
}

/// A workload of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedWorkload {
    pub name: WorkloadName,
    pub computes: &'static str,
    /// What limits it on memory that no cache holds.
    pub bound_by: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// Bytes of all its arrays by each class, for one thread.
    pub class_bytes: std::collections::BTreeMap<Class, u64>,
}

impl WorkloadList {
    #[expect(clippy::new_without_default, reason = "a list is made, and has no empty form")]
    pub fn new() -> Self {
        let listed = |name: WorkloadName| {
            let facts = name.facts();
            let bytes = |class| (class, Workload::of_class(name, class).bytes());
            ListedWorkload {
                name,
                computes: facts.computes,
                bound_by: facts.bound_by,
                source: facts.source,
                class_bytes: Class::ALL.map(bytes).into(),
            }
        };
        Self {
            schema: "nearfar.workloads/1",
            workloads: WorkloadName::ALL.into_iter().map(listed).collect(),
        }
    }

    pub fn answer(&self) -> Answer {
        let columns = ["workload", "computes", "bound by", "class A", "class C"];
        let row = |it: &ListedWorkload| {
            let of = |class| {
                it.class_bytes.get(&class).map_or(Cell::Empty, |&bytes| Cell::text(Bytes(bytes)))
            };
            vec![
                Cell::text(it.name),
                Cell::text(it.computes),
                Cell::text(it.bound_by),
                of(Class::A),
                of(Class::C),
            ]
        };
        let table = Table::new("", columns.map(Column::words), self.workloads.iter().map(row));
        let classes = words_of::<Class>().join(", ");
        let sources = self.workloads.iter().map(|it| {
            Part::words(format!("{:<16}  ", it.name.as_str()), format!("source: {}", it.source))
        });
        Answer::saying(format!(
            "{} of the papers and their kin, each verified after every run; classes {classes}.",
            count(self.workloads.len(), "program")
        ))
        .and_table(table, usize::MAX)
        .and_all(Shown::Full, std::iter::once(Part::Gap).chain(sources))
        .and_next([("nearfar workload cg --class S", "runs one; docs/workloads.md describes all")])
    }
}

/// A run, for people: whether it is right and how fast it was, then its phases, where its pages were
/// and what was compared.
pub fn workload_answer(report: &WorkloadReport) -> Answer {
    let run = &report.run;
    let seconds = std::time::Duration::from_nanos(run.timed_ns);
    let (said, emphasis) = match report.is_verified {
        true => ("verified".into(), Emphasis::Good),
        false => (format!("NOT VERIFIED: {}", failed(&run.checks)), Emphasis::Failed),
    };
    let first = format!("{}: ", report.workload);
    let words = format!(
        "{} {}/s, {} by {}, pages by {}; {said}",
        significant(report.rate, 4),
        run.unit,
        format_duration(seconds),
        count(report.threads, "thread"),
        report.placement,
    );
    let mut answer = Answer::default()
        .and(Shown::Always, Part::Words { first, words, emphasis })
        .and_gap()
        .and_table(phases(&run.phases, run.timed_ns), FIRST_ROWS)
        .and_gap()
        .and_table(arrays(&run.arrays), FIRST_ROWS);
    if let Some(searches) = &report.searches {
        let teps = |rate: f64| significant(rate / 1e6, 4);
        let words = format!(
            "{} to {} MTEPS, harmonic mean {} ± {} over the searches",
            teps(searches.teps.min),
            teps(searches.teps.max),
            teps(searches.teps.mean),
            teps(searches.teps.deviation),
        );
        answer = answer.and_says(words);
    }
    if run.moved_pages > 0 {
        let moved = format!(
            "{} moved to the nodes of the threads that own them.",
            count(usize::try_from(run.moved_pages).unwrap_or(usize::MAX), "page")
        );
        answer = answer.and_says(moved);
    }
    let cpus: Vec<String> = report.cpus.iter().map(u32::to_string).collect();
    answer = answer
        .and_all(
            Shown::Full,
            [Part::Gap, Part::words("", format!("threads on CPUs {}", cpus.join(", ")))],
        )
        .and_all(Shown::Full, [Part::Gap, Part::table(checks(&run.checks))]);
    let (name, _) = report.workload.split_once('.').unwrap_or((&report.workload, ""));
    answer.and_next([
        (
            format!("nearfar sensitivity @{}", report.workload).as_str(),
            "how much it minds where its memory is",
        ),
        (format!("nearfar workload {name} --class B").as_str(), "a larger size"),
    ])
}

/// The first value that is wrong.
fn failed(checks: &[ResultCheck]) -> String {
    checks.iter().find(|check| !check.holds()).map_or_else(
        || "nothing was compared".into(),
        |check| format!("{} is {}, expected {}", check.quantity, check.found, check.expected),
    )
}

fn phases(phases: &[WorkloadPhase], timed_ns: u64) -> Table {
    let columns = ["phase", "calls", "time", "of all", "GFLOP/s", "GB/s declared"];
    let rate = |phase: &WorkloadPhase, amount: Option<f64>| match amount {
        Some(amount) if amount > 0.0 => {
            Cell::text(significant(amount / phase.time_ns.max(1) as f64, 3))
        }
        _ => Cell::Empty,
    };
    let row = |phase: &WorkloadPhase| {
        vec![
            Cell::text(&phase.name),
            Cell::text(phase.calls),
            Cell::text(format_duration(std::time::Duration::from_nanos(phase.time_ns))),
            Cell::text(percent_words(phase.time_ns as f64 / timed_ns as f64)),
            rate(phase, phase.flops),
            rate(phase, phase.declared_bytes),
        ]
    };
    Table::new("", columns.map(Column::words), phases.iter().map(row))
}

fn arrays(arrays: &[WorkloadArray]) -> Table {
    let columns = ["array", "size", "hot", "pages before", "pages after", "said by"];
    let row = |array: &WorkloadArray| {
        let after = match array.proof.after.pages == array.proof.before.pages {
            true => "as before".into(),
            false => by_node(&array.proof.after),
        };
        vec![
            Cell::text(&array.name),
            Cell::text(Bytes(array.bytes)),
            Cell::text(if array.is_hot { "yes" } else { "" }),
            Cell::text(by_node(&array.proof.before)),
            Cell::text(after),
            Cell::text(array.proof.before.method),
        ]
    };
    Table::new("", columns.map(Column::words), arrays.iter().map(row))
}

/// Shares of pages by node, as `0: 50 %, 1: 50 %`.
fn by_node(pages: &PageNodes) -> String {
    let total = (pages.pages.values().sum::<u64>() + pages.unknown) as f64;
    let share =
        |(node, &pages): (&u32, &u64)| format!("{node}: {}", percent_words(pages as f64 / total));
    let mut words: Vec<String> = pages.pages.iter().map(share).collect();
    if pages.unknown > 0 {
        words.push(format!("unknown: {}", percent_words(pages.unknown as f64 / total)));
    }
    words.join(", ")
}

fn checks(checks: &[ResultCheck]) -> Table {
    let columns = ["compared", "expected", "found", "tolerance", "holds"];
    let row = |check: &ResultCheck| {
        vec![
            Cell::text(&check.quantity),
            Cell::text(check.expected),
            Cell::text(check.found),
            Cell::text(check.tolerance),
            Cell::text(if check.holds() { "yes" } else { "no" }),
        ]
    };
    Table::new("", columns.map(Column::words), checks.iter().map(row))
}
