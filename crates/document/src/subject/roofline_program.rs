//! Where programs lie below the roofs.

use nearfar_model::{
    AtRoofs, HybridRoof, HybridStanding, IntensityKind, PlacedProgram, PlacedPrograms, Placement,
    PlacementAdvice, RefutingPoints, RoofSort, Standing, UnderRoof,
};
use nearfar_record::Roof;
use nearfar_units::{FlopsPerSecond, format_significant};

use super::figures::{count, percent_words, significant};
use super::result::ModelResult;
use super::roofline::roof_words;
use super::who::Who;
use crate::answer::Answer;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, GFLOP, ONE, Table, WORDS};

/// What `predict` says of programs: each on the first initiator, and in a line what differs on others.
pub fn programs_below_roofs(of: &ModelResult<PlacedPrograms>) -> Answer {
    let points = of.result.points.iter();
    let sections = points.filter_map(|it| section(&of.result, it, &of.measured.who));
    let first_rows = (MOST_ROWS / of.result.points.len().max(1)).max(4);
    sections.fold(of.measured.answer(), |answer, it| answer.and_gap().and_section(it, first_rows))
}

/// Rows of the first screen, of all programs.
const MOST_ROWS: usize = 12;

fn section(answer: &PlacedPrograms, of: &PlacedProgram, who: &Who) -> Option<Section> {
    let first = of.initiators.first()?;
    let reached = of.point.flops.map_or_else(
        || " (what it reaches was not given)".into(),
        |flops| {
            let gflop = significant(flops.0 / 1e9, 4);
            format!(", {gflop} GFLOP/s reached by its threads")
        },
    );
    let program = of.program.as_ref().map_or_else(String::new, |name| format!("{name}: "));
    let counted = match of.point.kind {
        IntensityKind::Arithmetic => "",
        IntensityKind::Operational => " read from memory",
    };
    let intensity = significant(of.point.intensity, 4);
    let advice = first.advice.iter().filter_map(|advice| finding(answer, first, advice));
    let over_two = first.hybrid_roofs.iter().map(|roof| over_two(answer, roof));
    Some(
        Section::new(
            "program",
            "A program below the roofs",
            format!("{program}{intensity} FLOPs per byte{counted}{reached}"),
            vec![roofs(of, first, who)],
        )
        .with_findings(advice.chain(over_two).collect()),
    )
}

/// The column of what is reached beside what could be.
const RATIO: &str = "ratio";

fn roofs(of: &PlacedProgram, first: &Placement, who: &Who) -> Table {
    let row = |name: String,
               bandwidth: Figure,
               attainable: FlopsPerSecond,
               ratio: Option<f64>,
               says: &str| {
        vec![
            Cell::text(name),
            Cell::Figure(bandwidth),
            Cell::Figure(Figure::plain(attainable)),
            Cell::figure(ratio.map(Figure::ratio)),
            Cell::text(says),
        ]
    };
    let of_loads = first.roofs.iter().filter(|under| under.is_of_loads()).map(|under| {
        let says = match under {
            UnderRoof { is_refuted: true, .. } => "refuted by its points",
            UnderRoof { is_near: true, .. } => "at this roof",
            UnderRoof { is_memory_bound: false, .. } => "arithmetic",
            _ => "",
        };
        row(name(under), Figure::of(&under.bandwidth), under.attainable, under.ratio, says)
    });
    let own = first.hybrid_roofs.iter().filter_map(|roof| {
        let share = significant(roof.fast_share * 100.0, 3);
        let name = format!("{share} % on node {}, rest on {}", roof.fast_node, roof.slow_node);
        let figure = Figure::of(roof.bandwidth.as_ref()?);
        Some(row(name, figure, roof.attainable?, roof.ratio, "hybrid model"))
    });
    let others = of.initiators.iter().skip(1);
    let differing = others.clone().filter(|other| !other.is_like_first);
    let mut notes: Vec<String> =
        differing.map(|it| format!("{}: {}", who.cpus(it.initiator), standing(it))).collect();
    let alike = others.filter(|other| other.is_like_first).count();
    if alike > 0 {
        notes.push(format!("{} more alike (--json has their figures)", count(alike, "initiator")));
    }
    let caption = format!("Below the roofs of loads of {}", who.cpus(first.initiator));
    let columns =
        Column::all(["roof of", "roof", "at most", RATIO, "limit"], [WORDS, GB, GFLOP, ONE, WORDS]);
    let rows: Vec<_> = of_loads.chain(own).collect();
    if first.roofs.iter().any(|under| under.ratio.is_some()) {
        let caption = format!("{caption}; {RATIO}: reached / at most");
        Table::new(caption, columns, rows).with_notes(notes)
    } else {
        Table::new(caption, columns, rows).without_column(RATIO).with_notes(notes)
    }
}

/// In a few words, for initiators beside the first.
fn standing(of: &Placement) -> String {
    match &of.standing {
        Some(Standing::AtRoofs { .. }) => {
            let near = of.roofs.iter().filter(|under| under.is_near);
            format!("at {}", near.map(name).collect::<Vec<_>>().join(" or "))
        }
        Some(Standing::AtCeiling) => "at the ceiling".into(),
        Some(Standing::AboveAll) => "above every roof".into(),
        Some(Standing::Between { .. }) => "between two roofs, at none".into(),
        Some(Standing::BelowAll) => "below every roof".into(),
        Some(Standing::Refuted { .. }) => {
            "its roofs predict nothing (points are too far off them)".into()
        }
        None => "not validated".into(),
    }
}

fn name(under: &UnderRoof) -> String {
    roof_words(under.roof, under.is_local)
}

fn gflop(flops: FlopsPerSecond) -> String {
    Figure::plain(flops).words()
}

fn ceiling(of: &Placement) -> String {
    of.ceiling.map_or_else(|| "unknown height".into(), gflop)
}

fn finding(answer: &PlacedPrograms, of: &Placement, advice: &PlacementAdvice) -> Option<String> {
    let roof = |position: &usize| of.roofs.get(*position);
    let again = &answer.commands.again;
    Some(match advice {
        PlacementAdvice::MeasureRoofs => "No roof of memory was measured here.".into(),
        PlacementAdvice::SayWhatItReaches { best, worst, factor } => {
            attains(of, *best, worst.zip(*factor))?
                + " Give what it reaches too (--point INTENSITY,GFLOP/s) to see what limits it."
        }
        PlacementAdvice::OnlyCompute { best, worst, factor } => {
            attains(of, *best, worst.zip(*factor))?
                + " No memory limits it, its arithmetic does: where its pages lie does not matter."
        }
        PlacementAdvice::ReduceArithmetic => format!(
            "It is at the ceiling of {}: arithmetic limits it. Wider vectors, fused operations and \
             fewer of them help; where its pages lie does not matter.",
            ceiling(of)
        ),
        PlacementAdvice::FindPages => "It is at several kinds of roof; which of them limits \
                                       depends on where its pages are and on what else runs."
            .into(),
        PlacementAdvice::ReuseCache { at } => format!(
            "{}: that cache feeds it. Do more with what it loads (registers, blocks of an inner \
             cache); where its pages lie does not matter.",
            at_words(of, at)
        ),
        PlacementAdvice::LeavePages { at } => format!(
            "{}: its pages are as near as they can be. Leave them; only more FLOPs per byte (blocks \
             that stay in a cache) or faster memory help.",
            at_words(of, at)
        ),
        PlacementAdvice::Interleave { at, over } => format!(
            "{}: its pages are as near as they can be, and their node is the limit{} as long as no \
             other initiator uses them.",
            at_words(of, at),
            interleaved(of, over)
        ),
        PlacementAdvice::MovePages { at, to, gain } => moved(of, at, roof(to)?, *gain)?,
        PlacementAdvice::KeepPagesApart { at, to, gain, is_first_touch, interleaved: over } => {
            let now = match at.sort {
                RoofSort::Contended => "all on one node that all initiators use",
                _ => "interleaved over all nodes",
            };
            format!(
                "{}: if its pages are {now}, {} and {} on each initiator{}.",
                at_words(of, at),
                own_pages(roof(to)?, *is_first_touch),
                promise(roof(to)?, *gain),
                interleaved(of, over)
            )
        }
        PlacementAdvice::LeavePlacement { at } => format!(
            "{}: no measured placement gains more than the error.",
            at_words(of, at)
        ),
        PlacementAdvice::MeasureAgain { within } => format!(
            "Points of known intensity miss these roofs so far that within {} of one counts as at \
             it: measure again while nothing else runs (`{again}`).",
            percent_words(*within)
        ),
        PlacementAdvice::CountRequestedBytes => {
            "It lies above every roof: they do not hold for it. Count the bytes that its cores \
             request (not those that leave a cache) and the threads of one initiator only, and compare \
             with a record of the same clocks."
                .into()
        }
        PlacementAdvice::CheckCounters => {
            "It lies above every roof of memory: they do not hold for it. Its threads ran on more \
             than this initiator, its counters leave reads out (the profile says which), or the record \
             is of other clocks."
                .into()
        }
        PlacementAdvice::LookElsewhere { above, below } => {
            let named = |under: &UnderRoof| format!("{} ({})", name(under), gflop(under.attainable));
            let above = match above {
                Some(above) => named(roof(above)?),
                None => format!("the ceiling ({})", ceiling(of)),
            };
            format!(
                "It lies between {} and {above}, at no roof. If its pages lie where the lower roof \
                 is, caches answer a part of its loads; else no bandwidth limits it: look for \
                 dependent loads, scalar code, few threads or uneven work before moving pages.",
                named(roof(below)?)
            )
        }
        PlacementAdvice::LookBeyondBandwidth => {
            "It lies below every roof: no bandwidth limits it. Look for dependent loads (latency), \
             scalar code, few threads or uneven work; another placement of its pages helps only \
             where latency does."
                .into()
        }
        PlacementAdvice::DistrustRoof { roof: at, by } => {
            let of = at.as_ref().and_then(roof).map_or_else(|| "the ceiling".into(), name);
            format!(
                "What {of} allows predicts nothing here{}. Most likely roofs or points were measured \
                 while something disturbed them (other programs, a changing clock): what limits this \
                 program cannot be told. Measure again while nothing else runs (`{again}`) and ask \
                 that record.",
                by.as_ref().map_or_else(String::new, refuting)
            )
        }
    })
}

/// What it attains at most, and by the worst of several roofs.
fn attains(of: &Placement, best: usize, worst: Option<(usize, f64)>) -> Option<String> {
    let best = of.roofs.get(best)?;
    let most = format!("{} ({}) at most", gflop(best.attainable), name(best));
    let worst = worst.and_then(|(worst, factor)| {
        let worst = of.roofs.get(worst)?;
        let least = format!("{} ({})", gflop(worst.attainable), name(worst));
        let factor = format_significant(factor, 3);
        Some(format!(" and {least} in the worst place, a factor of {factor}"))
    });
    Some(format!("By its loads from memory it attains {most}{}.", worst.unwrap_or_default()))
}

/// `At 99 % of what L1 allows`.
fn at_words(of: &Placement, at: &AtRoofs) -> String {
    let names = at.roofs.iter().filter_map(|&position| of.roofs.get(position)).map(name);
    let names: Vec<String> = names.collect();
    format!("At {} of what {} allows", percent_words(at.ratio), names.join(" or "))
}

fn promise(to: &UnderRoof, gain: f64) -> String {
    format!("expect up to {} (+{})", gflop(to.attainable), percent_words(gain))
}

fn moved(of: &Placement, at: &AtRoofs, to: &UnderRoof, gain: f64) -> Option<String> {
    let Roof::Memory { node } = to.roof else { return None };
    let (now, or) = match at.sort {
        RoofSort::Interleaved => ("interleaved over all nodes", ""),
        RoofSort::Far => ("there", ", or its threads to that node's CPUs,"),
        _ => ("there", ""),
    };
    Some(format!(
        "{}: if its pages are {now}, move them to node {node} (cpus={} mem=preferred:{node}){or} and \
         {}.",
        at_words(of, at),
        of.cpus,
        promise(to, gain)
    ))
}

/// How pages come to lie on each initiator's own memory.
fn own_pages(to: &UnderRoof, is_first_touch: bool) -> String {
    match to.roof {
        _ if is_first_touch => "let each thread first touch what it will use".into(),
        Roof::AllLocal { node } => format!(
            "put each initiator's pages on its own memory (here mem=preferred:{node}: first touch \
             alone does not)"
        ),
        _ => name(to),
    }
}

/// What interleaving gives.
fn interleaved(of: &Placement, over: &[usize]) -> String {
    let over = over.iter().filter_map(|&position| of.roofs.get(position));
    let told = over.filter_map(|under| match under.roof {
        Roof::Congested { kind } | Roof::Interleaved { kind } => {
            let attainable = gflop(under.attainable);
            Some(format!("; with pages interleaved over all nodes of {kind} {attainable}"))
        }
        _ => None,
    });
    told.collect()
}

fn refuting(by: &RefutingPoints) -> String {
    format!(
        ": points of known intensity below {} are off by {} (relative RMS), the worst, {}, reaches {} \
         times what was allowed",
        roof_words(by.roof, by.is_local),
        percent_words(by.relative_rms),
        by.worst_kernel,
        format_significant(by.worst_ratio, 3)
    )
}

/// Its own roof, by what it loads and where.
fn over_two(answer: &PlacedPrograms, roof: &HybridRoof) -> String {
    let HybridRoof { fast_node, slow_node, fast_share, .. } = roof;
    let of = format!(
        "With {} of its bytes on node {fast_node} and the rest on node {slow_node}",
        percent_words(*fast_share)
    );
    let (Some(bandwidth), Some(attainable)) = (&roof.bandwidth, roof.attainable) else {
        return format!("{of} its roof is not known: the record lacks an overlap for it.");
    };
    let error = roof.relative_rms.map_or_else(String::new, |error| {
        let error = percent_words(error);
        format!(", by the hybrid model, whose error is {error} (relative RMS)")
    });
    let reached = roof.ratio.map_or_else(String::new, |ratio| {
        let stands = over_two_standing(answer, roof.standing);
        format!(" It reaches {} of that: {stands}", percent_words(ratio))
    });
    format!(
        "{of} its own roof is {}{error}, and it attains {} at most.{reached}",
        Figure::of(bandwidth).words(),
        gflop(attainable)
    )
}

/// What its place below its own roof over two memories says.
fn over_two_standing(answer: &PlacedPrograms, standing: Option<HybridStanding>) -> String {
    match standing {
        Some(HybridStanding::Above) => {
            "it is above the high end of its roof, so these shares are not its own.".into()
        }
        Some(HybridStanding::AtMemories) => {
            let shares = answer.load_share.map_or_else(String::new, |share| {
                let share = significant(share, 4);
                format!("; `nearfar predict RECORD --load-share {share}` finds the best shares")
            });
            format!("these two memories limit it{shares}.")
        }
        Some(HybridStanding::AtRidge) => {
            "these memories or its arithmetic limit it; the interval of the roof holds both.".into()
        }
        Some(HybridStanding::AtCeiling) => "its arithmetic limits it, not these memories.".into(),
        Some(HybridStanding::Below) => {
            "it is below the low end of its roof, so these memories do not limit it, or these shares \
             are not its own."
                .into()
        }
        None => format!(
            "the error of that roof is not known, so no limit is named; `{}` measures points for \
             it.",
            answer.commands.hybrid
        ),
    }
}
