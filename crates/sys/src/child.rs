//! Limits for a child process that reads files of strangers with a C library.

use crate::refusal::{Errno, Refusal};

#[cfg(target_env = "musl")]
type Resource = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Resource = libc::__rlimit_resource_t;

/// Limits this process for good: `cpu_seconds` of CPU time (then SIGXCPU, and SIGKILL
/// a second later), `address_space_bytes` in all mappings, and no core dump. Limits
/// that are lower already stay.
///
/// # Errors
/// When the kernel refuses one of them.
pub fn limit_self(cpu_seconds: u64, address_space_bytes: u64) -> Result<(), Refusal> {
    lower("RLIMIT_CPU", libc::RLIMIT_CPU, cpu_seconds, cpu_seconds.saturating_add(1))?;
    lower("RLIMIT_AS", libc::RLIMIT_AS, address_space_bytes, address_space_bytes)?;
    forbid_core_dump()
}

/// How large the first thread's stack may become (`ulimit -s`), bytes; `None` where the kernel does not tell.
pub fn stack_limit() -> Option<u64> {
    read("RLIMIT_STACK", libc::RLIMIT_STACK).ok().map(|limit| limit.rlim_cur)
}

fn lower(name: &'static str, resource: Resource, soft: u64, hard: u64) -> Result<(), Refusal> {
    let mut limit = read(name, resource)?;
    let hard = libc::rlim_t::try_from(hard).unwrap_or(libc::RLIM_INFINITY);
    let soft = libc::rlim_t::try_from(soft).unwrap_or(libc::RLIM_INFINITY);
    limit.rlim_max = limit.rlim_max.min(hard);
    limit.rlim_cur = limit.rlim_cur.min(soft).min(limit.rlim_max);
    write(name, resource, limit)
}

/// A limit of 0 stops files alone: where the core pattern pipes to a program, Linux
/// dumps whatever the limit, unless it is exactly 1 (fs/coredump.c), which also is
/// too small for a file. So a soft limit of 0 is raised to 1 if the hard one has room.
pub(crate) fn forbid_core_dump() -> Result<(), Refusal> {
    let mut limit = read("RLIMIT_CORE", libc::RLIMIT_CORE)?;
    limit.rlim_max = limit.rlim_max.min(1);
    limit.rlim_cur = limit.rlim_max;
    write("RLIMIT_CORE", libc::RLIMIT_CORE, limit)
}

fn read(name: &'static str, resource: Resource) -> Result<libc::rlimit, Refusal> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one rlimit to live memory.
    match unsafe { libc::getrlimit(resource, &raw mut limit) } {
        0 => Ok(limit),
        _ => Err(Refusal::call("getrlimit", name, Errno::last())),
    }
}

fn write(name: &'static str, resource: Resource, limit: libc::rlimit) -> Result<(), Refusal> {
    // SAFETY: the kernel reads one rlimit from live memory.
    match unsafe { libc::setrlimit(resource, &raw const limit) } {
        0 => Ok(()),
        _ => {
            let what = format_args!("{name}={}", limit.rlim_cur);
            Err(Refusal::call("setrlimit", what, Errno::last()))
        }
    }
}
