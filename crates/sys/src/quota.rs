//! Limits that the process's control groups set.

use std::path::Path;

use crate::cgroup::{CgroupVersion, cgroups};
use crate::limits::NO_LIMIT;
use crate::system_file::read_text;

/// CPUs' worth of time that the control groups allow (quota / period, the least of
/// all levels); `None` when there is no limit or it cannot be read.
pub fn cpu_limit(root: &Path) -> Option<f64> {
    let of_level = |folder: &Path, version: CgroupVersion| -> Option<f64> {
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
    };
    least(root, "cpu", of_level)
}

/// Memory that the control groups allow, the least of all levels; `None` when there
/// is no limit or it cannot be read.
pub fn memory_limit(root: &Path) -> Option<u64> {
    let of_level = |folder: &Path, version: CgroupVersion| -> Option<u64> {
        let name = match version {
            CgroupVersion::V2 => "memory.max",
            CgroupVersion::V1 => "memory.limit_in_bytes",
        };
        let text = read_text(folder, name).ok()?;
        text.trim().parse().ok().filter(|&limit| limit < NO_LIMIT)
    };
    least(root, "memory", of_level)
}

fn least<T: PartialOrd>(
    root: &Path,
    controller: &str,
    of_level: impl Fn(&Path, CgroupVersion) -> Option<T>,
) -> Option<T> {
    let groups = cgroups(root, controller).ok()?;
    let limits = groups
        .iter()
        .flat_map(|group| group.levels.iter().filter_map(|folder| of_level(folder, group.version)));
    limits.reduce(|a, b| if b < a { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;

    /// A process in `/job/step` of a version 2 hierarchy with these files.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        const MOUNTS: &str = "30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
        let of_group: Vec<(String, &str)> =
            files.iter().map(|&(path, text)| (format!("sys/fs/cgroup/{path}"), text)).collect();
        let of_process = [
            ("proc/self/cgroup", "0::/job/step\n"),
            ("proc/self/mountinfo", MOUNTS),
            ("sys/fs/cgroup/job/step/", ""),
        ];
        let of_group = of_group.iter().map(|(path, text)| (path.as_str(), *text));
        file_tree(of_process.into_iter().chain(of_group))
    }

    #[test]
    fn the_least_limit_of_all_levels_counts() {
        let root = tree(&[
            ("job/cpu.max", "150000 100000\n"),
            ("job/step/cpu.max", "400000 100000\n"),
            ("job/memory.max", "max\n"),
            ("job/step/memory.max", "1073741824\n"),
        ]);
        assert_eq!(cpu_limit(root.path()), Some(1.5));
        assert_eq!(memory_limit(root.path()), Some(1 << 30));
    }

    #[test]
    fn no_limit_is_none() {
        let root = tree(&[("job/cpu.max", "max 100000\n"), ("job/memory.max", "max\n")]);
        assert_eq!(cpu_limit(root.path()), None);
        assert_eq!(memory_limit(root.path()), None);
    }
}
