//! What the place of a program below the roofs says, in sentences that a user can act on.

use nearfar_model::{BandwidthRoof, Chart, HybridRoof, Placement, Standing};
use nearfar_record::Roof;
use nearfar_units::format_significant;

use crate::figures::significant;
use crate::roofline_place::RoofPlaceView;

/// The kernel whose roofs sentences are about.
const LOADS: &str = "load";

/// Two figures less far apart are not told apart.
const LEAST_ROOM: f64 = 0.05;

/// Where more than this counts as at a roof, that is said.
const ROUGH: f64 = 0.2;

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
            under.roof.kernel == LOADS && !matches!(under.roof.roof, Roof::Cache { .. })
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

    /// A sentence for each sort of roof that it is at.
    fn at_roofs(&self, near: &[usize]) -> Vec<String> {
        let mut sorts: Vec<(Sort, Vec<usize>)> = Vec::new();
        for &position in near {
            let Some(under) = self.placed.roofs.get(position) else { continue };
            let sort = Sort::of(under.roof);
            match sorts.iter_mut().find(|(known, _)| *known == sort) {
                Some((_, positions)) => positions.push(position),
                None => sorts.push((sort, vec![position])),
            }
        }
        let mut sentences = Vec::new();
        if sorts.len() > 1 {
            sentences.push(
                "It is at roofs of several sorts; which of them limits depends on where its pages \
                 are and on what else runs."
                    .into(),
            );
        }
        let told = sorts.iter().filter_map(|(sort, positions)| self.at_sort(*sort, positions));
        sentences.extend(told);
        let room = near.first().and_then(|&position| self.placed.roofs.get(position));
        let room = room.map(|under| self.chart.resolution(under.roof.roof));
        sentences.extend(room.filter(|room| *room > ROUGH).map(|room| {
            format!(
                "Points of known intensity are off by so much below these roofs that within {} of \
                 one counts as at it: measure roofs again on a quiet machine.",
                percent(room)
            )
        }));
        sentences
    }

    fn at_sort(&self, sort: Sort, positions: &[usize]) -> Option<String> {
        let nearest = *positions.first()?;
        let under = self.placed.roofs.get(nearest)?;
        let names: Vec<String> = positions
            .iter()
            .filter_map(|&position| Some(name(self.placed.roofs.get(position)?.roof)))
            .collect();
        let at = format!("At {} of what {} allows", percent(under.ratio?), names.join(" or "));
        let gain = self.placed.gain(self.chart, nearest).and_then(|(to, gain)| {
            let to = self.placed.roofs.get(to)?;
            Some((to.roof, format!("expect up to {} (+{})", gflop(to.attainable), percent(gain))))
        });
        Some(match (sort, gain) {
            (Sort::Cache, _) => format!(
                "{at}: that cache feeds it. Do more with what it loads (registers, blocks of an \
                 inner cache); where its pages lie does not matter."
            ),
            (Sort::Own, None) => format!(
                "{at}: its pages are as near as they can be. Leave them; only more FLOPs per byte \
                 (blocks that stay in a cache) or faster memory help."
            ),
            (Sort::Own, Some((to, expect))) => {
                format!(
                    "{at}: if its pages are there, move them to {} and {expect}.",
                    self.place(to)
                )
            }
            (Sort::Far, Some((to, expect))) => format!(
                "{at}: if its pages are there, move them to {}, or its threads to that node's CPUs, \
                 and {expect}.",
                self.place(to)
            ),
            (Sort::Contended, Some((to, expect))) => format!(
                "{at}: if its pages are all on one node that all clusters use, {} and {expect} on \
                 each cluster{}.",
                self.own_pages(to),
                self.interleaved(under.attainable)
            ),
            (Sort::Congested, Some((to, expect))) => format!(
                "{at}: if its pages are interleaved over all nodes, {} and {expect} on each cluster.",
                self.own_pages(to)
            ),
            (Sort::Far | Sort::Contended | Sort::Congested, None) => format!(
                "{at}: no placement that was measured promises more than the model can tell apart."
            ),
        })
    }

    /// `node 0 (cpus=0-6 mem=preferred:0)`.
    fn place(&self, to: &BandwidthRoof) -> String {
        node_of(to).map_or_else(
            || name(to),
            |node| format!("node {node} (cpus={} mem=preferred:{node})", self.chart.cpus),
        )
    }

    /// How pages come to lie on each cluster's own memory.
    fn own_pages(&self, to: &BandwidthRoof) -> String {
        match node_of(to) {
            Some(node) if self.chart.cpu_node == Some(node) => {
                "let each thread first touch what it will use".into()
            }
            Some(node) => format!(
                "put each cluster's pages on its own memory (here mem=preferred:{node}: first touch \
                 alone does not)"
            ),
            None => name(to),
        }
    }

    /// What interleaving gives in place of `now`, FLOP/s, where that is more.
    fn interleaved(&self, now: f64) -> String {
        let better = self.placed.roofs.iter().filter(|under| {
            under.roof.kernel == LOADS
                && Sort::of(under.roof) == Sort::Congested
                && under.attainable > now * (1.0 + self.chart.resolution(under.roof.roof))
        });
        let told = better.map(|under| match under.roof.roof {
            Roof::Congested { kind } => {
                format!(
                    "; with pages interleaved over all nodes of {kind} {}",
                    gflop(under.attainable)
                )
            }
            _ => String::new(),
        });
        told.collect()
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
        let room = roof.relative_rms.map_or(LEAST_ROOM, |error| (2.0 * error).max(LEAST_ROOM));
        let is_memory_bound = self.placed.point.intensity * bandwidth <= attainable;
        let reached = roof.ratio.map_or_else(String::new, |ratio| {
            let says = if ratio > 1.0 + room {
                "it is above its roof, so these shares are not its own."
            } else if ratio < 1.0 - room {
                "these memories do not limit it, or these shares are not its own."
            } else if is_memory_bound {
                "these two memories limit it; `nearfar predict --load-share` finds the best shares."
            } else {
                "its arithmetic limits it, not these memories."
            };
            format!(" It reaches {} of that: {says}", percent(ratio))
        });
        format!(
            "{of} its own roof is {} GB/s{error}, and it attains {} at most.{reached}",
            format_significant(bandwidth / 1e9, 3),
            gflop(attainable)
        )
    }
}

/// Sorts of roofs that call for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Cache,
    Own,
    Far,
    Contended,
    Congested,
}

impl Sort {
    fn of(roof: &BandwidthRoof) -> Self {
        match roof.roof {
            Roof::Compute | Roof::Cache { .. } => Self::Cache,
            Roof::Memory { .. } if roof.is_local != Some(true) => Self::Far,
            Roof::Memory { .. } | Roof::AllLocal { .. } => Self::Own,
            Roof::Contended { .. } => Self::Contended,
            Roof::Congested { .. } => Self::Congested,
        }
    }
}

fn node_of(roof: &BandwidthRoof) -> Option<u32> {
    match roof.roof {
        Roof::Memory { node } | Roof::AllLocal { node } | Roof::Contended { node, .. } => {
            Some(node)
        }
        Roof::Compute | Roof::Cache { .. } | Roof::Congested { .. } => None,
    }
}
