//! Whether a machine's memory does what memory of its kind does elsewhere.
//! Units: fractions of the theoretical maximum, ns, ratios.
//! Source: published figures of real servers, `machines/normal.toml`; the envelope of a kind is from the
//! least to the most of them.
//! Holds when: the maximum is that of what is in the sockets and at the speed at which it runs.
//! Fails when: a kind was measured on few servers: a figure beside an envelope of three is a hint and no
//! verdict. A loss that leaves a figure within the envelope is not seen; twins see it (`twins.rs`) where a
//! machine has them.
//! Pinned by: `crates/cli/tests/program/published.rs` (published machines, some with channels taken away).

mod published;

use nearfar_machine::{Machine, MemoryKind, Relation, Relations, TheoreticalMaximum};
use nearfar_record::{Estimate, Header};
use nearfar_units::{BytesPerSecond, Nanoseconds, Ratio};
use serde::Serialize;

pub use self::published::{Envelope, PublishedMachine, ReadShare};
use self::published::{Kind, Quantity};
use crate::chases::{chases, idle_matrix};
use crate::memory_limit::of_a_node;
use crate::pairs::{PlacedCell, pairs};
use crate::record_figures::RecordFigures;

/// Published servers that an envelope needs.
pub const FEWEST_MACHINES: usize = 3;

/// Beside an envelope by less than this, a fraction, is within it: servers of a kind differ by so much.
pub const MARGIN: f64 = 0.03;

/// The same of latencies and of ways between packages: a published server lies 10 % above the latencies of
/// all others of its kind, and one whose board wires fewer links 12 % below their ways.
const WIDE_MARGIN: f64 = 0.15;

/// With half of the threads a memory that is full carries at least this of what it carries with all.
const FULL_BY_HALF: f64 = 0.9;

/// The kernels of which what crosses to the memory is what they ask for.
const KERNELS: [(&str, ReadShare); 3] = [
    ("load", ReadShare::Reads),
    ("triad_nt", ReadShare::TwoReadsOneWrite),
    ("copy_nt", ReadShare::OneReadOneWrite),
];

/// A record's figures beside those of published servers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Normality {
    /// Bandwidth of each memory node by its own threads, by read share.
    pub bandwidth: Vec<HeldBandwidth>,
    /// Idle latency of each memory node from where it is nearest.
    pub latency: Vec<HeldLatency>,
    /// The best of the other package's memory / the best own memory.
    pub other_package: Vec<HeldRatio>,
    /// What is not held against anything, and why.
    pub not_held: Vec<NotHeld>,
}

/// What a node's memory carries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldBandwidth {
    pub memory_node: u32,
    pub read_share: ReadShare,
    #[serde(rename = "gb_per_s")]
    pub rate: Estimate<BytesPerSecond>,
    /// Of its theoretical maximum, a fraction.
    pub share: f64,
    pub envelope: Envelope,
    pub verdict: BandwidthVerdict,
}

/// How a bandwidth compares.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum BandwidthVerdict {
    Normal,
    /// Below what memory of the kind carries elsewhere.
    Low {
        /// Channels, fewer than the maximum counts, with which it would be normal; the likeliest first.
        as_with_channels: Vec<u32>,
        /// Channels that the maximum counts; null where it does not say.
        of_channels: Option<u32>,
        /// Standards, slower than the maximum's, with which it would be normal, the fastest first.
        as_with_modules: Vec<String>,
        /// Whether the cores could be what limits it: half of the threads were not measured.
        cores_may_limit: bool,
    },
    /// Below it, and with half of the threads by this fraction lower still: cores, or their ways to
    /// the memory, limit first, so that what the memory carries is not seen.
    CoresLimit {
        /// With half of the threads / with all.
        half_share: f64,
    },
    /// Above it: the maximum is too low, or caches answered.
    High,
}

/// How long an access takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldLatency {
    pub memory_node: u32,
    pub latency: Estimate<Nanoseconds>,
    pub envelope: Envelope,
    pub verdict: NormalVerdict,
}

/// The other package's memory against own memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldRatio {
    pub of: RatioOf,
    pub ratio: Estimate<Ratio>,
    pub envelope: Envelope,
    pub verdict: NormalVerdict,
}

/// Of what a ratio is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RatioOf {
    /// Reads by all threads of an initiator.
    Reads,
    /// Idle latencies.
    Latency,
}

/// Where a figure lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NormalVerdict {
    Normal,
    Low,
    High,
}

/// What could not be held against an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "not_held", rename_all = "snake_case")]
pub enum NotHeld {
    /// A node's maximum is not known.
    Maximum { why: String },
    /// Too few servers with such memory were published.
    FewPublished { what: NotHeldFigure, of: String, published: usize },
}

/// Which figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotHeldFigure {
    Bandwidth,
    Latency,
    OtherPackage,
}

/// Holds a record against published servers. `maximum` is what a memory node can carry at most, or why it
/// is not known. A simulated machine is not held against what it was made from.
pub fn normality(
    figures: &RecordFigures<'_>,
    maximum: &Result<TheoreticalMaximum, String>,
) -> Normality {
    let holding = Holding::new(figures, maximum);
    let mut found = Normality {
        bandwidth: Vec::new(),
        latency: Vec::new(),
        other_package: Vec::new(),
        not_held: Vec::new(),
    };
    holding.hold_bandwidth(figures, maximum, &mut found);
    holding.hold_latency(figures, &mut found);
    found
}

struct Holding<'a> {
    header: &'a Header,
    machine: &'a Machine,
    relations: Relations<'a>,
    /// `DDR5`; `None` where not known.
    memory: Option<String>,
}

impl<'a> Holding<'a> {
    fn new(figures: &RecordFigures<'a>, maximum: &Result<TheoreticalMaximum, String>) -> Self {
        let header = &figures.record().header;
        let machine = &header.machine;
        let by_modules = || {
            let modules = machine.memory_modules.as_ref()?;
            modules.iter().find_map(|module| module.kind.as_deref().and_then(memory_kind))
        };
        let by_maximum = maximum.as_ref().ok().and_then(|it| memory_kind(&it.name));
        let memory = by_maximum.or_else(by_modules).map(String::from);
        Self { header, machine, relations: Relations::new(machine), memory }
    }

    fn kind<'k>(&'k self, memory: Option<&'k str>) -> Kind<'k> {
        Kind {
            memory,
            // Without the kind of memory a vendor's servers of all years would stand for each other.
            vendor: memory.and_then(|_| vendor(self.header)),
            nodes_per_package: self.nodes_per_package(),
            simulated: self.header.simulation.as_ref().map(|it| it.name.as_str()),
        }
    }

    fn nodes_per_package(&self) -> u32 {
        let with_cpus = self.machine.nodes.iter().filter(|node| !node.cpus.is_empty()).count();
        let each = with_cpus.div_ceil(self.machine.packages.len().max(1));
        u32::try_from(each).unwrap_or(u32::MAX)
    }

    /// The published name of what a node is made of; `Some(None)` for ordinary memory of no known kind.
    fn memory_of(&self, node: u32) -> Option<Option<&str>> {
        match self.machine.memory_kind(node) {
            MemoryKind::Dram | MemoryKind::Unknown => Some(self.memory.as_deref()),
            MemoryKind::Hbm => Some(Some("HBM")),
            MemoryKind::Cxl => Some(Some("CXL")),
            MemoryKind::Nvm | MemoryKind::Gpu => None,
        }
    }

    fn relation(&self, cell: &PlacedCell) -> Option<Relation> {
        self.relations.position(cell.row.initiator, cell.row.cpu_node, cell.memory_node).relation
    }

    fn is_ordinary(&self, node: u32) -> bool {
        self.machine.memory_kind(node).may_be_ordinary()
    }

    fn hold_bandwidth(
        &self,
        figures: &RecordFigures<'_>,
        maximum: &Result<TheoreticalMaximum, String>,
        found: &mut Normality,
    ) {
        let placed = pairs(figures).placed();
        self.hold_other_package(&placed, found);
        let maximum = match maximum.as_ref().map_err(Clone::clone).and_then(of_a_node) {
            Ok(maximum) => maximum,
            Err(why) => return found.not_held.push(NotHeld::Maximum { why }),
        };
        let is_of_maximum = |node: u32| match self.machine.memory_kind(node) {
            MemoryKind::Dram | MemoryKind::Unknown => true,
            MemoryKind::Hbm => self.memory.as_deref() == Some("HBM"),
            MemoryKind::Cxl | MemoryKind::Nvm | MemoryKind::Gpu => false,
        };
        let local: Vec<&PlacedCell> = placed
            .iter()
            .filter(|cell| self.relation(cell) == Some(Relation::Local))
            .filter(|cell| is_of_maximum(cell.memory_node))
            .collect();
        for (kernel, read_share) in KERNELS {
            let of_kernel: Vec<&PlacedCell> =
                local.iter().copied().filter(|cell| cell.kernel == kernel).collect();
            let memory = self.memory.as_deref();
            match self.kind(memory).envelope(Quantity::ShareOfMaximum { read_share }) {
                Ok(envelope) => found.bandwidth.extend(
                    best_of_nodes(&of_kernel).into_iter().filter_map(|best| {
                        held_bandwidth(best, &of_kernel, read_share, maximum, envelope.clone())
                    }),
                ),
                Err(_) if of_kernel.is_empty() => {}
                Err(published) => {
                    let of = memory.unwrap_or("ordinary memory").into();
                    let what = NotHeldFigure::Bandwidth;
                    found.note_few(NotHeld::FewPublished { what, of, published });
                }
            }
        }
    }

    fn hold_latency(&self, figures: &RecordFigures<'_>, found: &mut Normality) {
        let all = chases(figures);
        let matrix = idle_matrix(&all);
        let times =
            || matrix.iter().filter_map(|chase| Some((chase.place.clone(), chase.time.as_ref()?)));
        let least = |it: &Estimate<Nanoseconds>, other: &Estimate<Nanoseconds>| {
            it.value.0.total_cmp(&other.value.0)
        };
        for node in &self.machine.nodes {
            let own = times().filter(|(place, _)| place.memory_node == node.os_index);
            let Some(latency) = own.map(|(_, time)| &time.time).min_by(|a, b| least(a, b)) else {
                continue;
            };
            let Some(memory) = self.memory_of(node.os_index) else { continue };
            match self.kind(memory).envelope(Quantity::Latency) {
                Ok(envelope) => {
                    let [low, high] = latency.ends();
                    let verdict = verdict_of((low.0, high.0), &envelope, WIDE_MARGIN);
                    let latency = latency.clone();
                    let memory_node = node.os_index;
                    found.latency.push(HeldLatency { memory_node, latency, envelope, verdict });
                }
                Err(published) => {
                    let of = memory.unwrap_or("ordinary memory").into();
                    let what = NotHeldFigure::Latency;
                    found.note_few(NotHeld::FewPublished { what, of, published });
                }
            }
        }
        let of = |wanted: Relation| {
            let alike = times().filter(move |(place, _)| {
                let position =
                    self.relations.position(place.initiator, place.cpu_node, place.memory_node);
                position.relation == Some(wanted) && self.is_ordinary(place.memory_node)
            });
            alike.map(|(_, time)| &time.time).min_by(|a, b| least(a, b))
        };
        if let (Some(near), Some(far)) = (of(Relation::Local), of(Relation::OtherPackage)) {
            self.hold_ratio(RatioOf::Latency, ratio(far, near), found);
        }
    }

    fn hold_other_package(&self, placed: &[PlacedCell], found: &mut Normality) {
        let best = |wanted: Relation| {
            let cells = placed.iter().filter(|cell| cell.kernel == "load" && cell.is_peak);
            let alike = cells.filter(|cell| {
                self.relation(cell) == Some(wanted) && self.is_ordinary(cell.memory_node)
            });
            alike.filter_map(rate_of).max_by(|a, b| a.value.0.total_cmp(&b.value.0))
        };
        if let (Some(near), Some(far)) = (best(Relation::Local), best(Relation::OtherPackage)) {
            self.hold_ratio(RatioOf::Reads, ratio(&far, &near), found);
        }
    }

    fn hold_ratio(&self, of: RatioOf, ratio: Estimate<Ratio>, found: &mut Normality) {
        let quantity = match of {
            RatioOf::Reads => Quantity::RemoteReads,
            RatioOf::Latency => Quantity::RemoteLatency,
        };
        match self.kind(None).envelope(quantity) {
            Ok(envelope) => {
                let [low, high] = ratio.ends();
                let verdict = verdict_of((low.0, high.0), &envelope, WIDE_MARGIN);
                found.other_package.push(HeldRatio { of, ratio, envelope, verdict });
            }
            Err(published) => {
                let divided =
                    if self.nodes_per_package() > 1 { "several nodes" } else { "one node" };
                let of = format!("packages of {divided}");
                let what = NotHeldFigure::OtherPackage;
                found.note_few(NotHeld::FewPublished { what, of, published });
            }
        }
    }
}

impl Normality {
    fn note_few(&mut self, few: NotHeld) {
        if !self.not_held.contains(&few) {
            self.not_held.push(few);
        }
    }
}

/// `DDR5` of `DDR5-4800x8`.
fn memory_kind(name: &str) -> Option<&'static str> {
    ["LPDDR5", "DDR4", "DDR5", "MRDIMM", "HBM"].into_iter().find(|kind| name.starts_with(kind))
}

fn vendor(header: &Header) -> Option<&'static str> {
    let names = [
        header.environment.cpu.vendor.as_deref(),
        header.machine.packages.first().and_then(|package| package.model.as_deref()),
    ];
    let is_named = |words: [&str; 3]| {
        names.iter().flatten().any(|name| words.iter().any(|word| name.contains(word)))
    };
    if is_named(["Intel", "Xeon", "GenuineIntel"]) {
        Some("Intel")
    } else if is_named(["AMD", "EPYC", "AuthenticAMD"]) {
        Some("AMD")
    } else {
        None
    }
}

fn rate_of(cell: &PlacedCell) -> Option<Estimate<BytesPerSecond>> {
    let figure = cell.cell.best()?;
    Some(Estimate::of_rounds(&figure.summary.sum, &figure.case))
}

/// Of each node the cell with the most.
fn best_of_nodes<'c>(cells: &[&'c PlacedCell]) -> Vec<&'c PlacedCell> {
    let rate = |cell: &PlacedCell| cell.cell.best().map(|it| it.summary.sum.median);
    let mut best: Vec<&PlacedCell> = Vec::new();
    for &cell in cells.iter().filter(|cell| rate(cell).is_some()) {
        match best.iter_mut().find(|known| known.memory_node == cell.memory_node) {
            Some(known) if rate(known) < rate(cell) => *known = cell,
            Some(_) => {}
            None => best.push(cell),
        }
    }
    best
}

fn held_bandwidth(
    best: &PlacedCell,
    cells: &[&PlacedCell],
    read_share: ReadShare,
    maximum: &TheoreticalMaximum,
    envelope: Envelope,
) -> Option<HeldBandwidth> {
    let rate = rate_of(best)?;
    let [low, high] = rate.ends().map(|end| end.0 / maximum.bytes_per_s);
    let verdict = match verdict_of((low, high), &envelope, MARGIN) {
        NormalVerdict::Normal => BandwidthVerdict::Normal,
        NormalVerdict::High => BandwidthVerdict::High,
        NormalVerdict::Low => {
            let all = cells
                .iter()
                .filter(|cell| cell.row == best.row && cell.memory_node == best.memory_node);
            let most = all.clone().map(|cell| cell.threads).max()?;
            let half = all
                .clone()
                .find(|cell| cell.threads == most.div_ceil(2) && most > 1)
                .and_then(|cell| rate_of(cell))
                .map(|half| half.value.0 / rate.value.0);
            match half {
                Some(half_share) if half_share < FULL_BY_HALF => {
                    BandwidthVerdict::CoresLimit { half_share }
                }
                _ => low_verdict(rate.value.0, maximum, &envelope, half.is_none()),
            }
        }
    };
    let share = rate.value.0 / maximum.bytes_per_s;
    let memory_node = best.memory_node;
    Some(HeldBandwidth { memory_node, read_share, rate, share, envelope, verdict })
}

fn low_verdict(
    rate: f64,
    maximum: &TheoreticalMaximum,
    envelope: &Envelope,
    cores_may_limit: bool,
) -> BandwidthVerdict {
    let would_be = |bytes_per_s: f64| rate / bytes_per_s;
    let is_within = |share: f64| {
        share >= envelope.least * (1.0 - MARGIN) && share <= envelope.most * (1.0 + MARGIN)
    };
    let from_middle = |share: f64| (share / envelope.middle).ln().abs();
    let of_channels = maximum.channels();
    let one = maximum.bytes_per_s / f64::from(of_channels.unwrap_or(1));
    let mut as_with_channels: Vec<u32> = (1..of_channels.unwrap_or(1))
        .filter(|&channels| is_within(would_be(one * f64::from(channels))))
        .collect();
    as_with_channels.sort_by(|&a, &b| {
        let of = |channels: u32| from_middle(would_be(one * f64::from(channels)));
        of(a).total_cmp(&of(b))
    });
    let slower = maximum.slower_speeds().into_iter().rev();
    let as_with_modules = slower
        .filter(|it| is_within(would_be(it.bytes_per_s * f64::from(of_channels.unwrap_or(1)))))
        .map(|it| it.name)
        .collect();
    BandwidthVerdict::Low { as_with_channels, of_channels, as_with_modules, cores_may_limit }
}

fn ratio<U: nearfar_units::Quantity>(of: &Estimate<U>, by: &Estimate<U>) -> Estimate<Ratio> {
    let [[low, high], [by_low, by_high]] = [of.ends(), by.ends()].map(|ends| ends.map(U::in_unit));
    let value = of.value.in_unit() / by.value.in_unit();
    let cases = [&of.cases[..], &by.cases].concat();
    Estimate::computed(value, (low / by_high, high / by_low), cases)
}

/// Where a figure lies whose interval has these ends.
fn verdict_of((low, high): (f64, f64), envelope: &Envelope, margin: f64) -> NormalVerdict {
    if high < envelope.least * (1.0 - margin) {
        NormalVerdict::Low
    } else if low > envelope.most * (1.0 + margin) {
        NormalVerdict::High
    } else {
        NormalVerdict::Normal
    }
}
