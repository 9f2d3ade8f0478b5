//! The control groups of this process, of version 2 and of the older hierarchies
//! (cgroups(7)).

use std::path::{Component, Path, PathBuf};

use crate::system_file::{below, read_text};

/// The two layouts of the interface files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CgroupVersion {
    V1,
    V2,
}

/// The groups that may control `controller` (`memory`, `cpu`) for this process, by the folders of
/// their interface files: of version 2 first, then of version 1 with that controller, each from the
/// process's own group up to the topmost one that can be seen here. A limit of any of them holds.
/// Empty when there is none, `None` when the kernel does not say.
pub(crate) fn cgroups(root: &Path, controller: &str) -> Option<Vec<(CgroupVersion, PathBuf)>> {
    let membership = read_text(root, "proc/self/cgroup").ok()?;
    let mounts = read_text(root, "proc/self/mountinfo").ok()?;
    let mounts: Vec<Mount> = mounts.lines().filter_map(parse_mount).collect();
    let mut found = Vec::new();
    for version in [CgroupVersion::V2, CgroupVersion::V1] {
        for line in membership.lines() {
            let Some(path) = membership_path(line, version, controller) else {
                continue;
            };
            let serving = mounts.iter().filter(|mount| mount.serves(version, controller));
            let levels = serving.filter_map(|mount| mount.levels(root, path)).next();
            found.extend(levels.into_iter().flatten().map(|folder| (version, folder)));
        }
    }
    Some(found)
}

/// The path in a line `id:controllers:path` of /proc/self/cgroup, if it is of this
/// version and controller. Version 2 has the id 0 and names no controllers.
fn membership_path<'a>(line: &'a str, version: CgroupVersion, controller: &str) -> Option<&'a str> {
    let (id, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let matches = match version {
        CgroupVersion::V2 => id == "0" && controllers.is_empty(),
        CgroupVersion::V1 => controllers.split(',').any(|name| name == controller),
    };
    matches.then_some(path)
}

/// A line of /proc/self/mountinfo.
struct Mount {
    /// The group that appears at the mount point: not `/` in a container that sees
    /// only its own part.
    group: PathBuf,
    point: PathBuf,
    kind: String,
    options: String,
}

impl Mount {
    fn serves(&self, version: CgroupVersion, controller: &str) -> bool {
        match version {
            CgroupVersion::V2 => self.kind == "cgroup2",
            CgroupVersion::V1 => {
                self.kind == "cgroup" && self.options.split(',').any(|name| name == controller)
            }
        }
    }

    /// The folders from the process's group up to the mount point; `None` when the
    /// group is not below the mounted one.
    fn levels(&self, root: &Path, path: &str) -> Option<Vec<PathBuf>> {
        let inside = Path::new(path).strip_prefix(&self.group).ok()?;
        // '/../x': a group outside this cgroup namespace.
        if inside.components().any(|part| !matches!(part, Component::Normal(_))) {
            return None;
        }
        let point = below(root, &self.point);
        let folders = inside.ancestors().map(|group| point.join(group));
        Some(folders.filter(|folder| folder.is_dir()).collect())
    }
}

/// Reads `id parent device root point options [tags] - kind source options`
/// (proc_pid_mountinfo(5)).
fn parse_mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let group = PathBuf::from(unescape(left.next()?));
    let point = PathBuf::from(unescape(left.next()?));
    let mut right = right.split(' ');
    let kind = right.next()?.to_string();
    let options = right.nth(1).unwrap_or_default().to_string();
    Some(Mount { group, point, kind, options })
}

/// Replaces the kernel's `\ooo` (blank, tab, newline, backslash) by the character.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (code, after.get(3..)) {
            (Some(code), Some(beyond)) => {
                plain.push(char::from(code));
                rest = beyond;
            }
            _ => {
                plain.push('\\');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tree::file_tree;

    fn tree(membership: &str, mountinfo: &str, folders: &[&str]) -> tempfile::TempDir {
        let files = [("proc/self/cgroup", membership), ("proc/self/mountinfo", mountinfo)];
        file_tree(files.into_iter().chain(folders.iter().map(|&folder| (folder, ""))))
    }

    fn found(root: &tempfile::TempDir, controller: &str) -> Vec<(CgroupVersion, String)> {
        let name = |path: PathBuf| path.strip_prefix(root.path()).unwrap().display().to_string();
        let groups = cgroups(root.path(), controller).unwrap().into_iter();
        groups.map(|(version, path)| (version, name(path).trim_end_matches('/').into())).collect()
    }

    const V2: &str =
        "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn version_2_is_walked_up() {
        let root = tree("0::/a.slice/b.scope\n", V2, &["sys/fs/cgroup/a.slice/b.scope/"]);
        let levels = ["sys/fs/cgroup/a.slice/b.scope", "sys/fs/cgroup/a.slice", "sys/fs/cgroup"];
        assert_eq!(found(&root, "memory"), levels.map(|it| (CgroupVersion::V2, it.into())));
    }

    #[test]
    fn container_without_a_namespace_sees_its_part_at_the_mount_point() {
        let mounts = "9 8 0:3 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      9 8 0:4 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
        let root = tree(
            "5:cpu,cpuacct:/docker/abc/x\n4:memory:/docker/abc\n",
            mounts,
            &["sys/fs/cgroup/memory/", "sys/fs/cgroup/cpu,cpuacct/x/"],
        );
        let memory = [(CgroupVersion::V1, "sys/fs/cgroup/memory".into())];
        assert_eq!(found(&root, "memory"), memory);
        let cpu = ["sys/fs/cgroup/cpu,cpuacct/x", "sys/fs/cgroup/cpu,cpuacct"];
        assert_eq!(found(&root, "cpu"), cpu.map(|it| (CgroupVersion::V1, it.into())));
        assert_eq!(found(&root, "pids"), []);
    }

    #[test]
    fn groups_outside_the_namespace_are_left_out() {
        let root = tree("0::/../../other\n", V2, &["sys/fs/cgroup/"]);
        assert_eq!(found(&root, "memory"), []);
    }

    #[test]
    fn names_are_unescaped() {
        assert_eq!(unescape(r"/a\040b\134c"), r"/a b\c");
        for odd in [r"\", r"\04", r"a\999b", r"\0é"] {
            assert_eq!(unescape(odd), odd);
        }
        let mounts = "30 24 0:26 / /sys/fs/c\\040g rw - cgroup2 cgroup2 rw\n";
        let root = tree("0::/\n", mounts, &["sys/fs/c g/"]);
        assert_eq!(found(&root, "memory").len(), 1);
    }
}
