//! What the rule's fields choose, and what is put on the classes.

use nearfar_machine::{GroupBy, TheoreticalMaximum};
use nearfar_model::{
    AlphaKind, ClassAlphas, ClassRule, Classes, MappingPlace, NoClasses, PlaceKind, Target,
    ThreadChoice, reach_of_data,
};
use nearfar_record::{Coordinates, PairCoordinates, Record};
use nearfar_specimen::{add_alone, pair, record};

use crate::classes::{by_default, classed};

/// (group of CPUs, node, kernel, variant, threads, GB/s of the best of six rounds).
type Line<'a> = (u32, u32, &'a str, &'a str, u32, f64);

/// Six rounds each, the best of which is as given, the others up to 1 % below.
fn record_of(lines: &[Line<'_>]) -> Record {
    let mut record = record();
    for &(cpu_group, node, kernel, variant, threads, best) in lines {
        let rounds: Vec<f64> =
            (0..6).map(|round| best * 1e9 * (1.0 - 0.002 * f64::from(round))).collect();
        let variant = variant.into();
        let place = PairCoordinates { variant, threads, ..pair(cpu_group, node, kernel) };
        add_alone(&mut record, Coordinates::Pairs(place), &rounds);
    }
    record
}

/// Two nodes; group of CPUs 1 reaches node 0 less well than group of CPUs 0 reaches node 1.
const TWO_NODES: [Line<'static>; 14] = [
    (0, 0, "triad", "sse2", 1, 10.0),
    (0, 1, "triad", "sse2", 1, 6.0),
    (1, 0, "triad", "sse2", 1, 5.0),
    (1, 1, "triad", "sse2", 1, 9.8),
    (0, 0, "triad_nt", "avx2", 1, 12.0),
    (0, 1, "triad_nt", "avx2", 1, 5.5),
    (1, 0, "triad_nt", "avx2", 1, 4.0),
    (1, 1, "triad_nt", "avx2", 1, 11.9),
    (0, 0, "load", "avx2", 1, 13.0),
    (1, 1, "load", "avx2", 1, 12.5),
    (0, 0, "load", "avx2", 4, 40.0),
    (0, 1, "load", "avx2", 4, 20.0),
    (1, 0, "load", "avx2", 4, 19.0),
    (1, 1, "load", "avx2", 4, 41.0),
];

fn members(classes: &Classes) -> Vec<Vec<(u32, u32)>> {
    classes
        .sets
        .iter()
        .flat_map(|set| &set.classes)
        .map(|class| class.pairs.iter().map(|pair| (pair.cpu_group, pair.memory_node)).collect())
        .collect()
}

#[test]
fn a_pair_counts_by_the_best_of_kernels_and_variants() {
    let found = by_default(&record_of(&TWO_NODES));
    assert_eq!(members(&found), [vec![(0, 0), (1, 1)], vec![(0, 1)], vec![(1, 0)]]);
    let local = &found.sets[0].classes[0];
    assert!((local.max - 12e9).abs() < 1.0 && (local.min - 11.9e9).abs() < 1.0);
    let pair = &local.pairs[0];
    assert_eq!((pair.kernel.as_str(), pair.variant.as_str(), pair.rounds), ("triad_nt", "avx2", 6));
    let [low, _] = pair.median.ends();
    assert!(low <= pair.median.value && pair.median.value.0 <= pair.best);
    assert_eq!(pair.median.cases.len(), 1);
    assert_eq!(found.sets[0].classes[1].pairs[0].kernel, "triad");
    assert_eq!(found.fewest_rounds, 6);
}

/// Programs walk in order, so that the pages' turns neither make classes nor their alphas.
#[test]
fn variants_that_take_pages_in_turn_count_only_where_they_are_asked_for_or_alone() {
    let mut lines = TWO_NODES.to_vec();
    lines.push((0, 1, "triad_nt", "avx2-pages4", 1, 11.8));
    lines.push((1, 0, "triad_nt", "avx2-pages4", 1, 11.7));
    let record = record_of(&lines);
    assert_eq!(members(&by_default(&record)), members(&by_default(&record_of(&TWO_NODES))));

    let asked = ClassRule { variant: Some("avx2-pages4".into()), ..ClassRule::default() };
    let found = classed(&record, &asked).unwrap();
    assert_eq!(members(&found), [vec![(0, 1), (1, 0)]]);

    let alone: Vec<Line<'_>> = lines.into_iter().filter(|it| it.3 == "avx2-pages4").collect();
    assert_eq!(members(&by_default(&record_of(&alone))), [vec![(0, 1), (1, 0)]]);
}

#[test]
fn kernel_variant_and_threads_can_be_chosen() {
    let record = record_of(&TWO_NODES);
    let rule = |kernel: &str, threads, variant: Option<&str>| ClassRule {
        kernels: vec![kernel.into()],
        threads,
        variant: variant.map(String::from),
        ..ClassRule::default()
    };
    let all = classed(&record, &rule("load", ThreadChoice::All, None)).unwrap();
    assert_eq!(members(&all), [vec![(0, 0), (1, 1)], vec![(0, 1), (1, 0)]]);
    assert_eq!(all.sets[0].classes[0].pairs[0].threads, 4);
    let one = classed(&record, &rule("load", ThreadChoice::Count(1), None)).unwrap();
    assert_eq!(members(&one), [vec![(0, 0), (1, 1)]]);
    let forced = ClassRule { variant: Some("sse2".into()), ..ClassRule::default() };
    let forced = classed(&record, &forced).unwrap();
    assert!(forced.sets[0].classes.iter().all(|class| class.pairs[0].variant == "sse2"));

    for missing in [
        rule("copy", ThreadChoice::Count(1), None),
        rule("triad", ThreadChoice::Count(2), None),
        rule("triad", ThreadChoice::Count(1), Some("avx512")),
    ] {
        let error = classed(&record, &missing).unwrap_err();
        assert!(matches!(error, NoClasses::NotMeasured { .. }));
        assert!(error.to_string().contains("load, triad, triad_nt by 1, 4 threads"), "{error}");
    }
}

#[test]
fn the_span_decides_between_two_levels_and_one() {
    let lines = [(0, 0, "triad", "sse2", 1, 5.85), (0, 1, "triad", "sse2", 1, 5.32)];
    let record = record_of(&lines);
    assert_eq!(members(&by_default(&record)).len(), 2);
    let tenth = classed(&record, &ClassRule { span: 0.10, ..ClassRule::default() }).unwrap();
    assert_eq!(members(&tenth).len(), 1);
    assert!(!tenth.sets[0].classes[0].wide);
    let wide = classed(&record, &ClassRule { span: 0.5, ..ClassRule::default() }).unwrap();
    assert!(!wide.sets[0].classes[0].wide, "9 % is not above ten");
    for span in [0.0, 1.0, f64::NAN] {
        let error = classed(&record, &ClassRule { span, ..ClassRule::default() }).unwrap_err();
        assert!(matches!(error, NoClasses::Span(_)));
    }
}

#[test]
fn initiators_can_have_classes_of_their_own() {
    let rule = ClassRule { per_group: true, ..ClassRule::default() };
    let found = classed(&record_of(&TWO_NODES), &rule).unwrap();
    let cpu_groups: Vec<Option<u32>> = found.sets.iter().map(|set| set.cpu_group).collect();
    assert_eq!(cpu_groups, [Some(0), Some(1)]);
    assert_eq!(members(&found), [vec![(0, 0)], vec![(0, 1)], vec![(1, 1)], vec![(1, 0)]]);
    assert!(found.sets.iter().all(|set| set.classes[1].class == 1));
}

#[test]
fn other_kernels_and_threads_stand_on_the_same_pairs() {
    let found = by_default(&record_of(&TWO_NODES));
    let others: Vec<(String, ThreadChoice, f64, f64)> = found.sets[0].classes[0]
        .others
        .iter()
        .map(|other| {
            let gb = |value: f64| (value / 1e8).round() / 10.0;
            (other.kernel.clone(), other.threads, gb(other.max), gb(other.min))
        })
        .collect();
    assert_eq!(
        others,
        [
            ("triad".into(), ThreadChoice::Count(1), 10.0, 9.8),
            ("triad_nt".into(), ThreadChoice::Count(1), 12.0, 11.9),
            ("load".into(), ThreadChoice::Count(1), 13.0, 12.5),
            ("load".into(), ThreadChoice::All, 41.0, 40.0),
        ]
    );
    // What was judged is not repeated, and what was not measured is not there.
    let rule = ClassRule { kernels: vec!["triad".into()], ..ClassRule::default() };
    let found = classed(&record_of(&TWO_NODES), &rule).unwrap();
    for class in &found.sets[0].classes {
        assert!(class.others.iter().all(|other| other.kernel != "triad"));
    }
    let remote = &found.sets[0].classes[1];
    assert!(
        remote
            .others
            .iter()
            .all(|other| { other.kernel != "load" || other.threads == ThreadChoice::All })
    );
}

#[test]
fn alphas_are_relative_always_and_absolute_where_gamma_is_known() {
    let record = record_of(&TWO_NODES);
    let alphas_with = |gamma: Option<TheoreticalMaximum>| {
        let rule = ClassRule { gamma, ..ClassRule::default() };
        assert!(rule.is_default());
        let found = classed(&record, &rule).unwrap();
        let set = &found.sets[0];
        for (class, theirs) in set.classes.iter().zip([1.0, 0.5, 5.0 / 12.0]) {
            assert!((class.alpha_relative - theirs).abs() < 1e-9);
        }
        ClassAlphas::of(&set.classes, &found.gamma)
    };
    let known = alphas_with(Some(TheoreticalMaximum::memory("24GB/s").unwrap()));
    assert_eq!((known.alphas_are, known.unit.unwrap().0), (AlphaKind::Absolute, 24e9));
    for (ours, theirs) in known.alphas.iter().zip([0.5, 0.25, 5.0 / 24.0]) {
        assert!((ours - theirs).abs() < 1e-9);
    }
    let unknown = alphas_with(None);
    assert_eq!(unknown.alphas_are, AlphaKind::Relative);
    assert!(unknown.gamma.as_result().unwrap_err().contains("--gamma"));
    assert!((unknown.alphas[1] - 0.5).abs() < 1e-9);
}

#[test]
fn memory_nodes_are_reached_in_the_classes_of_their_pairs() {
    let found = by_default(&record_of(&TWO_NODES));
    let reach = reach_of_data(&found.sets[0], GroupBy::Core, &[1, 0, 0, 7]);
    assert_eq!(reach.places_are, PlaceKind::CpuGroups(GroupBy::Core));
    let places = [0, 1].map(|index| MappingPlace { index, cpu_node: Some(index) });
    assert_eq!(reach.places, places);
    let of = |first, second| Target { class_from: vec![first, second] };
    let node_0 = of(Some(0), Some(2));
    assert_eq!(reach.targets, [of(Some(1), Some(0)), node_0.clone(), node_0, of(None, None)]);
}

#[test]
fn a_record_without_samples_has_no_classes() {
    let no_pairs = |record: &Record| {
        matches!(classed(record, &ClassRule::default()), Err(NoClasses::NoPairs(_)))
    };
    assert!(no_pairs(&record()));
    let mut planned = record_of(&TWO_NODES);
    planned.samples.clear();
    assert!(no_pairs(&planned));
}
