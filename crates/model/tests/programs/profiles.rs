//! What profiles say of a program's demand, of the classes that its accesses go to, and of its point
//! below the roofs of memory.

use std::collections::BTreeMap;

use nearfar_machine::Initiator;
use nearfar_model::{
    ClassRule, Classes, RecordFigures, class_shares, classes, profiled_demand, profiled_point,
};
use nearfar_record::{
    AccessShares, Coordinates, PairCoordinates, PairShare, Profile, ProfileFigures,
    ProfiledInitiator, read_profile,
};
use nearfar_specimen::{add_alone, pair, record};
use nearfar_units::FlopsPerSecond;

fn planted() -> Profile {
    let text = include_bytes!("../../../document/tests/profiles/planted.json");
    read_profile(&text[..]).unwrap()
}

fn initiators(profile: &Profile) -> Vec<Initiator> {
    let of = |it: &ProfiledInitiator| Initiator {
        index: it.index,
        cpus: it.cpus.clone(),
        memory_nodes: it.memory_nodes.iter().copied().collect(),
        cpu_node: it.cpu_node,
    };
    profile.initiators.iter().map(of).collect()
}

#[test]
fn what_was_seen_is_taken_and_what_was_not_is_said() {
    let mut profile = planted();
    profile.figures.local_dram_share = None;
    let own = initiators(&profile);
    let told = profiled_demand(&profile, &own, 8);
    assert_eq!((told.threads, told.working_set_bytes), (Some(2), Some(100_663_296)));
    let seen = told.access.unwrap();
    assert_eq!(*seen.of(0), BTreeMap::from([(0, 0.75), (1, 0.25)]));
    // Initiator 1 did nothing: what all threads did is taken.
    assert_eq!((seen.of(1), seen.uneven), (seen.of_all(), None));
    assert!(told.unknown.iter().any(|it| it.contains("was not counted")), "{:?}", told.unknown);

    profile.most_bytes = None;
    let lacking = profiled_demand(&profile, &own[..1], 1);
    assert_eq!((lacking.threads, lacking.working_set_bytes), (None, None));
    assert_eq!(lacking.access, None);
    for words in ["more than the 1 cores", "saw no pages", "other initiators"] {
        assert!(lacking.unknown.iter().any(|it| it.contains(words)), "{words}");
    }
    profile.access = None;
    profile.access_unknown = Some("no look counted its pages".into());
    let lacking = profiled_demand(&profile, &own, 8);
    assert!(lacking.unknown.iter().any(|it| it.contains("no look counted")));
}

/// Three quarters of the pages are near, and nine tenths of the lines came from there.
#[test]
fn counted_lines_move_the_shares_of_pages() {
    let mut profile = planted();
    let own = initiators(&profile);
    profile.figures.local_dram_share = Some(0.9);
    let seen = profiled_demand(&profile, &own, 8).access.unwrap();
    let near = seen.of(0)[&0];
    assert!((near - 0.9).abs() < 1e-9 && (seen.of(0)[&1] - 0.1).abs() < 1e-9, "{seen:?}");
    assert_eq!(seen.uneven, Some((0.9, 0.75)));
    for (counted, is_uneven) in [(0.78, false), (f64::NAN, false), (7.0, false), (0.0, true)] {
        profile.figures.local_dram_share = Some(counted);
        let seen = profiled_demand(&profile, &own, 8).access.unwrap();
        assert_eq!(seen.uneven.is_some(), is_uneven, "{counted}");
        let sum: f64 = seen.of_all().values().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{counted}: {seen:?}");
    }
}

/// The classes of pairs: group of CPUs, initiator, memory node, bytes/s.
fn classes_of(pairs: &[(u32, u32, u32, f64)]) -> Classes {
    let mut record = record();
    for &(index, initiator, node, best) in pairs {
        let place = PairCoordinates { index, ..pair(initiator, node, "triad") };
        add_alone(&mut record, Coordinates::Pairs(place), &[best; 6]);
    }
    classes(&RecordFigures::new(&record), &ClassRule::default()).unwrap()
}

fn access(pairs: &[(u32, u32, f64)]) -> AccessShares {
    let pair = |&(initiator, memory_node, share): &(u32, u32, f64)| PairShare {
        initiator,
        memory_node,
        share,
    };
    AccessShares {
        local_share: 0.0,
        cpu_time: BTreeMap::new(),
        pages: BTreeMap::new(),
        pairs: pairs.iter().map(pair).collect(),
    }
}

#[test]
fn accesses_are_added_up_by_class_and_what_is_in_none_is_told() {
    let known = classes_of(&[(0, 0, 0, 10e9), (1, 1, 1, 10e9), (0, 0, 1, 5e9)]);
    let (shares, elsewhere) =
        class_shares(&known, &access(&[(0, 0, 0.5), (0, 1, 0.25), (1, 0, 0.25)])).unwrap();
    let told: Vec<(u32, f64, f64)> =
        shares.iter().map(|of| (of.class, of.alpha_relative, of.share)).collect();
    assert_eq!(told, [(0, 1.0, 0.5), (1, 0.5, 0.25)]);
    assert!((elsewhere - 0.25).abs() < 1e-12);
}

#[test]
fn groups_of_one_initiator_take_equal_parts() {
    // Two groups of CPUs of one initiator, in different classes.
    let known = classes_of(&[(0, 0, 0, 10e9), (1, 0, 0, 8e9)]);
    let (shares, elsewhere) = class_shares(&known, &access(&[(0, 0, 1.0)])).unwrap();
    assert!(shares.iter().all(|of| (of.share - 0.5).abs() < 1e-12) && elsewhere < 1e-12);
    let per_group = Classes { sets: Vec::new(), ..known };
    assert!(class_shares(&per_group, &access(&[])).is_err());
}

#[test]
fn a_point_is_of_the_initiator_that_was_used_most() {
    let mut profile = planted();
    let found = profiled_point(&profile).unwrap();
    assert_eq!((found.initiator, found.initiator_share), (0, 1.0));
    assert_eq!(found.point.flops, Some(FlopsPerSecond(1e9)));
    assert!((found.point.intensity - 1.0 / 12.0).abs() < 1e-12);
    profile.access.as_mut().unwrap().cpu_time = [(0, 0.25), (1, 0.75)].into();
    let found = profiled_point(&profile).unwrap();
    assert_eq!((found.initiator, found.point.flops), (1, Some(FlopsPerSecond(0.75e9))));
    profile.access = None;
    assert!(profiled_point(&profile).unwrap_err().contains("where its threads ran"));
    profile.initiators.truncate(1);
    assert_eq!(profiled_point(&profile).unwrap().initiator_share.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn figures_that_are_not_there_are_named() {
    let mut profile = planted();
    profile.figures.gflop_per_s = Some(0.0);
    assert!(profiled_point(&profile).unwrap_err().contains("its gflop_per_s is 0"));
    profile.figures = ProfileFigures::default();
    let name = "operational_flops_per_byte";
    profile.figures.unknown.insert(name.into(), "no counters".into());
    let why = profiled_point(&profile).unwrap_err();
    assert!(why.contains(name) && why.contains("no counters"), "{why}");
}
