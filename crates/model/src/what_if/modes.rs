//! Packages as more or fewer memory nodes: NPS of AMD, SNC of Intel.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, CpuSet, MemoryPolicy, NodeSet, Relation};
use nearfar_record::{Estimate, Outcome};
use nearfar_units::{BytesPerSecond, Nanoseconds};

use super::memory::SURE;
use super::seen::{KERNEL, Seen};
use super::{
    BandwidthOf, Because, Change, ChangedBandwidth, ChangedLatency, LatencyOf, Then, WhatIf,
};
use crate::flow::{Flow, PlacementKind, flow};
use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// Own memory of a part is nearer than the mean of all by at most this: an EPYC 9354P by 0.065
/// (`machines/normal.toml`), a Xeon 8468 by 0.10 of the mean of its package.
const NEAREST_PART: f64 = 0.1;

/// Parts of a package carry together at most this more than the whole: 0.048 on an EPYC 9354P.
const PARTS_GAIN: f64 = 0.06;

/// Memory nodes with CPUs that are, or become, one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    package: Option<u32>,
    nodes: Vec<u32>,
}

/// Of another number of nodes in a package.
pub(super) fn changed(
    figures: &RecordFigures<'_>,
    seen: &Seen<'_>,
    change: &Change,
    count: u32,
) -> Result<WhatIf, Inapplicable> {
    let packages = nodes_of_packages(seen);
    let sizes: Vec<usize> = packages.values().map(Vec::len).collect();
    let now = sizes.first().copied().unwrap_or(0);
    if now == 0 || sizes.iter().any(|&size| size != now) {
        return Err(Inapplicable::here(
            "the packages have no, or not equally many, memory nodes with CPUs of their own",
        ));
    }
    let from = format!("{now} memory {} a package", if now == 1 { "node" } else { "nodes" });
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    let mut changed = WhatIf {
        change: change.clone(),
        from: from.clone(),
        kernel: KERNEL.into(),
        bandwidth: Vec::new(),
        latency: Vec::new(),
    };
    if wanted == now || (wanted == 0 && packages.len() == 1 && now == 1) {
        return Err(Inapplicable::here(format!("the machine has {from} already")));
    }
    if wanted > now {
        if !wanted.is_multiple_of(now) {
            return Err(Inapplicable::here(format!("{from} cannot become {wanted}")));
        }
        divide(figures, seen, (wanted / now) as f64, &mut changed);
        return Ok(changed);
    }
    let groups: Vec<Group> = if wanted == 0 {
        vec![Group { package: None, nodes: packages.into_values().flatten().collect() }]
    } else {
        if !now.is_multiple_of(wanted) {
            return Err(Inapplicable::here(format!("{from} cannot become {wanted}")));
        }
        let parts = packages.into_iter().flat_map(|(package, nodes)| {
            let parts: Vec<Group> = nodes
                .chunks(now / wanted)
                .map(|nodes| Group { package: Some(package), nodes: nodes.into() })
                .collect();
            parts
        });
        parts.collect()
    };
    join(figures, seen, &groups, &mut changed);
    Ok(changed)
}

/// Ordinary nodes with CPUs of each package, in their order.
fn nodes_of_packages(seen: &Seen<'_>) -> BTreeMap<u32, Vec<u32>> {
    let mut packages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let nodes = seen.machine.nodes.iter();
    for node in nodes.filter(|node| !node.cpus.is_empty() && node.kind.may_be_ordinary()) {
        if let Some(package) = seen.machine.only_package(&node.cpus) {
            packages.entry(package).or_default().push(node.os_index);
        }
    }
    packages
}

/// Nodes become parts of what they were.
fn divide(figures: &RecordFigures<'_>, seen: &Seen<'_>, parts: f64, changed: &mut WhatIf) {
    if let Some(own) = seen.middle(Relation::Local) {
        let value = own.rate.value.0 / parts;
        let figure = Estimate::computed(
            value * (1.0 + PARTS_GAIN / 2.0),
            (value, value * (1.0 + PARTS_GAIN)),
            own.rate.cases.clone(),
        );
        changed.bandwidth.push(ChangedBandwidth {
            of: BandwidthOf::OwnNode,
            now: Some(own.rate.clone()),
            then: Outcome::Found(Then { figure, because: Because::SameChannels }),
        });
        let now = flow(figures).ok().and_then(|law| all_own(&law));
        if let (Some(now), true) = (now, seen.ordinary(Relation::Local).len() > 1) {
            let total = now.value.0;
            let figure = Estimate::computed(
                total * (1.0 + PARTS_GAIN / 2.0),
                (total, total * (1.0 + PARTS_GAIN)),
                now.cases.clone(),
            );
            changed.bandwidth.push(ChangedBandwidth {
                of: BandwidthOf::AllOwn,
                now: Some(now),
                then: Outcome::Found(Then { figure, because: Because::SameChannels }),
            });
        }
    }
    if let (Some(own), Some(other)) =
        (seen.middle(Relation::Local), seen.middle(Relation::OtherPackage))
    {
        // The link is shared by the parts, and one of them alone has all of it.
        let least = other.rate.value.0 / parts;
        let most = (own.rate.value.0 / parts).min(other.rate.value.0).max(least);
        let then = if most > 1.25 * least {
            Outcome::Unknown {
                unknown: format!(
                    "how much of the way between packages the cores of one part can use was not measured: \
                     from {} to {}",
                    BytesPerSecond(least),
                    BytesPerSecond(most)
                ),
            }
        } else {
            let figure = Estimate::computed(most, (least, most), other.rate.cases.clone());
            Outcome::Found(Then { figure, because: Because::SameChannels })
        };
        let now = Some(other.rate.clone());
        changed.bandwidth.push(ChangedBandwidth { of: BandwidthOf::OtherPackage, now, then });
    }
    if let Some(own) = seen.middle_latency(Relation::Local) {
        let now = own.time.value.0;
        let figure = Estimate::computed(
            now * (1.0 - NEAREST_PART / 2.0),
            (now * (1.0 - NEAREST_PART), now),
            own.time.cases.clone(),
        );
        changed.latency.push(ChangedLatency {
            of: LatencyOf::Own,
            now: Some(own.time.clone()),
            then: Outcome::Found(Then { figure, because: Because::NearestPart }),
        });
    }
    if let Some(other) = seen.middle_latency(Relation::OtherPackage) {
        let figure = other.time.clone();
        changed.latency.push(ChangedLatency {
            of: LatencyOf::OtherPackage,
            now: Some(other.time.clone()),
            then: Outcome::Found(Then { figure, because: Because::Untouched }),
        });
    }
}

/// Nodes become one with others.
fn join(figures: &RecordFigures<'_>, seen: &Seen<'_>, groups: &[Group], changed: &mut WhatIf) {
    let law = flow(figures);
    let predicted = |bindings: &[Binding]| -> Result<(f64, Estimate<BytesPerSecond>), String> {
        let law = law.as_ref().map_err(|why| match &why.remedy {
            Some(remedy) => format!("the flow law says nothing: {why}; `{remedy}`"),
            None => format!("the flow law says nothing: {why}"),
        })?;
        let sum = law.predict(seen.machine, bindings).map_err(|why| why.to_string())?.sum;
        let ([low, high], value) = (sum.ends(), sum.value.0);
        let ends = (low.0.min(value * (1.0 - SURE)), high.0.max(value * (1.0 + SURE)));
        Ok((value, Estimate::computed(value, ends, sum.cases)))
    };
    let middle = |mut of: Vec<(f64, Estimate<BytesPerSecond>)>| {
        of.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = of.len().saturating_sub(1) / 2;
        (!of.is_empty()).then(|| of.swap_remove(at).1)
    };
    let by_law = |found: Result<Estimate<BytesPerSecond>, String>| {
        let found = found.map(|figure| Then { figure, because: Because::FlowLaw });
        Outcome::from(found)
    };
    // All cores with pages in turn over all nodes is what the one node is then.
    let in_turn = law.as_ref().ok().filter(|_| groups.len() == 1).and_then(measured_in_turn);
    let told = |predict: &dyn Fn() -> Result<Estimate<BytesPerSecond>, String>| match &in_turn {
        Some(figure) => {
            Outcome::Found(Then { figure: figure.clone(), because: Because::MeasuredInTurn })
        }
        None => by_law(predict()),
    };
    let own = || {
        let of_group = |group: &Group| {
            let found = predicted(&[binding(seen, group, group)])?.1;
            let found = within_parts(&found, parts_own(seen, group));
            Ok((found.value.0, found))
        };
        let of_groups = groups.iter().map(of_group).collect::<Result<Vec<_>, String>>()?;
        middle(of_groups).ok_or_else(no_group)
    };
    changed.bandwidth.push(ChangedBandwidth {
        of: BandwidthOf::OwnNode,
        now: seen.middle(Relation::Local).map(|it| it.rate.clone()),
        then: told(&own),
    });
    let all = || {
        let bindings: Vec<_> = groups.iter().map(|group| binding(seen, group, group)).collect();
        let own = groups.iter().map(|group| parts_own(seen, group)).sum::<Option<f64>>();
        Ok(within_parts(&predicted(&bindings)?.1, own))
    };
    changed.bandwidth.push(ChangedBandwidth {
        of: BandwidthOf::AllOwn,
        now: law.as_ref().ok().and_then(all_own),
        then: told(&all),
    });
    let others = || {
        groups.iter().flat_map(|from| {
            let of_others = groups.iter().filter(|to| from.package != to.package);
            of_others.map(move |to| (from, to))
        })
    };
    if others().next().is_some() {
        let other: Result<Vec<_>, String> =
            others().map(|(from, to)| predicted(&[binding(seen, from, to)])).collect();
        changed.bandwidth.push(ChangedBandwidth {
            of: BandwidthOf::OtherPackage,
            now: seen.middle(Relation::OtherPackage).map(|it| it.rate.clone()),
            then: by_law(other.and_then(|of| middle(of).ok_or_else(no_group))),
        });
    }
    let own: Vec<Estimate<Nanoseconds>> =
        groups.iter().filter_map(|group| mean_latency(seen, group, group)).collect();
    push_latency(LatencyOf::Own, Relation::Local, own, seen, changed);
    if others().next().is_some() {
        let other = others().filter_map(|(from, to)| mean_latency(seen, from, to)).collect();
        push_latency(LatencyOf::OtherPackage, Relation::OtherPackage, other, seen, changed);
    }
}

/// What the nodes of a group move each by its own threads; `None` where one was not measured.
fn parts_own(seen: &Seen<'_>, group: &Group) -> Option<f64> {
    let own = seen.ordinary(Relation::Local);
    let of_node = |node: &u32| own.iter().find(|it| it.node == *node).map(|it| it.rate.value.0);
    group.nodes.iter().map(of_node).sum()
}

/// What the flow law gives of nodes that become one, and at most what these moved: no core has less far to
/// go then and no channel carries more.
fn within_parts(law: &Estimate<BytesPerSecond>, own: Option<f64>) -> Estimate<BytesPerSecond> {
    let Some(own) = own else { return law.clone() };
    let ([low, high], value) = (law.ends(), law.value.0);
    let (least, most) = (own / (1.0 + PARTS_GAIN), own * (1.0 + SURE));
    let ends = if value > own {
        (least, most)
    } else if value > least {
        (low.0.max(least), high.0.min(most))
    } else {
        (low.0, high.0.min(most))
    };
    Estimate::computed(value.min(own), ends, law.cases.clone())
}

fn no_group() -> String {
    "the machine has no memory nodes that could become one".into()
}

fn push_latency(
    of: LatencyOf,
    relation: Relation,
    mut then: Vec<Estimate<Nanoseconds>>,
    seen: &Seen<'_>,
    changed: &mut WhatIf,
) {
    then.sort_by(|a, b| a.value.0.total_cmp(&b.value.0));
    let at = then.len() / 2;
    let then = if then.is_empty() {
        let unknown =
            "the record does not hold the idle latency of every pair that becomes one".into();
        Outcome::Unknown { unknown }
    } else {
        Outcome::Found(Then { figure: then.swap_remove(at), because: Because::MeanOfNodes })
    };
    let now = seen.middle_latency(relation).map(|it| it.time.clone());
    changed.latency.push(ChangedLatency { of, now, then });
}

/// The mean over every pair of the cores of one group with a node of the other; `None` where one was not
/// measured.
fn mean_latency(seen: &Seen<'_>, from: &Group, to: &Group) -> Option<Estimate<Nanoseconds>> {
    let initiators = seen.machine.initiators();
    let own =
        initiators.iter().filter(|it| it.cpu_node.is_some_and(|node| from.nodes.contains(&node)));
    let mut pairs = Vec::new();
    for initiator in own {
        for node in &to.nodes {
            let is_pair = |it: &&super::seen::SeenLatency| {
                it.initiator == initiator.index && it.node == *node
            };
            pairs.push(&seen.latencies.iter().find(is_pair)?.time);
        }
    }
    if pairs.is_empty() {
        return None;
    }
    let count = pairs.len() as f64;
    let mean = |end: &dyn Fn(&Estimate<Nanoseconds>) -> f64| {
        pairs.iter().map(|it| end(it)).sum::<f64>() / count
    };
    Some(Estimate::computed(
        mean(&|it| it.value.0),
        (mean(&|it| it.ends()[0].0), mean(&|it| it.ends()[1].0)),
        pairs.iter().flat_map(|it| it.cases.clone()).collect(),
    ))
}

/// All cores of a group with pages in turn over the nodes of another.
fn binding(seen: &Seen<'_>, from: &Group, to: &Group) -> Binding {
    let nodes = seen.machine.nodes.iter().filter(|node| from.nodes.contains(&node.os_index));
    let cpus = nodes.fold(CpuSet::default(), |all, node| all.union(&node.cpus));
    let cpus = cpus.intersection(&seen.machine.allowed_cpus);
    let nodes: NodeSet = to.nodes.iter().copied().collect();
    let memory =
        if nodes.len() == 1 { MemoryPolicy::Bind(nodes) } else { MemoryPolicy::Interleave(nodes) };
    Binding { cpus, memory }
}

/// What all cores moved with pages in turn over all nodes, where a case of the record did that.
fn measured_in_turn(law: &Flow) -> Option<Estimate<BytesPerSecond>> {
    let all = law.placements.iter().find(|it| it.kind == PlacementKind::AllNodes)?;
    let rate = all.measured?.0;
    Some(Estimate::computed(rate, (rate * (1.0 - SURE), rate * (1.0 + SURE)), Vec::new()))
}

fn all_own(law: &Flow) -> Option<Estimate<BytesPerSecond>> {
    let own = law.placements.iter().find(|it| it.kind == PlacementKind::OwnNodes)?;
    Some(match own.measured {
        Some(rate) => Estimate::computed(rate.0, (rate.0, rate.0), Vec::new()),
        None => own.total.clone(),
    })
}
