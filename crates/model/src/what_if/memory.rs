//! Other channels, other speeds, another link: what limits carries a factor more or less.

use nearfar_machine::{Relation, Scope, TheoreticalMaximum};
use nearfar_record::{Estimate, Outcome};
use nearfar_units::{BytesPerSecond, Nanoseconds};

use super::seen::{KERNEL, Seen, SeenPair};
use super::{
    BandwidthOf, Because, Change, ChangedBandwidth, ChangedLatency, LatencyOf, Then, WhatIf,
};
use crate::inapplicable::Inapplicable;

/// With half of the threads a memory that is full carries at least this of what it carries with all.
const FULL_BY_HALF: f64 = 0.9;

/// A part that has this much room beside what passes is not noticed (soft saturation).
const ROOM: f64 = 0.97;

/// Measured memories carry at most this of their theoretical maximum (`machines/normal.toml`).
const MOST_SHARE: f64 = 0.9;

/// An answer whose ends lie further apart than this is none.
const WIDEST: f64 = 1.25;

/// What is computed by hard limits is sure to this, a fraction.
pub(super) const SURE: f64 = 0.05;

/// Bytes of a line.
const LINE: f64 = 64.0;

type Answer = Outcome<Then<BytesPerSecond>>;

fn unknown(why: impl Into<String>) -> Answer {
    Outcome::Unknown { unknown: why.into() }
}

fn then(value: f64, ends: (f64, f64), now: &Estimate<BytesPerSecond>, because: Because) -> Answer {
    let figure = Estimate::computed(value, ends, now.cases.clone());
    Outcome::Found(Then { figure, because })
}

/// Of more or fewer channels, faster or slower ones.
pub(super) fn changed(
    seen: &Seen<'_>,
    change: &Change,
    maximum: &Result<TheoreticalMaximum, String>,
) -> Result<WhatIf, Inapplicable> {
    let give = "give what a memory node has by --gamma, for example DDR5-4800x8";
    let maximum = maximum.as_ref().map_err(|why| {
        Inapplicable::here(format!("what the memory is now is not known: {why}; {give}"))
    })?;
    let channels = maximum.channels().filter(|_| maximum.scope == Scope::Node);
    let Some(channels) = channels else {
        let why =
            format!("{} does not say how many channels a memory node has; {give}", maximum.name);
        return Err(Inapplicable::here(why));
    };
    let one = maximum.bytes_per_s / f64::from(channels);
    let (factor, line_now, line_then) = match change {
        Change::Channels(count) => (f64::from(*count) / f64::from(channels), one, one),
        Change::Modules(channel) => (channel.bytes_per_s / one, one, channel.bytes_per_s),
        Change::NodesPerPackage(_) | Change::CxlLink(_) => (1.0, one, one),
    };
    if (factor - 1.0).abs() < 1e-9 {
        return Err(Inapplicable::here(format!("a memory node has {} already", maximum.name)));
    }
    let mut bandwidth = Vec::new();
    if let Some(own) = seen.middle(Relation::Local) {
        let then = scaled(own, seen, factor, maximum.bytes_per_s);
        bandwidth.push(ChangedBandwidth {
            of: BandwidthOf::OwnNode,
            now: Some(own.rate.clone()),
            then,
        });
    }
    if let Some(other) = seen.middle(Relation::OtherPackage) {
        let then = scaled_behind_link(other, seen, factor, maximum.bytes_per_s);
        bandwidth.push(ChangedBandwidth {
            of: BandwidthOf::OtherPackage,
            now: Some(other.rate.clone()),
            then,
        });
    }
    // What one line takes on its channel.
    let shift = (LINE / line_then - LINE / line_now) * 1e9;
    let latency =
        [(LatencyOf::Own, Relation::Local), (LatencyOf::OtherPackage, Relation::OtherPackage)]
            .into_iter()
            .filter_map(|(of, relation)| {
                let now = seen.middle_latency(relation)?.time.clone();
                let figure = shifted(&now, shift);
                let because =
                    if shift == 0.0 { Because::Untouched } else { Because::TransferOfALine };
                Some(ChangedLatency {
                    of,
                    now: Some(now),
                    then: Outcome::Found(Then { figure, because }),
                })
            })
            .collect();
    let from = maximum.name.clone();
    Ok(WhatIf { change: change.clone(), from, kernel: KERNEL.into(), bandwidth, latency })
}

/// A latency so much longer, ns, sure to what it was before.
fn shifted(now: &Estimate<Nanoseconds>, shift: f64) -> Estimate<Nanoseconds> {
    let [low, high] = now.ends();
    let ends = (low.0 + shift.min(0.0), high.0 + shift.max(0.0));
    Estimate::computed(now.value.0 + shift, ends, now.cases.clone())
}

/// Whether memory is what limits a pair: with half of its threads it moves nearly as much.
fn fills(pair: &SeenPair) -> Option<bool> {
    pair.half_share.map(|share| share >= FULL_BY_HALF)
}

/// A node by its own threads, when its memory carries a factor of what it does.
fn scaled(pair: &SeenPair, seen: &Seen<'_>, factor: f64, maximum: f64) -> Answer {
    let now = pair.rate.value.0;
    let most = seen.most_of_node.get(&pair.node).copied().unwrap_or(now).max(now);
    let Some((half_share, fills)) = pair.half_share.zip(fills(pair)) else {
        return unknown(
            "half of the threads were not measured, so that it is not known whether the cores limit first \
             (--suite standard measures them)",
        );
    };
    match (fills, factor < 1.0) {
        (true, true) => {
            let value = (factor * most).min(now);
            let because = if value < now { Because::MemoryLimits } else { Because::CoresLimit };
            then(
                value,
                (value * (1.0 - SURE), (value * (1.0 + SURE)).min(now)),
                &pair.rate,
                because,
            )
        }
        (true, false) => {
            let value = factor * now;
            // What the cores could take beyond that was not seen.
            then(value, (now, value * (1.0 + SURE)), &pair.rate, Because::CoresUnknown)
        }
        (false, false) => {
            // Cores alone would carry twice what half of them do: what is missing the memory took.
            let cores = 2.0 * half_share;
            if cores <= 1.0 + 2.0 * SURE {
                let high = now * factor.min(cores).max(1.0 + SURE);
                return then(now, (now, high), &pair.rate, Because::CoresLimit);
            }
            let most = factor.min(cores);
            let value = now * f64::midpoint(1.0, most);
            then(value, (now, now * most * (1.0 + SURE)), &pair.rate, Because::CoresUnknown)
        }
        (false, true) => {
            let low = (factor * most).min(now);
            let high = (factor * MOST_SHARE * maximum).min(now).max(low);
            if low >= ROOM * now {
                return then(now, (low, now), &pair.rate, Because::CoresLimit);
            }
            if high > WIDEST * low {
                return unknown(format!(
                    "the cores limit it now, and how much more the memory carries was not seen: between {} \
                     and {} would be left",
                    BytesPerSecond(low),
                    BytesPerSecond(high)
                ));
            }
            then((low * high).sqrt(), (low, high), &pair.rate, Because::MemoryThenLimits)
        }
    }
}

/// A node of the other package, when its memory carries a factor of what it does.
fn scaled_behind_link(pair: &SeenPair, seen: &Seen<'_>, factor: f64, maximum: f64) -> Answer {
    let now = pair.rate.value.0;
    let most = seen.most_of_node.get(&pair.node).copied().unwrap_or(now).max(now);
    // As much as anybody gets of that node: its memory may be the limit.
    if now > FULL_BY_HALF * most {
        return scaled(pair, seen, factor, maximum);
    }
    let left = factor * most;
    if factor >= 1.0 || left * ROOM >= now {
        return then(
            now,
            (now * (1.0 - SURE), now * (1.0 + SURE)),
            &pair.rate,
            Because::LinkLimits,
        );
    }
    let own =
        seen.pairs.iter().find(|it| it.node == pair.node && it.relation == Some(Relation::Local));
    if own.and_then(fills) == Some(true) {
        let value = left.min(now);
        let because = Because::MemoryThenLimits;
        return then(value, (value * (1.0 - SURE), now), &pair.rate, because);
    }
    unknown("what the memory behind the link carries was not seen: its own cores limit first")
}

/// Of another link to CXL memory.
pub(super) fn changed_link(
    seen: &Seen<'_>,
    change: &Change,
    to: &TheoreticalMaximum,
    link: Option<&TheoreticalMaximum>,
) -> Result<WhatIf, Inapplicable> {
    let Some(pair) = seen.cxl() else {
        return Err(Inapplicable::here("the record holds no figures of CXL memory"));
    };
    let Some(link) = link else {
        return Err(Inapplicable::here(
            "what the link to the CXL memory carries now is not known; give it by --phi, for example \
             --phi 'PCIe 5.0 x8'",
        ));
    };
    let now = pair.rate.value.0;
    let factor = to.bytes_per_s / link.bytes_per_s;
    let share = now / link.bytes_per_s;
    if share > 1.0 {
        return Err(Inapplicable::here(format!(
            "reads of the CXL memory move {}, more than {} carries each way: give by --phi what all its links carry",
            pair.rate.value,
            link.label()
        )));
    }
    let answer = if factor < 1.0 {
        // Behind the narrower link no more than its share of the wider one, where that was the limit.
        let high = now.min(to.bytes_per_s * MOST_SHARE);
        let low = factor * now;
        if share >= LINK_FULL {
            then(low, (low, high), &pair.rate, Because::CxlLinkLimits)
        } else if high >= ROOM * now {
            then(now, (low.max(now * (1.0 - SURE)), now), &pair.rate, Because::LinkOrDevice)
        } else {
            then(high, (low, high), &pair.rate, Because::CxlLinkLimits)
        }
    } else if share < LINK_FULL {
        then(now, (now, now * (1.0 + SURE)), &pair.rate, Because::LinkOrDevice)
    } else {
        let (low, high) = (now, factor * now);
        if high > WIDEST * low {
            unknown(format!(
                "the link is full now, and what the device carries behind it was not seen: between {} and {}",
                BytesPerSecond(low),
                BytesPerSecond(high)
            ))
        } else {
            then((low * high).sqrt(), (low, high), &pair.rate, Because::CxlLinkLimits)
        }
    };
    let bandwidth =
        vec![ChangedBandwidth { of: BandwidthOf::Cxl, now: Some(pair.rate.clone()), then: answer }];
    let latency = seen.cxl_latency().map(|it| {
        let shift = (LINE / to.bytes_per_s - LINE / link.bytes_per_s) * 1e9;
        let figure = shifted(&it.time, shift);
        let because = Because::TransferOfALine;
        ChangedLatency {
            of: LatencyOf::Cxl,
            now: Some(it.time.clone()),
            then: Outcome::Found(Then { figure, because }),
        }
    });
    Ok(WhatIf {
        change: change.clone(),
        from: link.label(),
        kernel: KERNEL.into(),
        bandwidth,
        latency: latency.into_iter().collect(),
    })
}

/// Reads reach this share of a link that limits them: published CXL devices 0.56 to 0.82.
const LINK_FULL: f64 = 0.7;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use nearfar_machine::{Machine, MemoryKind};
    use nearfar_record::Estimate;

    use super::*;

    const GB: f64 = 1e9;

    fn pair(node: u32, relation: Relation, rate: f64, half_share: Option<f64>) -> SeenPair {
        let rate = Estimate::computed(rate * GB, (rate * GB, rate * GB), Vec::new());
        SeenPair { node, kind: MemoryKind::Dram, relation: Some(relation), rate, half_share }
    }

    /// One node of which its own threads read so much, with half of them such a share of it.
    fn own(machine: &Machine, rate: f64, half_share: Option<f64>) -> Seen<'_> {
        let pairs = vec![pair(0, Relation::Local, rate, half_share)];
        let most_of_node = BTreeMap::from([(0, rate * GB)]);
        Seen { machine, pairs, latencies: Vec::new(), most_of_node }
    }

    /// Value, ends and reason, GB/s.
    fn told(answer: &Answer) -> Option<(f64, [f64; 2], Because)> {
        let then = answer.found()?;
        Some((then.figure.value.0 / GB, then.figure.ends().map(|end| end.0 / GB), then.because))
    }

    #[test]
    fn full_memory_follows_its_channels_and_cores_that_limit_stay() {
        let machine = nearfar_specimen::empty_machine();
        let full = own(&machine, 200.0, Some(0.97));
        let half =
            |seen: &Seen<'_>, maximum: f64| told(&scaled(&seen.pairs[0], seen, 0.5, maximum * GB));
        let (value, [low, high], because) = half(&full, 240.0).unwrap();
        assert_eq!((value, because), (100.0, Because::MemoryLimits));
        assert!(low < 100.0 && 100.0 < high && high < 120.0);
        let twice = told(&scaled(&full.pairs[0], &full, 2.0, 240.0 * GB)).unwrap();
        assert_eq!((twice.0, twice.1[0], twice.2), (400.0, 200.0, Because::CoresUnknown));
        let by_cores = own(&machine, 80.0, Some(0.55));
        let more = told(&scaled(&by_cores.pairs[0], &by_cores, 2.0, 240.0 * GB)).unwrap();
        assert_eq!((more.0, more.2), (80.0, Because::CoresLimit));
        // Half of the cores move 0.6 of what all do: those could move 1.2 times that.
        let by_both = own(&machine, 80.0, Some(0.6));
        let more = told(&scaled(&by_both.pairs[0], &by_both, 2.0, 240.0 * GB)).unwrap();
        assert_eq!((more.0, more.1[0], more.2), (88.0, 80.0, Because::CoresUnknown));
        assert!((more.1[1] - 96.0 * 1.05).abs() < 1e-9, "{more:?}");
        // A little more memory is not enough to call them the limit.
        let nearly = own(&machine, 80.0, Some(0.85));
        let more = told(&scaled(&nearly.pairs[0], &nearly, 1.08, 240.0 * GB)).unwrap();
        assert_eq!(more.2, Because::CoresUnknown);
        assert!((more.0 - 80.0 * 1.04).abs() < 1e-9, "{more:?}");
        // Between 40 and 80 GB/s would be left.
        assert!(half(&by_cores, 240.0).is_none());
        let unknown = own(&machine, 80.0, None);
        assert!(half(&unknown, 240.0).is_none());
    }

    #[test]
    fn what_the_link_limits_stays_until_the_memory_behind_it_carries_less() {
        let machine = nearfar_specimen::empty_machine();
        let mut seen = own(&machine, 200.0, Some(0.97));
        seen.pairs.push(pair(0, Relation::OtherPackage, 90.0, Some(1.0)));
        let far = |factor: f64| {
            told(&scaled_behind_link(&seen.pairs[1], &seen, factor, 240.0 * GB)).unwrap()
        };
        assert_eq!((far(0.75).0, far(0.75).2), (90.0, Because::LinkLimits));
        assert_eq!((far(0.25).0, far(0.25).2), (50.0, Because::MemoryThenLimits));
    }
}
