//! Threads near a memory node beside threads of an initiator far from it, and how to split processes.

use nearfar_model::{
    Fairness, GridPlace, Law, LawFit, MOST_LAW_ERROR, ProcessSplit, SharedCell, SharedGrid,
    Sharing, SharingCell, SplitRanking, SplitVerdict, WhoLosesMore, WorkSharing,
};

use super::figures::{count, percent_words, rounded, significant};
use super::sharing_splits::{advice, gist, more_words, split_words};
use super::who::Who;
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::{Grid, groups};
use crate::table::{Cell, Column, GB, Table, WORDS};

/// So many cells are named that are worth measuring.
const MOST_NAMED: usize = 6;

/// What was measured, what the laws say of it, and how to split processes.
pub(crate) fn section(
    cells: &[SharingCell],
    model: Option<&Sharing>,
    who: &Who,
) -> Option<Section> {
    let grids = groups(cells, |cell| GridPlace::of(&cell.place));
    let mut tables: Vec<Table> =
        grids.iter().flat_map(|(place, of)| measured(place, of, who)).collect();
    if let Some(model) = model {
        tables.push(laws(model, who));
        if let Some(shown) = shown(model) {
            tables.extend(both_groups(model, shown, who));
            tables.extend(betas(shown));
            if shown.is_predictive {
                tables.push(best_splits(model, shown));
            }
        }
    }
    Section::new(
        "sharing",
        "Near and far threads on one memory node",
        "Threads near a memory node (rows) beside threads of an initiator far from it \
                (columns), all on that node's memory. Useful bytes of both groups together.",
        tables,
    )
    .with_findings(model.map(|model| findings(model, who)).unwrap_or_default())
    .unless_empty()
}

/// The answer in a sentence.
pub(crate) fn answer(model: &Sharing) -> Option<String> {
    let shown = shown(model)?;
    let ranking = last_rankings(shown).find(|ranking| ranking.work == WorkSharing::Dynamic)?;
    let GridPlace { memory_node, kernel, .. } = &shown.place;
    Some(format!("Memory of node {memory_node}, {kernel}: {}.", gist(ranking)?))
}

/// What to do with the most processes of the grid that is shown.
pub(crate) fn findings(model: &Sharing, who: &Who) -> Vec<String> {
    let Some(shown) = shown(model) else { return Vec::new() };
    let of = |ranking| format!("{}: {}", place_words(&shown.place, who), advice(ranking));
    last_rankings(shown).map(of).collect()
}

/// Both groups together, and the far one's part of it.
fn measured(place: &GridPlace, cells: &[&SharingCell], who: &Who) -> Vec<Table> {
    let sum = |of: &Option<_>| of.as_ref().map(Figure::sum);
    let mut both = grid_of(cells.iter().map(|cell| cell.place.remote_threads));
    let mut part = grid_of(cells.iter().map(|cell| cell.place.remote_threads));
    for cell in cells {
        let (locals, remotes) = (cell.place.local_threads, cell.place.remote_threads);
        let total = Cell::of(&cell.case, sum(&cell.total), Counted::Bytes);
        both.add(near(locals), far(remotes), total);
        // Where one group is alone, the total is its own.
        if locals > 0 && remotes > 0 {
            let remote = Cell::of(&cell.case, sum(&cell.remote), Counted::ActorBytes(1));
            part.add(near(locals), far(remotes), remote);
        }
    }
    let place = place_words(place, who);
    let both = both.table(place.clone(), "", Unit::GbPerS);
    let part = part.table(format!("{place}: the far threads' part"), "", Unit::GbPerS);
    both.into_iter().chain(part).collect()
}

fn near(threads: u32) -> String {
    format!("{threads} near")
}

fn far(threads: u32) -> String {
    format!("{threads} far")
}

fn grid_of(remotes: impl Iterator<Item = u32>) -> Grid {
    let remotes: std::collections::BTreeSet<u32> = remotes.collect();
    Grid::with_columns(remotes.into_iter().map(far))
}

pub(crate) fn place_words(place: &GridPlace, who: &Who) -> String {
    format!(
        "Memory of node {}: {} near, {} far, {} {}",
        place.memory_node,
        who.cpus(place.local_initiator),
        who.cpus(place.remote_initiator),
        place.kernel,
        place.variant
    )
}

/// The grid that is shown whole: the one whose law is off most, else the first.
fn shown(model: &Sharing) -> Option<&SharedGrid> {
    let off = |grid: &SharedGrid| grid.fit.left_out.map_or(0.0, |off| off.all);
    let grids = model.grids.iter();
    grids.reduce(|known, next| if off(next) > off(known) { next } else { known })
}

fn laws(model: &Sharing, who: &Who) -> Table {
    let columns =
        ["node", "near", "far", "kernel", "law", "off by", "dynamic", "static"].map(Column::words);
    let rows = model.grids.iter().map(|grid| {
        let place = &grid.place;
        let cpus = [place.local_initiator, place.remote_initiator].map(|it| who.label(it));
        let best = WorkSharing::ALL.map(|work| best_of_most(grid, work));
        let words = [place.kernel.clone(), law_words(&grid.fit), off_words(grid)];
        let node = std::iter::once(place.memory_node.to_string());
        let cells = node.chain(cpus).chain(words).chain(best);
        cells.map(Cell::text).collect()
    });
    let mut notes = vec![
        "Of two laws (saad2022: pressure, saturation) the one with the smaller leave-one-out \
         error: root mean square over totals and groups. K in GB/s."
            .into(),
        "dynamic, static: the best split (near + far) of as many processes as fit near, for \
         dynamic and static scheduling, and its gain over all near where that exceeds the error of \
         both."
            .into(),
    ];
    if model.grids.iter().any(|grid| !grid.is_predictive) {
        notes.push(format!(
            "unfit: off by more than {}, so that it does not tell which group gets more; nothing is \
             predicted by it.{}",
            percent_words(MOST_LAW_ERROR),
            model.more_cells.as_ref().map_or_else(String::new, |command| format!(
                " `{command}` measures the cells themselves."
            ))
        ));
    }
    let unfitted = model.unfitted.iter();
    notes.extend(
        unfitted.map(|grid| format!("{}: no law, {}.", place_words(&grid.place, who), grid.why)),
    );
    Table::new("Laws of what both groups get", columns, rows).with_notes(notes)
}

fn law_words(fit: &LawFit) -> String {
    match fit.law {
        Law::Pressure { a, b } => format!("pressure a {}, b {}", parameter(a), parameter(b)),
        Law::Saturation { limit, sharpness, remote_weight } => format!(
            "saturation K {}, p {}, k {}",
            parameter(limit.0 / 1e9),
            parameter(sharpness),
            parameter(remote_weight)
        ),
    }
}

fn off_words(grid: &SharedGrid) -> String {
    let off = grid.fit.left_out.map_or("unknown".into(), |off| percent_words(off.all));
    if grid.is_predictive { off } else { off + ", unfit" }
}

/// A parameter of a law in three digits; one that is hardly identified has no more meaning than its
/// size.
fn parameter(value: f64) -> String {
    match value {
        value if value >= 1e5 => "> 99999".into(),
        value if value < 1e-4 => "< 0.0001".into(),
        value => significant(value, 3),
    }
}

/// The rankings of the most processes.
fn last_rankings(grid: &SharedGrid) -> impl Iterator<Item = &SplitRanking> {
    let most = grid.rankings.iter().map(|ranking| ranking.processes).max();
    grid.rankings.iter().filter(move |ranking| Some(ranking.processes) == most)
}

/// `3+1 +7.1 %`.
fn best_of_most(grid: &SharedGrid, work: WorkSharing) -> String {
    let Some(ranking) = last_rankings(grid).find(|ranking| ranking.work == work) else {
        return "-".into();
    };
    let split = ranking.advised();
    let split = split.map_or("-".into(), |split| format!("{}+{}", split.near, split.far));
    let gain = ranking.gain.filter(|_| ranking.verdict == SplitVerdict::Gain);
    split + &gain.map_or_else(String::new, |gain| format!(" +{}", percent_words(gain)))
}

fn figures_of(
    grid: &SharedGrid,
    caption: String,
    unit: Unit,
    figure: impl Fn(&SharedCell) -> Option<Figure>,
) -> Option<Table> {
    let mut table = grid_of(grid.cells.iter().map(|cell| cell.remote_threads));
    for cell in &grid.cells {
        let shown = Cell::figure(figure(cell));
        table.add(near(cell.local_threads), far(cell.remote_threads), shown);
    }
    table.table(caption, "", unit)
}

fn both_groups(model: &Sharing, grid: &SharedGrid, who: &Who) -> Option<Table> {
    let which = match model.grids.len() {
        0 | 1 => String::new(),
        many => format!("; of {many} grids the one whose law is off most"),
    };
    let predicted =
        if grid.is_predictive { "; ~ model prediction" } else { "; nothing is predicted" };
    let caption = format!("{}{which}{predicted}", place_words(&grid.place, who));
    let mut table = figures_of(grid, caption, Unit::GbPerS, |cell| match &cell.measured {
        Some(measured) => Some(Figure::sampled(&measured.total, Counted::Bytes)),
        None => cell.predicted_total.as_ref().map(|total| Figure::of(total).predicted()),
    })?;
    let errors = grid.cells.iter().filter_map(|cell| cell.total_error);
    if let Some(worst) = errors.map(f64::abs).max_by(f64::total_cmp) {
        let off = percent_words(worst);
        table.notes.push(format!("On measured totals the law is off by {off} at most."));
    }
    table.notes.extend(above_lone_words(grid));
    table.notes.extend(worth_measuring_words(model, grid));
    Some(table)
}

fn above_lone_words(grid: &SharedGrid) -> Option<String> {
    let found = grid.above_lone;
    let most = found.largest?;
    Some(format!(
        "In {} of {} with both groups the total is above what either moves alone, by {} at most ({} \
         near {} far): equation 4 of the paper, total = (1 - beta) L0 + beta R0 with beta from 0 to \
         1, cannot give those.",
        found.above,
        count(found.cells, "measured cell"),
        percent_words(most.excess),
        most.local_threads,
        most.remote_threads
    ))
}

fn worth_measuring_words(model: &Sharing, grid: &SharedGrid) -> Option<String> {
    let worth = grid.cells.iter().filter(|cell| cell.is_worth_measuring);
    let worth: Vec<String> = worth
        .map(|cell| format!("{} near {} far", cell.local_threads, cell.remote_threads))
        .collect();
    let more = worth.len().saturating_sub(MOST_NAMED);
    let named = worth.get(..worth.len().min(MOST_NAMED))?.join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let command = model.more_cells.as_ref().filter(|_| !named.is_empty())?;
    Some(format!(
        "The two laws differ by more than 5 % in {named}{more}: measure them by `{command}`."
    ))
}

fn betas(grid: &SharedGrid) -> Option<Table> {
    let caption = "beta: the far group's part of the total".into();
    let mut table = figures_of(grid, caption, Unit::One, beta)?;
    table.notes.extend(grid.fairness.as_ref().map(fairness_words));
    Some(table)
}

/// The far group's part of a cell with both groups, measured or else predicted.
fn beta(cell: &SharedCell) -> Option<Figure> {
    if cell.local_threads == 0 || cell.remote_threads == 0 {
        return None;
    }
    match &cell.measured {
        Some(_) => measured_beta(cell),
        None => Some(Figure::ratio(cell.predicted?.beta()).predicted()),
    }
}

/// Of a case with both groups the near one comes first.
const FAR_SHARE: Counted = Counted::ActorShare(1);

/// What was measured of it: of both groups with its samples.
pub(crate) fn measured_beta(cell: &SharedCell) -> Option<Figure> {
    let measured = cell.measured.as_ref()?;
    let beta = Figure::ratio(measured.beta?);
    Some(match measured.total.cases.first() {
        Some(case) if cell.local_threads > 0 && cell.remote_threads > 0 => {
            beta.of_samples(case, FAR_SHARE)
        }
        _ => beta,
    })
}

fn fairness_words(fairness: &Fairness) -> String {
    let each = |slope: Option<f64>| {
        slope.map_or("not known".into(), |slope| {
            let points = rounded(slope * 100.0, 1);
            let is_one = points.trim_start_matches('-') == "1";
            format!("{points} point{}", if is_one { "" } else { "s" })
        })
    };
    let more = |who| match who {
        WhoLosesMore::Neither => "both lose alike",
        WhoLosesMore::Local => "the near ones lose more",
        WhoLosesMore::Remote => "the far ones lose more",
    };
    let (on_average, when_full) = (more(fairness.on_average), more(fairness.under_full_load));
    let more = if on_average == when_full {
        format!("On average and with the most threads {on_average}")
    } else {
        format!("On average {on_average}, with the most threads {when_full}")
    };
    let (local, remote) = (&fairness.local, &fairness.remote);
    format!(
        "Fairness: together the near threads lose {} of what they move alone and the far ones {} \
         (mean of {}), with the most threads {} and {}; with each further thread {} and {}. \
         {more}.",
        percent_words(local.mean),
        percent_words(remote.mean),
        count(fairness.cells, "cell"),
        percent_words(local.under_full_load),
        percent_words(remote.under_full_load),
        each(local.slope),
        each(remote.slope),
    )
}

fn best_splits(model: &Sharing, grid: &SharedGrid) -> Table {
    let rows = grid.rankings.iter().map(|ranking| {
        let figure = |split: Option<&ProcessSplit>| {
            Cell::figure(split.map(|split| Figure::of(split.figure(ranking.work))))
        };
        let first = ranking.splits.first();
        let more = ranking.as_good_splits.saturating_sub(1);
        let others = if more > 0 { format!(" or {more} more") } else { String::new() };
        vec![
            Cell::text(ranking.processes),
            Cell::text(ranking.work.as_str()),
            Cell::text(
                first.map_or("-".into(), |split| split_words(split.near, split.far) + &others),
            ),
            figure(first),
            figure(ranking.all_near.as_ref()),
            Cell::text(gain_words(ranking)),
        ]
    });
    let wants_more = last_rankings(grid).any(|ranking| ranking.wants_more);
    Table::new(
        "Best splits of processes",
        Column::all(
            ["processes", "work", "best", "best", "all near", "gain"],
            [WORDS, WORDS, WORDS, GB, GB, WORDS],
        ),
        rows,
    )
    .with_notes(more_words(wants_more, model.more_cells.as_ref()))
}

fn gain_words(ranking: &SplitRanking) -> String {
    let Some(gain) = ranking.gain.map(percent_words) else { return "-".into() };
    match ranking.verdict {
        SplitVerdict::Gain => gain,
        SplitVerdict::AllNear => "none".into(),
        SplitVerdict::ErrorUnknown => format!("{gain}, error not known"),
        SplitVerdict::WithinError | SplitVerdict::NotAllFitNear => {
            format!("{gain}, within the error")
        }
    }
}
