//! The best split of the paper's four processes, and what it gains.

use nearfar_model::{SharedGrid, SplitRanking, WorkSharing};

use super::facts::Facts;
use crate::printed::{Printed, Unit};
use crate::row::{Comparison, Room, Row};

/// What the model promises of totals that it has not seen.
const TOTALS: f64 = 0.03;

pub(super) fn rows(facts: &Facts, grid: &SharedGrid) -> Vec<Row> {
    let split = &facts.best_split;
    let machine = &facts.sharing.machine;
    let item = |what: &str| format!("best split, {machine}, {} processes, {what}", split.processes);
    let ranking = grid.ranking(split.processes, WorkSharing::Dynamic);
    let best = ranking.as_ref().and_then(|ranking| ranking.splits.first());
    let near = ranking.as_ref().and_then(SplitRanking::all_near);
    let count =
        |of: fn(&nearfar_model::SharedCell) -> u32| best.map(|best| f64::from(of(&best.cell)));
    let whole = |printed: u32| Printed { value: f64::from(printed), decimals: 0 };
    let total = |printed: f64| Printed { value: printed, decimals: split.decimals };
    let in_unit = |bytes_per_s: f64, unit: Unit| bytes_per_s / unit.bytes_per_s();
    let unit = split.unit.as_str();
    let compared = |item: String, printed: Printed, ours: Option<f64>, room: Room| {
        Comparison { item, printed, ours, room, reason: None }.judge()
    };
    let gain = |ranking: Option<&SplitRanking>| Some(100.0 * ranking?.gain?);
    let two = grid.ranking(2, WorkSharing::Dynamic);
    let percent = |value: f64| Printed { value, decimals: 1 };
    vec![
        Row::given(
            format!("best split, {machine}, number of processes"),
            f64::from(split.processes),
            "an input: how many to split",
        ),
        compared(item("local ones"), whole(split.local), count(|cell| cell.local_threads), EXACT),
        compared(
            item("remote ones"),
            whole(split.remote),
            count(|cell| cell.remote_threads),
            EXACT,
        ),
        compared(
            item(&format!("total, {unit}")),
            total(split.total),
            best.map(|best| in_unit(best.bandwidth, split.unit)),
            Room::Model(TOTALS),
        ),
        compared(
            item(&format!("all local, {unit}")),
            total(split.all_local),
            near.map(|near| in_unit(near.bandwidth, split.unit)),
            EXACT,
        ),
        // The paper's gains are by instructions per cycle, ours by bytes.
        compared(item("gain, %"), percent(split.gain), gain(ranking.as_ref()), Room::Sign),
        compared(
            format!("best split, {machine}, 2 processes, gain, %"),
            percent(split.gain_of_two_processes),
            gain(two.as_ref()),
            Room::Sign,
        ),
    ]
}

/// Nothing is predicted, or a count.
const EXACT: Room = Room::Rounding(0.0);
