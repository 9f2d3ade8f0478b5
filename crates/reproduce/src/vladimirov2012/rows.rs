//! The rows: every number of the paper.

use nearfar_model::{RunDistribution, RunSpread};
use nearfar_record::Affinity;

use super::facts::{Facts, ScalingFacts, ScalingRow};
use super::runs::{Runs, shown_modes};
use crate::error::ReproduceError;
use crate::printed::Printed;
use crate::row::{Comparison, Reason, Room, Row};

/// What the simulated machine gives back is as near as this to what it was given: a mean of 1000
/// runs that noise only lowers, a mode's place on the density of its runs.
const OF_FIGURES: f64 = 0.02;

/// The same of ends, which are single runs of 1000: outliers of ours make the smallest.
const OF_ENDS: f64 = 0.03;

/// The same of standard deviations.
const OF_DEVIATIONS: f64 = 0.1;

/// The paper says "about" and means the next ten percent.
const OF_ABOUT: f64 = 4.5;

pub(super) fn rows(facts: &Facts, runs: &Runs) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = inputs(facts);
    for row in &facts.scaling.rows {
        rows.extend(of_row(facts, runs, row)?);
    }
    rows.extend(of_best(facts, runs)?);
    rows.extend(findings(facts, runs)?);
    Ok(rows)
}

/// What describes the machine and the method.
fn inputs(facts: &Facts) -> Vec<Row> {
    let (machine, method) = (&facts.machine, &facts.method);
    let of_machine = "an input: machines/e7-4870.toml has it";
    let not_simulated = "an input: the simulated machine has bandwidths in place of modules and \
                         working sets that follow its caches";
    let mut rows = Vec::new();
    let mut add = |section: &str, what: &str, printed, why| {
        rows.push(Row::given(format!("{section}, {}, {what}", machine.name), printed, why));
    };
    add("machine", "packages", f64::from(machine.packages), of_machine);
    add("machine", "cores of a package", f64::from(machine.cores_per_package), of_machine);
    add("machine", "threads of a core", f64::from(machine.threads_per_core), of_machine);
    add("machine", "clock, GHz", machine.ghz, of_machine);
    add("machine", "memory, TB", machine.memory_tb, of_machine);
    add("machine", "memory, MT/s", machine.memory_mt_per_s, not_simulated);
    add("method", "array, MB", method.array_mb, not_simulated);
    for &threads in &method.threads {
        let why = "an input: the paper prints figures of 1 and 20 threads; ours are measured with 1, \
                   20, 40 and 80";
        add("method", &format!("{threads} threads, thread count"), f64::from(threads), why);
    }
    let runs = "an input: ours are as many";
    add("method", "runs", f64::from(facts.scaling.runs), runs);
    let histograms = "an input: modes are looked for in the runs and not in a histogram";
    add("method", "bin of a histogram, GB/s", method.bin_gb_per_s, histograms);
    rows
}

/// A figure of the runs beside ours, both in the paper's unit, and why they may differ.
fn explained(
    item: String,
    printed: Printed,
    ours: Option<f64>,
    room: f64,
    reason: Option<Reason>,
) -> Row {
    Comparison { reason, room: Room::Model(room), ..Comparison::of(item, printed, ours) }.judge()
}

/// The same where nothing is known that they may differ by.
fn judged(item: String, value: f64, decimals: u8, ours: Option<f64>, room: f64) -> Row {
    explained(item, Printed { value, decimals }, ours, room, None)
}

/// One thread's runs scatter by 1.0 % and those of 20 scattered ones by 0.4 %.
const ONE_NOISE: &str = "the simulated machine has one noise for all thread counts, while the \
                         paper's runs of one thread scatter, relative to their mean, more than twice \
                         as much as those of scattered threads: ours lies between the two";

/// The reason of standard deviations, by what our runs scatter relative to their mean.
fn one_noise(facts: &Facts, ours: Option<&RunSpread>) -> Option<Reason> {
    let one = facts.scaling.rows.iter().find(|row| row.threads == 1)?;
    let (of_one, best) = (one.sd? / one.mean, &facts.scaling.best_scatter);
    let of_best = best.sd / best.mean;
    let ours = ours.and_then(|runs| Some(runs.deviation? / runs.mean));
    let is_between = ours.is_some_and(|ours| (of_best..=of_one).contains(&ours));
    Some(Reason { why: ONE_NOISE, holds: of_one > 2.0 * of_best && is_between })
}

/// The paper's smallest run lies 11 % below its lowest mode.
const SELDOM_OUTLIER: &str = "the paper's smallest run is an outlier of its lowest mode; of the few runs \
                              that our machine has in that mode less than one is an outlier on \
                              average, and none was: ours is a run of the mode itself";

/// The reason of the smallest run. How deep outliers of our machine are bounds what it explains,
/// and was chosen for it: that they reach the printed run shows nothing.
fn seldom_outlier(runs: &Runs, row: &ScalingRow, ours: Option<&RunDistribution>) -> Option<Reason> {
    let (printed, lowest) = (row.min?, row.modes.iter().copied().min_by(f64::total_cmp)?);
    let (mildest, deepest) = runs.outliers.lowered_by;
    let is_outlier = (lowest * (1.0 - deepest)..lowest * (1.0 - mildest)).contains(&printed);
    let mode = shown_modes(ours).first()?;
    let is_seldom = runs.outliers.share * (mode.runs as f64) < 1.0;
    let smallest = ours?.paced.min;
    let none_was = smallest >= mode.place * (1.0 - mildest);
    Some(Reason { why: SELDOM_OUTLIER, holds: is_outlier && is_seldom && none_was })
}

/// Digits after the point of a figure of this row: the paper has two of one thread's.
fn decimals(value: f64) -> u8 {
    if value.fract() == 0.0 { 0 } else { 2 }
}

fn of_row(facts: &Facts, runs: &Runs, row: &ScalingRow) -> Result<Vec<Row>, ReproduceError> {
    let unit = facts.scaling.unit;
    let ours = runs.of(row.threads, row.affinity)?;
    let paced = ours.map(|runs| &runs.paced);
    let item = |what: &str| {
        let threads =
            if row.threads == 1 { "1 thread".into() } else { format!("{} threads", row.threads) };
        format!("scaling, {}, {threads} {}, {what}, {unit}", facts.scaling.machine, row.affinity)
    };
    let in_unit = |rate: f64| rate / unit.bytes_per_s();
    let of = |pick: fn(&RunSpread) -> Option<f64>| paced.and_then(pick).map(in_unit);
    let compared = |what: &str, printed, ours, room| {
        judged(item(what), printed, decimals(printed), ours, room)
    };
    let mut rows = vec![
        compared("mean", row.mean, of(|runs| Some(runs.mean.0)), OF_FIGURES).after_round_trip(),
    ];
    if let Some(sd) = row.sd {
        let ours = of(|runs| Some(runs.deviation?.0));
        let printed = Printed { value: sd, decimals: decimals(sd) };
        // That of modes follows from their shares, which the machine was given; its noise is ours.
        let has_modes = !row.modes.is_empty();
        let reason = one_noise(facts, paced).filter(|_| !has_modes);
        let row = explained(item("standard deviation"), printed, ours, OF_DEVIATIONS, reason);
        rows.push(if has_modes { row.after_round_trip() } else { row });
    }
    if let Some(min) = row.min {
        let printed = Printed { value: min, decimals: decimals(min) };
        let reason = seldom_outlier(runs, row, ours);
        let min = of(|runs| Some(runs.min.0));
        rows.push(explained(item("minimum"), printed, min, OF_ENDS, reason));
    }
    rows.extend(row.max.map(|max| compared("maximum", max, of(|it| Some(it.max.0)), OF_ENDS)));
    let modes = shown_modes(ours);
    for (number, &mode) in row.modes.iter().enumerate() {
        // Other modes than the paper's are none of its modes.
        let found = modes.get(number).filter(|_| modes.len() == row.modes.len());
        let what = format!("mode {}", number + 1);
        let ours = found.map(|mode| in_unit(mode.place.0));
        rows.push(compared(&what, mode, ours, OF_FIGURES).after_round_trip());
    }
    Ok(rows)
}

fn of_best(facts: &Facts, runs: &Runs) -> Result<Vec<Row>, ReproduceError> {
    let scaling = &facts.scaling;
    let threads = facts.unbound()?.threads;
    let paced = runs.of(threads, Affinity::Scatter)?.map(|runs| &runs.paced);
    let ScalingFacts { machine, unit, .. } = scaling;
    let item =
        |what: &str| format!("scaling, {machine}, {threads} threads scatter, {what}, {unit}");
    let in_unit = |rate: f64| rate / scaling.unit.bytes_per_s();
    let mean = paced.map(|runs| in_unit(runs.mean.0));
    let deviation = paced.and_then(|runs| Some(runs.deviation?.0)).map(in_unit);
    let printed = Printed { value: scaling.best_scatter.sd, decimals: 1 };
    let reason = one_noise(facts, paced);
    Ok(vec![
        judged(item("mean"), scaling.best_scatter.mean, 1, mean, OF_FIGURES).after_round_trip(),
        explained(item("standard deviation"), printed, deviation, OF_DEVIATIONS, reason),
    ])
}

/// What the paper concludes, by the model of the runs.
fn findings(facts: &Facts, runs: &Runs) -> Result<Vec<Row>, ReproduceError> {
    let (findings, scaling) = (&facts.findings, &facts.scaling);
    let threads = facts.unbound()?.threads;
    let effects = &runs.kernel()?.effects;
    let of_scatter = effects
        .iter()
        .find(|effect| (effect.threads, effect.affinity) == (threads, Affinity::Scatter));
    let item = |what: &str| format!("findings, {}, {threads} threads, {what}", scaling.machine);
    let in_unit = |rate: f64| rate / scaling.unit.bytes_per_s();
    let gain = |what: &str, ours: Option<f64>| {
        let printed = Printed { value: findings.scatter_gain_percent, decimals: 0 };
        let room = Room::Rounding(OF_ABOUT);
        Comparison { room, ..Comparison::of(item(what), printed, ours) }.judge()
    };
    let of_model = of_scatter.map(|effect| (effect.speedup.value.0 - 1.0) * 100.0);
    let of_means = (scaling.best_scatter.mean / facts.unbound()?.mean - 1.0) * 100.0;
    let high =
        shown_modes(runs.of(threads, Affinity::Unbound)?).last().map(|mode| in_unit(mode.place.0));
    let compact = runs.of(threads, Affinity::Compact)?;
    let compact = compact.map(|runs| in_unit(runs.paced.mean.0));
    let figure = |what: &str, value: f64, ours: Option<f64>| {
        let item = item(&format!("{what}, {}", scaling.unit));
        judged(item, value, 0, ours, OF_FIGURES).after_round_trip()
    };
    Ok(vec![
        gain("gain of scatter over unbound, percent", of_model),
        // The printed means by themselves: what the paper's own figures say of its title.
        gain("gain by the printed means, percent", Some(of_means)).of_inputs_alone(),
        figure("high mode of unbound", findings.high_mode_gb_per_s, high),
        figure("compact", findings.compact_gb_per_s, compact),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{PaperFacts, PaperFile};

    /// Whether the reason of the smallest run holds for these facts and runs.
    fn holds(facts: &Facts, runs: &Runs) -> bool {
        let row = facts.unbound().unwrap();
        let ours = runs.of(row.threads, row.affinity).unwrap();
        seldom_outlier(runs, row, ours).unwrap().holds
    }

    #[test]
    fn the_smallest_run_is_explained_only_where_outliers_are_seldom_and_none_was_one() {
        let facts = PaperFile::<Facts>::parse(Facts::FILE).unwrap().facts;
        let runs = facts.measure().unwrap();
        assert!(holds(&facts, &runs));
        // More than one to be expected among the runs of the mode.
        let mut often = runs.clone();
        often.outliers.share = 0.1;
        assert!(!holds(&facts, &often));
        // So mild that the smallest of ours can be one.
        let mut mild = runs.clone();
        mild.outliers.lowered_by.0 = 1e-4;
        assert!(!holds(&facts, &mild));
        // A printed run of the mode, or one below all outliers.
        for min in [52.9, 44.0] {
            let mut changed = facts.clone();
            let rows = &mut changed.scaling.rows;
            rows.iter_mut().find(|row| !row.modes.is_empty()).unwrap().min = Some(min);
            assert!(!holds(&changed, &runs), "{min}");
        }
    }
}
