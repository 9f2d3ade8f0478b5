//! What surrounds a measurement and can change it. `None` is "not known", with
//! the reason in [`Environment::unknown`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The machine's state when measuring began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    pub cpu: Cpu,
    /// Board and BIOS.
    pub firmware: Firmware,
    /// Release of the operating system's kernel, `uname -r`.
    pub kernel_release: Option<String>,
    /// Architecture, `x86_64`.
    pub architecture: String,
    /// Name of the hypervisor, `none` on bare metal.
    pub hypervisor: Option<String>,
    /// Frequency governors in use, sorted, each once.
    pub governors: Option<Vec<String>>,
    /// Whether the CPU may exceed its nominal frequency.
    pub boost: Option<bool>,
    /// Whether a core offers more than one CPU at present.
    pub smt: Option<bool>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Option<String>,
    /// kernel.numa_balancing: 0 is off.
    pub numa_balancing: Option<u32>,
    /// Kernel same-page merging: 1 is on.
    pub ksm: Option<u32>,
    /// Clock source of the kernel.
    pub clock_source: Option<String>,
    /// kernel.perf_event_paranoid.
    pub perf_event_paranoid: Option<i32>,
    /// Limits of the control group.
    pub cgroup: Cgroup,
    /// Processes ready to run, averaged over a minute, when measuring began.
    pub load_average: Option<f64>,
    /// Memory of the machine by /proc/meminfo.
    pub memory_bytes: Option<u64>,
    /// Memory that could be used when measuring began.
    pub available_bytes: Option<u64>,
    /// Why a field is null, by the field's name.
    pub unknown: BTreeMap<String, String>,
}

/// The CPU, by /proc/cpuinfo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// `GenuineIntel`, `AuthenticAMD`.
    pub vendor: Option<String>,
    pub model_name: Option<String>,
    /// Family number.
    pub family: Option<u32>,
    /// Model number.
    pub model: Option<u32>,
    /// Stepping number.
    pub stepping: Option<u32>,
    /// Microcode revision.
    pub microcode: Option<String>,
}

/// Board and BIOS, by /sys/class/dmi.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Maker of the system.
    pub system_vendor: Option<String>,
    /// Product name of the system.
    pub product: Option<String>,
    /// Name of the board.
    pub board: Option<String>,
    pub bios_version: Option<String>,
    pub bios_date: Option<String>,
}

/// Limits that the process's control group sets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cgroup {
    /// CPUs' worth of time allowed; null when unlimited or unknown.
    pub cpu_limit: Option<f64>,
    /// Memory allowed; null when unlimited or unknown.
    pub memory_limit_bytes: Option<u64>,
}
