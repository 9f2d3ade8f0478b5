//! A program's time in a memory.

use nearfar_record::ProgramParts;

use crate::latency::LatencyLaw;

/// The memory of a pair, as its family of curves has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryLaw<'a> {
    pub law: &'a LatencyLaw,
    /// Capacity / that of the law: where curves end before they bend, runs tell better.
    pub capacity_ratio: f64,
}

/// What others move beside a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Bytes/s that cross to the same memory.
    pub traffic: f64,
    /// The share of reads in them.
    pub read_share: f64,
}

impl Beside {
    pub const NOTHING: Self = Self { traffic: 0.0, read_share: 1.0 };
}

/// A program's time and what it does to the memory meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolvedProgram {
    pub seconds: f64,
    /// What crosses for one copy.
    pub bytes: f64,
    /// Bytes/s that cross, of all copies of the program and of others.
    pub traffic: f64,
    /// The share of reads in them.
    pub read_share: f64,
    /// Time of an access, seconds.
    pub access_seconds: f64,
    /// Time in which the program's bytes cross what is left to it, seconds.
    pub transfer_seconds: f64,
}

impl MemoryLaw<'_> {
    /// The nearest read share that was measured.
    fn known(&self, read_share: f64) -> f64 {
        let ends = self.law.shares.first().zip(self.law.shares.last());
        ends.map_or(read_share, |(first, last)| read_share.clamp(first.read_share, last.read_share))
    }

    /// Where accesses would wait without end, bytes/s.
    pub fn capacity(&self, read_share: f64) -> Option<f64> {
        Some(self.law.capacity(self.known(read_share))? * self.capacity_ratio)
    }

    /// Time of an access beside traffic, seconds; `None` from the capacity on.
    pub fn access_seconds(&self, read_share: f64, traffic: f64) -> Option<f64> {
        let ns = self.law.time_ns(self.known(read_share), traffic / self.capacity_ratio)?;
        Some(ns * 1e-9)
    }
}

/// The times of a program that takes `seconds`, and how long it then would take.
fn step(
    parts: &ProgramParts,
    memory: &MemoryLaw<'_>,
    beside: Beside,
    (copies, seconds): (f64, f64),
) -> Option<SolvedProgram> {
    let others = (copies - 1.0) * parts.bytes / seconds * parts.read_share;
    let (exposed_lines, bytes) = fetched(parts, beside.traffic * beside.read_share + others);
    let own = copies * bytes / seconds;
    let traffic = beside.traffic + own;
    let reads = beside.traffic * beside.read_share + own * parts.read_share;
    let read_share = if traffic > 0.0 { reads / traffic } else { 1.0 };
    let left = memory.capacity(read_share)? - beside.traffic - own * (copies - 1.0) / copies;
    let access_seconds = memory.access_seconds(read_share, traffic).filter(|_| left > 0.0)?;
    let transfer_seconds = bytes / left;
    let waiting = exposed_lines * access_seconds;
    // Alone no other core is busy.
    let busy_ratio = match parts.busy_ratio {
        Some(ratio) if copies > 1.0 || beside.traffic > 0.0 => ratio,
        _ => 1.0,
    };
    let untransferred = smooth_sum(parts.core_seconds, waiting, parts.overlap);
    let seconds = busy_ratio * smooth_sum(untransferred, transfer_seconds, LIMIT_SHARPNESS);
    Some(SolvedProgram { seconds, bytes, traffic, read_share, access_seconds, transfer_seconds })
}

/// Lines that a program waits for and bytes that cross for it beside others' reads, bytes/s: what these take of
/// a shared cache comes on top, with as many lines under way at a time as its others.
fn fetched(parts: &ProgramParts, reads: f64) -> (f64, f64) {
    let lost = parts
        .kept
        .map_or(0.0, |kept| kept.exposed_lines * -(-(reads / kept.lost_beside).powi(2)).exp_m1());
    (
        parts.exposed_lines + lost,
        parts.bytes + lost * LINE * lines_under_way(parts).min(MOST_UNDER_WAY),
    )
}

/// Bytes of a line.
pub(super) const LINE: f64 = 64.0;

/// Lines that a core has under way at most, where a program waits for next to none.
const MOST_UNDER_WAY: f64 = 64.0;

/// Lines fetched / those waited for one after the other.
pub(super) fn lines_under_way(parts: &ProgramParts) -> f64 {
    parts.bytes * parts.read_share / LINE / parts.exposed_lines.max(f64::MIN_POSITIVE)
}

/// How sharply bandwidth takes over from what else the time is made of: phases that are bound by it and
/// phases that are not follow each other. Chosen by simulated programs: below 3 the fit takes waiting for
/// bandwidth, above it bandwidth for waiting (docs/models/programs.md, How near it comes).
const LIMIT_SHARPNESS: f64 = 3.0;

/// (a^q + b^q)^(1/q), the larger of both for a large q.
fn smooth_sum(one: f64, other: f64, exponent: f64) -> f64 {
    let most = one.max(other);
    if most <= 0.0 {
        return 0.0;
    }
    most * ((one / most).powf(exponent) + (other / most).powf(exponent)).powf(1.0 / exponent)
}

/// Halvings of the interval of ln(seconds): far below what runs tell.
const HALVINGS: u32 = 34;

/// The time of each of so many copies of a program beside others; `None` where others alone fill the
/// memory.
pub fn solve(
    parts: &ProgramParts,
    memory: &MemoryLaw<'_>,
    beside: Beside,
    copies: u32,
) -> Option<SolvedProgram> {
    let copies = f64::from(copies.max(1));
    let at = |seconds: f64| step(parts, memory, beside, (copies, seconds));
    // Its own traffic vanishes where it takes forever: no time is shorter than this one.
    let least = at(f64::MAX.sqrt())?.seconds;
    let is_longer = |seconds: f64| at(seconds).is_none_or(|next| next.seconds > seconds);
    let (mut low, mut high) = (least.ln(), least.ln() + 0.1);
    while is_longer(high.exp()) {
        (low, high) = (high, high + 2.0 * (high - low));
        if high - least.ln() > 60.0 {
            return None;
        }
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match is_longer(middle.exp()) {
            true => low = middle,
            false => high = middle,
        }
    }
    at(high.exp())
}
