//! Messages to another machine and from it: who gets how much through which adapter, and how long one takes.

use std::collections::BTreeMap;

use nearfar_machine::NetworkAdapter;
use nearfar_model::{MessageFigures, Network, NetworkClasses, NetworkPlace, PlacedLatency};
use nearfar_record::MessageDirection;
use nearfar_units::Bytes;

use super::figures::{capitalised, count, percent_words};
use super::who::Who;
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Column, GB, ONE, Table, WORDS};

/// The answer in a sentence or two.
pub(crate) fn answer(model: &Network, who: &Who) -> Option<String> {
    let of_sets = model.class_sets.iter().filter_map(|set| set_words(set, who));
    let latency = model.latencies.first().map(|first| latency_words(first, model, who));
    let mut sentences: Vec<String> = of_sets.take(1).chain(latency).collect();
    if is_over_loopback(model) && !sentences.is_empty() {
        sentences.push("It is loopback: all of it is copied within this machine's memory.".into());
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn is_over_loopback(model: &Network) -> bool {
    model.adapter.as_ref().is_some_and(|adapter| adapter.is_loopback)
}

fn place_words(place: NetworkPlace, who: &Who) -> String {
    format!("{} with pages on node {}", who.cpus(place.initiator), place.memory_node)
}

fn set_words(set: &NetworkClasses, who: &Who) -> Option<String> {
    let (first, last) = (set.classes.first()?, set.classes.last()?);
    let of_link = match first.alpha.as_result() {
        Ok(alpha) => format!(", {} of what the link carries", percent_words(alpha.value.0)),
        Err(_) => String::new(),
    };
    let most = Figure::of(&first.max).words();
    let way = set.way.words();
    if set.classes.len() == 1 {
        let places = first.places.len();
        let who = match first.places.as_slice() {
            [only] => place_words(*only, who),
            _ => format!("all {places} places that were measured"),
        };
        return Some(format!(
            "Messages {way}: {who} get{} up to {most}{of_link}.",
            if places == 1 { "" } else { " alike" }
        ));
    }
    let (best, worst) = (*first.places.first()?, *last.places.last()?);
    Some(format!(
        "Messages {way}: {} get most, {most}{of_link}; {} are of the slowest of {} classes, up to {}.",
        place_words(best, who),
        place_words(worst, who),
        set.classes.len(),
        Figure::of(&last.max).words()
    ))
}

fn latency_words(first: &PlacedLatency, model: &Network, who: &Who) -> String {
    let time = |it: &PlacedLatency| Figure::microseconds(&it.one_way).words();
    let least = format!(
        "A message of {} takes {} one way at least ({}",
        Bytes(first.message_bytes),
        time(first),
        place_words(first.place, who)
    );
    match model.latencies.last().filter(|last| last.place != first.place) {
        Some(last) => {
            format!("{least}), and {} at most ({}).", time(last), place_words(last.place, who))
        }
        None => format!("{least})."),
    }
}

pub(crate) fn section(model: &Network, who: &Who) -> Section {
    let mut tables = Vec::new();
    for set in &model.class_sets {
        tables.extend(matrix(model, set, who));
    }
    tables.extend(latency_matrix(model, who));
    tables.extend(class_table(model, who));
    tables.extend(sizes(model, who));
    tables.push(adapter_table(model));
    let loopback = match is_over_loopback(model) {
        true => {
            " The peer is this machine: loopback copies within its memory, and the peer's threads take of the same CPUs; no adapter is measured."
        }
        false => "",
    };
    Section::new(
        "network",
        "Network",
        format!(
            "Messages over TCP between pages of each node and {}: each thread has a connection of its own and \
             goes through a buffer beyond the caches, message after message. A message is what a thread hands \
             to the kernel, or takes from it, at a time.{loopback}",
            model.peer.as_deref().unwrap_or("another machine")
        ),
        tables,
    )
    .with_findings(findings(model, who))
}

/// What to know, in sentences.
pub(crate) fn findings(model: &Network, who: &Who) -> Vec<String> {
    let mut findings: Vec<String> =
        model.class_sets.iter().filter_map(|set| set_words(set, who)).collect();
    findings.extend(model.latencies.first().map(|first| latency_words(first, model, who)));
    if let Ok(gain) = model.without_copy.as_result() {
        findings.push(format!(
            "Without a copy ({}) messages get {} times as much at best; the kernel copied {} of these sends \
             all the same.",
            place_words(gain.place, who),
            Figure::of(&gain.gain).words(),
            percent_words(gain.copied_share)
        ));
    }
    if let Some(adapter) = &model.adapter {
        findings.extend(adapter_words(adapter));
    }
    if let Err(unknown) = model.link.as_result() {
        findings.push(format!("There is no alpha: {unknown}."));
    }
    findings
}

fn adapter_words(adapter: &NetworkAdapter) -> Vec<String> {
    let Some(interrupts) = &adapter.interrupts else { return Vec::new() };
    let nodes = match interrupts.nodes.len() {
        0 => String::new(),
        1 => format!(", of node {}", interrupts.nodes),
        _ => format!(", of the nodes {}", interrupts.nodes),
    };
    let elsewhere = match adapter.node {
        Some(node) if !interrupts.nodes.is_empty() && !interrupts.nodes.contains(node) => {
            format!("; none is next to the adapter, which is on node {node}")
        }
        _ => String::new(),
    };
    vec![format!(
        "{} of {} went to the CPUs {}{nodes}{elsewhere}.",
        capitalised(&count(interrupts.count as usize, "interrupt")),
        adapter.interface,
        interrupts.cpus
    )]
}

fn adapter_table(model: &Network) -> Table {
    let adapter = model.adapter.as_ref();
    let text = |of: Option<String>| of.map_or(Cell::Empty, Cell::Text);
    let row = vec![
        text(adapter.map(|it| it.interface.clone())),
        text(model.peer.clone()),
        text(adapter.and_then(|it| it.node).map(|node| node.to_string())),
        text(adapter.and_then(|it| it.bus_id.clone())),
        text(adapter.and_then(|it| it.driver.clone())),
        match model.link.found() {
            Some(link) => Cell::Figure(Figure::plain(*link)),
            None => Cell::Empty,
        },
        text(adapter.and_then(|it| it.interrupts.as_ref()).map(|it| it.nodes.to_string())),
    ];
    let columns = Column::all(
        ["adapter", "peer", "node", "PCIe", "driver", "link each way", "nodes of its interrupts"],
        [WORDS, WORDS, WORDS, WORDS, WORDS, GB, WORDS],
    );
    Table::new("The adapter", columns, [row])
}

fn cell(of: &MessageFigures) -> Cell {
    let sum = of.bandwidth.as_ref().map(Figure::sum);
    Cell::of(&of.case, sum, Counted::ActorBytes(0))
}

/// Initiators by nodes, of the messages that classes are made of.
fn matrix(model: &Network, set: &NetworkClasses, who: &Who) -> Option<Table> {
    let mut largest: BTreeMap<(u32, u32), &MessageFigures> = BTreeMap::new();
    for it in model.messages.iter().filter(|it| it.place.way == set.way) {
        let known = largest.entry((it.place.initiator, it.place.memory_node)).or_insert(it);
        let rank = |it: &MessageFigures| (it.place.threads, it.place.message_bytes);
        if rank(it) > rank(known) {
            *known = it;
        }
    }
    let mut grid = Grid::default();
    for it in largest.values() {
        let column = format!("node {}", it.place.memory_node);
        grid.add(who.label(it.place.initiator), column, cell(it));
    }
    let threads = largest.values().map(|it| it.place.threads).max().unwrap_or(0) as usize;
    let caption = format!(
        "{}, messages of {} by {}",
        capitalised(set.way.words()),
        Bytes(set.message_bytes),
        count(threads, "thread")
    );
    grid.table(caption, "who", Unit::GbPerS)
}

fn latency_matrix(model: &Network, who: &Who) -> Option<Table> {
    let first = model.latencies.first()?;
    let mut grid = Grid::default();
    let mut latencies: Vec<&PlacedLatency> = model.latencies.iter().collect();
    latencies.sort_by_key(|it| it.place);
    for it in latencies {
        let column = format!("node {}", it.place.memory_node);
        grid.add(
            who.label(it.place.initiator),
            column,
            Cell::Figure(Figure::microseconds(&it.one_way)),
        );
    }
    let caption = format!("A message of {} one way, half a round trip", Bytes(first.message_bytes));
    grid.table(caption, "who", Unit::Us)
}

fn class_table(model: &Network, who: &Who) -> Option<Table> {
    let mut rows = Vec::new();
    for set in &model.class_sets {
        for class in &set.classes {
            let places: Vec<String> = class
                .places
                .iter()
                .map(|place| format!("{}: {}", who.label(place.initiator), place.memory_node))
                .collect();
            rows.push(vec![
                Cell::text(set.way.words()),
                Cell::text(class.class),
                Cell::Figure(Figure::of(&class.max)),
                class.alpha.found().map_or(Cell::Empty, |alpha| Cell::Figure(Figure::of(alpha))),
                Cell::Text(places.join(", ")),
            ]);
        }
    }
    let columns = Column::all(
        ["way", "class", "at most", "alpha", "who: node of the pages"],
        [WORDS, WORDS, GB, ONE, WORDS],
    );
    let note = match model.link.as_result() {
        Ok(_) => "Alpha is relative to what the link carries each way.".to_string(),
        Err(unknown) => format!("There is no alpha: {unknown}."),
    };
    (!rows.is_empty()).then(|| Table::new("Classes", columns, rows).with_notes([note]))
}

/// Sizes by ways, of places where one thread sent several.
fn sizes(model: &Network, who: &Who) -> Vec<Table> {
    let mut places: BTreeMap<NetworkPlace, Vec<&MessageFigures>> = BTreeMap::new();
    let one = |it: &&MessageFigures| it.place.threads == 1;
    for it in model.messages.iter().filter(one) {
        let (initiator, memory_node) = (it.place.initiator, it.place.memory_node);
        places.entry(NetworkPlace { initiator, memory_node }).or_default().push(it);
    }
    let mut tables = Vec::new();
    for (place, mut of) in places {
        of.sort_by_key(|it| (it.place.message_bytes, it.place.way));
        let one_way = |it: &&&MessageFigures| it.place.way != MessageDirection::RoundTrip;
        if of.iter().filter(one_way).count() < 3 {
            continue;
        }
        let mut grid = Grid::default();
        for it in of.iter().filter(one_way) {
            grid.add(
                Bytes(it.place.message_bytes).to_string(),
                it.place.way.words().into(),
                cell(it),
            );
        }
        let caption =
            format!("One thread by the size of its messages, {}", place_words(place, who));
        tables.extend(grid.table(caption, "message", Unit::GbPerS));
    }
    tables
}
