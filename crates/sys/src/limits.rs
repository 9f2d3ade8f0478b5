//! How much memory may be taken, on which nodes, and who is killed when it was too
//! much.

use std::fs;
use std::path::Path;

use nearfar_machine::NodeSet;
use nearfar_units::excerpt;

use crate::cgroup::{CgroupVersion, cgroups};
use crate::refusal::Refusal;
use crate::system_file::{below, field, read_text};

/// What the control groups of this process leave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CgroupRoom {
    /// No group of this process limits memory.
    Unlimited,
    /// Bytes until the first limit is met, page cache that is easily given back not
    /// counted as used.
    Bytes(u64),
    /// The groups could not be read, for this reason.
    Unknown(String),
}

/// Memory that this process may take without swapping or being killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvailableMemory {
    /// `MemAvailable` of /proc/meminfo in bytes; `None` when it is not readable.
    pub machine_bytes: Option<u64>,
    /// What the control groups leave.
    pub cgroup: CgroupRoom,
}

impl AvailableMemory {
    /// The least of the amounts that are known, in bytes; `None` when none is.
    pub fn least_bytes(&self) -> Option<u64> {
        let cgroup = match self.cgroup {
            CgroupRoom::Bytes(bytes) => Some(bytes),
            CgroupRoom::Unlimited | CgroupRoom::Unknown(_) => None,
        };
        [self.machine_bytes, cgroup].into_iter().flatten().min()
    }
}

/// Memory available to this process by /proc/meminfo and its control groups.
pub fn available_memory(root: &Path) -> AvailableMemory {
    let meminfo = read_text(root, "proc/meminfo").ok();
    AvailableMemory {
        machine_bytes: meminfo.and_then(|text| field(&text, "MemAvailable")).map(kilobytes),
        cgroup: cgroup_room(root),
    }
}

fn cgroup_room(root: &Path) -> CgroupRoom {
    let groups = match cgroups(root, "memory") {
        Ok(groups) => groups,
        Err(refusal) => return CgroupRoom::Unknown(refusal.to_string()),
    };
    let mut least: Option<u64> = None;
    for group in groups {
        for folder in group.levels {
            match level_room(&folder, group.version) {
                Ok(Some(room)) => least = Some(least.map_or(room, |known| known.min(room))),
                Ok(None) => {}
                Err(refusal) => return CgroupRoom::Unknown(refusal.to_string()),
            }
        }
    }
    least.map_or(CgroupRoom::Unlimited, CgroupRoom::Bytes)
}

/// Bytes left in one group; `None` when it has no limit.
fn level_room(folder: &Path, version: CgroupVersion) -> Result<Option<u64>, Refusal> {
    // memory.high is no wall, but above it every allocation is slowed down to reclaim.
    let (limits, usage, cache): (&[&str], _, _) = match version {
        CgroupVersion::V2 => (&["memory.max", "memory.high"], "memory.current", "inactive_file"),
        CgroupVersion::V1 => {
            (&["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_inactive_file")
        }
    };
    let mut least = None;
    for name in limits {
        // The topmost group has no such file, nor has one whose parent does not
        // hand the controller down.
        if let Ok(text) = read_text(folder, name) {
            let limit = parse_limit(text.trim(), &folder.join(name))?;
            least = [least, limit].into_iter().flatten().min();
        }
    }
    let Some(limit) = least else { return Ok(None) };
    let text = read_text(folder, usage)?;
    let used: u64 = text.trim().parse().map_err(|_| Refusal::Content {
        path: folder.join(usage).display().to_string(),
        reason: format!("'{}' is not a number of bytes", excerpt(text.trim())),
    })?;
    let cache = read_text(folder, "memory.stat").ok().and_then(|text| field(&text, cache));
    Ok(Some(limit.saturating_sub(used.saturating_sub(cache.unwrap_or(0)))))
}

/// Version 1 writes "no limit" as the largest multiple of the page size below 2^63.
pub(crate) const NO_LIMIT: u64 = 1 << 62;

fn parse_limit(text: &str, path: &Path) -> Result<Option<u64>, Refusal> {
    if text == "max" {
        return Ok(None);
    }
    let limit: u64 = text.parse().map_err(|_| Refusal::Content {
        path: path.display().to_string(),
        reason: format!("'{}' is neither a number of bytes nor 'max'", excerpt(text)),
    })?;
    Ok((limit < NO_LIMIT).then_some(limit))
}

/// Free memory of one node in bytes, page cache not counted as free; `None` when
/// sysfs does not say. In virtual machines it can be wrong: compare it with
/// [`available_memory`].
pub fn node_free_bytes(root: &Path, node: u32) -> Option<u64> {
    let path = format!("sys/devices/system/node/node{node}/meminfo");
    let text = read_text(root, path).ok()?;
    // Every line begins with "Node 0 ".
    let lines = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2));
    lines.into_iter().find_map(|line| field(line, "MemFree")).map(kilobytes)
}

fn kilobytes(count: u64) -> u64 {
    count.saturating_mul(1024)
}

/// The nodes that have memory and that the cpuset of this process allows.
///
/// # Errors
/// When /proc/self/status or /sys/devices/system/node cannot be read.
pub fn usable_nodes(root: &Path) -> Result<NodeSet, Refusal> {
    let status = read_text(root, "proc/self/status")?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    let allowed = parse_nodes("/proc/self/status", allowed)?;
    let path = "sys/devices/system/node/has_memory";
    let with_memory = parse_nodes(path, Some(&read_text(root, path)?))?;
    Ok(allowed.intersection(&with_memory))
}

fn parse_nodes(path: &str, list: Option<&str>) -> Result<NodeSet, Refusal> {
    let refuse = |reason: String| Refusal::Content { path: path.into(), reason };
    let list = list.ok_or_else(|| refuse("it has no line Mems_allowed_list".into()))?;
    list.parse().map_err(|error| refuse(format!("{error}")))
}

/// Badness adjustment of this process, from -1000 (never killed) to 1000 (first).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OomScore {
    pub before: i32,
    /// As it is now.
    pub after: i32,
}

/// Makes this process the first that the kernel kills when memory runs out, so that
/// a wrong estimate of ours hits nobody else. Children inherit it.
///
/// # Errors
/// When /proc/self/oom_score_adj cannot be read or written.
pub fn raise_oom_score(root: &Path) -> Result<OomScore, Refusal> {
    const PATH: &str = "proc/self/oom_score_adj";
    let before = read_oom_score(root, PATH)?;
    if before < 1000 {
        fs::write(below(root, PATH), "1000").map_err(|error| Refusal::File {
            action: "write",
            path: below(root, PATH).display().to_string(),
            reason: error.to_string(),
        })?;
    }
    Ok(OomScore { before, after: read_oom_score(root, PATH)? })
}

fn read_oom_score(root: &Path, path: &str) -> Result<i32, Refusal> {
    let text = read_text(root, path)?;
    text.trim().parse().map_err(|_| Refusal::Content {
        path: below(root, path).display().to_string(),
        reason: format!("'{}' is not a number", text.trim()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;

    const MIB: u64 = 1 << 20;

    const V2: (&str, &str) =
        ("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");

    #[test]
    fn tightest_level_of_version_2_counts() {
        let root = file_tree([
            ("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable:    4096 kB\n"),
            ("proc/self/cgroup", "0::/a/b\n"),
            V2,
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.high", "3145728\n"),
            ("sys/fs/cgroup/a/b/memory.current", "524288\n"),
            ("sys/fs/cgroup/a/memory.max", "8388608\n"),
            ("sys/fs/cgroup/a/memory.current", "7340032\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 524288\n"),
        ]);
        let found = available_memory(root.path());
        assert_eq!(found.machine_bytes, Some(4 * MIB));
        assert_eq!(found.cgroup, CgroupRoom::Bytes(3 * MIB / 2));
        assert_eq!(found.least_bytes(), Some(3 * MIB / 2));
    }

    #[test]
    fn version_1_and_its_way_to_say_no_limit() {
        let limit = "sys/fs/cgroup/memory/job/memory.limit_in_bytes";
        let files = [
            ("proc/self/cgroup", "4:memory:/job\n0::/\n"),
            (
                "proc/self/mountinfo",
                "9 8 0:3 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            ),
            (limit, "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1048576\n"),
            ("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 9\ntotal_inactive_file 0\n"),
        ];
        let root = file_tree(files);
        assert_eq!(available_memory(root.path()).cgroup, CgroupRoom::Unlimited);
        fs::write(root.path().join(limit), "3145728\n").unwrap();
        let found = available_memory(root.path());
        assert_eq!(
            found,
            AvailableMemory { machine_bytes: None, cgroup: CgroupRoom::Bytes(2 * MIB) }
        );
        assert_eq!(found.least_bytes(), Some(2 * MIB));
    }

    #[test]
    fn overdrawn_group_has_no_room() {
        let root = file_tree([
            ("proc/self/cgroup", "0::/\n"),
            V2,
            ("sys/fs/cgroup/memory.max", "4096\n"),
            ("sys/fs/cgroup/memory.current", "8192\n"),
        ]);
        assert_eq!(available_memory(root.path()).cgroup, CgroupRoom::Bytes(0));
    }

    #[test]
    fn what_cannot_be_read_is_unknown_and_not_unlimited() {
        let root = file_tree([]);
        let found = available_memory(root.path());
        assert_eq!(found.least_bytes(), None);
        assert!(matches!(found.cgroup, CgroupRoom::Unknown(why) if why.contains("cgroup")));
        for (limit, usage) in [("many", "1"), ("4096", "some")] {
            let root = file_tree([
                ("proc/self/cgroup", "0::/\n"),
                V2,
                ("sys/fs/cgroup/memory.max", limit),
                ("sys/fs/cgroup/memory.current", usage),
            ]);
            assert!(matches!(available_memory(root.path()).cgroup, CgroupRoom::Unknown(_)));
        }
    }

    #[test]
    fn free_memory_of_a_node_is_its_own() {
        let meminfo = "Node 2 MemTotal:  1048576 kB\nNode 2 MemFree:         7 kB\n";
        let root = file_tree([("sys/devices/system/node/node2/meminfo", meminfo)]);
        assert_eq!(node_free_bytes(root.path(), 2), Some(7 * 1024));
        assert_eq!(node_free_bytes(root.path(), 0), None);
    }

    #[test]
    fn nodes_without_memory_or_permission_are_not_usable() {
        let root = file_tree([
            ("proc/self/status", "Name: x\nMems_allowed:\tf\nMems_allowed_list:\t1-7\n"),
            ("sys/devices/system/node/has_memory", "0-2,5\n"),
        ]);
        assert_eq!(usable_nodes(root.path()).unwrap().to_string(), "1-2,5");
        assert!(usable_nodes(file_tree([]).path()).is_err());
        let silent = file_tree([("proc/self/status", "Name: x\n")]);
        assert!(usable_nodes(silent.path()).unwrap_err().to_string().contains("Mems_allowed_list"));
    }

    #[test]
    fn live_machine_has_memory() {
        let root = Path::new("/");
        let nodes = usable_nodes(root).unwrap();
        assert!(!nodes.is_empty());
        assert!(nodes.iter().all(|node| node_free_bytes(root, node).is_some()));
        assert!(available_memory(root).least_bytes().unwrap() > MIB);
    }

    #[test]
    fn oom_score_is_raised_and_never_lowered() {
        let root = file_tree([("proc/self/oom_score_adj", "-500\n")]);
        assert_eq!(raise_oom_score(root.path()).unwrap(), OomScore { before: -500, after: 1000 });
        assert_eq!(raise_oom_score(root.path()).unwrap(), OomScore { before: 1000, after: 1000 });
        assert!(raise_oom_score(file_tree([]).path()).is_err());
    }
}
