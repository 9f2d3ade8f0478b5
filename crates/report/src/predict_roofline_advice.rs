//! What the place of a program below the roofs says, in sentences that a user can act on.

use nearfar_model::{BandwidthRoof, Chart, HybridRoof, Placement, Standing};
use nearfar_record::Roof;
use nearfar_units::format_significant;

use crate::figures::significant;
use crate::roofline_place::RoofPlaceView;

/// A program on a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub chart: &'a Chart,
    pub placed: &'a Placement<'a>,
    pub hybrid_roofs: &'a [HybridRoof],
}

/// The sentences; one at least.
pub(crate) fn advice(place: &Place<'_>) -> Vec<String> {
    let mut sentences = match &place.placed.standing {
        None => place.prospects(),
        Some(Standing::AtRoofs(near)) => place.at_roofs(near),
        Some(Standing::AtCeiling) => vec![format!(
            "It is at the ceiling of {}: arithmetic limits it. Wider vectors, fused operations and \
             fewer of them help; where its pages lie does not matter.",
            place.ceiling()
        )],
        Some(Standing::AboveAll) => vec![
            "It lies above every roof: they do not hold for it. Count the bytes that its cores \
             request (not those that leave a cache) and the threads of one cluster only, and \
             compare with a record of the same clocks."
                .into(),
        ],
        Some(Standing::Between { above, below }) => vec![place.between(*above, *below)],
        Some(Standing::BelowAll) => vec![
            "It lies below every roof: no bandwidth limits it. Look for dependent loads (latency), \
             scalar code, few threads or uneven work; another placement of its pages helps only \
             where latency does."
                .into(),
        ],
    };
    sentences.extend(place.hybrid_roofs.iter().map(|roof| place.over_two(roof)));
    sentences
}

fn name(roof: &BandwidthRoof) -> String {
    RoofPlaceView::new(roof.roof, roof.is_local).name
}

fn gflop(flops: f64) -> String {
    format!("{} GFLOP/s", format_significant(flops / 1e9, 3))
}

fn percent(fraction: f64) -> String {
    format!("{:.0} %", fraction * 100.0)
}

impl Place<'_> {
    fn ceiling(&self) -> String {
        self.placed.ceiling.map_or_else(|| "unknown height".into(), gflop)
    }

    /// What a program attains at most by where its pages are, where nobody said what it reaches.
    fn prospects(&self) -> Vec<String> {
        let of_memory = self.placed.roofs.iter().filter(|under| {
            under.roof.kernel == "load" && !matches!(under.roof.roof, Roof::Cache { .. })
        });
        let mut of_memory: Vec<_> = of_memory.collect();
        of_memory.sort_by(|one, other| other.attainable.total_cmp(&one.attainable));
        let (Some(best), Some(worst)) = (of_memory.first(), of_memory.last()) else {
            return vec!["No roof of memory was measured here.".into()];
        };
        let factor = best.attainable / worst.attainable;
        let mut sentence = if of_memory.len() > 1 {
            format!(
                "By its loads from memory it attains {} ({}) at most and {} ({}) in the worst place, \
                 a factor of {}.",
                gflop(best.attainable),
                name(best.roof),
                gflop(worst.attainable),
                name(worst.roof),
                format_significant(factor, 3)
            )
        } else {
            format!(
                "By its loads from memory it attains {} ({}) at most.",
                gflop(best.attainable),
                name(best.roof)
            )
        };
        if of_memory.iter().all(|under| !under.is_memory_bound) {
            sentence += " No memory limits it, its arithmetic does: where its pages lie does not \
                         matter.";
        } else {
            sentence += " Give what it reaches too (--point INTENSITY,GFLOP/s) to see what limits \
                         it.";
        }
        vec![sentence]
    }

    fn between(&self, above: Option<usize>, below: usize) -> String {
        let named = |position: usize| {
            let under = self.placed.roofs.get(position);
            under.map_or_else(String::new, |under| {
                format!("{} ({})", name(under.roof), gflop(under.attainable))
            })
        };
        let above = above.map_or_else(|| format!("the ceiling ({})", self.ceiling()), named);
        format!(
            "It lies between {} and {above}, at no roof. If its pages lie where the lower roof is, \
             caches answer a part of its loads; else no bandwidth limits it: look for dependent \
             loads, scalar code, few threads or uneven work before moving pages.",
            named(below)
        )
    }

    fn at_roofs(&self, near: &[usize]) -> Vec<String> {
        let mut sentences = Vec::new();
        if near.len() > 1 {
            sentences.push(format!(
                "It is at {} roofs at once; which of them limits depends on where its pages are and \
                 on what else runs.",
                near.len()
            ));
        }
        sentences.extend(near.iter().filter_map(|&position| self.at_roof(position)));
        sentences
    }

    fn at_roof(&self, position: usize) -> Option<String> {
        let under = self.placed.roofs.get(position)?;
        let ratio = under.ratio?;
        let at = format!("{} of what {} allows", percent(ratio), name(under.roof));
        let gain = self.placed.gain(self.chart, position).and_then(|(to, gain)| {
            let to = self.placed.roofs.get(to)?;
            Some((to, format!("expect up to {} (+{})", gflop(to.attainable), percent(gain))))
        });
        let own = |to: &BandwidthRoof| match to.roof {
            Roof::Memory { node } | Roof::AllLocal { node } => format!("node {node}"),
            _ => name(to),
        };
        Some(match (under.roof.roof, gain) {
            (Roof::Cache { .. }, _) => format!(
                "At {at}: that cache feeds it. Do more with what it loads (registers, blocks of an \
                 inner cache); where its pages lie does not matter."
            ),
            (Roof::Memory { .. } | Roof::AllLocal { .. }, None)
                if under.roof.is_local == Some(true) =>
            {
                format!(
                    "At {at}: its pages are as near as they can be. Leave them; only more FLOPs per \
                     byte (blocks that stay in a cache) or faster memory help."
                )
            }
            (Roof::Memory { node }, Some((to, expect))) => format!(
                "At {at}: if its pages are on node {node}, move them to {own} (cpus={cpus} \
                 mem=preferred:{local}) or its threads to that node's own CPUs, and {expect}.",
                own = own(to.roof),
                cpus = self.chart.cpus,
                local = local_node(to.roof),
            ),
            (Roof::Contended { node, clusters }, Some((to, expect))) => format!(
                "At {at}: if its pages are all on node {node} while {clusters} clusters use it, let \
                 each thread first touch what it will use, or interleave the pages, and {expect} \
                 with every cluster on its own ({own}).",
                own = own(to.roof)
            ),
            (Roof::Congested { .. }, Some((to, expect))) => format!(
                "At {at}: if its pages are interleaved over all nodes, let each thread first touch \
                 what it will use, and {expect} with every cluster on its own ({own}).",
                own = own(to.roof)
            ),
            (_, Some((to, expect))) => {
                format!("At {at}: with its pages on {own} {expect}.", own = own(to.roof))
            }
            (_, None) => format!(
                "At {at}: no placement that was measured promises more than the model can tell \
                 apart."
            ),
        })
    }

    /// Its own roof, by what it loads and where.
    fn over_two(&self, roof: &HybridRoof) -> String {
        let HybridRoof { fast_node, slow_node, fast_share, .. } = roof;
        let of = format!(
            "With {} of its bytes on node {fast_node} and the rest on node {slow_node}",
            percent(*fast_share)
        );
        let (Some(bandwidth), Some(attainable)) = (roof.bandwidth, roof.attainable) else {
            return format!("{of} its roof is not known: the record lacks an overlap for it.");
        };
        let error = roof.relative_rms.map_or_else(String::new, |error| {
            format!(", which the hybrid model foretells within {} %", significant(error * 100.0, 2))
        });
        let reached = roof.ratio.map_or_else(String::new, |ratio| {
            format!(" It reaches {} of that: ", percent(ratio) )
                + match ratio {
                    ratio if ratio > 1.0 + 2.0 * roof.relative_rms.unwrap_or(0.025) => {
                        "it is above its roof, so these shares are not its own."
                    }
                    ratio if ratio >= 0.95 - 2.0 * roof.relative_rms.unwrap_or(0.0) => {
                        "these two memories limit it; `nearfar predict --load-share` finds the best \
                         shares."
                    }
                    _ => "the memories do not limit it.",
                }
        });
        format!(
            "{of} its own roof is {} GB/s{error}, and it attains {} at most.{reached}",
            format_significant(bandwidth / 1e9, 3),
            gflop(attainable)
        )
    }
}

fn local_node(roof: &BandwidthRoof) -> u32 {
    match roof.roof {
        Roof::Memory { node } | Roof::AllLocal { node } | Roof::Contended { node, .. } => node,
        Roof::Compute | Roof::Cache { .. } | Roof::Congested { .. } => 0,
    }
}
