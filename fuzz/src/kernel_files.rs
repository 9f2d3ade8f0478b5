//! Files below /proc and /sys, in a tree like that of a machine with two nodes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use nearfar_machine::{CpuSet, Machine};

use super::{Outcome, rejected, rejected_words};

/// The tree's files. An input replaces one of them.
const FILES: [(&str, &str); 33] = [
    (
        "proc/cpuinfo",
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: CPU\nstepping\t: 8\nmicrocode\t: 0x2b000603\n",
    ),
    ("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n"),
    (
        "proc/meminfo",
        "MemTotal:       24671104 kB\nMemFree:        20000000 kB\nMemAvailable:   24317544 kB\n",
    ),
    ("proc/self/cgroup", "0::/a.slice/b.scope\n"),
    (
        "proc/self/mountinfo",
        "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
    ),
    (
        "proc/self/status",
        "Name:\tx\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0-1\nVmHWM:\t    5000 kB\n",
    ),
    (
        "proc/stat",
        "cpu  9 9 9 9 9 9 9 999 0 0\ncpu0 1 2 3 4 5 6 7 100 0 0\ncpu1 1 2 3 4 5 6 7 250 0 0\n",
    ),
    ("proc/sys/kernel/numa_balancing", "1\n"),
    ("proc/sys/kernel/osrelease", "6.12.0\n"),
    ("proc/sys/kernel/perf_event_paranoid", "2\n"),
    ("sys/class/dmi/id/sys_vendor", "Vendor\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
    ("sys/devices/system/cpu/smt/active", "1\n"),
    ("sys/devices/system/node/has_cpu", "0-1\n"),
    ("sys/devices/system/node/has_memory", "0-1\n"),
    ("sys/devices/system/node/online", "0-1\n"),
    ("sys/devices/system/node/node0/access0/initiators/read_bandwidth", "100000\n"),
    ("sys/devices/system/node/node0/access0/initiators/read_latency", "80\n"),
    ("sys/devices/system/node/node0/cpulist", "0-3\n"),
    ("sys/devices/system/node/node0/distance", "10 21\n"),
    (
        "sys/devices/system/node/node0/meminfo",
        "Node 0 MemTotal:       16000000 kB\nNode 0 MemFree:        12000000 kB\n",
    ),
    ("sys/devices/system/node/node1/cpulist", "4-7\n"),
    ("sys/devices/system/node/node1/distance", "21 10\n"),
    (
        "sys/devices/system/node/node1/meminfo",
        "Node 1 MemTotal:       16000000 kB\nNode 1 MemFree:        12000000 kB\n",
    ),
    ("sys/fs/cgroup/a.slice/b.scope/cpu.max", "150000 100000\n"),
    (
        "sys/fs/cgroup/a.slice/b.scope/cpu.stat",
        "usage_usec 5\nnr_throttled 1\nthrottled_usec 2000\n",
    ),
    ("sys/fs/cgroup/a.slice/b.scope/memory.current", "1000000\n"),
    ("sys/fs/cgroup/a.slice/b.scope/memory.max", "8000000000\n"),
    ("sys/fs/cgroup/a.slice/b.scope/memory.stat", "anon 5\ninactive_file 4096\n"),
    ("sys/kernel/mm/ksm/run", "0\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
];

/// What a machine of that tree looks like to hwloc.
const MACHINE: &str = "name = \"two-nodes\"\ntitle = \"two nodes of four CPUs\"\n\
                       node = [{ cores = 4 }, { cores = 4 }]\n\
                       bandwidth = [{ one_thread = 10 }]\n";

/// One file of the tree: its path on the first line, then its content.
pub fn kernel_files(input: &[u8]) -> Outcome {
    let (path, content) = match input.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[][..]),
    };
    let Some((path, _)) = FILES.iter().find(|(known, _)| known.as_bytes() == path) else {
        return rejected_words("the input does not begin with the path of a file of the tree");
    };
    match tree().with_file(path, content, read_all) {
        Ok(outcome) => outcome,
        Err(error) => panic!("the tree of kernel files cannot be written: {error}"),
    }
}

/// All that is read below a root.
fn read_all(root: &Path) -> Outcome {
    let environment = nearfar_measure::read_environment(root);
    assert!(environment.cgroup.cpu_limit.is_none_or(|limit| !limit.is_nan() && limit >= 0.0));
    for reason in environment.unknown.values() {
        rejected_words(reason);
    }
    let mut machine = machine().clone();
    nearfar_topology::amend_from_sysfs(&mut machine, root);
    let wrong = machine.check();
    assert!(wrong.is_empty(), "{wrong:?}");
    for note in &machine.notes {
        rejected_words(note);
    }
    // Of these it only matters here that they come to an end.
    let nodes = [0, 1].map(|node| nearfar_sys::node_free_bytes(root, node));
    let cpus = CpuSet::from_iter([0, 1]);
    std::hint::black_box((
        nodes,
        nearfar_sys::available_memory(root),
        nearfar_sys::peak_resident_bytes(root),
        nearfar_sys::steal_time(root, &cpus),
        nearfar_sys::throttled(root),
    ));
    match nearfar_sys::usable_nodes(root) {
        Ok(_) => Outcome::Accepted,
        Err(refusal) => rejected(&refusal),
    }
}

fn machine() -> &'static Machine {
    static MACHINE_OF_TREE: OnceLock<Machine> = OnceLock::new();
    MACHINE_OF_TREE.get_or_init(|| match nearfar_flow::parse_machine("two-nodes.toml", MACHINE) {
        Ok(simulated) => simulated.machine,
        Err(error) => panic!("{error}"),
    })
}

/// The files on a disk. One reader at a time changes them.
struct Tree {
    root: PathBuf,
    /// The file that the last input replaced.
    replaced: Mutex<Option<&'static str>>,
}

/// The tree of this process, made when it is first used.
fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| {
        let folder = tempfile::Builder::new().prefix("nearfar-kernel-files-").tempdir();
        let made = folder.map(tempfile::TempDir::keep).and_then(|root| {
            FILES.iter().try_for_each(|(path, content)| write(&root, path, content.as_bytes()))?;
            Ok(root)
        });
        match made {
            Ok(root) => Tree { root, replaced: Mutex::new(None) },
            Err(error) => panic!("the tree of kernel files cannot be made: {error}"),
        }
    })
}

fn write(root: &Path, path: &str, content: &[u8]) -> io::Result<()> {
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}

impl Tree {
    /// Reads the tree with one file replaced; the file before it is put back.
    fn with_file<T>(
        &self,
        path: &'static str,
        content: &[u8],
        read: impl FnOnce(&Path) -> T,
    ) -> io::Result<T> {
        let mut replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        let original = FILES.iter().find(|(known, _)| *replaced == Some(*known) && *known != path);
        if let Some((path, content)) = original {
            fs::write(self.root.join(path), content)?;
        }
        *replaced = Some(path);
        fs::write(self.root.join(path), content)?;
        Ok(read(&self.root))
    }
}
