//! Workloads: which there are, and a run of one.

use nearfar_record::{PageNodes, ResultCheck, WorkloadArray, WorkloadPhase};
use nearfar_units::{Bytes, format_duration, words_of};
use nearfar_workloads::{
    Class, LastLevelMisses, MissSource, Size, Workload, WorkloadName, WorkloadReport,
};
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
        let columns = ["workload", "computes", "class A", "class C"];
        let row = |it: &ListedWorkload| {
            let of = |class| {
                it.class_bytes.get(&class).map_or(Cell::Empty, |&bytes| Cell::text(Bytes(bytes)))
            };
            vec![Cell::text(it.name), Cell::text(it.computes), of(Class::A), of(Class::C)]
        };
        let table = Table::new("", columns.map(Column::words), self.workloads.iter().map(row));
        let classes = words_of::<Class>().join(", ");
        let facts = self.workloads.iter().map(|it| {
            let facts = format!("bound by {}; {}", it.bound_by, it.source);
            Part::words(format!("{:<16}  ", it.name.as_str()), facts)
        });
        Answer::saying(format!(
            "{} of the papers, each verified after every run; classes {classes}.",
            count(self.workloads.len(), "program")
        ))
        .and_table(table, usize::MAX)
        .and_all(Shown::Full, std::iter::once(Part::Gap).chain(facts))
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
    if let Some(last_level) = &report.last_level {
        answer = answer.and_says(misses(last_level.as_result()));
    }
    let cpus: Vec<String> = report.cpus.iter().map(u32::to_string).collect();
    answer = answer
        .and_all(
            Shown::Full,
            [Part::Gap, Part::words("", format!("threads on CPUs {}", cpus.join(", ")))],
        )
        .and_all(Shown::Full, [Part::Gap, Part::table(checks(&run.checks))]);
    let sensitivity = format!("nearfar sensitivity @{}", report.workload);
    let larger = larger(&report.workload).map(|it| format!("nearfar workload {it}"));
    let what = "how much it minds where its memory is";
    let larger = larger.as_deref().map(|command| (command, "a larger size"));
    answer.and_next([(sensitivity.as_str(), what)].into_iter().chain(larger))
}

/// What the last level missed, and who says so.
fn misses(of: Result<&LastLevelMisses, &str>) -> String {
    let of = match of {
        Ok(of) => of,
        Err(why) => return format!("The last level's miss rate is not known: {why}."),
    };
    let by = match &of.by {
        MissSource::Counted { events } => format!("counted by {}", events.join(", ")),
        MissSource::Simulated { cache_bytes, not_counted } => format!(
            "simulated by Valgrind, {} for all threads and no prefetcher; not counted: {not_counted}",
            Bytes(*cache_bytes)
        ),
    };
    match of.miss_rate {
        Some(rate) => format!(
            "The last level missed {} of {} million accesses ({by}).",
            percent_words(rate),
            significant(of.accesses / 1e6, 3)
        ),
        None => format!("Nothing reached the last level ({by})."),
    }
}

/// The same of the next class; `None` where there is none, or its size is a number.
fn larger(workload: &str) -> Option<Workload> {
    let Workload { name, size: Size::Class(class) } = workload.parse().ok()? else { return None };
    let next = Class::ALL.into_iter().find(|next| *next > class)?;
    Some(Workload::of_class(name, next))
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

#[cfg(test)]
mod tests {
    use nearfar_machine::PlacementStrategy;
    use nearfar_record::{ArrayPlacement, Proof, ProofMethod, WorkloadRun};
    use nearfar_workloads::Ran;

    use super::*;
    use crate::answer::Room;

    const FIRST: Room = Room { width: 80, full: false };

    fn report(found: f64) -> WorkloadReport {
        let pages = |after: u64| PageNodes {
            method: ProofMethod::MovePages,
            page_bytes: 4096,
            pages: [(0, 100 - after), (1, after)].into(),
            unknown: 0,
        };
        let run = WorkloadRun {
            work: 3000.0,
            unit: "Mop".into(),
            timed_ns: 2_000_000_000,
            phases: vec![WorkloadPhase {
                name: "product".into(),
                calls: 3,
                time_ns: 1_000_000_000,
                flops: Some(4e9),
                declared_bytes: None,
            }],
            checks: vec![ResultCheck::relative("zeta", 1.0, found, 1e-10)],
            arrays: vec![WorkloadArray {
                name: "a".into(),
                bytes: 409_600,
                is_hot: true,
                proof: Proof { before: pages(0), after: pages(50) },
            }],
            moved_pages: 50,
        };
        let placement = ArrayPlacement::Strategy(PlacementStrategy::MemoryBind);
        let workload = "cg.S".parse().unwrap();
        WorkloadReport::new(workload, vec![0, 4], placement, Ran { run, searches: None })
    }

    #[test]
    fn the_answer_says_whether_the_result_is_right_and_where_pages_were() {
        let right = workload_answer(&report(1.0)).text(FIRST);
        let first = "1500 Mop/s, 2.00 s by 2 threads, pages by memory-bind; verified";
        assert!(right.contains(first), "{right}");
        for said in ["verified", "50 %", "4 ", "0: 50 %, 1: 50 %", "50 pages moved", "cg.W"] {
            assert!(right.contains(said), "'{said}' is not in {right}");
        }
        let wrong = workload_answer(&report(1.5)).text(Room { width: 200, ..FIRST });
        assert!(wrong.contains("NOT VERIFIED: zeta is 1.5, expected 1"), "{wrong}");
    }

    #[test]
    fn the_list_is_a_screen() {
        let list = WorkloadList::new().answer().text(FIRST);
        assert!(list.lines().count() <= 40, "{list}");
        assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
        assert!(WorkloadName::ALL.iter().all(|name| list.contains(name.as_str())), "{list}");
    }
}
