//! Every compared case: its figure in the first record, and how much of it the second reaches.

use nearfar_model::{ComparedGroup, RecordComparison, Verdict};

use super::lines::{Axis, Lines, Scale, Series, Style};
use super::{Chart, Plot};
use crate::figure::{Figure, Unit};
use crate::subject::compare::group_words;
use crate::subject::compare_cases::{quantity, values};

pub(crate) fn charts(found: &RecordComparison) -> Vec<Chart> {
    [Unit::GbPerS, Unit::GflopPerS, Unit::Ns]
        .into_iter()
        .filter_map(|unit| chart(found, unit))
        .collect()
}

fn chart(found: &RecordComparison, unit: Unit) -> Option<Chart> {
    let (id, x, title, better) = match unit {
        Unit::GbPerS => ("compared-bandwidth", "A, GB/s", "Bandwidth: B vs A", "higher"),
        Unit::GflopPerS => ("compared-arithmetic", "A, GFLOP/s", "Arithmetic: B vs A", "higher"),
        _ => ("compared-times", "A, ns", "Times of accesses: B vs A", "lower"),
    };
    let x = Axis::new(x, Scale::Log);
    let y = Axis::new("B / A", Scale::Near);
    let mut lines = Lines::new(x, y, &["Cases"]);
    let has_cases = |group: &ComparedGroup| {
        found.cases.iter().any(|case| case.group == *group && values(case, unit).is_some())
    };
    let groups: Vec<ComparedGroup> =
        found.groups.iter().map(|group| group.group).filter(has_cases).collect();
    // One group alone is all of them.
    let chosen = if groups.len() > 1 { groups } else { Vec::new() };
    for group in std::iter::once(None).chain(chosen.into_iter().map(Some)) {
        let choice = group.map_or("all", group_words);
        for verdict in Verdict::ALL {
            let mut series = Series::new(verdict.as_str(), Style::Points).toned(verdict.into());
            for case in found.cases.iter().filter(|case| case.verdict == verdict) {
                let Some([a, b]) = values(case, unit) else { continue };
                if group.is_some_and(|group| group != case.group) {
                    continue;
                }
                let [a_words, b_words] = [a, b].map(|value| Figure::new(value, None, unit).words());
                let about = format!("{}\nA {a_words}, B {b_words}", case.a_id);
                series.point(
                    a,
                    &Figure::new(case.ratio, Some(case.interval.into()), Unit::One),
                    &about,
                );
            }
            lines.add(&[choice.to_string()], series);
        }
    }
    Chart::of(
        id,
        "cases",
        title,
        format!(
            "A point for each compared case: {} in A to the right, B / A upwards with its 95 % \
             interval; {better} is better. Marks say the verdict.",
            quantity(unit)
        ),
        Plot::Lines(lines),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Tone;

    /// A colour that the page lacks is the library's in the plot, and black in the legend.
    #[test]
    fn each_verdict_has_its_colour_in_each_theme() {
        let style = include_str!("../../page/page.css");
        for verdict in Verdict::ALL {
            let name = serde_json::to_value(Tone::from(verdict)).unwrap();
            let colour = format!("--{}: #", name.as_str().unwrap());
            assert_eq!(style.matches(&colour).count(), 3, "{colour}");
        }
    }
}
