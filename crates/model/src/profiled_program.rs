//! What a profile says of a program in the terms of a record's models: the classes that its
//! accesses go to, and its point below the roofs of memory.

use std::collections::BTreeMap;

use nearfar_record::{AccessShares, ClassShare, Profile};
use nearfar_units::FlopsPerSecond;

use crate::classes::{ClassSet, Classes};
use crate::roofline::{IntensityKind, ProgramPoint};

/// The access share of each class, and what goes to pairs that are in none. A group of CPUs that is
/// a part of an initiator takes an equal part of the initiator's accesses.
///
/// # Errors
/// Where there are no classes of the whole machine.
pub fn class_shares(
    classes: &Classes,
    access: &AccessShares,
) -> Result<(Vec<ClassShare>, f64), String> {
    let set: &ClassSet = match classes.sets.as_slice() {
        [set] if set.cpu_group.is_none() => set,
        _ => return Err("the record has no classes of the whole machine".into()),
    };
    let fastest = set.classes.first().map_or(f64::NAN, |class| class.max);
    let mut cpu_groups: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for pair in set.classes.iter().flat_map(|class| &class.pairs) {
        *cpu_groups.entry((pair.initiator, pair.memory_node)).or_default() += 1.0;
    }
    let part = |initiator: u32, node: u32| {
        let of =
            |it: &&nearfar_record::PairShare| (it.initiator, it.memory_node) == (initiator, node);
        let share = access.pairs.iter().find(of).map_or(0.0, |it| it.share);
        share / cpu_groups.get(&(initiator, node)).copied().unwrap_or(1.0)
    };
    let mut classed = 0.0;
    let shares = set.classes.iter().map(|class| {
        let share: f64 =
            class.pairs.iter().map(|pair| part(pair.initiator, pair.memory_node)).sum();
        let share = share.min(1.0);
        classed += share;
        ClassShare {
            class: u32::try_from(class.class).unwrap_or(u32::MAX),
            alpha_relative: class.max / fastest,
            share,
        }
    });
    let shares: Vec<ClassShare> = shares.collect();
    let all: f64 = access.pairs.iter().map(|pair| pair.share).sum();
    // What is left of rounding is nothing that goes elsewhere.
    let elsewhere = all - classed;
    Ok((shares, if elsewhere > 1e-9 { elsewhere.min(1.0) } else { 0.0 }))
}

/// A profiled program below the roofs of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfiledPoint {
    /// By its operational intensity, FLOPs per byte read from memory.
    pub point: ProgramPoint,
    /// The initiator that its threads used most.
    pub initiator: u32,
    /// The share of its CPU time there, which its operations are taken to have as well.
    pub initiator_share: f64,
}

/// The point of a profiled program.
///
/// # Errors
/// Which figure the profile lacks and why.
pub fn profiled_point(profile: &Profile) -> Result<ProfiledPoint, String> {
    let figures = &profile.figures;
    let known = |name: &str, value: Option<f64>| {
        let why = || figures.unknown.get(name).map_or("it is not there", String::as_str);
        match value {
            Some(value) if value.is_normal() => Ok(value),
            Some(_) => Err(format!("it has no point below roofs: its {name} is 0")),
            None => Err(format!("it has no point below roofs: {name} is not known: {}", why())),
        }
    };
    let intensity = known("operational_flops_per_byte", figures.operational_flops_per_byte)?;
    let flops = known("gflop_per_s", figures.gflop_per_s)? * 1e9;
    let only = match profile.initiators.as_slice() {
        [only] => Some((only.index, 1.0)),
        _ => None,
    };
    let most = || {
        let cpu_time = profile.access.as_ref()?.cpu_time.iter();
        let most = cpu_time.max_by(|one, other| one.1.total_cmp(other.1))?;
        Some((*most.0, *most.1))
    };
    let Some((initiator, initiator_share)) = only.or_else(most) else {
        return Err("it has no point below roofs: where its threads ran is not known".into());
    };
    let flops = flops * initiator_share;
    let flops = flops.is_normal().then_some(FlopsPerSecond(flops));
    let point = ProgramPoint { kind: IntensityKind::Operational, intensity, flops };
    Ok(ProfiledPoint { point, initiator, initiator_share })
}

#[cfg(test)]
mod tests {
    use nearfar_machine::{GroupBy, MemoryKind, NodePosition};
    use nearfar_record::{Estimate, PairShare, ProfileFigures, read_profile};

    use super::*;
    use crate::class_rule::ClassRule;
    use crate::classes::{Class, ClassPair};

    fn planted() -> Profile {
        let text = include_bytes!("../../document/tests/profiles/planted.json");
        read_profile(&text[..]).unwrap()
    }

    fn class(class: usize, max: f64, pairs: &[(u32, u32, u32)]) -> Class {
        let pair = |&(cpu_group, initiator, memory_node): &(u32, u32, u32)| ClassPair {
            cpu_group,
            initiator,
            cpu_node: Some(initiator),
            memory_node,
            position: NodePosition {
                memory_kind: MemoryKind::Dram,
                relation: None,
                distance: None,
            },
            best: max,
            median: Estimate::computed(max, (max, max), Vec::new()),
            kernel: "triad".into(),
            variant: "avx2".into(),
            threads: 1,
            rounds: 6,
        };
        Class {
            class,
            max,
            min: max,
            alpha: None,
            alpha_relative: 1.0,
            wide: false,
            widened_by_noise: false,
            border_within_noise: false,
            pairs: pairs.iter().map(pair).collect(),
            groups: Vec::new(),
            others: Vec::new(),
        }
    }

    fn classes(classes: Vec<Class>) -> Classes {
        Classes {
            group_by: GroupBy::Memory,
            kernels: Vec::new(),
            absent_kernels: Vec::new(),
            rule: ClassRule::default(),
            gamma: Err(String::new()).into(),
            noise: None,
            standard_error: None,
            fewest_rounds: 6,
            sets: vec![ClassSet { cpu_group: None, classes }],
            left_out: Vec::new(),
            notes: Vec::new(),
        }
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
        let known =
            classes(vec![class(0, 10e9, &[(0, 0, 0), (1, 1, 1)]), class(1, 5e9, &[(0, 0, 1)])]);
        let (shares, elsewhere) =
            class_shares(&known, &access(&[(0, 0, 0.5), (0, 1, 0.25), (1, 0, 0.25)])).unwrap();
        let told: Vec<(u32, f64, f64)> =
            shares.iter().map(|of| (of.class, of.alpha_relative, of.share)).collect();
        assert_eq!(told, [(0, 1.0, 0.5), (1, 0.5, 0.25)]);
        assert!((elsewhere - 0.25).abs() < 1e-12);
    }

    #[test]
    fn initiators_of_one_initiator_take_equal_parts() {
        // Two L3 domains of one initiator, in different classes.
        let known = classes(vec![class(0, 10e9, &[(0, 0, 0)]), class(1, 8e9, &[(1, 0, 0)])]);
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
}
