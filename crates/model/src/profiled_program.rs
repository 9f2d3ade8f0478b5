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
