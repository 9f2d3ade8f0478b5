//! What the place of a program below the roofs says, in sentences that a user can act on.

use nearfar_model::{
    BandwidthRoof, Chart, HybridRoof, HybridStanding, Placement, Standing, measuring_command,
};
use nearfar_record::{Experiment, Record, Roof, Suite};
use nearfar_units::format_significant;

use super::figures::{percent_words, significant};
use super::roofline_place::RoofPlaceView;
use crate::printable::printable;

/// Where more than this counts as at a roof, that is said.
const ROUGH: f64 = 0.2;

/// Of a program whose bytes are those that are read from memory.
const ABOVE_MEMORY: &str = "It lies above every roof of memory: they do not hold for it. Its threads \
                            ran on more than this cluster, its counters leave reads out (the profile \
                            says which), or the record is of other clocks.";

/// A program on a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub chart: &'a Chart,
    pub placed: &'a Placement<'a>,
    pub hybrid_roofs: &'a [HybridRoof],
    pub load_share: Option<f64>,
    pub remedies: &'a Remedies,
    /// Whether the intensity is of bytes read from memory.
    pub is_operational: bool,
}

/// Commands that would tell more of the record's machine.
#[derive(Debug, Clone)]
pub(crate) struct Remedies {
    /// Measures the roofs again.
    pub roofs: String,
    /// Measures the hybrid model's points.
    pub hybrid: String,
}

impl Remedies {
    pub(crate) fn new(record: &Record) -> Self {
        let suite = match record.header.inputs.suite {
            Suite::Quick | Suite::Standard => Suite::Standard,
            Suite::Full => Suite::Full,
        };
        let of = |experiment| measuring_command(record, &[experiment], suite);
        Self { roofs: of(Experiment::Roofs), hybrid: of(Experiment::Hybrid) }
    }
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
        // What is read from memory is no bandwidth of a cache.
        Some(Standing::AboveAll | Standing::Between { above: None, .. })
            if place.is_operational =>
        {
            vec![ABOVE_MEMORY.into()]
        }
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
        Some(Standing::Refuted(at)) => vec![place.refuted(*at)],
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

impl Place<'_> {
    fn ceiling(&self) -> String {
        self.placed.ceiling.map_or_else(|| "unknown height".into(), gflop)
    }

    /// What a program attains at most by where its pages are, where nobody said what it reaches.
    fn prospects(&self) -> Vec<String> {
        let of_memory = self.placed.roofs.iter().filter(|under| {
            under.roof.is_of_loads() && !matches!(under.roof.roof, Roof::Cache { .. })
        });
        let mut of_memory: Vec<_> = of_memory.collect();
        of_memory.sort_by(|one, other| other.attainable.total_cmp(&one.attainable));
        let (Some(best), Some(worst)) = (of_memory.first(), of_memory.last()) else {
            return vec!["No roof of memory was measured here.".into()];
        };
        let roofs = self.placed.roofs.iter();
        let refuted = roofs.clone().position(|it| {
            it.is_refuted && of_memory.iter().any(|memory| memory.roof.roof == it.roof.roof)
        });
        if refuted.is_some() {
            return vec![self.refuted(refuted)];
        }
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
                 one counts as at it: measure again while nothing else runs (`{}`).",
                percent_words(room),
                self.remedies.roofs
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
        let reached = percent_words(under.ratio?);
        let at = format!("At {reached} of what {} allows", names.join(" or "));
        let gain = self.placed.gain(self.chart, nearest).and_then(|(to, gain)| {
            let to = self.placed.roofs.get(to)?;
            let gain = percent_words(gain);
            Some((to.roof, format!("expect up to {} (+{gain})", gflop(to.attainable))))
        });
        Some(match (sort, gain) {
            (Sort::Cache, _) => format!(
                "{at}: that cache feeds it. Do more with what it loads (registers, blocks of an \
                 inner cache); where its pages lie does not matter."
            ),
            (Sort::Own, None) => match self.interleaved(nearest) {
                none if none.is_empty() => format!(
                    "{at}: its pages are as near as they can be. Leave them; only more FLOPs per \
                     byte (blocks that stay in a cache) or faster memory help."
                ),
                more => format!(
                    "{at}: its pages are as near as they can be, and their node is the limit{more} \
                     as long as no other cluster uses them."
                ),
            },
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
            (Sort::Interleaved, Some((to, expect))) => format!(
                "{at}: if its pages are interleaved over all nodes, move them to {} and {expect}.",
                self.place(to)
            ),
            (Sort::Contended, Some((to, expect))) => format!(
                "{at}: if its pages are all on one node that all clusters use, {} and {expect} on \
                 each cluster{}.",
                self.own_pages(to),
                self.interleaved(nearest)
            ),
            (Sort::Congested, Some((to, expect))) => format!(
                "{at}: if its pages are interleaved over all nodes, {} and {expect} on each cluster.",
                self.own_pages(to)
            ),
            (Sort::Far | Sort::Interleaved | Sort::Contended | Sort::Congested, None) => format!(
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

    /// What interleaving gives in place of the roof at a position, where that is more.
    fn interleaved(&self, at: usize) -> String {
        let better = self.placed.better_interleaved(self.chart, at).into_iter();
        let told = better.map(|under| match under.roof.roof {
            Roof::Congested { kind } | Roof::Interleaved { kind } => {
                format!(
                    "; with pages interleaved over all nodes of {kind} {}",
                    gflop(under.attainable)
                )
            }
            _ => String::new(),
        });
        told.collect()
    }

    /// Why nothing can be told beside a roof that points refute; `None` is the ceiling.
    fn refuted(&self, at: Option<usize>) -> String {
        let roof = at.and_then(|position| self.placed.roofs.get(position)).map(|it| it.roof);
        let of = roof.map_or_else(|| "the ceiling".into(), name);
        let points = self.chart.validation_of(roof.map_or(Roof::Compute, |roof| roof.roof));
        let off = points.and_then(|of| {
            let errors = of.errors?;
            let worst = of.points.get(errors.worst)?;
            Some(format!(
                ": points of known intensity below {} are off by {} (relative RMS), the worst, {}, \
                 reaches {} times what was allowed",
                RoofPlaceView::new(of.roof, of.is_local).name,
                percent_words(errors.relative_rms),
                printable(&worst.kernel),
                format_significant(worst.ratio, 3)
            ))
        });
        format!(
            "What {of} allows foretells nothing here{}. Most likely roofs or points were measured \
             while something disturbed them (other programs, a changing clock): what limits this \
             program cannot be told. Measure again while nothing else runs (`{}`) and ask that record.",
            off.unwrap_or_default(),
            self.remedies.roofs
        )
    }

    /// Its own roof, by what it loads and where.
    fn over_two(&self, roof: &HybridRoof) -> String {
        let HybridRoof { fast_node, slow_node, fast_share, .. } = roof;
        let of = format!(
            "With {} of its bytes on node {fast_node} and the rest on node {slow_node}",
            percent_words(*fast_share)
        );
        let (Some(bandwidth), Some(attainable)) = (roof.bandwidth, roof.attainable) else {
            return format!("{of} its roof is not known: the record lacks an overlap for it.");
        };
        let interval = roof.interval.map_or_else(String::new, |(low, high)| {
            let [low, high] = [low, high].map(|end| format_significant(end / 1e9, 3));
            format!(" ({low} to {high})")
        });
        let error = roof.relative_rms.map_or_else(String::new, |error| {
            let error = percent_words(error);
            format!(", by the hybrid model, whose error is {error} (relative RMS)")
        });
        let reached = roof.ratio.map_or_else(String::new, |ratio| {
            format!(" It reaches {} of that: {}", percent_words(ratio), self.stands(roof.standing))
        });
        format!(
            "{of} its own roof is {} GB/s{interval}{error}, and it attains {} at most.{reached}",
            format_significant(bandwidth / 1e9, 3),
            gflop(attainable)
        )
    }

    /// What its place below its own roof over two memories says.
    fn stands(&self, standing: Option<HybridStanding>) -> String {
        match standing {
            Some(HybridStanding::Above) => "it is above the high end of its roof, so these shares \
                                            are not its own."
                .into(),
            Some(HybridStanding::AtMemories) => {
                let shares = self.load_share.map_or_else(String::new, |share| {
                    let share = significant(share, 4);
                    format!("; `nearfar predict RECORD --load-share {share}` finds the best shares")
                });
                format!("these two memories limit it{shares}.")
            }
            Some(HybridStanding::AtRidge) => "these memories or its arithmetic limit it; the \
                                              interval of the roof holds both."
                .into(),
            Some(HybridStanding::AtCeiling) => {
                "its arithmetic limits it, not these memories.".into()
            }
            Some(HybridStanding::Below) => {
                "it is below the low end of its roof, so these memories \
                                            do not limit it, or these shares are not its own."
                    .into()
            }
            None => format!(
                "how sure that roof is, is not known, so what limits is not told; `{}` measures \
                 points that tell.",
                self.remedies.hybrid
            ),
        }
    }
}

/// Sorts of roofs that call for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Cache,
    Own,
    Far,
    Interleaved,
    Contended,
    Congested,
}

impl Sort {
    fn of(roof: &BandwidthRoof) -> Self {
        match roof.roof {
            Roof::Compute | Roof::Cache { .. } => Self::Cache,
            Roof::Memory { .. } if roof.is_local != Some(true) => Self::Far,
            Roof::Memory { .. } | Roof::AllLocal { .. } => Self::Own,
            Roof::Interleaved { .. } => Self::Interleaved,
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
        Roof::Compute | Roof::Cache { .. } | Roof::Interleaved { .. } | Roof::Congested { .. } => {
            None
        }
    }
}
