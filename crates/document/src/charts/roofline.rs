//! Roofs and points below them.

use nearfar_model::BandwidthRoof;
use nearfar_record::Roof;
use nearfar_units::{BytesPerSecond, format_significant};

use crate::subject::roofline::roof_words;
use crate::subject::roofline_phases::limit_words;

use super::lines::{Axis, Lines, Scale, Series, Style};
use super::{Chart, Plot};
use crate::figure::Figure;
use crate::subject::Sources;

/// Points of known intensity load and do fused operations, or multiply and add where there are
/// none: the roof and the ceiling that they are held against.
const JUDGING_ROOF: &str = "load";
const JUDGING_CEILINGS: [&str; 2] = ["fma_dp", "mul_add_dp"];

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let x = Axis::new("arithmetic intensity, FLOPs per byte", Scale::Log);
    let y = Axis::new("attainable, GFLOP/s", Scale::Log);
    let mut lines = Lines::new(x, y, &["CPUs"]);
    for chart in sources.roofline().into_iter().flat_map(|model| &model.charts) {
        let choice = [sources.show.measured.who.cpus(chart.initiator)];
        let corners = || chart.roofs.iter().flat_map(|roof| &roof.corners);
        let ends = corners().map(|corner| corner.intensity);
        let ends = ends.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        let has_ceiling = |name: &&str| chart.ceilings.iter().any(|it| it.kernel == *name);
        let own_validations = || chart.own_validations().map(|(_, of)| of);
        let judging_ceiling = JUDGING_CEILINGS.into_iter().find(has_ceiling);
        for ceiling in &chart.ceilings {
            let name = format!("arithmetic {} {}", ceiling.kernel, ceiling.variant);
            let mut series = Series::new(&name, Style::Edge);
            let figure = Figure::of(&ceiling.flops);
            let is_judge = match own_validations().next().is_none() {
                true => chart.ceiling.as_ref() == Some(&ceiling.kernel),
                false => Some(&*ceiling.kernel) == judging_ceiling,
            };
            series.hidden_first(!is_judge);
            if ends.0 < ends.1 {
                series.point(ends.0, &figure, &name);
                series.point(ends.1, &figure, &name);
            }
            lines.add(&choice, series);
        }
        // Of the many roofs of a large machine first one for each place, by the fastest kernel, and
        // of many remote nodes the nearest and the farthest.
        let fastest = |roof: Roof| {
            let of = chart.roofs.iter().filter(|of| of.roof == roof);
            of.map(|of| of.bandwidth.value.0).fold(0.0, f64::max)
        };
        let remote = chart.roofs.iter().filter(|of| is_remote(of.roof, of.is_local));
        let (low, high) = remote
            .map(|of| fastest(of.roof))
            .fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        for of in &chart.roofs {
            let BandwidthRoof { roof, is_local, kernel, variant, .. } = of;
            let refuted = if of.is_refuted { ", refuted by its points" } else { "" };
            let name = format!("{} {kernel} {variant}{refuted}", roof_words(*roof, *is_local));
            let bandwidth = Figure::of(&of.bandwidth).words();
            let mut series = Series::new(&name, Style::Edge);
            let most = fastest(*roof);
            let is_between = is_remote(*roof, *is_local) && low < most && most < high;
            let is_first =
                matches!(roof, Roof::Cache { .. } | Roof::Memory { .. } | Roof::AllLocal { .. });
            // Those that the points shown are held against, where there are points.
            let is_judge = match own_validations().any(|points| points.roof == *roof) {
                true => kernel == JUDGING_ROOF,
                false => of.bandwidth.value >= BytesPerSecond(most),
            };
            series.hidden_first(!is_first || is_between || !is_judge);
            for corner in &of.corners {
                let figure = Figure::plain(corner.flops);
                let at = format_significant(corner.intensity, 3);
                let about = format!("{name}: {bandwidth}\nat {at} FLOPs per byte");
                series.point(corner.intensity, &figure, &about);
            }
            lines.add(&choice, series);
        }
        for validation in own_validations() {
            let roof = roof_words(validation.roof, validation.is_local);
            let mut series =
                Series::new(format!("points: {roof} {}", validation.variant), Style::Points);
            series.hidden_first(is_remote(validation.roof, validation.is_local));
            for point in &validation.points {
                let about = format!(
                    "{roof}, {}, {} FLOPs per byte\n{} of the attainable {}",
                    point.kernel,
                    format_significant(point.intensity, 3),
                    format_significant(point.ratio, 3),
                    Figure::plain(point.attainable).words()
                );
                series.point(point.intensity, &Figure::of(&point.flops), &about);
            }
            lines.add(&choice, series);
        }
        for of in chart.workloads.iter().filter(|of| of.flops.0 > 0.0) {
            let Some(intensity) = of.intensity else { continue };
            let node = Roof::Memory { node: of.memory_node };
            let is_local = chart.roofs.iter().find(|it| it.roof == node).and_then(|it| it.is_local);
            let name = format!("{} {}, {}", of.workload, of.phase, roof_words(node, is_local));
            let mut series = Series::new(&name, Style::Points);
            series.hidden_first(is_local == Some(false));
            let limit =
                of.limit.map_or(String::new(), |it| format!("\nlimit: {}", limit_words(it)));
            let at = format_significant(intensity, 3);
            let ratio =
                of.ratio.map_or(String::new(), |it| format!(", {} of its roof", percent(it)));
            let about = format!("{name}: {at} FLOPs per declared byte{ratio}{limit}");
            series.point(intensity, &Figure::plain(of.flops), &about);
            lines.add(&choice, series);
        }
        if let Some((profile, profiled)) = &sources.profiled
            && profiled.initiator == chart.initiator
            && let Some(flops) = profiled.point.flops
        {
            let name = format!("program {}", profile.program.name);
            let mut series = Series::new(&name, Style::Points);
            let figure = Figure::plain(flops);
            let about = format!(
                "{name}, by its counters: {} FLOPs per byte read from memory (operational intensity; \
                 roofs of caches are not for it), {} of its CPU time on these CPUs",
                format_significant(profiled.point.intensity, 3),
                percent(profiled.initiator_share)
            );
            series.point(profiled.point.intensity, &figure, &about);
            lines.add(&choice, series);
        }
    }
    Chart::of(
        "roofline-chart",
        "roofline",
        "Roofline",
        "Logarithmic axes: attainable operations against arithmetic intensity. \
                      Slanted lines are roofs of bandwidth, level lines ceilings of arithmetic, \
                      marks are mixes of known intensity that were measured, and phases of \
                      workloads by the bytes that they declare.",
        Plot::Lines(lines),
    )
    .into_iter()
    .collect()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn is_remote(roof: Roof, is_local: Option<bool>) -> bool {
    matches!(roof, Roof::Memory { .. }) && is_local == Some(false)
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::simulated::simulate;
    use nearfar_measure::suite_inputs;
    use nearfar_model::ModelChoices;
    use nearfar_model::profiled_point;
    use nearfar_record::{Experiment, Inputs, Suite, read_profile};
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_watched_program_is_a_mark_on_the_chart_of_its_initiator() {
        let only_roofs = vec![Experiment::Roofs];
        let inputs = Inputs { experiments: only_roofs, ..suite_inputs(Suite::Standard) };
        let record = simulate(&read_machine("joe0").unwrap(), inputs, true).unwrap();
        let planted = include_bytes!("../../../document/tests/profiles/planted.json");
        let profile = read_profile(&planted[..]).unwrap();
        let without = Sources::new(&record, &ModelChoices::default());
        let drawn = |sources: &Sources<'_>| -> Vec<Value> {
            let chart = serde_json::to_value(&charts(sources)[0]).unwrap();
            let mut found = Vec::new();
            collect(&chart, "program ", &mut found);
            found
        };
        assert!(drawn(&without).is_empty());
        let profiled = Some((&profile, profiled_point(&profile).unwrap()));
        let marks = drawn(&Sources { profiled, ..without });
        assert_eq!(marks.len(), 1, "on one initiator of four: {marks:?}");
        assert_eq!(marks[0]["x"][0], 0.083_333_3);
        assert_eq!(marks[0]["y"][0], 1.0);
        assert!(marks[0].to_string().contains("100 % of its CPU time on these CPUs"));
    }

    #[test]
    fn phases_of_workloads_are_marks_with_what_limits_them() {
        let experiments = vec![Experiment::Roofs, Experiment::Workloads];
        let inputs = Inputs { experiments, ..suite_inputs(Suite::Quick) };
        let record = simulate(&read_machine("joe0").unwrap(), inputs, true).unwrap();
        let sources = Sources::new(&record, &ModelChoices::default());
        let (chart, mut marks) = (serde_json::to_value(&charts(&sources)[0]).unwrap(), Vec::new());
        collect(&chart, "mg.W resid, local node 0", &mut marks);
        let [mark] = &marks[..] else { panic!("on one node: {marks:?}") };
        assert!(mark.to_string().contains("limit: "), "{mark}");
    }

    /// The series whose names begin so.
    fn collect(value: &Value, prefix: &str, found: &mut Vec<Value>) {
        if value["name"].as_str().is_some_and(|name| name.starts_with(prefix)) {
            found.push(value.clone());
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, prefix, found)),
            Value::Object(fields) => fields.values().for_each(|item| collect(item, prefix, found)),
            _ => (),
        }
    }
}
