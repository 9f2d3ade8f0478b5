//! What the kernel would not do, on what, why, and what can be done about it.

use std::fmt;
use std::io;

use crate::proof_method::ProofMethod;

/// The reason why something could not be done or found out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A system call failed.
    #[error("{call}({arguments}) failed with {errno}; {remedy}")]
    Call {
        call: &'static str,
        /// What it was asked to do.
        arguments: String,
        errno: Errno,
        remedy: &'static str,
    },
    /// A system call succeeded and did something else: Linux drops CPUs and nodes
    /// that the process may not use without an error.
    #[error("{call} was asked for {asked} and the kernel made it {granted}; {remedy}")]
    Altered {
        call: &'static str,
        asked: String,
        /// What is in force by the kernel's own account.
        granted: String,
        remedy: &'static str,
    },
    /// A system call returned success and left its answer as it was.
    #[error(
        "{call}({arguments}) returned success and no answer; a filter or sandbox only pretends to \
         make the call: let it through, or forbid it openly"
    )]
    Unanswered { call: &'static str, arguments: String },
    /// A file of `/proc` or `/sys` could not be read or written.
    #[error("cannot {action} {path}: {reason}; {}", ask_of(path))]
    File {
        /// `read` or `write`.
        action: &'static str,
        path: String,
        reason: String,
    },
    /// A file of `/proc` or `/sys` does not say what was looked for.
    #[error("{path}: {reason}")]
    Content {
        path: String,
        /// What is missing or cannot be read.
        reason: String,
    },
    /// An argument that no kernel could serve.
    #[error("{what}: {reason}")]
    Argument {
        what: String,
        /// Why it cannot be served and what to give instead.
        reason: &'static str,
    },
    /// No way to find the node of the pages worked.
    #[error(
        "the node of the pages at {range} cannot be proven: {}; allow one of these calls \
         (in a container, --cap-add SYS_NICE allows get_mempolicy), mount /proc, or confine the \
         process to one node",
        list_rungs(rungs)
    )]
    Unproven {
        range: String,
        /// Every method tried and why it failed.
        rungs: Vec<(ProofMethod, String)>,
    },
    /// Changing the environment is safe only in a process with one thread.
    #[error(
        "cannot ask hwloc while {threads} threads run, because its variables in the environment \
         would change under them; ask it before they start"
    )]
    ThreadsRunning {
        /// The number of threads, or why it is not known.
        threads: String,
    },
}

/// Why a file may not be there.
fn ask_of(path: &str) -> &'static str {
    let in_proc = path.split("/proc/").nth(1).unwrap_or_default();
    match in_proc.starts_with(|first: char| first.is_ascii_digit()) {
        true => "has the process ended, or is /proc masked here?",
        false => "is that file system mounted and not masked here?",
    }
}

impl Refusal {
    /// The refusal of a call that has just failed with `errno`.
    pub(crate) fn call(call: &'static str, arguments: impl fmt::Display, errno: Errno) -> Self {
        Self::Call { call, arguments: arguments.to_string(), errno, remedy: remedy(call, errno) }
    }

    /// What failed and why, without what to do where that is known apart
    /// ([`remedy`](Self::remedy)).
    pub fn cause(&self) -> String {
        match self {
            Self::Call { call, arguments, errno, .. } => {
                format!("{call}({arguments}) failed with {errno}")
            }
            Self::Unanswered { call, arguments } => {
                format!("{call}({arguments}) returned success and no answer")
            }
            other => other.to_string(),
        }
    }

    /// What the user can do about a failed call; `None` where the message holds it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Call { remedy, .. } => Some(remedy),
            Self::Unanswered { .. } => {
                Some("a filter or sandbox only pretends to make the call; let it through")
            }
            _ => None,
        }
    }

    /// Whether the kernel does not have the call at all, or not what it was asked for: an older kernel, or one
    /// that was built without.
    pub fn is_unknown_call(&self) -> bool {
        self.errno() == Some(Errno(libc::ENOSYS))
    }

    /// The kernel's error number, where a system call failed.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Call { errno, .. } => Some(*errno),
            _ => None,
        }
    }
}

fn list_rungs(rungs: &[(ProofMethod, String)]) -> String {
    let said: Vec<String> =
        rungs.iter().map(|(method, reason)| format!("{method}: {reason}")).collect();
    said.join("; ")
}

/// An error number of the kernel (errno(3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// The error of the calling thread's last failed call.
    pub(crate) fn last() -> Self {
        Self(io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// The symbolic name, such as `EPERM`; `None` for numbers these calls do not return.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            libc::E2BIG => "E2BIG",
            libc::EACCES => "EACCES",
            libc::EAGAIN => "EAGAIN",
            libc::EBADF => "EBADF",
            libc::EBUSY => "EBUSY",
            libc::EFAULT => "EFAULT",
            libc::EINTR => "EINTR",
            libc::EINVAL => "EINVAL",
            libc::EIO => "EIO",
            libc::EMFILE => "EMFILE",
            libc::ENODEV => "ENODEV",
            libc::ENOENT => "ENOENT",
            libc::ENOMEM => "ENOMEM",
            libc::ENOSYS => "ENOSYS",
            libc::ENXIO => "ENXIO",
            libc::EOPNOTSUPP => "EOPNOTSUPP",
            libc::EPERM => "EPERM",
            libc::EROFS => "EROFS",
            libc::ESRCH => "ESRCH",
            _ => return None,
        })
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = io::Error::from_raw_os_error(self.0).to_string();
        let text = text.split(" (os error").next().unwrap_or(&text);
        match self.name() {
            Some(name) => write!(out, "{name} ({text})"),
            None => write!(out, "error {} ({text})", self.0),
        }
    }
}

/// What a user can do about a failed call; by the calls' manual pages.
fn remedy(call: &str, errno: Errno) -> &'static str {
    match (call, errno.0) {
        ("mbind" | "set_mempolicy" | "get_mempolicy", libc::EPERM) => {
            "a seccomp filter forbids it, as the default profile of Docker and Podman does; \
             run the container with --cap-add SYS_NICE or a profile that allows the call"
        }
        // Docker's default profile has it on no list, whatever the capabilities.
        ("move_pages", libc::EPERM) => {
            "a seccomp filter forbids it, as the default profile of Docker does with and without \
             SYS_NICE; give a profile that allows the call (--security-opt seccomp=FILE), or let \
             get_mempolicy prove placement (--cap-add SYS_NICE)"
        }
        ("mbind" | "set_mempolicy" | "get_mempolicy" | "move_pages", libc::ENOSYS) => {
            "the kernel was built without NUMA support or a sandbox hides the call; \
             run outside the sandbox, or let a thread on the target node touch the pages first"
        }
        ("move_pages", libc::ENODEV) => {
            "there is no such node with memory; choose one from \
             /sys/devices/system/node/has_memory"
        }
        ("move_pages", libc::EACCES) => {
            "the cpuset does not allow that node; choose from Mems_allowed_list in \
             /proc/self/status"
        }
        ("mbind" | "set_mempolicy", libc::EINVAL) => {
            "none of these nodes is online with memory and in Mems_allowed_list of \
             /proc/self/status, or the kernel lacks the mode (weighted interleave needs Linux 6.9)"
        }
        ("sched_setaffinity", libc::EINVAL) => {
            "none of these CPUs is online and allowed here; choose from Cpus_allowed_list in \
             /proc/self/status or widen the cpuset"
        }
        ("sched_setaffinity" | "sched_getaffinity", libc::EPERM | libc::ENOSYS) => {
            "a seccomp filter forbids it; allow the call in the container's profile"
        }
        ("mmap(MAP_HUGETLB)", libc::ENOMEM) => {
            "the pool has too few free pages of 2 MiB: see HugePages_Free in /proc/meminfo, \
             and raise /proc/sys/vm/nr_hugepages or ask for transparent huge pages"
        }
        ("mmap(MAP_HUGETLB)", libc::EINVAL) => {
            "this kernel has no huge pages of 2 MiB; ask for transparent huge or small pages"
        }
        ("mmap" | "mprotect", libc::ENOMEM) => {
            "ask for less memory, or raise the limit (ulimit -v, vm.overcommit_memory, \
             vm.max_map_count)"
        }
        ("madvise(MADV_HUGEPAGE)", libc::EINVAL) => {
            "the kernel was built without transparent huge pages; ask for small pages"
        }
        ("madvise(MADV_HUGEPAGE)", libc::EPERM | libc::ENOSYS) => {
            "a filter forbids it; allow the call, or ask for small pages (--pages small)"
        }
        ("madvise(MADV_DONTNEED)", libc::EINVAL) => {
            "pages of hugetlb can be dropped from Linux 5.18 on; map afresh instead"
        }
        ("ptrace", libc::EPERM) => {
            "it is traced already, or a security policy forbids it: see ptrace_scope in \
             /proc/sys/kernel/yama, or the container's profile"
        }
        ("perf_event_open", libc::EPERM | libc::EACCES) => {
            "the kernel does not let this user count: kernel.perf_event_paranoid must be at most 2 \
             for one's own programs, or the process needs CAP_PERFMON; in a container its profile \
             must allow the call (--security-opt seccomp=FILE)"
        }
        ("perf_event_open", libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO) => {
            "the kernel has no such counter here, as in most virtual machines: run on the machine \
             itself, or let the hypervisor pass its counters on"
        }
        ("perf_event_open", libc::EINVAL) => "this CPU or this kernel does not know the event",
        ("perf_event_open", libc::EBUSY) => "another user holds the counters; let it end",
        ("perf_event_open", libc::EMFILE) => "raise the limit of open files (ulimit -n)",
        ("perf_event_open", libc::ESRCH) => "the thread has ended; nothing is left to count",
        ("setrlimit", libc::EPERM) => "the hard limit is lower already; ask for less",
        (_, libc::EPERM | libc::EACCES) => {
            "a security policy forbids it (seccomp, LSM or a missing capability); allow the call"
        }
        (_, libc::ENOSYS) => "this kernel or sandbox does not have the call",
        (_, libc::ENOMEM) => "the kernel is out of memory for it; free some or ask for less",
        _ => "see the manual page of the call",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_says_what_failed_on_what_why_and_what_to_do() {
        let refusal = Refusal::call("mbind", "bind:1", Errno(libc::EPERM));
        let text = refusal.to_string();
        for part in ["mbind(bind:1)", "EPERM", "not permitted", "SYS_NICE"] {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
        assert_eq!(refusal.errno(), Some(Errno(libc::EPERM)));
    }

    #[test]
    fn what_a_capability_gives_back_is_not_told_of_move_pages() {
        let refusal = Refusal::call("move_pages", "query of 0x1000+4096", Errno(libc::EPERM));
        let remedy = refusal.remedy().unwrap();
        assert!(remedy.contains("with and without SYS_NICE"), "{remedy}");
        assert!(remedy.contains("--security-opt seccomp=FILE"), "{remedy}");
    }

    #[test]
    fn errno_without_a_name_keeps_its_number() {
        assert!(Errno(libc::EHOSTDOWN).to_string().starts_with("error 112 ("));
    }

    #[test]
    fn unproven_lists_every_rung() {
        let rungs = vec![
            (ProofMethod::MovePages, "EPERM".to_string()),
            (ProofMethod::OneAllowedNode, "2 nodes are allowed".to_string()),
        ];
        let text = Refusal::Unproven { range: "0x0+1".into(), rungs }.to_string();
        assert!(text.contains("move_pages: EPERM; one_allowed_node: 2 nodes"), "{text}");
    }
}
