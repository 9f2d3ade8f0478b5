//! Roofs and points below them.

use nearfar_model::{BandwidthRoof, Ceiling, Chart as RooflineChart};
use nearfar_record::Roof;
use nearfar_units::format_significant;

use crate::subject::roofline::roof_words;
use crate::subject::roofline_phases::limit_words;

use super::lines::{Axis, Lines, Scale, Series, Style};
use super::{Chart, Plot};
use crate::figure::Figure;
use crate::subject::Sources;

/// Of each place the roof that is shown first, so that roofs can be read against each other, and
/// points of known intensity against them: those load, and do fused operations, or multiply and add
/// where there are none.
const FIRST_KERNEL: &str = "load";
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
        let has_points = own_validations().next().is_some();
        let judging_ceiling = JUDGING_CEILINGS.into_iter().find(has_ceiling).filter(|_| has_points);
        // The roofs end at the ceiling of the chart; what points are held against may be lower.
        let is_first_ceiling = |it: &Ceiling| {
            chart.ceiling.as_ref() == Some(&it.kernel) || judging_ceiling == Some(&*it.kernel)
        };
        let mut looks = Looks::of(chart, is_first_ceiling);
        for (position, ceiling) in chart.ceilings.iter().enumerate() {
            let name = format!("arithmetic {} {}", ceiling.kernel, ceiling.variant);
            let series = Series::new(&name, Style::Edge);
            let mut series = series.looking([looks.ceilings[position]; 2]);
            let figure = Figure::of(&ceiling.flops);
            series.hidden_first(!is_first_ceiling(ceiling));
            if ends.0 < ends.1 {
                series.point(ends.0, &figure, &name);
                series.point(ends.1, &figure, &name);
            }
            lines.add(&choice, series);
        }
        for (position, of) in chart.roofs.iter().enumerate() {
            let BandwidthRoof { roof, is_local, kernel, variant, .. } = of;
            let refuted = if of.is_refuted { ", refuted by its points" } else { "" };
            let name = format!("{} {kernel} {variant}{refuted}", roof_words(*roof, *is_local));
            let bandwidth = Figure::of(&of.bandwidth).words();
            let series = Series::new(&name, Style::Edge);
            let mut series = series.looking([looks.roofs[position]; 2]);
            series.hidden_first(!looks.shown[position]);
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
                Series::new(format!("points: {roof} {}", validation.variant), Style::Points)
                    .looking(looks.mark(chart, validation.roof));
            series.hidden_first(!looks.is_shown(chart, validation.roof));
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
            let series = Series::new(&name, Style::Points);
            let mut series = series.looking(looks.mark(chart, node));
            series.hidden_first(!looks.is_shown(chart, node));
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
            let series = Series::new(&name, Style::Points);
            let mut series = series.looking([looks.next; 2]);
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
                      Slanted lines are roofs of bandwidth, of each place first that of loads; they end \
                      at the highest of the level lines that are shown first, which are ceilings of \
                      arithmetic. Marks \
                      have the colour of their roof: mixes of known intensity that were measured, and \
                      phases of workloads by the bytes that they declare.",
        Plot::Lines(lines),
    )
    .into_iter()
    .collect()
}

/// The first of the kernels of a place, or the fastest where that was not measured.
fn first_kernel(chart: &RooflineChart, roof: Roof) -> Option<&BandwidthRoof> {
    let of = || chart.roofs.iter().filter(move |of| of.roof == roof);
    of().find(|of| of.kernel == FIRST_KERNEL).or_else(|| {
        of().max_by(|one, other| one.bandwidth.value.0.total_cmp(&other.bandwidth.value.0))
    })
}

/// Of the many roofs of a large machine first one for each place, and of many remote nodes the nearest
/// and the farthest.
fn shown_first(chart: &RooflineChart) -> Vec<bool> {
    let rate = |roof: Roof| first_kernel(chart, roof).map_or(0.0, |of| of.bandwidth.value.0);
    let remote = chart.roofs.iter().filter(|of| is_remote(of.roof, of.is_local));
    let (low, high) = remote
        .map(|of| rate(of.roof))
        .fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
    let is_first = |of: &BandwidthRoof| {
        let own = of.bandwidth.value.0;
        let is_between = is_remote(of.roof, of.is_local) && low < own && own < high;
        let is_place =
            matches!(of.roof, Roof::Cache { .. } | Roof::Memory { .. } | Roof::AllLocal { .. });
        is_place && !is_between && first_kernel(chart, of.roof) == Some(of)
    };
    chart.roofs.iter().map(is_first).collect()
}

/// How lines look, by number: those that are shown first have the first, whose colours differ most. Marks
/// look like the roof that they are held against.
struct Looks {
    /// Which roofs are shown first.
    shown: Vec<bool>,
    roofs: Vec<usize>,
    ceilings: Vec<usize>,
    /// The first number that no line has.
    next: usize,
    /// The roofs of the marks so far.
    marks: Vec<Roof>,
}

impl Looks {
    fn of(chart: &RooflineChart, is_first_ceiling: impl Fn(&Ceiling) -> bool) -> Self {
        let shown = shown_first(chart);
        let ceilings: Vec<bool> = chart.ceilings.iter().map(is_first_ceiling).collect();
        let (mut roofs, mut of_ceilings) = (vec![0; shown.len()], vec![0; ceilings.len()]);
        let mut next = 0;
        for first in [true, false] {
            for (of, numbers) in [(&shown, &mut roofs), (&ceilings, &mut of_ceilings)] {
                let wanted = of.iter().zip(numbers).filter(|(is_first, _)| **is_first == first);
                for (_, number) in wanted {
                    *number = next;
                    next += 1;
                }
            }
        }
        Self { shown, roofs, ceilings: of_ceilings, next, marks: Vec::new() }
    }

    /// Whether marks are shown first: as the line that they are held against is; without a line they are.
    fn is_shown(&self, chart: &RooflineChart, roof: Roof) -> bool {
        let of = chart.roofs.iter().zip(&self.shown).filter(|(of, _)| of.roof == roof);
        let mut of = of.map(|(_, shown)| *shown).peekable();
        of.peek().is_none() || of.any(|shown| shown)
    }

    /// Several series of marks of one roof have one colour and differ in their marks.
    fn mark(&mut self, chart: &RooflineChart, roof: Roof) -> [usize; 2] {
        let line = first_kernel(chart, roof);
        let position = chart.roofs.iter().position(|of| Some(of) == line);
        let number = position.map_or(self.next, |position| self.roofs[position]);
        let before = self.marks.iter().filter(|known| **known == roof).count();
        self.marks.push(roof);
        [number, number + before]
    }
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

    /// What ends a roof is drawn, and marks have the colour of the line that they lie on.
    #[test]
    fn lines_and_marks_that_are_shown_first_belong_together() {
        let inputs = suite_inputs(Suite::Standard);
        let inputs = Inputs { experiments: vec![Experiment::Roofs], ..inputs };
        let machine = read_machine("two-socket-8-nodes").unwrap();
        let record = simulate(&machine, inputs, true).unwrap();
        let sources = Sources::new(&record, &ModelChoices::default());
        let chart = serde_json::to_value(&charts(&sources)[0]).unwrap();
        let layer = &chart["layers"][0]["series"];
        let shown: Vec<&Value> =
            layer.as_array().unwrap().iter().filter(|of| of["shown"] == true).collect();
        let name = |of: &Value| of["name"].as_str().unwrap().to_string();
        let most = |of: &Value| {
            let heights = of["y"].as_array().unwrap().iter().filter_map(Value::as_f64);
            heights.fold(0.0, f64::max)
        };
        let lines = || shown.iter().filter(|of| of["style"] == "edge");
        let ceilings: Vec<f64> =
            lines().filter(|of| name(of).starts_with("arithmetic")).map(|of| most(of)).collect();
        let (mut marks, mut roofs) = (0, 0);
        for roof in lines().filter(|of| !name(of).starts_with("arithmetic")) {
            roofs += 1;
            assert!(name(roof).contains(" load "), "{}", name(roof));
            let is_end = |of: &f64| (of / most(roof) - 1.0).abs() < 1e-4;
            assert!(ceilings.iter().any(is_end), "{} {ceilings:?}", name(roof));
            let place = name(roof).split(" load ").next().unwrap().to_string();
            let own = shown.iter().filter(|of| name(of).starts_with(&format!("points: {place} ")));
            for points in own {
                marks += 1;
                assert_eq!(points["look"][0], roof["look"][0], "{}", name(points));
            }
        }
        assert!(marks > 2 && roofs > 4, "{marks} {roofs}");
        // No marks are shown without their roof, and no roof without its marks.
        let all = layer.as_array().unwrap();
        for points in all.iter().filter(|of| name(of).starts_with("points: ")) {
            let name_of = name(points);
            let (place, _) = name_of["points: ".len()..].rsplit_once(' ').unwrap();
            let is_shown = lines().any(|of| name(of).starts_with(&format!("{place} load ")));
            assert_eq!(points["shown"] == true, is_shown, "{place}");
        }
        let looks: Vec<&Value> = lines().map(|of| &of["look"]).collect();
        assert!(looks.iter().all(|look| looks.iter().filter(|it| *it == look).count() == 1));
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
