//! What follows from the charts, in sentences that a user can act on.

use nearfar_units::format_significant;

use crate::figures::{count, rounded, significant};
use crate::model_roofline::{ChartRoofView, ChartView, ExpectedView, ProgramExpectationView};
use crate::paragraph::paragraph;
use crate::printable::printable;

/// What a program can expect under each placement, where arithmetic begins to limit, and how far
/// the roofs can be trusted.
pub(crate) fn sentences(chart: &ChartView) -> String {
    let mut text = String::new();
    for program in &chart.programs {
        for sentence in [alone(chart, program), together(chart, program)] {
            text += &sentence.map_or_else(String::new, |sentence| paragraph("-> ", &sentence));
        }
    }
    let rest = [ridge(chart), trust(chart), exceeded(chart)];
    rest.into_iter().flatten().for_each(|sentence| text += &paragraph("-> ", &sentence));
    text
}

/// A fraction in percent, without digits that say nothing.
fn percent(fraction: f64) -> String {
    format!("{} %", rounded(fraction * 100.0, if fraction.abs() < 0.1 { 1 } else { 0 }))
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

/// Who else is there.
fn idle(chart: &ChartView) -> &'static str {
    if chart.told.clusters > 1 { ", the others idle" } else { "" }
}

/// One cluster at work.
fn alone(chart: &ChartView, program: &ProgramExpectationView) -> Option<String> {
    let best = program.alone.first()?;
    let node = best.roof.node.unwrap_or_default();
    let (name, cluster) = (named(program), chart.cluster);
    let worst = program.alone.last().filter(|_| program.alone.len() > 1);
    let Some((worst, factor)) = worst.zip(program.alone_factor) else {
        let others = if chart.told.nodes > 1 {
            "; other nodes were not measured with such accesses (--suite full measures them)"
        } else {
            ", the only one"
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
            percent(factor - 1.0),
            percent(chart.told.resolution)
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
    let best = program.together.first()?;
    let (name, cluster) = (named(program), chart.cluster);
    let who = format!("{name} on all {} at once", count(chart.told.clusters, "cluster"));
    let worst = program.together.last().filter(|_| program.together.len() > 1);
    let Some((worst, factor)) = worst.zip(program.together_factor) else {
        return Some(format!(
            "{who}: expect {} on cluster {cluster} with {}; other placements were not measured with \
             such accesses (--suite full measures them).",
            expected(best),
            way(chart, best)
        ));
    };
    if factor - 1.0 <= chart.told.resolution {
        return Some(format!(
            "{who}: expect {} on cluster {cluster}; its placements differ by {}, which is less than \
             the model can tell apart ({}).",
            expected(best),
            percent(factor - 1.0),
            percent(chart.told.resolution)
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
        roof.kernel == "load" && roof.roof.limit == "memory" && roof.roof.is_local == Some(true)
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

/// How well the roofs foretell points.
fn trust(chart: &ChartView) -> Option<String> {
    let known = chart.validations.iter().filter_map(|of| Some((of, of.errors.as_ref()?)));
    let worst = known.max_by(|one, other| one.1.relative_rms.total_cmp(&other.1.relative_rms));
    let Some((of, errors)) = worst else {
        return Some(format!(
            "No point of known intensity was measured below these roofs: how well they foretell \
             programs is not known, and differences below {} are not told apart. `nearfar \
             characterize --suite standard --only roofs` measures some.",
            percent(chart.told.resolution)
        ));
    };
    Some(format!(
        "The roofs foretell points of known intensity within {} (relative RMS; by the paper's \
         measure {}), worst below {}; differences below {} between memories are not told apart.",
        percent(errors.relative_rms),
        percent(errors.paper),
        of.roof.name,
        percent(chart.told.resolution)
    ))
}

/// Roofs that a point lies above.
fn exceeded(chart: &ChartView) -> Option<String> {
    let points = chart.validations.iter().flat_map(|of| {
        let above = of.points.iter().filter(|point| point.exceeds);
        above.map(move |point| (of, point))
    });
    let (of, point) = points.max_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio))?;
    Some(format!(
        "{} reaches {} times what the roofs allow below {}: what is exceeded is no roof. Disturbed \
         or short measurements do that; measure roofs again on a quiet machine.",
        printable(&point.kernel),
        format_significant(point.ratio, 3),
        of.roof.name
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
