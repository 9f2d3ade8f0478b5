//! The paper's gains and orders beside those that the model of strategies expects.

use nearfar_model::{Expectation, PlacementStrategy};

use super::KEY;
use super::facts::{AccessName, ConclusionOrder, Facts, Finding, OTHERS, Order, OrderName};
use super::machines::Machines;
use super::reason::KnownReason;
use crate::error::ReproduceError;
use crate::printed::Printed;
use crate::row::{Comparison, Reason, Room, Row};

/// Two strategies are close where one takes at most this fraction longer. Ours: the paper has no
/// figure for it.
const CLOSE: f64 = 0.1;

/// What stands for an order that the paper prints; the model's other way round is minus this.
const SO: f64 = 1.0;

/// Every gain that the paper prints.
pub(super) fn gain_rows(facts: &Facts, machines: &Machines) -> Result<Vec<Row>, ReproduceError> {
    facts.findings.iter().map(|finding| gain_row(facts, machines, finding)).collect()
}

fn gain_row(facts: &Facts, machines: &Machines, finding: &Finding) -> Result<Row, ReproduceError> {
    let Finding { machine, workload, better, than, gain } = finding;
    let expected = of_workload(facts, machines, machine, workload)?;
    let better_ns = expected.of(named(better)?).ns;
    let than_ns = match than.as_str() {
        OTHERS => fastest_but(expected, named(better)?),
        other => expected.of(named(other)?).ns,
    };
    Ok(Comparison {
        item: format!("findings, {machine}, {workload}, {better} over {than}, percent"),
        printed: Printed { value: *gain, decimals: 0 },
        ours: Some(percent(than_ns, better_ns)),
        room: Room::Sign,
        reason: None,
    }
    .judge())
}

/// What the words say of the order of strategies.
pub(super) fn order_rows(facts: &Facts, machines: &Machines) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for order in &facts.orders {
        rows.push(order_row(facts, machines, order)?);
    }
    rows.extend(implied_rows(facts, machines)?);
    Ok(rows)
}

fn order_row(facts: &Facts, machines: &Machines, order: &Order) -> Result<Row, ReproduceError> {
    let Order { machine, workload, order: kind, strategies } = order;
    let measured = machines.find(machine)?;
    let expected = of_workload(facts, machines, machine, workload)?;
    let [first, others @ ..] = strategies.as_slice() else {
        return Err(contradiction(format!("an order of {workload} names no strategy")));
    };
    let of_first = expected.of(named(first)?).ns;
    let second = others.first().map(|name| named(name)).transpose()?;
    let of_second = second.map_or(f64::NAN, |second| expected.of(second).ns);
    let (words, agrees) = match kind {
        OrderName::Best => ("is the best", of_first < fastest_but(expected, named(first)?)),
        OrderName::Worst => ("is the worst", of_first > slowest_but(expected, named(first)?)),
        OrderName::Better => ("is better than", of_first < of_second),
        OrderName::Close => ("is close to", (of_first / of_second).ln().abs() <= CLOSE.ln_1p()),
        OrderName::KeepsSpeedup => {
            let item = format!(
                "findings in words, {machine}, {workload}, {first} alone keeps its speedup, 1 = so"
            );
            let why = "an outcome that the model does not give: it is of all threads, and has no \
                       speedup over thread counts";
            return Ok(Row::given(item, SO, why));
        }
    };
    let what =
        std::iter::once(first.as_str()).chain([words]).chain(others.iter().map(String::as_str));
    let what: Vec<&str> = what.collect();
    let item = format!("findings in words, {machine}, {workload}, {}, 1 = so", what.join(" "));
    let reason = KnownReason::of(&item).map(|known| known.checked(facts, measured));
    Ok(agreement(item, agrees, reason))
}

fn agreement(item: String, agrees: bool, reason: Option<Reason>) -> Row {
    let ours = Some(if agrees { SO } else { -SO });
    let printed = Printed { value: SO, decimals: 0 };
    Comparison { item, printed, ours, room: Room::Sign, reason }.judge()
}

/// What the gains of two strategies over both first-touch and parallel-init say of these two: the
/// words call them inconsistent.
fn implied_rows(facts: &Facts, machines: &Machines) -> Result<Vec<Row>, ReproduceError> {
    let (machine, workload) = ("itanium2", "cg");
    let measured = machines.find(machine)?;
    let expected = of_workload(facts, machines, machine, workload)?;
    let times = [PlacementStrategy::FirstTouch, PlacementStrategy::ParallelInit]
        .map(|strategy| expected.of(strategy).ns);
    let mut rows = Vec::new();
    for better in ["round-robin", "memory-bind"] {
        let item = format!(
            "findings in words, {machine}, {workload}, parallel-init over first-touch by the gains of \
             {better}, percent"
        );
        let Some(printed) = implied(facts, better) else { continue };
        let reason = KnownReason::of(&item).map(|known| known.checked(facts, measured));
        let row = Comparison {
            item,
            // Of two gains in whole percent.
            printed: Printed { value: printed.round(), decimals: 0 },
            ours: Some(percent(times[0], times[1])),
            room: Room::Sign,
            reason,
        };
        rows.push(row.judge());
    }
    Ok(rows)
}

/// Gain of parallel-init over first-touch by the gains of a better strategy over both, percent.
pub(super) fn implied(facts: &Facts, better: &str) -> Option<f64> {
    let over = |than| facts.gain("itanium2", "cg", better, than);
    let (first_touch, parallel_init) = (over("first-touch")?, over("parallel-init")?);
    Some(percent(100.0 + first_touch, 100.0 + parallel_init))
}

/// What the conclusion says, and the gains that it sums up.
pub(super) fn conclusion_rows(
    facts: &Facts,
    machines: &Machines,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for order in &facts.conclusion_orders {
        let ConclusionOrder { machine, access, because, best } = order;
        let expected = expectation(machines, machine, *access)?;
        let agrees = expected.best().strategy == named(best)?;
        let item = format!("conclusion, {machine}, {because}: {best} is the best, 1 = so");
        rows.push(agreement(item, agrees, None));
    }
    let gains = || facts.findings.iter().map(|finding| finding.gain);
    let [least, most] = facts.mean_gain_percent;
    for (what, printed, ours) in [
        ("least", least, gains().min_by(f64::total_cmp)),
        ("most", most, gains().max_by(f64::total_cmp)),
    ] {
        let item = format!("conclusion, all, {what} mean gain of explicit placement, percent");
        let printed = Printed { value: printed, decimals: 0 };
        let room = Room::Rounding(0.0);
        rows.push(Comparison { item, printed, ours, room, reason: None }.judge());
    }
    Ok(rows)
}

/// By how much a time is longer than another, percent.
fn percent(longer: f64, shorter: f64) -> f64 {
    (longer / shorter - 1.0) * 100.0
}

fn named(name: &str) -> Result<PlacementStrategy, ReproduceError> {
    let known = PlacementStrategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    known.ok_or_else(|| contradiction(format!("there is no model of the strategy {name}")))
}

fn contradiction(what: String) -> ReproduceError {
    ReproduceError::Contradiction { key: KEY.into(), what }
}

fn of_workload<'m>(
    facts: &Facts,
    machines: &'m Machines,
    machine: &str,
    workload: &str,
) -> Result<&'m Expectation, ReproduceError> {
    let of = facts.workloads.get(workload);
    let of = of.ok_or_else(|| contradiction(format!("it does not describe {workload}")))?;
    expectation(machines, machine, of.access)
}

fn expectation<'m>(
    machines: &'m Machines,
    machine: &str,
    access: AccessName,
) -> Result<&'m Expectation, ReproduceError> {
    let strategy = &machines.find(machine)?.strategy;
    Ok(match access {
        AccessName::Regular => &strategy.regular,
        AccessName::Irregular => &strategy.irregular,
    })
}

fn others(expected: &Expectation, but: PlacementStrategy) -> impl Iterator<Item = f64> {
    expected.ranking.iter().filter(move |of| of.strategy != but).map(|of| of.ns)
}

fn fastest_but(expected: &Expectation, but: PlacementStrategy) -> f64 {
    others(expected, but).fold(f64::INFINITY, f64::min)
}

fn slowest_but(expected: &Expectation, but: PlacementStrategy) -> f64 {
    others(expected, but).fold(0.0, f64::max)
}
