//! How long an access takes, idle and beside traffic.

use std::collections::BTreeMap;

use nearfar_model::{
    ChaseFigures, CurveFamily, FactorSpan, FamilyLaw, FamilyShare, Latency, LoadedCurve,
    NumaFactor, Translation, USABLE_RISE,
};
use nearfar_record::{ChaseWalk, Estimate, Outcome, Pages};
use nearfar_units::{Bytes, BytesPerSecond, Nanoseconds, Quantity, Ratio, format_significant};

use super::figures::{count, significant};
use super::latency_advice::{self, factor_words, worst_pair};
use super::who::Who;
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::{Grid, groups};
use crate::table::{Cell, Column, GB, NS, ONE, Table, WORDS};

/// The answer in a sentence; `None` where nothing remote was measured.
pub(crate) fn answer(model: &Latency, who: &Who) -> Option<String> {
    let span = model.span.found()?;
    let worst = worst_pair(span, who).map(|pair| format!("; longest: {pair}"));
    Some(format!(
        "Remote memory takes {} times as long as local memory (NUMA factor){}.",
        factor_words(span),
        worst.unwrap_or_default()
    ))
}

/// What was measured and what it means; `chases` are those of `show`, without which idle times are the
/// model's.
pub(crate) fn section(
    chases: &[ChaseFigures],
    model: Option<&Latency>,
    who: &Who,
) -> Option<Section> {
    let mut tables: Vec<Table> = idle(chases, model, who).into_iter().collect();
    tables.extend(sizes(chases, who));
    if let Some(model) = model {
        tables.extend(factors(model, who));
        tables.extend(levels(model, who));
        for family in &model.families {
            tables.push(family_table(family, who));
            tables.extend(loaded(model, family, who));
        }
    } else {
        tables.extend(loads(chases, who));
    }
    Section::new(
        "latency",
        "Time of an access",
        "A thread follows a chain of cache lines in random order (a pointer chase), so that each \
         access waits for the one before. Median over rounds, huge pages where available.",
        tables,
    )
    .with_findings(model.map(|model| latency_advice::findings(model, who)).unwrap_or_default())
    .unless_empty()
}

fn column(node: u32) -> String {
    format!("node {node}")
}

fn idle(chases: &[ChaseFigures], model: Option<&Latency>, who: &Who) -> Option<Table> {
    let mut grid = Grid::default();
    if let (true, Some(model)) = (chases.is_empty(), model) {
        for pair in &model.factors {
            let missing = || Cell::not_measured("the access has no time");
            let time = pair.time.as_ref().map(|time| Cell::Figure(Figure::time(time)));
            grid.add(
                who.label(pair.initiator),
                column(pair.memory_node),
                time.unwrap_or_else(missing),
            );
        }
    }
    for chase in chases.iter().filter(|chase| chase.in_matrix) {
        grid.add(who.label(chase.place.initiator), column(chase.place.memory_node), cell(chase));
    }
    grid.table("Idle: one thread on each node".into(), "", Unit::Ns)
}

/// In place of a time where a round had no access: rounds that had some would say too little.
const EMPTY_ROUND: &str = "no access in a round";

/// The time of a chase, or why it has none.
pub(crate) fn cell(chase: &ChaseFigures) -> Cell {
    if chase.has_empty_round {
        return Cell::not_measured(EMPTY_ROUND);
    }
    Cell::of(&chase.case, chase.time.as_ref().map(Figure::time), Counted::AccessTime)
}

/// By size, walk and pages, of places where several were chased idle; what translating addresses adds.
fn sizes(chases: &[ChaseFigures], who: &Who) -> Vec<Table> {
    let idle = chases.iter().filter(|chase| chase.place.load.is_none());
    let places = groups(idle, |chase| (chase.place.initiator, chase.place.memory_node));
    let table = |((initiator, node), of): ((u32, u32), Vec<&ChaseFigures>)| {
        if of.len() < 2 {
            return None;
        }
        let mut ways: Vec<_> =
            of.iter().map(|chase| (chase.place.walk, chase.place.pages)).collect();
        ways.sort_by_key(|&(walk, pages)| (walk, pages == Pages::Small, pages));
        let mut grid = Grid::with_columns(ways.into_iter().map(walk_words));
        let mut of = of;
        of.sort_by_key(|chase| chase.place.working_set_bytes);
        let mut notes = Vec::new();
        for chase in of {
            let size = Bytes(chase.place.working_set_bytes).to_string();
            let way = walk_words((chase.place.walk, chase.place.pages));
            notes.extend(chase.translation.map(|it| translation_words(&way, &size, &it)));
            grid.add(size, way, cell(chase));
        }
        let caption = format!("Idle, by size and walk: {} on node {node}", who.cpus(initiator));
        let mut table = grid.table(caption, "set", Unit::Ns)?;
        table.notes = notes;
        Some(table)
    };
    places.into_iter().filter_map(table).collect()
}

/// How a chase walks, over which pages.
pub(crate) fn walk_words((walk, pages): (ChaseWalk, Pages)) -> String {
    let walk = match walk {
        ChaseWalk::PageGroups => "in groups of pages",
        ChaseWalk::Anywhere => "anywhere",
    };
    let pages = match pages {
        Pages::Small => "base pages",
        Pages::Transparent => "huge pages",
        Pages::Huge => "reserved huge pages",
    };
    format!("{walk}, {pages}")
}

fn translation_words(way: &str, size: &str, translation: &Translation) -> String {
    let (least, most) = translation.interval;
    let noise = if translation.is_within_noise() { ", within noise" } else { "" };
    format!(
        "Translating addresses ({way}) adds {:+.1} ns ({least:+.1} to {most:+.1}{noise}) at {size}.",
        translation.ns
    )
}

/// Traffic beside each chase and what it makes of its time; the model's curves say more.
fn loads(chases: &[ChaseFigures], who: &Who) -> Option<Table> {
    let rows = chases.iter().filter_map(|chase| {
        let load = chase.place.load.as_ref()?;
        let moved = chase.load.as_ref().map(Figure::sum);
        let cpus = who.cpus(chase.place.initiator);
        Some(vec![
            Cell::Text(format!("{cpus} on node {}", chase.place.memory_node)),
            Cell::Text(format!("{} x {} {}", load.threads, load.kernel, load.variant)),
            Cell::text(load.pause_cycles),
            Cell::of(&chase.case, moved, Counted::ActorBytes(1)),
            cell(chase),
        ])
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    Table::new(
        "Loaded latency, by the cycles that the loading threads pause after each KiB of an array",
        Column::all(
            ["CPUs and node", "beside", "pause", "traffic", "time"],
            [WORDS, WORDS, WORDS, GB, NS],
        ),
        rows,
    )
    .unless_empty()
}

fn factors(model: &Latency, who: &Who) -> Option<Table> {
    let mut grid = Grid::default();
    for pair in &model.factors {
        let cell = match pair.factor.as_result() {
            Ok(factor) => Cell::Figure(Figure::of(factor)),
            Err(why) => Cell::not_measured(why),
        };
        grid.add(who.label(pair.initiator), column(pair.memory_node), cell);
    }
    let caption = "NUMA factor: idle time / the least of the CPUs' own nodes";
    let mut table = grid.table(caption.into(), "", Unit::One)?;
    if model.factors.iter().any(|pair| pair.is_short) {
        let short = model.factors.iter().filter(|pair| pair.is_short);
        let places =
            short.map(|it| format!("{} on node {}", who.cpus(it.initiator), it.memory_node));
        table.notes.push(format!(
            "Caches answered a part of the accesses of {}: memory alone takes longer.",
            places.collect::<Vec<_>>().join(", ")
        ));
    }
    table.notes.push(span_words(&model.span, who));
    table.notes.extend(firmware_words(&model.factors, who));
    Some(table)
}

fn span_words(span: &Outcome<FactorSpan>, who: &Who) -> String {
    match span.as_result() {
        Ok(span) => {
            let worst = worst_pair(span, who).map(|pair| format!("; longest: {pair}"));
            let pairs = count(span.pairs, "pair");
            format!("Remote: {} over {pairs}{}.", factor_words(span), worst.unwrap_or_default())
        }
        Err(why) => format!("Remote: no NUMA factor: {why}."),
    }
}

/// What the firmware says of remote nodes, and how far that is off.
fn firmware_words(factors: &[NumaFactor], who: &Who) -> Option<String> {
    let remote = factors.iter().filter(|pair| !pair.is_local);
    let known: Vec<(&NumaFactor, f64, f64)> =
        remote.filter_map(|pair| Some((pair, pair.firmware?, pair.firmware_error?))).collect();
    let (worst, says, error) =
        known.iter().max_by(|one, other| one.2.abs().total_cmp(&other.2.abs()))?;
    let wrong = known.iter().filter(|(pair, ..)| pair.is_firmware_wrong == Some(true)).count();
    let verdict = match wrong {
        0 => "no pair is contradicted".to_string(),
        wrong => format!("{wrong} of {} contradicted", count(known.len(), "remote pair")),
    };
    Some(format!(
        "Firmware (distance / 10): {verdict}; farthest off from {} to node {}: it says {}, \
         which is {} %.",
        who.cpus(worst.initiator),
        worst.memory_node,
        significant(*says, 3),
        match (error * 100.0).round() {
            more if more > 0.0 => format!("too much by {more}"),
            less if less < 0.0 => format!("too little by {}", less.abs()),
            _ => "off by less than 0.5".into(),
        }
    ))
}

fn levels(model: &Latency, who: &Who) -> Vec<Table> {
    let mut by_place: BTreeMap<(u32, u32), Vec<Vec<Cell>>> = BTreeMap::new();
    for level in &model.levels {
        let name = level.level.map_or_else(|| "memory".into(), |level| format!("L{level}"));
        by_place.entry((level.initiator, level.memory_node)).or_default().push(vec![
            Cell::text(name),
            Cell::text(Bytes(level.working_set_bytes).to_string()),
            Cell::Figure(Figure::sampled(&level.time, Counted::AccessTime)),
        ]);
    }
    let table = |((initiator, node), rows)| {
        Table::new(
            format!("Idle, by the level that answers: {} before node {node}", who.cpus(initiator)),
            Column::all(["level", "set", "time"], [WORDS, WORDS, NS]),
            rows,
        )
    };
    by_place.into_iter().map(table).collect()
}

/// The law of a pair's curves.
fn family_table(family: &CurveFamily, who: &Who) -> Table {
    let found = family.law.found();
    let row = |share: &FamilyShare| {
        vec![
            Cell::Figure(Figure::ratio(share.read_share)),
            Cell::Figure(Figure::plain(share.most_traffic)),
            Cell::Figure(Figure::of(&share.capacity)),
            Cell::Figure(Figure::of(&share.wait)),
        ]
    };
    let rows = found.into_iter().flat_map(|law| &law.shares).map(row);
    let mut notes = vec![law_words(family)];
    notes.extend(found.filter(|law| law.shares.iter().any(|share| share.is_straight)).map(|_| {
        "Where the capacity is more than twice the measured traffic the curve ends before it bends: a \
         larger one would fit as well."
            .into()
    }));
    Table::new(
        format!(
            "Law of latency over traffic: {} on {} node {}, by the read share of the traffic",
            who.cpus(family.initiator),
            ownership(family.is_local),
            family.memory_node
        ),
        Column::all(["read share", "measured up to", "capacity", "k"], [ONE, GB, GB, ONE]),
        rows,
    )
    .with_notes(notes)
}

fn law_words(family: &CurveFamily) -> String {
    match family.law.as_result() {
        Ok(law) => format!(
            "{} ns x (1 + k u^{} / (1 - u)), u = traffic / capacity; off by {:.1} % (rms of {} points), \
             {:.1} % at worst.",
            three(law.idle.value.0),
            three(law.exponent.value.0),
            law.error * 100.0,
            law.points,
            law.worst_error * 100.0
        ),
        Err(why) => format!("No law: {why}."),
    }
}

fn ownership(is_local: bool) -> &'static str {
    if is_local { "its own" } else { "the remote" }
}

/// First column of the tables that charts of curves are drawn from.
pub(crate) const CURVES: &str = "with traffic of";

/// The curves of a pair: traffic of each kernel and what it makes of an access.
fn loaded(model: &Latency, family: &CurveFamily, who: &Who) -> Option<Table> {
    let curves: Vec<&LoadedCurve> = model
        .curves
        .iter()
        .filter(|it| (it.initiator, it.memory_node) == (family.initiator, family.memory_node))
        .collect();
    let first = curves.first()?;
    let of_law = family.law.found();
    let law = |ns: Option<Nanoseconds>| Cell::figure(ns.map(Figure::plain));
    let times = |ns: Nanoseconds| {
        Cell::figure(first.idle.as_ref().map(|idle| Figure::ratio(ns / idle.value)))
    };
    let mut rows = Vec::new();
    rows.extend(first.idle.as_ref().map(|idle| {
        vec![
            Cell::text("nothing"),
            Cell::Figure(Figure::new(0.0, None, Unit::GbPerS)),
            Cell::Figure(Figure::sampled(idle, Counted::AccessTime)),
            times(idle.value),
            law(of_law.map(|law| law.idle.value)),
        ]
    }));
    let mut notes = Vec::new();
    for curve in &curves {
        let share = curve.read_share.as_ref();
        let name = format!("{}{}", curve.kernel, share.map_or_else(String::new, share_words));
        rows.extend(curve.points.iter().map(|point| {
            let of_law = of_law.zip(share);
            vec![
                Cell::Text(name.clone()),
                Cell::Figure(Figure::of(&point.traffic)),
                Cell::Figure(Figure::sampled(&point.time, Counted::AccessTime)),
                times(point.time.value),
                law(of_law
                    .and_then(|(law, share)| law.expected(share.value.0, point.traffic.value))),
            ]
        }));
        notes.push(format!("{name}: {}; {}.", knee_words(curve), usable_words(curve)));
    }
    let missing: usize = curves.iter().map(|curve| curve.missing).sum();
    if missing > 0 {
        notes.push(format!("{} without figures.", count(missing, "point")));
    }
    let caption = format!(
        "Loaded: {} on {} node {}, beside {} ({})",
        who.cpus(first.initiator),
        ownership(first.is_local),
        first.memory_node,
        count(first.threads as usize, "thread"),
        first.variant
    );
    let columns = [CURVES, "traffic", "time", "times idle", "law"];
    let columns = Column::all(columns, [WORDS, GB, NS, ONE, NS]);
    let laws = curves.iter().filter_map(|curve| {
        let line = law_line(of_law?, curve)?.map(|(traffic, ns)| [traffic.in_unit(), ns.0]);
        let share = curve.read_share.as_ref().map_or_else(String::new, share_words);
        Some((format!("{}{share}", curve.kernel), line.collect()))
    });
    let laws = laws.collect();
    Some(Table { laws, ..Table::new(caption, columns, rows).with_notes(notes) })
}

/// Points that a law is drawn through.
const STEPS: u32 = 60;

/// The law along a curve, from no traffic to the most that was measured; `None` without a read share.
pub(crate) fn law_line<'l>(
    law: &'l FamilyLaw,
    curve: &LoadedCurve,
) -> Option<impl Iterator<Item = (BytesPerSecond, Nanoseconds)> + 'l> {
    let (share, most) = (curve.read_share.as_ref()?.value.0, curve.most_traffic()?);
    let steps = (0..=STEPS).map(move |step| most * (f64::from(step) / f64::from(STEPS)));
    Some(steps.filter_map(move |traffic| Some((traffic, law.expected(share, traffic)?))))
}

fn knee_words(curve: &LoadedCurve) -> String {
    match curve.knee.as_result() {
        Ok(knee) => {
            format!("bends at {} and {} ns", Figure::of(&knee.traffic).words(), three(knee.time.0))
        }
        Err(why) => format!("no knee ({why})"),
    }
}

fn usable_words(curve: &LoadedCurve) -> String {
    match curve.usable.as_result() {
        Ok(usable) => {
            format!("{USABLE_RISE} times the idle time at {}", Figure::of(usable).words())
        }
        Err(why) => format!("usable bandwidth not known ({why})"),
    }
}

/// How much of the traffic is reads.
pub(crate) fn share_words(share: &Estimate<Ratio>) -> String {
    let [least, most] = share.ends().map(|end| format_significant(end.0, 2));
    match least == most {
        true => format!(" ({least} reads)"),
        false => format!(" ({least} to {most} reads)"),
    }
}

pub(super) fn three(value: f64) -> String {
    format_significant(value, 3)
}

pub(super) fn giga(bytes_per_s: f64) -> String {
    three(bytes_per_s / 1e9)
}
