//! Reads what surrounds a measurement: CPU, firmware, kernel settings, limits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use nearfar_machine::CpuSet;
use nearfar_record::{Cgroup, Cpu, Environment, Firmware};
use nearfar_units::excerpt;

use crate::arm_cpu::arm_cpu;

/// Reads the environment below `root` (`/` for this machine). What cannot be read
/// is null, with the reason in [`Environment::unknown`].
pub fn read_environment(root: &Path) -> Environment {
    let mut reader = Reader { root, unknown: BTreeMap::new() };
    let cpu = reader.cpu();
    if nearfar_sys::steal_time(root, &CpuSet::new()).is_none() {
        let why = "/proc/stat cannot be read: time that a hypervisor takes goes unseen";
        reader.unknown::<()>("steal_time", why);
    }
    let environment = Environment {
        hypervisor: reader.hypervisor(),
        cpu,
        firmware: reader.firmware(),
        kernel_release: reader.line("kernel_release", "proc/sys/kernel/osrelease"),
        architecture: std::env::consts::ARCH.into(),
        governors: reader.governors(),
        boost: reader.boost(),
        smt: reader.number("smt", "sys/devices/system/cpu/smt/active").map(|on: u32| on == 1),
        transparent_huge_pages: reader.transparent_huge_pages(),
        numa_balancing: reader.number("numa_balancing", "proc/sys/kernel/numa_balancing"),
        ksm: reader.number("ksm", "sys/kernel/mm/ksm/run"),
        clock_source: reader.line(
            "clock_source",
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        perf_event_paranoid: reader
            .number("perf_event_paranoid", "proc/sys/kernel/perf_event_paranoid"),
        cgroup: Cgroup {
            cpu_limit: nearfar_sys::cpu_limit(root),
            memory_limit_bytes: nearfar_sys::memory_limit(root),
        },
        load_average: reader.load_average(),
        memory_bytes: reader.memory_bytes(),
        available_bytes: nearfar_sys::available_memory(root),
        unknown: BTreeMap::new(),
    };
    Environment { unknown: reader.unknown, ..environment }
}

struct Reader<'a> {
    root: &'a Path,
    unknown: BTreeMap<String, String>,
}

impl Reader<'_> {
    /// Notes why a field is not known.
    fn unknown<T>(&mut self, field: &str, why: impl Into<String>) -> Option<T> {
        self.unknown.insert(field.into(), why.into());
        None
    }

    fn text(&mut self, field: &str, path: &str) -> Option<String> {
        match fs::read_to_string(self.root.join(path)) {
            Ok(text) => Some(text),
            Err(error) => self.unknown(field, format!("/{path}: {error}")),
        }
    }

    fn line(&mut self, field: &str, path: &str) -> Option<String> {
        let text = self.text(field, path)?;
        match text.trim() {
            "" => self.unknown(field, format!("/{path} is empty")),
            line => Some(line.into()),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, field: &str, path: &str) -> Option<T> {
        let line = self.line(field, path)?;
        let why = || format!("/{path} holds '{}', not a number", excerpt(&line));
        line.parse().ok().or_else(|| self.unknown(field, why()))
    }

    fn cpu(&mut self) -> Cpu {
        let text = self.text("cpu", "proc/cpuinfo").unwrap_or_default();
        let value = |name: &str| {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map(|(_, value)| value.trim().to_string())
        };
        if let Some(cpu) = arm_cpu(&text) {
            return cpu;
        }
        Cpu {
            vendor: value("vendor_id"),
            model_name: value("model name"),
            family: value("cpu family").and_then(|number| number.parse().ok()),
            model: value("model").and_then(|number| number.parse().ok()),
            stepping: value("stepping").and_then(|number| number.parse().ok()),
            microcode: value("microcode"),
        }
    }

    /// The CPU's hypervisor flag says that there is one; DMI and sysfs may say which.
    fn hypervisor(&mut self) -> Option<String> {
        let cpuinfo = self.text("hypervisor", "proc/cpuinfo")?;
        let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
        let Some(flags) = flags else {
            return self.hypervisor_of_firmware();
        };
        if !flags.split_whitespace().any(|flag| flag == "hypervisor") {
            return Some("none".into());
        }
        let named = fs::read_to_string(self.root.join("sys/hypervisor/type"))
            .or_else(|_| fs::read_to_string(self.root.join("sys/class/dmi/id/sys_vendor")))
            .map(|name| name.trim().to_string());
        // The CPU answers for the machine that runs this, not for a recorded one.
        let signature = (self.root == Path::new("/")).then(nearfar_sys::hypervisor_signature);
        let name = match signature.flatten().as_deref() {
            Some("KVMKVMKVM") => Some("KVM".into()),
            Some("MicrosoftHv") => Some("Hyper-V".into()),
            Some("VMwareVMware") => Some("VMware".into()),
            Some("XenVMMXenVMM") => Some("Xen".into()),
            Some("TCGTCGTCGTCG") => Some("QEMU TCG, emulated".into()),
            Some(other) => Some(other.to_string()),
            None => named.ok(),
        };
        Some(name.unwrap_or_else(|| "of unknown kind".into()))
    }

    /// Where no CPU tells, as on AArch64: the device tree, or a maker of machines that are virtual.
    fn hypervisor_of_firmware(&mut self) -> Option<String> {
        let read = |path: &str| fs::read_to_string(self.root.join(path)).unwrap_or_default();
        let tree = read("proc/device-tree/hypervisor/compatible");
        let machine = read("proc/device-tree/compatible");
        let maker = read("sys/class/dmi/id/sys_vendor");
        let name = match tree.split('\0').next() {
            Some("linux,kvm") => "KVM",
            Some(tree) if tree.starts_with("xen,") => "Xen",
            _ if read("sys/hypervisor/type").trim() == "xen" => "Xen",
            _ if maker.trim() == "QEMU" => "QEMU",
            // The machine `virt` of QEMU, and kvmtool's.
            _ if machine.split('\0').any(|name| name == "linux,dummy-virt") => "of unknown kind",
            _ => {
                let why = "/proc/cpuinfo lists no flags on this CPU, and neither the device tree \
                           nor the firmware names a hypervisor";
                return self.unknown("hypervisor", why);
            }
        };
        Some(name.into())
    }

    fn firmware(&mut self) -> Firmware {
        if !self.root.join("sys/class/dmi/id").is_dir() {
            return self.unknown("firmware", "there is no /sys/class/dmi/id").unwrap_or_default();
        }
        let mut line = |field: &str, file: &str| {
            self.line(&format!("firmware.{field}"), &format!("sys/class/dmi/id/{file}"))
        };
        Firmware {
            system_vendor: line("system_vendor", "sys_vendor"),
            product: line("product", "product_name"),
            board: line("board", "board_name"),
            bios_version: line("bios_version", "bios_version"),
            bios_date: line("bios_date", "bios_date"),
        }
    }

    fn governors(&mut self) -> Option<Vec<String>> {
        let cpus = fs::read_dir(self.root.join("sys/devices/system/cpu")).ok();
        let governors: BTreeSet<String> = cpus
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                fs::read_to_string(entry.path().join("cpufreq/scaling_governor")).ok()
            })
            .map(|governor| governor.trim().to_string())
            .collect();
        if governors.is_empty() {
            let why = "no CPU has cpufreq/scaling_governor in sysfs (usual in virtual machines)";
            return self.unknown("governors", why);
        }
        Some(governors.into_iter().collect())
    }

    fn boost(&mut self) -> Option<bool> {
        let cpu = self.root.join("sys/devices/system/cpu");
        let boost = fs::read_to_string(cpu.join("cpufreq/boost")).map(|text| text.trim() == "1");
        let turbo =
            fs::read_to_string(cpu.join("intel_pstate/no_turbo")).map(|text| text.trim() == "0");
        let why = "sysfs has neither cpufreq/boost nor intel_pstate/no_turbo";
        boost.or(turbo).ok().or_else(|| self.unknown("boost", why))
    }

    /// The word in brackets: `always [madvise] never`.
    fn transparent_huge_pages(&mut self) -> Option<String> {
        let field = "transparent_huge_pages";
        let text = self.line(field, "sys/kernel/mm/transparent_hugepage/enabled")?;
        let word = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let why = || format!("'{}' has no word in brackets", excerpt(&text));
        word.map(|(word, _)| word.to_string()).or_else(|| self.unknown(field, why()))
    }

    fn load_average(&mut self) -> Option<f64> {
        let line = self.line("load_average", "proc/loadavg")?;
        let load = line.split_whitespace().next().and_then(|word| word.parse().ok());
        let why = || format!("/proc/loadavg holds '{}'", excerpt(&line));
        load.or_else(|| self.unknown("load_average", why()))
    }

    fn memory_bytes(&mut self) -> Option<u64> {
        let text = self.text("memory_bytes", "proc/meminfo")?;
        let line = text.lines().find(|line| line.starts_with("MemTotal:"));
        let kib: Option<u64> = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        let why = "/proc/meminfo has no line 'MemTotal: N kB'";
        let bytes = kib.and_then(|kib| kib.checked_mul(1024));
        bytes.or_else(|| self.unknown("memory_bytes", why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hypervisor of a machine whose CPU has no flag for it, with these files.
    fn named(files: &[(&str, &str)]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        let cpuinfo = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        for (file, text) in [("proc/cpuinfo", cpuinfo)].iter().chain(files) {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let environment = read_environment(root.path());
        assert_eq!(environment.cpu.model_name.as_deref(), Some("Neoverse-N1"));
        let is_explained = environment.unknown.contains_key("hypervisor");
        assert_eq!(environment.hypervisor.is_none(), is_explained);
        environment.hypervisor
    }

    #[test]
    fn where_no_cpu_tells_of_a_hypervisor_firmware_does() {
        let hypervisor = "proc/device-tree/hypervisor/compatible";
        let maker = "sys/class/dmi/id/sys_vendor";
        assert_eq!(named(&[]), None);
        assert_eq!(named(&[(maker, "GIGABYTE\n")]), None);
        assert_eq!(named(&[(maker, "QEMU\n")]).as_deref(), Some("QEMU"));
        assert_eq!(named(&[(hypervisor, "linux,kvm\0")]).as_deref(), Some("KVM"));
        assert_eq!(named(&[(hypervisor, "xen,xen-4.17\0xen,xen\0")]).as_deref(), Some("Xen"));
        assert_eq!(named(&[("sys/hypervisor/type", "xen\n")]).as_deref(), Some("Xen"));
        let machine = [("proc/device-tree/compatible", "linux,dummy-virt\0")];
        assert_eq!(named(&machine).as_deref(), Some("of unknown kind"));
    }
}
