//! Roofs of memory: one initiator alone on a node and on all nodes of a kind, several on one node,
//! each on its own, and all on all nodes of a kind.

use std::collections::BTreeSet;

use nearfar_machine::{MemoryKind, MemoryPolicy, NodeSet};
use nearfar_record::{Absent, ReasonCode, Roof, Suite};

use super::Site;
use crate::experiment::omitted::{omitted, one_initiator};
use crate::experiment::setting::{Loop, Setting};
use crate::experiment::whole_initiator::WholeInitiator;

/// Up to this many initiators every number of them that contend is measured in `full`, beyond
/// powers of two and all.
const EVERY_COUNT_UP_TO: usize = 8;

/// All sites on memory, by what initiators do there.
pub(super) struct MemorySites<'a> {
    /// One initiator on one of its own nodes.
    pub local: Vec<Site<'a>>,
    /// One initiator on any other node, nearest first; but for `full` on one of those that lie to
    /// it in the same way (`pairs` has them all).
    pub remote: Vec<Site<'a>>,
    /// One initiator on all nodes of a kind: what it can draw altogether.
    pub interleaved: Vec<Site<'a>>,
    /// Several initiators on one node, all of them last.
    pub contended: Vec<Site<'a>>,
    /// Every initiator on its own node, those with the nearest first.
    pub all_local: Vec<Site<'a>>,
    /// All initiators on all nodes of a kind.
    pub congested: Vec<Site<'a>>,
}

impl<'a> MemorySites<'a> {
    pub fn of(
        setting: Setting<'_>,
        initiators: &'a [WholeInitiator],
        absent: &mut Vec<Absent>,
    ) -> Self {
        let mut sites = Self {
            local: Vec::new(),
            remote: Vec::new(),
            interleaved: interleaved(setting, initiators),
            contended: contended(setting, initiators),
            all_local: all_local(setting, initiators),
            congested: congested(setting, initiators),
        };
        let mut alike = 0;
        for initiator in initiators {
            let mut seen = BTreeSet::new();
            for node in initiator.targets(setting) {
                let is_new =
                    initiator.owns(node) || seen.insert(initiator.relation(setting.machine, node));
                if !is_new && setting.inputs.suite != Suite::Full {
                    alike += 1;
                    continue;
                }
                let label = format!("initiator{}/node{node}", initiator.index());
                let user = (initiator, Roof::Memory { node }, MemoryPolicy::Preferred(node));
                let of = if initiator.owns(node) { &mut sites.local } else { &mut sites.remote };
                of.push(Site::on_memory(label, vec![user]));
            }
        }
        sites.explain(setting, absent);
        if alike > 0 {
            let text = format!(
                "each initiator has one remote node of its package and one of other packages, of each \
                 kind and at each distance; {alike} pairs of an initiator and a node that are like these \
                 by the firmware's word are left out; --suite full measures them"
            );
            absent.push(omitted("roofs/remote_alike", ReasonCode::FullSuiteOnly, text));
        }
        sites
    }

    /// Says why a machine has no sites of some sort.
    fn explain(&self, setting: Setting<'_>, absent: &mut Vec<Absent>) {
        let nodes: Vec<u32> = setting.targets().collect();
        if self.remote.is_empty() {
            absent.push(if nodes.len() < 2 {
                let text = "there is one memory node that may be used, so no memory is remote";
                omitted("roofs/remote", ReasonCode::OneNode, text)
            } else {
                let text = "every memory node is local to every initiator that may be used";
                omitted("roofs/remote", ReasonCode::OneInitiator, text)
            });
        }
        if self.contended.is_empty() {
            absent.push(one_initiator("roofs/contended", setting.machine));
            absent.push(one_initiator("roofs/all_local", setting.machine));
        } else if self.all_local.is_empty() {
            let text = "fewer than two initiators have memory of their own that may be used";
            absent.push(omitted("roofs/all_local", ReasonCode::OneNode, text));
        }
        for (kind, nodes) in nodes_by_kind(setting) {
            if nodes.len() == 1 {
                let text = format!(
                    "there is one node of the kind {kind} that may be used: to share its pages \
                     out over all of them is to contend for it"
                );
                let name = format!("roofs/congested/{}", word(kind));
                absent.push(omitted(name, ReasonCode::OneNode, text));
            }
        }
    }

    /// What other suites than `full` leave out of these sites.
    pub fn only_in_full(&self, setting: Setting<'_>, loops: &[Loop]) -> Vec<Absent> {
        let mut absent = Vec::new();
        if setting.inputs.suite == Suite::Full {
            return absent;
        }
        let is_far = [&self.remote, &self.interleaved, &self.contended, &self.congested]
            .iter()
            .any(|it| !it.is_empty());
        if let ([first, others @ ..], true) = (loops, is_far)
            && !others.is_empty()
        {
            let others: Vec<&str> = others.iter().map(|of| of.kernel.as_str()).collect();
            let text = format!(
                "remote, interleaved, contended and congested memory has {} alone; --suite full \
                 measures {} there too",
                first.kernel,
                others.join(", ")
            );
            absent.push(omitted("roofs/far_kernels", ReasonCode::FullSuiteOnly, text));
        }
        let all = self.contended.iter().map(|site| site.users.len()).max().unwrap_or(0);
        if all > 2 {
            let text = format!(
                "each node is contended for by all {all} initiators; --suite full measures numbers \
                 from 2 on"
            );
            absent.push(omitted("roofs/contended/fewer", ReasonCode::FullSuiteOnly, text));
        }
        absent
    }

    /// What is measured where.
    pub fn with_loops<'s>(
        &'s self,
        setting: Setting<'_>,
        loops: &'s [Loop],
    ) -> Vec<(&'s Site<'a>, &'s Loop)> {
        let is_full = setting.inputs.suite == Suite::Full;
        let first = if is_full { loops } else { &loops[..loops.len().min(1)] };
        let sorts = [
            (&self.local, loops),
            (&self.remote, first),
            (&self.interleaved, first),
            (&self.contended, first),
            (&self.all_local, loops),
            (&self.congested, first),
        ];
        sorts
            .into_iter()
            .flat_map(|(sites, loops)| sites.iter().map(move |site| (site, loops)))
            .flat_map(|(site, loops)| loops.iter().map(move |of| (site, of)))
            .collect()
    }
}

/// Each initiator alone, its pages in turn over all nodes of a kind. Of a machine with one initiator
/// that is what `congested` is.
fn interleaved<'a>(setting: Setting<'_>, initiators: &'a [WholeInitiator]) -> Vec<Site<'a>> {
    let kinds = several_by_kind(setting);
    let site = |initiator: &'a WholeInitiator, (kind, nodes): &(MemoryKind, NodeSet)| {
        let roof = Roof::Interleaved { kind: *kind };
        let user = (initiator, roof, MemoryPolicy::Interleave(nodes.clone()));
        let label = format!("initiator{}/interleaved/{}", initiator.index(), word(*kind));
        Site::on_memory(label, vec![user])
    };
    let several = initiators.iter().filter(|_| initiators.len() > 1);
    several.flat_map(|initiator| kinds.iter().map(move |of| site(initiator, of))).collect()
}

/// On each node this many initiators, the nearest first. One alone is a site of its own.
fn contended<'a>(setting: Setting<'_>, initiators: &'a [WholeInitiator]) -> Vec<Site<'a>> {
    let all = initiators.len();
    let is_full = setting.inputs.suite == Suite::Full;
    let is_counted = |count: &usize| {
        *count == all || is_full && (all <= EVERY_COUNT_UP_TO || count.is_power_of_two())
    };
    let mut sites = Vec::new();
    for node in setting.targets() {
        let mut nearest: Vec<&WholeInitiator> = initiators.iter().collect();
        nearest.sort_by_cached_key(|initiator| initiator.farness(setting.machine, node));
        for count in (2..=all).filter(is_counted) {
            let roof =
                Roof::Contended { node, initiators: u32::try_from(count).unwrap_or(u32::MAX) };
            let user = |&initiator| (initiator, roof, MemoryPolicy::Preferred(node));
            let users = nearest[..count].iter().map(user).collect();
            sites.push(Site::on_memory(format!("contended/node{node}x{count}"), users));
        }
    }
    sites
}

/// Every initiator on its nearest own node; where initiators have own nodes of several kinds, also
/// those of each kind (denoyelle2019, table 5, has both), unless an initiator would be on a node for
/// the second time, beside others.
fn all_local<'a>(setting: Setting<'_>, initiators: &'a [WholeInitiator]) -> Vec<Site<'a>> {
    let kind_of = |node: &u32| setting.machine.node(*node).map(|node| node.kind);
    let own: Vec<(&WholeInitiator, Vec<u32>)> =
        initiators.iter().map(|initiator| (initiator, initiator.own_targets(setting))).collect();
    let kinds: BTreeSet<MemoryKind> =
        own.iter().flat_map(|(_, nodes)| nodes).filter_map(kind_of).collect();
    let nearest = |kind: Option<MemoryKind>| -> Vec<(&'a WholeInitiator, u32)> {
        let of_initiator = |(initiator, nodes): &(&'a WholeInitiator, Vec<u32>)| {
            let is_wanted = |node: &&u32| kind.is_none() || kind_of(node) == kind;
            Some((*initiator, *nodes.iter().find(is_wanted)?))
        };
        own.iter().filter_map(of_initiator).collect()
    };
    let wanted = std::iter::once(None).chain(kinds.into_iter().map(Some));
    let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut sites = Vec::new();
    for kind in wanted {
        let users = nearest(kind);
        let places = || users.iter().map(|(initiator, node)| (initiator.index(), *node));
        if users.len() < 2 || places().any(|place| seen.contains(&place)) {
            continue;
        }
        seen.extend(places());
        let label = match kind {
            None => "all_local".into(),
            Some(kind) => format!("all_local/{}", word(kind)),
        };
        let user =
            |(initiator, node)| (initiator, Roof::AllLocal { node }, MemoryPolicy::Preferred(node));
        sites.push(Site::on_memory(label, users.into_iter().map(user).collect()));
    }
    sites
}

/// All initiators at once, their pages in turn over all nodes of a kind.
fn congested<'a>(setting: Setting<'_>, initiators: &'a [WholeInitiator]) -> Vec<Site<'a>> {
    let site = |(kind, nodes): (MemoryKind, NodeSet)| {
        let user = |initiator| {
            (initiator, Roof::Congested { kind }, MemoryPolicy::Interleave(nodes.clone()))
        };
        let users = initiators.iter().map(user).collect();
        Site::on_memory(format!("congested/{}", word(kind)), users)
    };
    let sites = several_by_kind(setting).into_iter().map(site);
    sites.filter(|site| !site.users.is_empty()).collect()
}

/// The targets of each kind.
fn nodes_by_kind(setting: Setting<'_>) -> Vec<(MemoryKind, NodeSet)> {
    let of_node = |node: u32| Some((setting.machine.node(node)?.kind, node));
    let nodes: Vec<(MemoryKind, u32)> = setting.targets().filter_map(of_node).collect();
    let kinds: BTreeSet<MemoryKind> = nodes.iter().map(|&(kind, _)| kind).collect();
    let of_kind = |kind: MemoryKind| {
        nodes.iter().filter(|&&(its, _)| its == kind).map(|&(_, node)| node).collect()
    };
    kinds.into_iter().map(|kind| (kind, of_kind(kind))).collect()
}

/// The targets of each kind of which there are several.
fn several_by_kind(setting: Setting<'_>) -> Vec<(MemoryKind, NodeSet)> {
    nodes_by_kind(setting).into_iter().filter(|(_, nodes)| nodes.len() > 1).collect()
}

/// The word for a kind in ids.
fn word(kind: MemoryKind) -> String {
    kind.to_string().to_lowercase()
}
