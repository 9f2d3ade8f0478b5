//! The best split of the paper's four processes, and what it gains.

use nearfar_model::{ProcessSplit, SharedGrid, SplitRanking, Support, WorkSharing};

use super::facts::Facts;
use crate::printed::Printed;
use crate::row::{Comparison, Reason, Room, Row};

/// What the model promises of totals that it has not seen.
const TOTALS: f64 = 0.03;

/// Why another split than the printed one stands first.
const AS_GOOD: &str = "the model names both splits as equally good and puts the one that it was given before the one \
     that it predicts: their printed totals are less apart than what it promises of a total";

pub(super) fn rows(facts: &Facts, grid: &SharedGrid) -> Vec<Row> {
    let split = &facts.best_split;
    let machine = &facts.sharing.machine;
    let item = |what: &str| format!("best split, {machine}, {} processes, {what}", split.processes);
    let ranking = grid.ranking(split.processes, WorkSharing::Dynamic);
    let best = ranking.as_ref().and_then(|ranking| ranking.splits.first());
    let is_printed = |it: &&ProcessSplit| (it.near, it.far) == (split.local, split.remote);
    let named = ranking.as_ref().and_then(|ranking| ranking.best().find(is_printed));
    let as_good = best.zip(named).is_some_and(|(best, _)| is_level(facts, best));
    let count = |of: fn(&ProcessSplit) -> u32| best.map(|best| f64::from(of(best)));
    let whole = |printed: u32| Printed { value: f64::from(printed), decimals: 0 };
    let total = |printed: f64| Printed { value: printed, decimals: split.decimals };
    let unit = split.unit;
    let compared = |item: String, printed: Printed, ours: Option<f64>, room: Room| {
        Comparison { room, ..Comparison::of(item, printed, ours) }.judge()
    };
    let counted = |what: &str, printed: u32, ours: Option<f64>| {
        let reason = Some(Reason { why: AS_GOOD, holds: as_good });
        Comparison { reason, ..Comparison::of(item(what), whole(printed), ours) }.judge()
    };
    let two = grid.ranking(2, WorkSharing::Dynamic);
    vec![
        Row::given(
            format!("best split, {machine}, number of processes"),
            f64::from(split.processes),
            "an input: how many to split",
        ),
        counted("local ones", split.local, count(|best| best.near)),
        counted("remote ones", split.remote, count(|best| best.far)),
        compared(
            item(&format!("total, {unit}")),
            total(split.total),
            named.map(|named| named.sum.value.0 / unit.bytes_per_s()),
            Room::Model(TOTALS),
        ),
        Row::given(
            item(&format!("all local, {unit}")),
            split.all_local,
            "an input: the local group alone",
        ),
        gain_row(item("gain, %"), split.gain, ranking.as_ref()),
        gain_row(
            format!("best split, {machine}, 2 processes, gain, %"),
            split.gain_of_two_processes,
            two.as_ref(),
        ),
    ]
}

/// The paper's gains are by instructions per cycle, ours by bytes.
fn gain_row(item: String, printed: f64, ranking: Option<&SplitRanking>) -> Row {
    let gain = ranking.and_then(|ranking| Some(100.0 * ranking.gain?));
    let of = Comparison::of(item, Printed { value: printed, decimals: 1 }, gain);
    let row = Comparison { room: Room::Sign, ..of }.judge();
    // Lone cells are inputs, so that the best split alone decides whether anything is predicted.
    let best = ranking.and_then(|ranking| ranking.splits.first());
    let is_given = best.is_some_and(|best| best.support == Support::Measured);
    if is_given { row.of_inputs_alone() } else { row }
}

/// Whether the printed totals of the printed best split and of another are less apart than what the
/// model promises of a total.
fn is_level(facts: &Facts, other: &ProcessSplit) -> bool {
    let total = |n: u32, m: u32| {
        facts.sharing.total.get(n as usize).and_then(|row| row.get(m as usize)).copied()
    };
    let totals =
        total(facts.best_split.local, facts.best_split.remote).zip(total(other.near, other.far));
    totals.is_some_and(|(printed, other)| (printed / other - 1.0).abs() <= TOTALS)
}
