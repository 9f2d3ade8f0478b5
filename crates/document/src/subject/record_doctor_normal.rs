//! Whether a machine's memory does what memory of its kind does elsewhere, in words.

use std::mem::discriminant;

use nearfar_machine::{NodeSet, TheoreticalMaximum};
use nearfar_model::{
    BandwidthVerdict, Envelope, HeldBandwidth, HeldLatency, HeldRatio, NormalVerdict, Normality,
    NotHeld, RatioOf, ReadShare,
};
use nearfar_record::{Check, Standing};
use nearfar_units::format_significant;

use super::figures::count;
use crate::grid::groups;

fn check(standing: Standing, finding: String, remedy: Option<String>) -> Check {
    Check { check: "normal".into(), standing, finding, remedy }
}

/// What is out of the ordinary, each by itself, then in one what is not, then what is not known.
pub(crate) fn normal_checks(
    of: &Normality,
    maximum: &Result<TheoreticalMaximum, String>,
) -> Vec<Check> {
    let name = maximum.as_ref().map_or("", |maximum| maximum.name.as_str());
    let mut checks = Vec::new();
    // Memory that is slow is slow with writes too, which JSON tells.
    let is_told = |it: &&HeldBandwidth| {
        it.read_share == ReadShare::Reads
            || !matches!(reads_of(of, it.memory_node), Some(BandwidthVerdict::Low { .. }))
    };
    let alike = groups(of.bandwidth.iter().filter(is_told), |it| {
        let has_normal_reads = it.read_share != ReadShare::Reads
            && reads_of(of, it.memory_node) == Some(&BandwidthVerdict::Normal);
        let verdict = discriminant(&it.verdict);
        (it.read_share, has_normal_reads, verdict, explanation(&it.verdict))
    });
    checks.extend(alike.iter().filter_map(|((_, has_normal_reads, ..), nodes)| {
        odd_bandwidth(nodes, name, *has_normal_reads)
    }));
    let alike = groups(&of.latency, |it| (it.verdict, it.envelope.of.as_str()));
    checks.extend(alike.iter().filter_map(|(_, nodes)| odd_latency(nodes)));
    checks.extend(of.other_package.iter().filter_map(odd_ratio));
    checks.extend(ordinary(of, name));
    checks.extend(of.not_held.iter().filter_map(not_held));
    checks
}

/// What became of a node's reads.
fn reads_of(of: &Normality, node: u32) -> Option<&BandwidthVerdict> {
    let reads =
        of.bandwidth.iter().find(|it| it.memory_node == node && it.read_share == ReadShare::Reads);
    reads.map(|it| &it.verdict)
}

/// `memory node 1`, `memory nodes 0-3`.
fn node_words(nodes: impl Iterator<Item = u32>) -> String {
    let nodes: NodeSet = nodes.collect();
    let noun = if nodes.len() == 1 { "node" } else { "nodes" };
    format!("memory {noun} {nodes}")
}

fn odd_bandwidth(nodes: &[&HeldBandwidth], maximum: &str, has_normal_reads: bool) -> Option<Check> {
    let it = nodes.first()?;
    let rates = span(nodes.iter().map(|it| it.rate.value.0 / 1e9), |it| format_significant(it, 3));
    let reached = format!(
        "{}: {rates} GB/s of {} reach {} of {maximum}; {}",
        node_words(nodes.iter().map(|it| it.memory_node)),
        traffic(it.read_share),
        span(nodes.iter().map(|it| it.share), share),
        elsewhere(&it.envelope, share)
    );
    match &it.verdict {
        BandwidthVerdict::Normal => None,
        BandwidthVerdict::Low { .. } if has_normal_reads => Some(check(
            Standing::Warning,
            format!("low with writes alone: {reached}; its reads are as elsewhere"),
            Some(
                "look at what writes cost more (firmware: mirroring, sparing, directories)".into(),
            ),
        )),
        BandwidthVerdict::Low { cores_may_limit, .. } => {
            let standing = if *cores_may_limit { Standing::Warning } else { Standing::Failed };
            let remedy = "look for missing or slow memory modules (`nearfar topo` as root, the \
                          firmware's log), and whether --gamma is what is in the sockets";
            let words = format!("low: {reached}{}", explanation(&it.verdict));
            Some(check(standing, words, Some(remedy.into())))
        }
        BandwidthVerdict::CoresLimit { half_share } => Some(check(
            Standing::Unknown,
            format!(
                "what the memory carries cannot be seen: the cores, or their ways to it, limit first: half \
                 of the threads move {} of what all do; {reached}",
                share(*half_share)
            ),
            None,
        )),
        // What is above its maximum is told of all cells together (`limit_check`).
        BandwidthVerdict::High if it.share > 1.0 => None,
        BandwidthVerdict::High => Some(check(
            Standing::Warning,
            format!("high: {reached}"),
            Some("check --gamma, and that working sets are larger than the caches".into()),
        )),
    }
}

/// What would explain a low figure; empty for others.
fn explanation(verdict: &BandwidthVerdict) -> String {
    let BandwidthVerdict::Low { as_with_channels, of_channels, as_with_modules, cores_may_limit } =
        verdict
    else {
        return String::new();
    };
    let channels = channel_words(as_with_channels, *of_channels);
    let either: Vec<String> = channels.into_iter().chain(module_words(as_with_modules)).collect();
    let why = match either.as_slice() {
        [] => String::new(),
        some => format!(": as with {}", some.join(", or with ")),
    };
    let cores = if *cores_may_limit {
        "; half of the threads were not measured, so that its cores may be what limits it (--suite standard \
         measures them)"
    } else {
        ""
    };
    why + cores
}

/// `6 of 8 channels (7 would do as well)`.
fn channel_words(channels: &[u32], of: Option<u32>) -> Option<String> {
    let (first, others) = channels.split_first()?;
    let of = of.map_or_else(String::new, |of| format!(" of {of}"));
    let noun = if of.is_empty() && *first == 1 { "channel" } else { "channels" };
    let others: Vec<String> = others.iter().map(u32::to_string).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        some => format!(" ({} would do as well)", some.join(", ")),
    };
    Some(format!("{first}{of} {noun}{others}"))
}

fn module_words(modules: &[String]) -> Option<String> {
    Some(match modules {
        [] => return None,
        [one] => format!("modules that run as {one}"),
        [first, .., last] => format!("modules that run as {last} to {first}"),
    })
}

/// What is faster than elsewhere is no fault.
fn odd_latency(nodes: &[&HeldLatency]) -> Option<Check> {
    let it = nodes.first().filter(|it| it.verdict == NormalVerdict::High)?;
    let remedy = "look for memory that runs slower than it could, power saving of the uncore, and without \
                  huge pages for what translation adds (`nearfar model RECORD latency`)";
    let ns = |ns: f64| format_significant(ns, 3);
    let words = format!(
        "high: an access to {} takes {} ns; {}",
        node_words(nodes.iter().map(|it| it.memory_node)),
        span(nodes.iter().map(|it| it.latency.value.0), ns),
        elsewhere(&it.envelope, |value| format!("{} ns", ns(value)))
    );
    Some(check(Standing::Warning, words, Some(remedy.into())))
}

fn odd_ratio(it: &HeldRatio) -> Option<Check> {
    let what = ratio_words(it.of);
    let finding = |word: &str| {
        let envelope = elsewhere(&it.envelope, share);
        format!("{word}: {what} {} of own memory; {envelope}", share(it.ratio.value.0))
    };
    let link = "look for a link between packages that is down, has fewer lanes or runs at a lower rate \
                (firmware's log and settings)";
    match (it.of, it.verdict) {
        (RatioOf::Reads, NormalVerdict::Low) => {
            Some(check(Standing::Failed, finding("low"), Some(link.into())))
        }
        (RatioOf::Latency, NormalVerdict::High) => {
            Some(check(Standing::Warning, finding("high"), Some(link.into())))
        }
        _ => None,
    }
}

fn ratio_words(of: RatioOf) -> &'static str {
    match of {
        RatioOf::Reads => "reads of the other package's memory reach",
        RatioOf::Latency => "an access to the other package's memory takes",
    }
}

/// All that is as elsewhere.
fn ordinary(of: &Normality, maximum: &str) -> Option<Check> {
    let mut clauses = Vec::new();
    let reads: Vec<&HeldBandwidth> = of
        .bandwidth
        .iter()
        .filter(|it| it.read_share == ReadShare::Reads && it.verdict == BandwidthVerdict::Normal)
        .collect();
    if let Some(first) = reads.first() {
        let shares = span(reads.iter().map(|it| it.share), share);
        let envelope = elsewhere(&first.envelope, share);
        clauses.push(format!("reads reach {shares} of {maximum} ({envelope})"));
    }
    let normal = of.latency.iter().filter(|it| it.verdict == NormalVerdict::Normal);
    for (_, nodes) in groups(normal, |it| it.envelope.of.as_str()) {
        let ns = |value: f64| format_significant(value, 3);
        let times = span(nodes.iter().map(|it| it.latency.value.0), ns);
        let envelope = elsewhere(&nodes[0].envelope, ns);
        clauses.push(format!("an access takes {times} ns ({envelope})"));
    }
    for it in of.other_package.iter().filter(|it| it.verdict == NormalVerdict::Normal) {
        let envelope = elsewhere(&it.envelope, share);
        clauses.push(format!(
            "{} {} of own memory ({envelope})",
            ratio_words(it.of),
            share(it.ratio.value.0)
        ));
    }
    (!clauses.is_empty())
        .then(|| check(Standing::Fine, format!("as published: {}", clauses.join("; ")), None))
}

/// That too few servers were published is for nobody to mend; JSON has it.
fn not_held(it: &NotHeld) -> Option<Check> {
    let NotHeld::Maximum { why } = it else { return None };
    Some(check(
        Standing::Unknown,
        format!("how much of its theoretical maximum the memory reaches is not known: {why}"),
        Some("give what a memory node has with --gamma, for example DDR5-4800x8".into()),
    ))
}

fn traffic(of: ReadShare) -> &'static str {
    match of {
        ReadShare::Reads => "reads",
        ReadShare::TwoReadsOneWrite => "two reads and a write",
        ReadShare::OneReadOneWrite => "a read and a write",
    }
}

fn share(value: f64) -> String {
    format_significant(value, 2)
}

/// `DDR5 of Intel elsewhere 0.76 to 0.87 (6 servers)`.
fn elsewhere(envelope: &Envelope, words: impl Fn(f64) -> String) -> String {
    format!(
        "{} elsewhere {} to {}, {}",
        envelope.of,
        words(envelope.least),
        words(envelope.most),
        count(envelope.machines.len(), "server")
    )
}

fn span(values: impl Iterator<Item = f64>, words: impl Fn(f64) -> String) -> String {
    let (low, high) = values
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), it| (low.min(it), high.max(it)));
    let (low, high) = (words(low), words(high));
    if low == high { low } else { format!("{low} to {high}") }
}
