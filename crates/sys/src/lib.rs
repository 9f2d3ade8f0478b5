//! What nearfar asks of Linux: where threads run, where pages go and where they
//! are, what disturbed a measurement, how much memory there is.
//!
//! A measurement maps memory ([`Mapping`]), names a policy for that range alone
//! ([`bind_range`]), pins its threads ([`pin_thread`]), writes, and then asks the
//! kernel where the pages are ([`prove`]). What the kernel will not do is a
//! [`Refusal`] that says what to do about it.
//!
//! Functions that read `/proc` or `/sys` take the root of the file system (`/`,
//! except in tests and for recorded machines). All calls are Linux's; sizes are in
//! bytes, times in [`std::time::Duration`] or nanoseconds.

#[cfg(not(target_os = "linux"))]
compile_error!("nearfar-sys asks the Linux kernel; it has nothing for other systems");

mod address_range;
mod affinity;
mod bit_mask;
mod cgroup;
mod child;
mod clock;
mod file_access;
#[cfg(test)]
mod file_tree;
mod hwloc_environment;
mod hypervisor;
mod interleave_weights;
mod limits;
mod mapping;
mod numa_maps;
mod only_node;
mod page_move;
mod page_nodes;
mod page_query;
mod page_sizes;
mod perf;
mod policy;
mod probe;
mod process;
mod process_group;
mod process_move;
mod quota;
mod refusal;
mod signals;
mod system_file;
mod thread_policy;
mod trace;
mod usage;
mod vma;

pub use address_range::AddressRange;
pub use affinity::{current_cpu, nodes_of_cpus, pin_task, pin_thread, thread_cpus};
pub use child::limit_self;
pub use clock::{monotonic, monotonic_ns, thread_cpu_ns};
pub use file_access::{duplicate_descriptor, may_create_in, open_to_write};
pub use hwloc_environment::with_hwloc_environment;
pub use hypervisor::hypervisor_signature;
pub use interleave_weights::interleave_weights;
pub use limits::{
    AvailableMemory, CgroupRoom, OomScore, available_memory, node_free_bytes, raise_oom_score,
    usable_nodes,
};
pub use mapping::{Mapping, PageRequest};
pub use numa_maps::count_numa_maps;
pub use only_node::nodes_by_kernel;
pub use page_move::{MovedPages, move_pages};
pub use page_nodes::{PageNodes, PartPages, ProofMethod, prove, prove_part, prove_with};
pub use page_query::base_page_bytes;
pub use page_sizes::{HUGE_PAGE_BYTES, PageSizes, achieved_page_sizes, count_page_sizes};
pub use perf::{CounterSet, PerfCount, PerfEvent, PerfTarget};
pub use policy::{KernelPolicy, PolicyMode, bind_range, range_policy, thread_policy};
pub use probe::probe_calls;
pub use process::{
    MappedPages, MappingKind, Task, descendants, parse_process_pages, process_of_task,
    process_pages, task, tasks,
};
pub use process_group::kill_process_group;
pub use process_move::move_process_pages;
pub use quota::{cpu_limit, memory_limit};
pub use refusal::{Errno, Refusal};
pub use signals::{ArrivedSignal, AwaitedSignals, hear_of_children, send_signal};
pub use thread_policy::set_thread_policy;
pub use trace::{Change, leave_stopped, next_change, resume, seize};
pub use usage::{
    ThreadUsage, children_cpu_time, peak_resident_bytes, steal_time, thread_usage, throttled,
};
