//! All processes of the system: who they are, whose, how large.

use std::fs;
use std::io;
use std::path::Path;

use nearfar_machine::NodeSet;

use crate::page_query::base_page_bytes;
use crate::refusal::Refusal;
use crate::system_file::{below, numbers_in, read_text};

/// The processes that are shown to this one.
///
/// # Errors
/// When `/proc` is not readable.
pub fn process_numbers(root: &Path) -> Result<Vec<u32>, Refusal> {
    numbers_in(root, "proc")
}

/// Bytes that a process has in memory, with what it shares, as the kernel's counters have it, which run
/// behind a little; 0 of the kernel's own. `None` where that is not told.
pub fn resident_bytes(root: &Path, pid: u32) -> Option<u64> {
    let statm = read_text(root, format!("proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(base_page_bytes() as u64)
}

/// Bytes of a process's own memory that are swapped out; `None` where that is not told.
pub fn swapped_bytes(root: &Path, pid: u32) -> Option<u64> {
    let status = read_text(root, format!("proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("VmSwap:"))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Whether this user may look where a process's memory is (ptrace(2), access mode).
///
/// # Errors
/// When it may not (`PermissionDenied`), when there is no such process or the kernel has no numa_maps
/// (`NotFound`), or what else the kernel says.
pub fn may_look_into(root: &Path, pid: u32) -> io::Result<()> {
    fs::File::open(below(root, format!("proc/{pid}/numa_maps"))).map(drop)
}

/// Who a process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The number of its effective user.
    pub uid: u32,
    /// Its arguments, the program's name first; its name alone, where it shows none.
    pub command: Vec<String>,
    /// The nodes on which its cpuset lets it have memory; `None` where that is not told.
    pub memory_allowed: Option<NodeSet>,
}

/// Who a process is; `None` where there is none any more.
pub fn process_identity(root: &Path, pid: u32) -> Option<ProcessIdentity> {
    let status = read_text(root, format!("proc/{pid}/status")).ok()?;
    let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    let uid = line("Uid:")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let memory_allowed = line("Mems_allowed_list:").and_then(|list| list.trim().parse().ok());
    let arguments = read_text(root, format!("proc/{pid}/cmdline")).unwrap_or_default();
    let mut command: Vec<String> =
        arguments.trim_end_matches('\0').split('\0').map(Into::into).collect();
    if command.iter().all(String::is_empty) {
        command = vec![line("Name:")?.trim().into()];
    }
    Some(ProcessIdentity { uid, command, memory_allowed })
}

/// The name of a user by /etc/passwd; `None` of those that only a directory service knows.
pub fn user_name(root: &Path, uid: u32) -> Option<String> {
    let passwd = read_text(root, "etc/passwd").ok()?;
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let is_asked = fields.nth(1)?.parse::<u32>().ok()? == uid;
        is_asked.then(|| name.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;

    #[test]
    fn processes_are_those_of_recorded_files() {
        let tree = file_tree([
            ("proc/7/statm", "900 25 10 1 0 200 0\n"),
            (
                "proc/7/status",
                "Name:\twork\nUid:\t1 1000 1 1\nVmSwap:\t      12 kB\nMems_allowed_list:\t0,2\n",
            ),
            ("proc/7/cmdline", "./work\0--of\0x y\0"),
            ("proc/7/numa_maps", ""),
            ("proc/31/status", "Name:\tkworker/0:1\nUid:\t0 0 0 0\n"),
            ("proc/31/cmdline", ""),
            ("proc/31/statm", "0 0 0 0 0 0 0\n"),
            ("proc/self/statm", "0 0 0 0 0 0 0\n"),
            ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nanna:x:1000:100::/home/anna:\n"),
        ]);
        let root = tree.path();
        assert_eq!(process_numbers(root).unwrap(), [7, 31]);
        assert_eq!(resident_bytes(root, 7), Some(25 * base_page_bytes() as u64));
        assert_eq!((swapped_bytes(root, 7), swapped_bytes(root, 31)), (Some(12 << 10), None));
        assert_eq!((resident_bytes(root, 31), resident_bytes(root, 8)), (Some(0), None));
        let found = process_identity(root, 7).unwrap();
        assert_eq!(
            (found.uid, found.command),
            (1000, ["./work", "--of", "x y"].map(Into::into).into())
        );
        assert_eq!(found.memory_allowed, Some("0,2".parse().unwrap()));
        let found = process_identity(root, 31).unwrap();
        assert_eq!((found.command, found.memory_allowed), (vec!["kworker/0:1".to_string()], None));
        assert_eq!(process_identity(root, 8), None);
        assert_eq!(user_name(root, 1000).as_deref(), Some("anna"));
        assert_eq!(user_name(root, 7), None);
        assert!(may_look_into(root, 7).is_ok());
        let refused = may_look_into(root, 31).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn this_process_is_among_them() {
        let (root, own) = (Path::new("/"), std::process::id());
        assert!(process_numbers(root).unwrap().contains(&own));
        assert!(resident_bytes(root, own).unwrap() > 1 << 20);
        assert!(!process_identity(root, own).unwrap().command.is_empty());
        assert!(may_look_into(root, own).is_ok());
    }
}
