//! Which of the calls that a measurement needs work here; for `nearfar doctor`.

use nearfar_machine::{MemoryPolicy, NodeSet};

use crate::affinity::{pin_thread, thread_cpus};
use crate::mapping::{Mapping, PageRequest};
use crate::page_nodes::prove_with;
use crate::policy::{bind_range, mbind, range_policy};
use crate::proof_method::ProofMethod;
use crate::refusal::Refusal;

/// Tries each call once on a scratch page or with the thread's own affinity, so that
/// nothing is changed. `mbind(weighted-interleave)` stands for Linux 6.9 and later;
/// it is tried with node 0, or with the first of `nodes`.
pub fn probe_calls(nodes: &NodeSet) -> Vec<(&'static str, Result<(), Refusal>)> {
    let node = nodes.first().unwrap_or(0);
    let on_scratch = |call: &dyn Fn(&Mapping) -> Result<(), Refusal>| {
        let mut scratch = Mapping::new(1, PageRequest::Small)?;
        scratch.as_f64_mut().fill(1.0);
        call(&scratch)
    };
    let weighted = (&MemoryPolicy::Weighted([(node, 1)].into())).into();
    let proof = |method| on_scratch(&|scratch| prove_with(method, scratch, nodes).map(|_| ()));
    vec![
        ("sched_setaffinity", thread_cpus().and_then(|cpus| pin_thread(&cpus))),
        ("mbind", on_scratch(&|scratch| bind_range(scratch, &MemoryPolicy::Preferred(node)))),
        ("mbind(weighted-interleave)", on_scratch(&|scratch| mbind(scratch.into(), &weighted))),
        ("get_mempolicy", on_scratch(&|scratch| range_policy(scratch.address()).map(|_| ()))),
        ("move_pages", proof(ProofMethod::MovePages)),
        ("mincore and get_mempolicy", proof(ProofMethod::GetMempolicy)),
        ("/proc/self/numa_maps", proof(ProofMethod::NumaMaps)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_leave_the_thread_as_it_was() {
        let nodes = crate::usable_nodes("/".as_ref()).unwrap();
        let cpus = thread_cpus().unwrap();
        let policy = crate::thread_policy().unwrap();
        let found = probe_calls(&nodes);
        assert_eq!(thread_cpus().unwrap(), cpus);
        assert_eq!(crate::thread_policy().unwrap(), policy);
        let names: std::collections::BTreeSet<_> = found.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), found.len());
    }

    #[test]
    fn probe_of_a_node_that_is_not_there_fails_for_mbind_alone() {
        let found = probe_calls(&NodeSet::single(1023));
        for (name, outcome) in found {
            assert_eq!(outcome.is_err(), name.starts_with("mbind"), "{name}: {outcome:?}");
        }
    }
}
