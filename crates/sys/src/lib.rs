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
mod cache_state;
mod cached_file;
mod cgroup;
mod child;
mod clock;
mod file_access;
#[cfg(test)]
mod file_tree;
mod file_window;
mod hwloc_environment;
mod hypervisor;
mod limits;
mod mapped_files;
mod mapping;
mod new_file;
mod numa_maps;
mod only_node;
mod page_move;
mod page_nodes;
mod page_query;
mod page_sizes;
mod page_table;
mod perf;
mod policy;
mod probe;
mod process;
mod process_size;
mod process_table;
mod proof_method;
mod refusal;
mod signals;
mod socket;
mod startup;
mod system_file;
mod trace;
mod unnamed_file;
mod usage;
mod valgrind;
mod vma;
mod written_file;

pub use address_range::AddressRange;
pub use affinity::{current_cpu, nodes_of_cpus, pin_task, pin_thread, task_cpus, thread_cpus};
pub use cached_file::{CachedFile, CachedPages, FileStore, mapped_file_store};
pub use child::{limit_self, stack_limit};
pub use clock::{monotonic, monotonic_ns, thread_cpu_ns};
pub use file_access::{duplicate_descriptor, may_create_in, open_to_write};
pub use hwloc_environment::with_hwloc_environment;
pub use hypervisor::hypervisor_signature;
pub use limits::{
    attainable_cpus, available_memory, cpu_limit, has_memory_nodes, memory_limit, node_free_bytes,
    nodes_with_memory, online_cpus, raise_oom_score, throttled, usable_nodes,
};
pub use mapped_files::{MappedFile, locked_mappings, mapped_files};
pub use mapping::{Mapping, PageRequest};
pub use new_file::NewFile;
pub use numa_maps::count_numa_maps;
pub use only_node::nodes_by_kernel;
pub use page_move::{
    MovedPages, listed_page_nodes, move_listed_pages, move_pages, move_process_pages,
};
pub use page_nodes::{PageNodes, PartPages, prove, prove_part, prove_with};
pub use page_query::base_page_bytes;
pub use page_sizes::{HUGE_PAGE_BYTES, PageSizes, achieved_page_sizes, count_page_sizes};
pub use page_table::{PageTable, PresentPage};
pub use perf::{CounterSet, PerfCount, PerfEvent, PerfTarget};
pub use policy::{
    KernelPolicy, bind_range, restore_thread_policy, set_thread_policy, thread_policy,
};
pub use probe::probe_calls;
pub use process::{
    MappedPages, MappingDetails, MappingKind, SharedMemory, Task, descendants, mapping_details,
    parent_of, parse_process_pages, process_of_task, process_pages, program_files, task_pages,
    task_state, tasks, tracer_of,
};
pub use process_size::{ProcessSize, newest_process, process_size};
pub use process_table::{
    ProcessIdentity, may_look_into, process_identity, process_numbers, resident_bytes,
    swapped_bytes, user_name,
};
pub use proof_method::ProofMethod;
pub use refusal::{Errno, Refusal};
pub use signals::{
    ArrivedSignal, AwaitedSignals, ForeignForeground, end_by_signal, is_thread_of,
    kill_process_group, send_signal, stand_in_for_program, stop_self, take_in_orphans,
};
pub use socket::{
    DoneSends, InterfaceAddress, allow_zero_copy, done_sends, has_too_many_sends,
    interface_addresses, send_without_copy, wait_for_done_sends, wait_readable,
};
pub use startup::{began_without_output, ending_signals, start_as_this_was_started};
pub use trace::{
    Change, first_change_of, follow, interrupt, leave_stopped, next_change, next_change_of, resume,
    stop_at_end, wait_to_be_followed,
};
pub use unnamed_file::unnamed_file;
pub use usage::{
    CpuWait, ThreadUsage, children_cpu_time, children_peak_bytes, cpu_waits, peak_resident_bytes,
    steal_time, thread_usage,
};
pub use valgrind::write_simulated_counts;
pub use written_file::{WritableFile, is_same_file};
