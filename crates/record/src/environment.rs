//! What surrounds a measurement and can change it. `None` is "not known", with
//! the reason in [`Environment::unknown`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The machine's state when measuring began; of a null `unknown` says why.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Environment {
    pub cpu: Cpu,
    pub firmware: Firmware,
    /// Release of the operating system's kernel, as `uname -r`.
    pub kernel_release: Option<String>,
    /// The one that the program was built for: `x86_64`, `aarch64`.
    pub architecture: String,
    /// Name of the hypervisor, `none` on bare metal.
    pub hypervisor: Option<String>,
    /// Frequency governors in use, sorted, each once.
    pub governors: Option<Vec<String>>,
    /// Whether the CPU may exceed its nominal frequency.
    pub boost: Option<bool>,
    /// Whether a core offers more than one CPU at present.
    pub smt: Option<bool>,
    /// `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Setting kernel.numa_balancing: 0 is off.
    pub numa_balancing: Option<u32>,
    /// Same-page merging: 1 is on.
    pub ksm: Option<u32>,
    /// Clock source of the operating system's kernel.
    pub clock_source: Option<String>,
    /// Setting kernel.perf_event_paranoid: -1 allows most.
    pub perf_event_paranoid: Option<i32>,
    /// Limits of the control group.
    pub cgroup: Cgroup,
    /// Threads ready to run, averaged over a minute.
    pub load_average: Option<f64>,
    /// Memory of the machine, by /proc/meminfo.
    pub memory_bytes: Option<u64>,
    /// Memory that could be used: the least of machine and control group.
    pub available_bytes: Option<u64>,
    /// Why a field is null, by its path (`firmware.board`) or that of the object that it stands in
    /// (`cpu`).
    pub unknown: BTreeMap<String, String>,
}

impl Environment {
    /// The hypervisor that this machine is a guest of; `None` on bare metal, and where nobody knows.
    pub fn known_hypervisor(&self) -> Option<&str> {
        self.hypervisor.as_deref().filter(|&name| name != "none")
    }
}

/// The CPU, by /proc/cpuinfo; null: not given there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// `GenuineIntel`, `AuthenticAMD`; of AArch64 who the implementer's code stands for: `Arm`.
    pub vendor: Option<String>,
    /// Of AArch64 the name of the core that the codes stand for, `Neoverse-V2`, or the codes.
    pub model_name: Option<String>,
    /// Family number; of AArch64 the implementer's code.
    pub family: Option<u32>,
    /// Model number; of AArch64 the part number.
    pub model: Option<u32>,
    /// Stepping number; of AArch64 16 times the variant, and the revision: 18 is r1p2.
    pub stepping: Option<u32>,
    /// Microcode revision.
    pub microcode: Option<String>,
}

/// Board and BIOS, by /sys/class/dmi.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cgroup {
    /// CPUs' worth of time allowed; null: unlimited, or not known.
    pub cpu_limit: Option<f64>,
    /// Memory allowed; null: unlimited, or not known.
    pub memory_limit_bytes: Option<u64>,
}
