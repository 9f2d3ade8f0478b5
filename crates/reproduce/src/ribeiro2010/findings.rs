//! The paper's gains and orders beside those that the model of strategies expects.

use nearfar_machine::PlacementStrategy;

use super::KEY;
use super::facts::{AccessName, ConclusionOrder, Facts, Finding, OTHERS, Order, OrderName};
use super::machines::Measured;
use super::reason::reason_of;
use super::times::{Times, least_favourable, percent};
use crate::error::{ReproduceError, contradiction};
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};
use crate::simulated_record::Machines;

/// Two strategies are close where one takes at most this fraction longer. Ours: the paper has no
/// figure for it.
const CLOSE: f64 = 0.1;

/// What stands for an order that the paper prints; the model's other way round is minus this.
const SO: f64 = 1.0;

/// Every gain that the paper prints.
pub(super) fn gain_rows(
    facts: &Facts,
    machines: &Machines<Measured>,
) -> Result<Vec<Row>, ReproduceError> {
    facts.findings.iter().map(|finding| gain_row(facts, machines, finding)).collect()
}

fn gain_row(
    facts: &Facts,
    machines: &Machines<Measured>,
    finding: &Finding,
) -> Result<Row, ReproduceError> {
    let Finding { machine, workload, better, than, gain } = finding;
    let times = of_workload(facts, machines, machine, workload)?;
    let better_one = named(better)?;
    let ours = match than.as_str() {
        OTHERS => least_favourable(*gain, |share| times.gain_over_others(better_one, share)),
        other => {
            let other = named(other)?;
            least_favourable(*gain, |share| times.gain(better_one, other, share))
        }
    };
    let item = format!("findings, {machine}, {workload}, {better} over {than}, percent");
    by_sign(facts, machines, item, *gain, ours)
}

/// What the words say of the order of strategies.
pub(super) fn order_rows(
    facts: &Facts,
    machines: &Machines<Measured>,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for order in &facts.orders {
        rows.extend(order_rows_of(facts, machines, order)?);
    }
    rows.extend(implied_rows(facts, machines)?);
    Ok(rows)
}

fn order_rows_of(
    facts: &Facts,
    machines: &Machines<Measured>,
    order: &Order,
) -> Result<Vec<Row>, ReproduceError> {
    let Order { machine, workload, order: kind, strategies } = order;
    let times = of_workload(facts, machines, machine, workload)?;
    let [name, others @ ..] = strategies.as_slice() else {
        return Err(contradiction(KEY, format!("an order of {workload} names no strategy")));
    };
    let first = named(name)?;
    // Facts::parse has seen to it that these orders have a second.
    let second = others.first().map_or(Ok(first), |name| named(name))?;
    let others = others.join(" ");
    let so = |agrees: bool| if agrees { SO } else { -SO };
    let is_better = |share| so(times.gain(first, second, share) > 0.0);
    let is_close = |share| so(is_close(times.ns(first, share), times.ns(second, share)));
    let is_best = |share| so(times.gain_over_others(first, share) > 0.0);
    let of: Vec<(String, f64)> = match kind {
        OrderName::Best => vec![("is the best".into(), least_favourable(SO, is_best))],
        OrderName::Better => {
            vec![(format!("is better than {others}"), least_favourable(SO, is_better))]
        }
        OrderName::Close => {
            vec![(format!("is close to {others}"), least_favourable(SO, is_close))]
        }
        OrderName::Worst => PlacementStrategy::ALL
            .into_iter()
            .filter(|&other| other != first)
            .map(|other| {
                let is_behind = |share| so(times.gain(other, first, share) > 0.0);
                let words = format!("is the worst: behind {}", other.as_str());
                (words, least_favourable(SO, is_behind))
            })
            .collect(),
        OrderName::KeepsSpeedup => {
            let item = format!(
                "findings in words, {machine}, {workload}, {name} alone keeps its speedup, 1 = so"
            );
            let why = "an outcome that the model does not give: it is of all threads, and has no \
                       speedup over thread counts";
            return Ok(vec![Row::given(item, SO, why)]);
        }
    };
    of.into_iter()
        .map(|(words, ours)| {
            let item = format!("findings in words, {machine}, {workload}, {name} {words}, 1 = so");
            by_sign(facts, machines, item, SO, ours)
        })
        .collect()
}

fn is_close(one: f64, other: f64) -> bool {
    (one / other).ln().abs() <= CLOSE.ln_1p()
}

/// A printed figure, to the next whole number, beside ours on the same side of zero.
fn by_sign(
    facts: &Facts,
    machines: &Machines<Measured>,
    item: String,
    printed: f64,
    ours: f64,
) -> Result<Row, ReproduceError> {
    let reason = reason_of(&item, facts, machines)?;
    let printed = Printed { value: printed, decimals: 0 };
    let of = Comparison::of(item, printed, Some(ours));
    Ok(Comparison { room: Room::Sign, reason, ..of }.judge())
}

/// What the gains of two strategies over both first-touch and parallel-init say of these two: the
/// words call them inconsistent.
fn implied_rows(facts: &Facts, machines: &Machines<Measured>) -> Result<Vec<Row>, ReproduceError> {
    let (machine, workload) = ("itanium2", "cg");
    let times = of_workload(facts, machines, machine, workload)?;
    let ours =
        |share| times.gain(PlacementStrategy::ParallelInit, PlacementStrategy::FirstTouch, share);
    let mut rows = Vec::new();
    for better in ["round-robin", "memory-bind"] {
        let item = format!(
            "findings in words, {machine}, {workload}, parallel-init over first-touch by the gains of \
             {better}, percent"
        );
        let Some(printed) = implied(facts, better) else { continue };
        let ours = least_favourable(printed, ours);
        // Of two gains in whole percent.
        rows.push(by_sign(facts, machines, item, printed.round(), ours)?);
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
    machines: &Machines<Measured>,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for order in &facts.conclusion_orders {
        let ConclusionOrder { machine, access, because, best } = order;
        let times = times(machines, machine, *access)?;
        let strategy = named(best)?;
        let ours = least_favourable(SO, |share| {
            if times.gain_over_others(strategy, share) > 0.0 { SO } else { -SO }
        });
        let item = format!("conclusion, {machine}, {because}: {best} is the best, 1 = so");
        rows.push(by_sign(facts, machines, item, SO, ours)?);
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
        let of_gains = Comparison { item, printed, ours, room, reason: None };
        rows.push(of_gains.judge().of_inputs_alone());
    }
    Ok(rows)
}

fn named(name: &str) -> Result<PlacementStrategy, ReproduceError> {
    let known = PlacementStrategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    known.ok_or_else(|| contradiction(KEY, format!("there is no model of the strategy {name}")))
}

fn of_workload<'m>(
    facts: &Facts,
    machines: &'m Machines<Measured>,
    machine: &str,
    workload: &str,
) -> Result<Times<'m>, ReproduceError> {
    let of = facts.workloads.get(workload);
    let of = of.ok_or_else(|| contradiction(KEY, format!("it does not describe {workload}")))?;
    times(machines, machine, of.access)
}

fn times<'m>(
    machines: &'m Machines<Measured>,
    machine: &str,
    access: AccessName,
) -> Result<Times<'m>, ReproduceError> {
    Ok(Times::new(&machines.find(machine)?.strategy.costs, access))
}
