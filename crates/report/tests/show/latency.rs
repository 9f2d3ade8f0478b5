use nearfar_record::{Actor, ChaseWalk, Experiment, LatencyCoordinates, Pages, Record};
use nearfar_report::ShowView;
use nearfar_specimen::{disturb, latency};
use serde_json::Value;

use crate::{near, record, shown};

const MEMORY: u64 = 1 << 30;

/// Six rounds of a chase whose accesses take so many ns, at 2.5 GHz.
fn add_chase(
    record: &mut Record,
    node: u32,
    (bytes, pages, walk): (u64, Pages, ChaseWalk),
    ns: f64,
    load: Option<(u32, f64)>,
) {
    let (pause, gb_per_s) = load.unzip();
    let place = LatencyCoordinates { pages, walk, ..latency(0, node, bytes, pause) };
    let beside = gb_per_s.map_or(Vec::new(), |gb_per_s| vec![1e9 * gb_per_s; 6]);
    let before = record.samples.len();
    nearfar_specimen::add_chase(record, place, &[ns; 6], &beside);
    for sample in &mut record.samples[before..] {
        sample.actors[0].threads[0].core_ghz = Some(2.5);
    }
}

fn handmade() -> Record {
    use ChaseWalk::{Anywhere, PageGroups};
    use Pages::{Small, Transparent};
    let mut record = record(&[Experiment::Latency]);
    add_chase(&mut record, 1, (MEMORY, Transparent, PageGroups), 160.0, None);
    for (bytes, ns) in [(32 << 10, 1.6), (1 << 20, 5.6), (MEMORY, 100.0)] {
        add_chase(&mut record, 0, (bytes, Transparent, PageGroups), ns, None);
    }
    add_chase(&mut record, 0, (MEMORY, Transparent, Anywhere), 105.0, None);
    add_chase(&mut record, 0, (MEMORY, Small, PageGroups), 101.0, None);
    add_chase(&mut record, 0, (MEMORY, Small, Anywhere), 131.0, None);
    for (pause, ns, gb_per_s) in [(0, 250.0, 20.0), (4096, 104.0, 2.0), (256, 130.0, 15.0)] {
        let walk = (MEMORY, Transparent, PageGroups);
        add_chase(&mut record, 0, walk, ns, Some((pause, gb_per_s)));
    }
    record
}

#[test]
fn the_matrix_the_curve_and_the_loaded_curve_are_shown() {
    let mut record = handmade();
    let remote = record.cases[0].id.clone();
    disturb(&mut record, &remote);
    let view = shown("latency", &record);
    let all = view["latency"].as_array().unwrap();
    let in_matrix: Vec<&Value> = all.iter().filter(|one| one["in_matrix"] == true).collect();
    assert_eq!(in_matrix.len(), 2);
    for (one, ns) in in_matrix.iter().zip([100.0, 160.0]) {
        assert!(near(&one["latency"]["median_ns"], ns));
        assert_eq!((&one["pages"], &one["walk"]), (&"transparent".into(), &"page_groups".into()));
        assert_eq!(one["working_set_bytes"], MEMORY);
    }
    assert_eq!(in_matrix[1]["latency"]["only_disturbed"], true);
    let anywhere = all.iter().filter(|one| one["walk"] == "anywhere");
    let parts: Vec<&Value> = anywhere.map(|one| &one["translation_ns"]).collect();
    // Base pages, then huge ones; bytes in a window are whole numbers.
    for (part, ns) in parts.iter().zip([30.0, 5.0]) {
        assert!((part.as_f64().unwrap() - ns).abs() < 1e-5, "{part}");
    }
    let groups = all.iter().filter(|one| one["walk"] == "page_groups");
    assert!(groups.into_iter().all(|one| one["translation_ns"].is_null()));
    // From the longest pause to none.
    let loads: Vec<&Value> = all.iter().filter(|one| one["load"].is_object()).collect();
    let pauses: Vec<&Value> = loads.iter().map(|one| &one["load"]["pause_cycles"]).collect();
    assert_eq!(pauses, [&Value::from(4096), &256.into(), &0.into()]);
    assert!(near(&loads[2]["load"]["bandwidth"]["sum_gb_per_s"], 20.0));
    assert!(near(&loads[2]["latency"]["median_ns"], 250.0));
    assert!(near(&loads[0]["core_ghz"], 2.5));
}

#[test]
fn what_noise_makes_faster_is_within_noise() {
    let mut record = record(&[Experiment::Latency]);
    let walk = |walk| (MEMORY, Pages::Transparent, walk);
    add_chase(&mut record, 0, walk(ChaseWalk::PageGroups), 100.0, None);
    add_chase(&mut record, 0, walk(ChaseWalk::Anywhere), 99.0, None);
    // Rounds of both walks between 98 and 101 ns.
    for (sample, ns) in record.samples.iter_mut().zip([100, 98, 101, 99, 100, 101].iter().cycle()) {
        sample.actors[0].threads[0].useful_bytes = 8_000_000_000 / ns;
    }
    record.samples[6].actors[0].threads[0].useful_bytes = 8_000_000_000 / 97;
    record.samples[11].actors[0].threads[0].useful_bytes = 8_000_000_000 / 98;
    let view = ShowView::new(&record);
    let text = view.text();
    assert!(text.contains("-1.5 (within noise)"), "{text}");
    let view = serde_json::to_value(view).unwrap();
    let anywhere = &view["latency"][1];
    assert_eq!(anywhere["walk"], "anywhere");
    assert!((anywhere["translation_ns"].as_f64().unwrap() + 1.5).abs() < 1e-5);
    let [low, high] = [0, 1].map(|end| anywhere["translation_interval_ns"][end].as_f64().unwrap());
    assert!(low < -1.5 && high > 0.0, "{low} {high}");
    assert!(view["latency"][0]["translation_interval_ns"].is_null());
}

/// Tables that show intervals have no part in the line below one that does not.
#[test]
fn the_widest_interval_is_that_of_its_own_table() {
    let mut record = handmade();
    // Only the remote chase and a loaded one vary.
    for case in [0, 8] {
        let case = &record.cases[case].id;
        let of = record.samples.iter_mut().filter(|sample| sample.case == *case);
        for (sample, bytes) in of.zip(1..) {
            sample.actors[0].threads[0].useful_bytes = bytes * 10_000_000;
        }
    }
    let text = ShowView::new(&record).text();
    assert!(!text.contains("widest"), "{text}");
    let local = &record.cases[1].id;
    for sample in record.samples.iter_mut().filter(|sample| sample.case == *local) {
        sample.actors[0].threads[0].useful_bytes += u64::from(sample.round) * 100_000_000;
    }
    let text = ShowView::new(&record).text();
    assert!(text.contains("widest 95 % interval: ±4.8 %"), "{text}");
}

/// Set / caches of streams beside it is another measure.
#[test]
fn a_chase_that_caches_answer_is_marked() {
    let mut record = handmade();
    for case in &mut record.cases {
        for actor in &mut case.actors {
            match actor {
                Actor::Chase(chase) => chase.llc_multiple = Some(2.0),
                Actor::Stream(stream) => stream.llc_multiple = Some(1.0),
                Actor::Compute(_) | Actor::Transfer(_) | Actor::Command(_) => {}
            }
        }
    }
    let view = ShowView::new(&record);
    assert!(view.latency.iter().all(|one| one.case.llc_multiple == Some(2.0)));
    assert!(!view.text().contains('^'), "{}", view.text());
    let Actor::Chase(chase) = &mut record.cases[0].actors[0] else { panic!() };
    chase.llc_multiple = Some(1.8);
    let text = ShowView::new(&record).text();
    assert!(
        text.lines().any(|line| line.contains("cluster 0") && line.ends_with("160^")),
        "{text}"
    );
    assert!(text.contains("^ the chase touches less than 1.9 times"), "{text}");
}

/// The rounds that had an access would say too little.
#[test]
fn one_round_without_an_access_leaves_no_time() {
    let mut record = handmade();
    record.samples[0].actors[0].threads[0].useful_bytes = 0;
    let view = ShowView::new(&record);
    assert!(view.text().contains("no access in a round"), "{}", view.text());
    let without: Vec<u32> = view
        .latency
        .iter()
        .filter(|one| one.latency.is_none())
        .map(|one| one.memory_node)
        .collect();
    assert_eq!(without, [1]);
}

#[test]
fn a_chase_that_never_arrived_has_no_time() {
    let mut record = handmade();
    for sample in &mut record.samples {
        sample.actors[0].threads[0].useful_bytes = 0;
    }
    let view = serde_json::to_value(ShowView::new(&record)).unwrap();
    assert!(view["latency"].as_array().unwrap().iter().all(|one| one["latency"].is_null()));
    let text = ShowView::new(&record).text();
    assert!(text.contains("no access in a round"), "{text}");
}
