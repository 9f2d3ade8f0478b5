//! How long two CPUs take to hand a cache line to each other.

use nearfar_machine::CpuSet;
use nearfar_model::{DeviatingPair, ExchangeLevel, Exchanges, HandOverFigures};
use nearfar_record::HandOver;

use super::figures::{capitalised, significant};
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Column, NS, Table, WORDS};

/// The most rows and columns of a matrix that fits a terminal.
const MOST_COLUMNS: usize = 9;

/// Longer lists of CPUs do not head a column.
const LONGEST_NAME: usize = 5;

/// Pairs that a sentence names one by one.
const MOST_NAMED: usize = 4;

/// The answer in a sentence.
pub(crate) fn answer(model: &Exchanges) -> Option<String> {
    let (first, last) = (model.levels.first()?, model.levels.last()?);
    let time = |level: &ExchangeLevel| Figure::of(&level.store_load).words();
    if model.levels.len() == 1 {
        return Some(format!(
            "Every two CPUs that were measured take as long to hand a cache line over: {} one way.",
            time(first)
        ));
    }
    Some(format!(
        "To hand a cache line over takes {} between the nearest CPUs ({}) and {} between the farthest \
         ({}), in {} levels.",
        time(first),
        relation_words(first),
        time(last),
        relation_words(last),
        model.levels.len()
    ))
}

pub(crate) fn section(model: &Exchanges) -> Option<Section> {
    let mut tables = vec![level_table(model)];
    for by in HandOver::ALL {
        tables.extend(matrix(model, by));
    }
    Section::new(
        "exchange",
        "Hand-over of a cache line",
        "Two threads write a word of one cache line in turn. Time one way (half a round trip), \
         median over rounds; no pause while a thread waits.",
        tables,
    )
    .with_findings(findings(model))
    .unless_empty()
}

/// What follows, in sentences.
pub(crate) fn findings(model: &Exchanges) -> Vec<String> {
    let mut findings: Vec<String> = answer(model).into_iter().collect();
    match model.compare_swap.as_result() {
        Ok(ratio) => findings.push(format!(
            "By compare-and-swap a hand-over takes {} times as long as by store and load.",
            Figure::of(ratio).words()
        )),
        Err(unknown) => {
            findings.push(format!("What compare-and-swap costs is not known: {unknown}."))
        }
    }
    if !model.deviating.is_empty() {
        let name = |pair: &DeviatingPair| {
            let [one, other] = pair.cpus;
            format!(
                "CPUs {one} and {other} ({}, {} instead of level {})",
                pair.relation.words(),
                Figure::of(&pair.time).words(),
                pair.usual_level
            )
        };
        let named: Vec<String> = model.deviating.iter().take(MOST_NAMED).map(name).collect();
        let more = match model.deviating.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        findings.push(format!("Other than the topology says: {}{more}.", named.join(", ")));
    }
    findings
}

/// `same L3, 6 pairs`.
fn relation_words(level: &ExchangeLevel) -> String {
    let words = level.relations.keys().map(|relation| relation.words());
    let words: Vec<&str> = words.collect();
    if words.is_empty() { "not known how they lie".into() } else { words.join(", ") }
}

fn level_table(model: &Exchanges) -> Table {
    let rows = model.levels.iter().map(|level| {
        let figure = |of| Cell::Figure(Figure::of(of));
        let counts: Vec<String> = level
            .relations
            .iter()
            .map(|(relation, pairs)| format!("{} ({pairs})", relation.words()))
            .collect();
        vec![
            Cell::text(level.level),
            figure(&level.store_load),
            level.compare_swap.as_ref().map_or(Cell::Empty, figure),
            Cell::text(level.pairs.len()),
            Cell::Text(counts.join(", ")),
        ]
    });
    let columns = Column::all(
        ["level", "store and load", "compare-and-swap", "pairs", "how they lie"],
        [WORDS, NS, NS, WORDS, WORDS],
    );
    let note = format!(
        "A level spans at most {} % of its largest time by store and load; the topology decides nothing.",
        significant(model.level_span * 100.0, 2)
    );
    Table::new("Levels of hand-over, one way", columns, rows).with_notes([note])
}

/// CPUs by CPUs where they fit, else groups of them.
fn matrix(model: &Exchanges, by: HandOver) -> Option<Table> {
    let pairs: Vec<&HandOverFigures> =
        model.pairs.iter().filter(|pair| pair.place.by == by).collect();
    let cpus: CpuSet =
        pairs.iter().flat_map(|it| [it.place.first_cpu, it.place.second_cpu]).collect();
    let way = by_words(by);
    if cpus.len() <= MOST_COLUMNS {
        let mut grid = Grid::with_columns(cpus.iter().map(|cpu| format!("CPU {cpu}")));
        for pair in pairs {
            let place = &pair.place;
            let (row, column) = (place.first_cpu, place.second_cpu);
            grid.add(format!("CPU {row}"), format!("CPU {column}"), cell(pair));
        }
        return grid.table(format!("{} between CPUs", capitalised(way)), "", Unit::Ns);
    }
    let name = |group: usize| match model.groups.get(group).map(ToString::to_string) {
        Some(cpus) if cpus.len() <= LONGEST_NAME => format!("CPUs {cpus}"),
        _ => format!("group {group}"),
    };
    let mut grid = Grid::with_columns((0..model.groups.len()).map(name));
    for block in model.between_groups.iter().filter(|block| block.by == by) {
        let [one, other] = block.groups.map(name);
        grid.add(one, other, Cell::Figure(Figure::of(&block.time)));
    }
    let what = "groups that share a last-level cache, or packages where these are many";
    let caption = format!("{} between CPUs, median over pairs", capitalised(way));
    let table = grid.table(caption, "", Unit::Ns)?;
    let all = model.groups.iter().enumerate().map(|(group, cpus)| format!("{group}: {cpus}"));
    let all = all.collect::<Vec<_>>().join("; ");
    Some(table.with_notes([format!("Groups are {what}. CPUs of each: {all}.")]))
}

/// The time of a pair, or why it has none.
pub(crate) fn cell(pair: &HandOverFigures) -> Cell {
    Cell::of(&pair.case, pair.time.as_ref().map(Figure::time), Counted::AccessTime)
}

pub(crate) fn by_words(by: HandOver) -> &'static str {
    match by {
        HandOver::StoreLoad => "store and load",
        HandOver::CompareSwap => "compare-and-swap",
    }
}
