//! How a machine's memory channels are populated, in words.

use nearfar_machine::{Machine, ModulePopulation};
use nearfar_record::{Check, Standing};
use nearfar_units::Bytes;

/// Memory modules by the firmware's word; `None` where it does not tell them.
pub(crate) fn module_check(machine: &Machine) -> Option<Check> {
    let population = machine.module_population().ok()?;
    let check = |standing, finding, remedy| Check {
        check: "memory_modules".into(),
        standing,
        finding,
        remedy,
    };
    let words = population_words(&population);
    let uneven = unevenness(&population);
    if uneven.is_empty() {
        let slower = if population.runs_below_its_speed {
            ", below the speed that the modules could run at"
        } else {
            ""
        };
        return Some(check(Standing::Fine, format!("{words}{slower}"), None));
    }
    let remedy =
        "channels that have less limit what interleaves over all: put the same modules on all";
    let words = format!("uneven: {}; {words}", uneven.join("; "));
    Some(check(Standing::Warning, words, Some(remedy.into())))
}

/// `16 modules on 16 channels, 8 a package, each of 32 GiB at 4800 MT/s`.
fn population_words(of: &ModulePopulation) -> String {
    let packages = match of.channels_per_package {
        Some((low, high)) if low == high => format!(", {low} a package"),
        _ => String::new(),
    };
    let size = match of.bytes {
        Some((low, high)) if low == high => format!(" of {}", Bytes(low)),
        _ => String::new(),
    };
    let speed = match of.mt_per_s {
        Some((low, high)) if low == high => format!(" at {low} MT/s"),
        _ => String::new(),
    };
    let each = if size.is_empty() && speed.is_empty() { "" } else { ", each" };
    let noun = if of.modules == 1 { "module" } else { "modules" };
    format!("{} {noun} on {} channels{packages}{each}{size}{speed}", of.modules, of.channels)
}

/// What is uneven, each in a clause; empty where nothing is.
fn unevenness(of: &ModulePopulation) -> Vec<String> {
    let mut found = Vec::new();
    if let Some((low, high)) = of.channels_per_package.filter(|(low, high)| low < high) {
        found.push(format!("packages have {low} to {high} channels with modules"));
    }
    let (low, high) = of.modules_per_channel;
    if low < high {
        found.push(format!("channels have {low} to {high} modules"));
    }
    if let Some((low, high)) = of.bytes.filter(|(low, high)| low < high) {
        found.push(format!("modules have {} to {}", Bytes(low), Bytes(high)));
    }
    if let Some((low, high)) = of.mt_per_s.filter(|(low, high)| low < high) {
        found.push(format!("modules run at {low} to {high} MT/s"));
    }
    found
}

#[cfg(test)]
mod tests {
    use nearfar_machine::{CpuSet, MemoryModule, Package};
    use nearfar_specimen::empty_machine;

    use super::*;

    fn module(locator: &str, gib: u64) -> MemoryModule {
        MemoryModule {
            locator: locator.into(),
            bank: None,
            kind: Some("DDR4".into()),
            bytes: Some(gib << 30),
            configured_mt_per_s: Some(2933),
            max_mt_per_s: Some(2933),
            data_bits: Some(64),
            manufacturer: None,
            part_number: None,
        }
    }

    fn machine(modules: Vec<MemoryModule>) -> Machine {
        let package = |os_index| Package { os_index, cpus: CpuSet::single(os_index), model: None };
        Machine {
            packages: vec![package(0), package(1)],
            memory_modules: Some(modules),
            ..empty_machine()
        }
    }

    #[test]
    fn even_modules_are_told_and_uneven_ones_found() {
        let even: Vec<MemoryModule> = ["A1", "B1", "C1"]
            .iter()
            .flat_map(|name| [0, 1].map(|cpu| module(&format!("P{cpu}_DIMM_{name}"), 32)))
            .collect();
        let population = machine(even.clone()).module_population().unwrap();
        let words = "6 modules on 6 channels, 3 a package, each of 32 GiB at 2933 MT/s";
        assert_eq!(population_words(&population), words);
        assert_eq!(unevenness(&population), Vec::<String>::new());

        let mut uneven = even;
        uneven.pop();
        uneven.push(module("P0_DIMM_A2", 16));
        let population = machine(uneven).module_population().unwrap();
        assert_eq!(
            unevenness(&population),
            [
                "packages have 2 to 3 channels with modules",
                "channels have 1 to 2 modules",
                "modules have 16 GiB to 32 GiB",
            ]
        );
    }

    #[test]
    fn without_modules_there_is_a_reason() {
        let unknown = Machine {
            memory_modules: None,
            memory_modules_unknown: Some("only root may read them".into()),
            ..machine(Vec::new())
        };
        assert_eq!(unknown.module_population().unwrap_err(), "only root may read them");
    }
}
