//! How much memory and CPU time may be taken, on which nodes, and who is killed when it was too
//! much.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use nearfar_machine::{CpuSet, NodeSet};

use crate::cgroup::{CgroupVersion, cgroups};
use crate::refusal::Refusal;
use crate::system_file::{below, field, read_text};

/// Memory that this process may take without swapping or being killed, bytes: the least of what
/// /proc/meminfo calls available and of what its control groups leave; `None` when neither says.
pub fn available_memory(root: &Path) -> Option<u64> {
    let meminfo = read_text(root, "proc/meminfo").ok();
    let machine = meminfo.and_then(|text| field(&text, "MemAvailable")).map(kilobytes);
    machine.into_iter().chain(least(root, "memory", level_room)).min()
}

/// Bytes left in one group, page cache that is easily given back not counted as used; `None` when
/// it has no limit or it cannot be read.
fn level_room(folder: &Path, version: CgroupVersion) -> Option<u64> {
    let (usage, cache) = match version {
        CgroupVersion::V2 => ("memory.current", "inactive_file"),
        CgroupVersion::V1 => ("memory.usage_in_bytes", "total_inactive_file"),
    };
    // memory.high is no wall, but above it every allocation is slowed down to reclaim.
    let limits = [level_limit(folder, version), bytes(folder, "memory.high")];
    let limit = limits.into_iter().flatten().min()?;
    let cache = read_text(folder, "memory.stat").ok().and_then(|text| field(&text, cache));
    let used = bytes(folder, usage)?.saturating_sub(cache.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

/// Memory that the control groups allow, the least of all levels; `None` when there
/// is no limit or it cannot be read.
pub fn memory_limit(root: &Path) -> Option<u64> {
    least(root, "memory", level_limit)
}

fn level_limit(folder: &Path, version: CgroupVersion) -> Option<u64> {
    bytes(
        folder,
        match version {
            CgroupVersion::V2 => "memory.max",
            CgroupVersion::V1 => "memory.limit_in_bytes",
        },
    )
}

/// What a file of a group says, where it is there and does not say `max`. The topmost group has no
/// limits, nor has one whose parent does not hand the controller down.
fn bytes(folder: &Path, name: &str) -> Option<u64> {
    /// Version 1 writes "no limit" as the largest multiple of the page size below 2^63.
    const NO_LIMIT: u64 = 1 << 62;
    let bytes = read_text(folder, name).ok()?.trim().parse().ok();
    bytes.filter(|&bytes| bytes < NO_LIMIT)
}

/// CPUs' worth of time that the control groups allow (quota / period, the least of
/// all levels); `None` when there is no limit or it cannot be read.
pub fn cpu_limit(root: &Path) -> Option<f64> {
    least(root, "cpu", |folder, version| {
        let (quota, period) = match version {
            CgroupVersion::V2 => {
                let text = read_text(folder, "cpu.max").ok()?;
                let (quota, period) = text.trim().split_once(' ')?;
                (quota.to_string(), period.to_string())
            }
            CgroupVersion::V1 => (
                read_text(folder, "cpu.cfs_quota_us").ok()?,
                read_text(folder, "cpu.cfs_period_us").ok()?,
            ),
        };
        // "max" and -1 stand for no limit.
        let quota: f64 = quota.trim().parse().ok().filter(|&quota| quota > 0.0)?;
        Some(quota / period.trim().parse::<f64>().ok()?)
    })
}

/// Time that the control groups of this process withheld CPU time from their
/// members because a quota was used up, since they were made, summed over the
/// levels. `None` when no group reports it.
pub fn throttled(root: &Path) -> Option<Duration> {
    let times = of_levels(root, "cpu", |folder, version| {
        let text = read_text(folder, "cpu.stat").ok()?;
        match version {
            CgroupVersion::V2 => field(&text, "throttled_usec").map(Duration::from_micros),
            CgroupVersion::V1 => field(&text, "throttled_time").map(Duration::from_nanos),
        }
    });
    times.into_iter().reduce(Duration::saturating_add)
}

fn least<T: PartialOrd>(
    root: &Path,
    controller: &str,
    of_level: impl Fn(&Path, CgroupVersion) -> Option<T>,
) -> Option<T> {
    of_levels(root, controller, of_level).into_iter().reduce(|a, b| if b < a { b } else { a })
}

/// What the groups of this process say that say something.
fn of_levels<T>(
    root: &Path,
    controller: &str,
    of_level: impl Fn(&Path, CgroupVersion) -> Option<T>,
) -> Vec<T> {
    let groups = cgroups(root, controller).unwrap_or_default();
    groups.iter().filter_map(|(version, folder)| of_level(folder, *version)).collect()
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

/// The nodes that have memory and that the cpuset of this process allows: node 0 of a kernel without nodes.
///
/// # Errors
/// When /proc/self/status or /sys/devices/system/node cannot be read.
pub fn usable_nodes(root: &Path) -> Result<NodeSet, Refusal> {
    if !has_memory_nodes(root) {
        return Ok(NodeSet::single(0));
    }
    let allowed = parse_nodes("/proc/self/status", allowed_nodes_line(root)?.as_deref())?;
    match nodes_with_memory(root) {
        // Of one node there is nothing else to know.
        Err(_) if allowed.len() == 1 => Ok(allowed),
        with_memory => Ok(allowed.intersection(&with_memory?)),
    }
}

/// The nodes that have memory, whoever may use it.
///
/// # Errors
/// When /sys/devices/system/node cannot be read.
pub fn nodes_with_memory(root: &Path) -> Result<NodeSet, Refusal> {
    if !has_memory_nodes(root) {
        return Ok(NodeSet::single(0));
    }
    let path = "sys/devices/system/node/has_memory";
    parse_nodes(path, Some(&read_text(root, path)?))
}

/// Whether the kernel knows memory nodes. One that was built without (`CONFIG_NUMA`: WSL 2, User Mode Linux) has
/// neither a folder of them beside that of CPUs nor a word of them in /proc/self/status; where these are hidden it
/// is not known.
pub fn has_memory_nodes(root: &Path) -> bool {
    let is_there = |path: &str| below(root, path).exists();
    let is_masked = read_text(root, "proc/self/status").map_or(true, |status| status.is_empty());
    is_masked
        || !is_there("sys/devices/system/cpu")
        || is_there("sys/devices/system/node")
        || !allowed_nodes_line(root).is_ok_and(|line| line.is_none())
}

/// What /proc/self/status says of the nodes that this process may use.
fn allowed_nodes_line(root: &Path) -> Result<Option<String>, Refusal> {
    let status = read_text(root, "proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    Ok(line.map(String::from))
}

/// The CPUs that are online, whoever may use them; `None` where /sys does not tell.
pub fn online_cpus(root: &Path) -> Option<CpuSet> {
    read_text(root, "sys/devices/system/cpu/online").ok()?.trim().parse().ok()
}

/// The CPUs that this process could give itself: those of its control group (cpuset), else all that are online.
/// What it may use now is [`thread_cpus`](crate::thread_cpus). `None` where neither is told.
pub fn attainable_cpus(root: &Path) -> Option<CpuSet> {
    let groups = cgroups(root, "cpuset").unwrap_or_default();
    let of_group = groups.into_iter().find_map(|(version, folder)| {
        let name = match version {
            CgroupVersion::V2 => "cpuset.cpus.effective",
            CgroupVersion::V1 => "cpuset.effective_cpus",
        };
        let cpus: CpuSet =
            read_text(Path::new("/"), folder.join(name)).ok()?.trim().parse().ok()?;
        (!cpus.is_empty()).then_some(cpus)
    });
    of_group.or_else(|| online_cpus(root))
}

fn parse_nodes(path: &str, list: Option<&str>) -> Result<NodeSet, Refusal> {
    let refuse = |reason: String| Refusal::Content { path: path.into(), reason };
    let list = list.ok_or_else(|| refuse("it has no line Mems_allowed_list".into()))?;
    list.parse().map_err(|error| refuse(format!("{error}")))
}

/// Makes this process the first that the kernel kills when memory runs out (the largest
/// oom_score_adj), so that a wrong estimate of ours hits nobody else. Children inherit it.
///
/// # Errors
/// When /proc/self/oom_score_adj cannot be written.
pub fn raise_oom_score(root: &Path) -> io::Result<()> {
    fs::write(below(root, "proc/self/oom_score_adj"), "1000")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;

    const MIB: u64 = 1 << 20;

    /// These files, in a process whose groups are mounted so.
    fn tree(membership: &str, mounts: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let of_process = [("proc/self/cgroup", membership), ("proc/self/mountinfo", mounts)];
        file_tree(of_process.into_iter().chain(files.iter().copied()))
    }

    const V2: &str = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn attainable_are_the_group_s_cpus() {
        let online = ("sys/devices/system/cpu/online", "0-15\n");
        let of_group = ("sys/fs/cgroup/a/b/cpuset.cpus.effective", "4-7\n");
        let of = |files: &[(&str, &str)]| {
            let root = tree("0::/a/b\n", V2, files);
            attainable_cpus(root.path()).map(|cpus| cpus.to_string())
        };
        assert_eq!(of(&[online, of_group]).as_deref(), Some("4-7"));
        let of_parent = ("sys/fs/cgroup/a/cpuset.cpus.effective", "0-7\n");
        assert_eq!(
            of(&[online, of_parent, ("sys/fs/cgroup/a/b/cpu.max", "")]).as_deref(),
            Some("0-7")
        );
        assert_eq!(of(&[online]).as_deref(), Some("0-15"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn tightest_level_of_version_2_counts() {
        let root = tree(
            "0::/a/b\n",
            V2,
            &[
                ("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable:    4096 kB\n"),
                ("sys/fs/cgroup/a/b/memory.max", "max\n"),
                ("sys/fs/cgroup/a/b/memory.high", "3145728\n"),
                ("sys/fs/cgroup/a/b/memory.current", "524288\n"),
                ("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"),
                ("sys/fs/cgroup/a/memory.max", "8388608\n"),
                ("sys/fs/cgroup/a/memory.current", "7340032\n"),
                ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 524288\n"),
                ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ],
        );
        assert_eq!(available_memory(root.path()), Some(3 * MIB / 2));
        assert_eq!(memory_limit(root.path()), Some(8 * MIB));
        assert_eq!(cpu_limit(root.path()), Some(1.5));
        let meminfo = root.path().join("proc/meminfo");
        fs::write(meminfo, "MemAvailable: 1024 kB\n").unwrap();
        assert_eq!(available_memory(root.path()), Some(MIB));
    }

    #[test]
    fn version_1_and_its_way_to_say_no_limit() {
        let limit = "sys/fs/cgroup/memory/job/memory.limit_in_bytes";
        let root = tree(
            "4:memory:/job\n0::/\n",
            "9 8 0:3 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            &[
                (limit, "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1048576\n"),
                (
                    "sys/fs/cgroup/memory/job/memory.stat",
                    "inactive_file 9\ntotal_inactive_file 0\n",
                ),
            ],
        );
        assert_eq!((available_memory(root.path()), memory_limit(root.path())), (None, None));
        fs::write(root.path().join(limit), "3145728\n").unwrap();
        assert_eq!(available_memory(root.path()), Some(2 * MIB));
        assert_eq!(memory_limit(root.path()), Some(3 * MIB));
    }

    #[test]
    fn what_is_overdrawn_has_no_room_and_what_cannot_be_read_is_not_known() {
        for (limit, used, room) in [
            ("4096", "8192", Some(0)),
            ("max", "8192", None),
            ("many", "1", None),
            ("1", "x", None),
        ] {
            let files =
                [("sys/fs/cgroup/memory.max", limit), ("sys/fs/cgroup/memory.current", used)];
            assert_eq!(available_memory(tree("0::/\n", V2, &files).path()), room, "{limit}");
        }
        let root = tree("0::/\n", V2, &[("sys/fs/cgroup/cpu.max", "max 100000\n")]);
        assert_eq!((cpu_limit(root.path()), throttled(root.path())), (None, None));
        let nothing = Path::new("/nowhere");
        assert_eq!((available_memory(nothing), throttled(nothing)), (None, None));
    }

    #[test]
    fn throttling_is_summed_over_the_levels() {
        let stats = [
            ("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 5\nnr_throttled 1\nthrottled_usec 2000\n"),
            ("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nthrottled_usec 500\n"),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 5\n"),
        ];
        let root = tree("0::/a/b\n", V2, &stats);
        assert_eq!(throttled(root.path()), Some(Duration::from_micros(2500)));
        let of_v1 = tree(
            "3:cpuacct,cpu:/\n",
            "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuacct,cpu\n",
            &[("sys/fs/cgroup/cpu/cpu.stat", "nr_throttled 0\nthrottled_time 7000\n")],
        );
        assert_eq!(throttled(of_v1.path()), Some(Duration::from_nanos(7000)));
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

    /// WSL 2 and User Mode Linux; gVisor, which names one node and shows none.
    #[test]
    fn kernels_and_sandboxes_without_nodes_have_one() {
        let without = [("proc/self/status", "Name: x\n"), ("sys/devices/system/cpu/online", "0\n")];
        let root = file_tree(without);
        assert!(!has_memory_nodes(root.path()));
        assert_eq!(usable_nodes(root.path()).unwrap(), NodeSet::single(0));
        assert_eq!(nodes_with_memory(root.path()).unwrap(), NodeSet::single(0));
        let sandbox = file_tree([("proc/self/status", "Name: x\nMems_allowed_list:\t0\n")]);
        assert!(has_memory_nodes(sandbox.path()));
        assert_eq!(usable_nodes(sandbox.path()).unwrap(), NodeSet::single(0));
        let masked = file_tree([("proc/self/status", "Mems_allowed_list:\t0-1\n")]);
        assert!(usable_nodes(masked.path()).is_err(), "which of both have memory?");
    }

    #[test]
    fn live_machine_has_memory() {
        let root = Path::new("/");
        let nodes = usable_nodes(root).unwrap();
        assert!(!nodes.is_empty());
        assert!(nodes.iter().all(|node| node_free_bytes(root, node).is_some()));
        assert!(available_memory(root).unwrap() > MIB);
    }
}
