//! What classes of bandwidth give a placement, against the local one.

use std::collections::BTreeMap;

use nearfar_machine::MemoryPolicy;
use serde::Serialize;

use crate::classes::ClassSet;
use crate::data_access::data_access;

/// The classes that initiators reach nodes in, by a record of the same machine.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceClasses {
    /// Alpha of each class relative to class 0.
    pub alphas: Vec<f64>,
    class_of: BTreeMap<(u32, u32), usize>,
}

/// What a placement gives a program that does nothing but move data, against the local placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacementBounds {
    /// Share of the pages by class.
    pub shares: Vec<f64>,
    /// Eq. 4.6 of braithwaite2012.
    pub d: f64,
    /// Accesses to classes one after the other.
    pub d_serial: f64,
    /// Accesses to different classes at the same time.
    pub d_overlap: f64,
}

impl ReferenceClasses {
    /// The classes of a whole machine. An initiator with several groups of CPUs reaches a node in the
    /// fastest class that one of them has.
    pub fn of(set: &ClassSet) -> Self {
        let mut class_of: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for class in &set.classes {
            for pair in &class.pairs {
                let known =
                    class_of.entry((pair.initiator, pair.memory_node)).or_insert(class.class);
                *known = class.class.min(*known);
            }
        }
        let alphas = set.classes.iter().map(|class| class.alpha_relative).collect();
        Self { alphas, class_of }
    }

    /// The class in which an initiator reaches a node; `None` where that was not measured.
    pub fn class(&self, initiator: u32, node: u32) -> Option<usize> {
        self.class_of.get(&(initiator, node)).copied()
    }

    /// What pages of a policy give the CPUs of an initiator against its node `local`; `None` where a
    /// class is not known, or the policy names no nodes.
    pub(super) fn bounds(
        &self,
        initiator: u32,
        memory: &MemoryPolicy,
        local: u32,
    ) -> Option<PlacementBounds> {
        let alpha = *self.alphas.get(self.class(initiator, local)?)?;
        let nodes = memory.nodes()?;
        let mut shares = vec![0.0; self.alphas.len()];
        let part = 1.0 / nodes.len() as f64;
        for node in nodes.iter() {
            *shares.get_mut(self.class(initiator, node)?)? += part;
        }
        let access = data_access(&self.alphas, &shares).ok()?;
        Some(PlacementBounds {
            shares: access.shares,
            d: access.d / alpha,
            d_serial: access.d_serial / alpha,
            d_overlap: access.d_overlap / alpha,
        })
    }
}
