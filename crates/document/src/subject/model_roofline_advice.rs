//! What follows from the charts, in sentences that a user can act on.

use nearfar_units::format_significant;

use super::figures::{count, percent_words, significant};
use super::model_roofline::{ChartRoofView, ChartView, ExpectedView, ProgramExpectationView};
use crate::printable::printable;

/// What a program can expect under each placement, where arithmetic begins to limit, and how far
/// the roofs can be trusted.
pub(crate) fn sentences(chart: &ChartView) -> Vec<String> {
    let programs = chart.programs.iter();
    let of_programs =
        programs.flat_map(|program| [alone(chart, program), together(chart, program)]);
    let rest = [ridge(chart), refuted(chart).or_else(|| trust(chart)), exceeded(chart)];
    of_programs.chain(rest).flatten().collect()
}

/// `4.51 GFLOP/s (4.50 to 4.52), 36.1 GB/s`.
fn expected(of: &ExpectedView) -> String {
    let [low, high] = of.interval_gflop_per_s.map(|end| format_significant(end, 3));
    let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
    let gflop = format_significant(of.gflop_per_s, 3);
    format!("{gflop} GFLOP/s{range}, {} GB/s", format_significant(of.gb_per_s, 3))
}

/// `ddot (0.125 FLOPs per byte, accesses as load)`.
fn named(program: &ProgramExpectationView) -> String {
    format!(
        "{} ({} FLOPs per byte, by the roofs of {})",
        program.program,
        significant(program.flops_per_byte, 3),
        program.kernel
    )
}

/// Whether no roof that placements meet is refuted by points.
fn is_foretold(placements: &[ExpectedView]) -> bool {
    placements.iter().all(|of| !of.is_refuted)
}

/// What measures placements that the suite left out.
fn full(chart: &ChartView) -> String {
    format!("`{}` measures them", chart.told.full)
}

/// Who else is there.
fn idle(chart: &ChartView) -> &'static str {
    if chart.told.clusters > 1 { ", the others idle" } else { "" }
}

/// One cluster at work.
fn alone(chart: &ChartView, program: &ProgramExpectationView) -> Option<String> {
    let best = program.alone.first().filter(|_| is_foretold(&program.alone))?;
    let node = best.roof.node.unwrap_or_default();
    let (name, cluster) = (named(program), chart.cluster);
    let worst = program.alone.last().filter(|_| program.alone.len() > 1);
    let Some((worst, factor)) = worst.zip(program.alone_factor) else {
        let others = if chart.told.nodes > 1 {
            format!("; other nodes were not measured with such accesses ({})", full(chart))
        } else {
            ", the only one".into()
        };
        return Some(format!(
            "{name} on cluster {cluster}{}: expect {} with its pages on node {node}{others}.",
            idle(chart),
            expected(best)
        ));
    };
    let places = count(program.alone.len(), "node");
    if factor - 1.0 <= chart.told.resolution {
        return Some(format!(
            "{name} on cluster {cluster}{}: expect {}; {places} differ by {}, which \
             is less than the model can tell apart ({}), so where its pages lie does not matter.",
            idle(chart),
            expected(best),
            percent_words(factor - 1.0),
            percent_words(chart.told.resolution)
        ));
    }
    Some(format!(
        "{name} on cluster {cluster}{}: put its pages on node {node} (cpus={} \
         mem=preferred:{node}) and expect {}; on node {}, the worst of {places}, expect {}: the \
         best is {} times that.",
        idle(chart),
        chart.cpus,
        expected(best),
        worst.roof.node.unwrap_or_default(),
        expected(worst),
        format_significant(factor, 3)
    ))
}

/// How pages come to lie as a roof of all clusters has it.
fn way(chart: &ChartView, of: &ExpectedView) -> String {
    match (of.roof.limit, of.roof.node, of.roof.memory_kind) {
        ("all_local", Some(node), _) if chart.told.cpu_node == Some(node) => format!(
            "each cluster's pages on its own memory (here node {node}: let each thread first touch \
             what it will use)"
        ),
        ("all_local", Some(node), _) => format!(
            "each cluster's pages on its own memory of this kind (here mem=preferred:{node}: first \
             touch alone does not place them there)"
        ),
        ("congested", _, Some(kind)) => {
            format!("pages in turn over all nodes of {kind} (interleave)")
        }
        (_, Some(node), _) => {
            format!("all pages on node {node} (as one thread that touches them all leaves them)")
        }
        _ => of.roof.name.clone(),
    }
}

/// All clusters at work.
fn together(chart: &ChartView, program: &ProgramExpectationView) -> Option<String> {
    let best = program.together.first().filter(|_| is_foretold(&program.together))?;
    let (name, cluster) = (named(program), chart.cluster);
    let who = format!("{name} on all {} at once", count(chart.told.clusters, "cluster"));
    let worst = program.together.last().filter(|_| program.together.len() > 1);
    let Some((worst, factor)) = worst.zip(program.together_factor) else {
        return Some(format!(
            "{who}: expect {} on cluster {cluster} with {}; other placements were not measured with \
             such accesses ({}).",
            expected(best),
            way(chart, best),
            full(chart)
        ));
    };
    if factor - 1.0 <= chart.told.resolution {
        return Some(format!(
            "{who}: expect {} on cluster {cluster}; its placements differ by {}, which is less than \
             the model can tell apart ({}).",
            expected(best),
            percent_words(factor - 1.0),
            percent_words(chart.told.resolution)
        ));
    }
    let between = program.together.iter().filter(|of| of.roof.limit == "congested");
    let between: Vec<String> = between
        .filter(|of| **of != *best && **of != *worst)
        .map(|of| format!("{} gives {}; ", way(chart, of), expected(of)))
        .collect();
    Some(format!(
        "{who}: arrange {} and expect {} on cluster {cluster}; {}{} gives {}: the best is {} times \
         that.",
        way(chart, best),
        expected(best),
        between.concat(),
        way(chart, worst),
        expected(worst),
        format_significant(factor, 3)
    ))
}

/// Where arithmetic begins to limit.
fn ridge(chart: &ChartView) -> Option<String> {
    let is_near = |roof: &&ChartRoofView| {
        let is_own = roof.roof.limit == "memory" && roof.roof.is_local == Some(true);
        roof.kernel == "load" && is_own && !roof.is_refuted
    };
    let local = chart.roofs.iter().filter(is_near);
    let local = local.max_by(|one, other| one.gb_per_s.total_cmp(&other.gb_per_s))?;
    let (ridge, kernel) = (chart.ridge(local)?, chart.ceiling.as_ref()?);
    let ceiling = chart.ceilings.iter().find(|ceiling| ceiling.kernel == *kernel)?;
    Some(format!(
        "Above {} FLOPs per byte {} does not limit cluster {}, its arithmetic does ({} GFLOP/s by \
         {} in {}): there vectors and fused operations help, and placement does not.",
        significant(ridge, 3),
        local.roof.name,
        chart.cluster,
        format_significant(ceiling.gflop_per_s, 3),
        printable(kernel),
        printable(&ceiling.variant)
    ))
}

/// That roofs foretell nothing, and what to do; `None` where their points bear all of them out.
fn refuted(chart: &ChartView) -> Option<String> {
    let refuted = || {
        let known = chart.validations.iter().filter_map(|of| Some((of, of.errors.as_ref()?)));
        known.filter(|(_, errors)| errors.refutes)
    };
    let (_, worst) =
        refuted().max_by(|one, other| one.1.relative_rms.total_cmp(&other.1.relative_rms))?;
    let names: Vec<&str> = refuted().map(|(of, _)| of.roof.name.as_str()).collect();
    Some(format!(
        "What {} allows foretells nothing here: points of known intensity are off by {} (relative \
         RMS; by the paper's measure {}), the worst, {}, reaches {} times what was allowed. Most \
         likely roofs or points were measured while something disturbed them (other programs, a \
         changing clock), so that no placement is advised by them. Measure again while nothing else \
         runs: `{}`.",
        names.join(" or "),
        percent_words(worst.relative_rms),
        percent_words(worst.paper),
        printable(&worst.worst_kernel),
        format_significant(worst.worst_ratio, 3),
        chart.told.again
    ))
}

/// How well the roofs foretell points.
fn trust(chart: &ChartView) -> Option<String> {
    let known = chart.validations.iter().filter_map(|of| Some((of, of.errors.as_ref()?)));
    let worst = known.max_by(|one, other| one.1.relative_rms.total_cmp(&other.1.relative_rms));
    let Some((of, errors)) = worst else {
        return Some(format!(
            "No point of known intensity was measured below these roofs: how well they foretell \
             programs is not known, and differences below {} are not told apart. `{}` measures some.",
            percent_words(chart.told.resolution),
            chart.told.again
        ));
    };
    Some(format!(
        "The roofs foretell points of known intensity within {} (relative RMS; by the paper's \
         measure {}), worst below {}; differences below {} between memories are not told apart.",
        percent_words(errors.relative_rms),
        percent_words(errors.paper),
        of.roof.name,
        percent_words(chart.told.resolution)
    ))
}

/// Roofs that a point lies above.
fn exceeded(chart: &ChartView) -> Option<String> {
    let points = chart.validations.iter().flat_map(|of| {
        let is_told = of.errors.as_ref().is_some_and(|errors| errors.refutes);
        let above = of.points.iter().filter(move |point| point.exceeds && !is_told);
        above.map(move |point| (of, point))
    });
    let (of, point) = points.max_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio))?;
    let of_memory = if of.roof.limit == "cache" {
        ""
    } else {
        ", and loads with arithmetic between them can be a little faster from memory than loads \
         alone"
    };
    Some(format!(
        "{} reaches {} times what the roofs allow below {}: what is exceeded is no roof. Disturbed \
         or short measurements do that{of_memory}; measure again while nothing else runs: `{}`.",
        printable(&point.kernel),
        format_significant(point.ratio, 3),
        of.roof.name,
        chart.told.again
    ))
}

#[cfg(test)]
mod tests {
    use nearfar_kernels::find;
    use nearfar_model::PROGRAMS;

    #[test]
    fn programs_have_the_intensity_of_the_catalog() {
        for program in PROGRAMS {
            let kernel = find(program.name).unwrap();
            let bytes = 8 * (kernel.loads() + kernel.stores());
            let intensity = f64::from(kernel.flops()) / f64::from(bytes);
            assert_eq!(intensity.to_string(), program.intensity.to_string(), "{}", program.name);
        }
    }
}
