//! What this process may use, and how that is said where a placement asks for more.

use std::cell::LazyCell;
use std::fmt;
use std::path::Path;

use nearfar_machine::{CpuSet, NodeSet};
use nearfar_sys::{Refusal, nodes_with_memory, online_cpus, thread_cpus, usable_nodes};

/// What this process may use. What takes a file to be read is read when it is needed: a program is
/// started in not much more time than that takes.
#[derive(Debug)]
pub struct Usable {
    /// CPUs; what the kernel would not tell is not known.
    pub cpus: Result<CpuSet, Refusal>,
    /// Nodes with memory.
    pub nodes: UsableNodes,
    /// All that the machine has, whoever may use it; `None` where it does not say.
    pub machine: LazyCell<Option<Present>, Box<dyn FnOnce() -> Option<Present>>>,
}

/// Nodes that are read when they are needed.
pub type UsableNodes =
    LazyCell<Result<NodeSet, Refusal>, Box<dyn FnOnce() -> Result<NodeSet, Refusal>>>;

/// What a machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// CPUs that are online.
    pub cpus: CpuSet,
    /// Nodes with memory.
    pub nodes: NodeSet,
}

impl Usable {
    /// By the kernel's word.
    pub fn of_this_process() -> Self {
        let root = Path::new("/");
        let present =
            || Some(Present { cpus: online_cpus(root)?, nodes: nodes_with_memory(root).ok()? });
        Self {
            cpus: thread_cpus(),
            nodes: UsableNodes::new(Box::new(|| usable_nodes(root))),
            machine: LazyCell::new(Box::new(present)),
        }
    }

    /// Why these CPUs cannot be had, of which this process may use `own`.
    pub(crate) fn why_not_cpus(&self, lost: &CpuSet, own: &CpuSet) -> String {
        let all = self.machine.as_ref().map(|machine| &machine.cpus);
        let is_there = all.is_none_or(|all| lost.is_subset(all));
        why_not("CPU", all, own, is_there)
    }

    /// Why these nodes cannot be had, of which this process may use `own`.
    pub(crate) fn why_not_nodes(&self, lost: &NodeSet, own: &NodeSet) -> String {
        let all = self.machine.as_ref().map(|machine| &machine.nodes);
        let is_there = all.is_none_or(|all| lost.is_subset(all));
        why_not("memory node", all, own, is_there)
    }
}

/// What is not there is told apart from what only this process may not use.
fn why_not<T: fmt::Display + PartialEq>(
    noun: &str,
    all: Option<&T>,
    own: &T,
    is_there: bool,
) -> String {
    let list = if noun == "CPU" { "Cpus_allowed_list" } else { "Mems_allowed_list" };
    let may_use =
        format!("this process may use {} ({list} in /proc/self/status)", named(noun, own));
    match all {
        Some(all) if all == own => format!("this machine has {}", named(noun, all)),
        Some(all) if !is_there => format!("this machine has {}, and {may_use}", named(noun, all)),
        _ => may_use,
    }
}

/// `node 1`, `CPUs 0-3`.
pub fn named(noun: &str, set: &impl fmt::Display) -> String {
    let list = set.to_string();
    let plural = if list.contains(['-', ',']) { "s" } else { "" };
    format!("{noun}{plural} {list}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_told_apart_from_what_may_not_be_used() {
        let usable = |present: Option<(&str, &str)>| {
            let present = present.map(|(cpus, nodes)| Present {
                cpus: cpus.parse().unwrap(),
                nodes: nodes.parse().unwrap(),
            });
            Usable {
                cpus: Ok(CpuSet::new()),
                nodes: UsableNodes::new(Box::new(|| Ok(NodeSet::new()))),
                machine: LazyCell::new(Box::new(|| present)),
            }
        };
        let set = |list: &str| list.parse::<CpuSet>().unwrap();
        let why = |present, lost, own| usable(present).why_not_cpus(&set(lost), &set(own));
        let four = Some(("0-3", "0"));
        assert_eq!(why(four, "9", "0-3"), "this machine has CPUs 0-3");
        let may_use = "this process may use CPU 1 (Cpus_allowed_list in /proc/self/status)";
        assert_eq!(why(four, "2", "1"), may_use);
        assert_eq!(why(None, "2", "1"), may_use);
        assert_eq!(why(four, "2,9", "1"), format!("this machine has CPUs 0-3, and {may_use}"));
        let lost: NodeSet = "9".parse().unwrap();
        let why = usable(four).why_not_nodes(&lost, &"0".parse().unwrap());
        assert_eq!(why, "this machine has memory node 0");
    }

    #[test]
    fn this_process_may_use_what_there_is() {
        let usable = Usable::of_this_process();
        if let (Ok(cpus), Some(machine)) = (&usable.cpus, &*usable.machine) {
            assert!(cpus.is_subset(&machine.cpus), "{cpus} of {machine:?}");
        }
    }
}
