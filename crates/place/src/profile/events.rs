//! Which events of a CPU count what: data (`events.toml`), each with its meaning and source.

use nearfar_record::{CountedQuantity, Cpu};
use nearfar_sys::PerfEvent;
use serde::Deserialize;

const TABLES: &str = include_str!("events.toml");

/// A way to count something.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CounterPlan {
    pub quantity: CountedQuantity,
    /// Events that are counted at the same time; each times its weight they sum up to it.
    pub events: Vec<PlannedEvent>,
    /// What they mean and what they leave out.
    pub meaning: String,
    /// Who says so.
    pub source: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedEvent {
    /// Its maker's name.
    pub name: String,
    /// Its number; `None` for those that Linux knows on every CPU.
    pub code: Option<u64>,
    /// Its parts.
    #[serde(default)]
    pub umask: u64,
    /// Where above 0: cycles count in which it came so often at least.
    #[serde(default)]
    pub cmask: u64,
    /// The second register.
    #[serde(default)]
    pub second: u64,
    /// How much it adds.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    cpu: Vec<Table>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// For those who read the file.
    #[serde(rename = "name")]
    _name: String,
    vendor: String,
    family: u32,
    models: Vec<[u32; 2]>,
    counter: Vec<CounterPlan>,
}

impl Table {
    fn is_of(&self, cpu: &Cpu) -> bool {
        let is_model =
            |model: u32| self.models.iter().any(|[low, high]| (*low..=*high).contains(&model));
        cpu.vendor.as_deref() == Some(&self.vendor)
            && cpu.family == Some(self.family)
            && cpu.model.is_some_and(is_model)
    }
}

/// All ways to count on a CPU, those of one quantity in the order in which they are tried. Cycles
/// and instructions are there on every CPU, by Linux's own knowledge of it.
pub(crate) fn counter_plans(cpu: &Cpu) -> Vec<CounterPlan> {
    let mut plans = vec![
        of_linux(CountedQuantity::Cycles, "cycles", "cycles in user mode in which the core ran"),
        of_linux(
            CountedQuantity::Instructions,
            "instructions",
            "retired instructions in user mode",
        ),
    ];
    for table in tables() {
        if table.is_of(cpu) {
            plans.extend(table.counter);
        }
    }
    plans
}

fn of_linux(quantity: CountedQuantity, name: &str, meaning: &str) -> CounterPlan {
    let event =
        PlannedEvent { name: name.into(), code: None, umask: 0, cmask: 0, second: 0, weight: 1 };
    CounterPlan {
        quantity,
        events: vec![event],
        meaning: meaning.into(),
        source: "perf_event_open(2), PERF_TYPE_HARDWARE".into(),
    }
}

/// The file is part of the program: the tests read it.
fn tables() -> Vec<Table> {
    toml::from_str::<Tables>(TABLES).map_or_else(|_| Vec::new(), |tables| tables.cpu)
}

impl CounterPlan {
    /// As the kernel takes them.
    pub fn perf_events(&self) -> Vec<PerfEvent> {
        let raw = |event: &PlannedEvent| match (event.code, self.quantity) {
            (Some(code), _) => PerfEvent::Raw { config: event.config(code), second: event.second },
            (None, CountedQuantity::Instructions) => PerfEvent::Instructions,
            (None, _) => PerfEvent::Cycles,
        };
        self.events.iter().map(raw).collect()
    }
}

impl PlannedEvent {
    /// The event register: on AMD bits 8 to 11 of the number stand at bits 32 to 35 (PPR,
    /// PERF_CTL); both makers have the least number at bits 24 to 31.
    fn config(&self, code: u64) -> u64 {
        (code & 0xff) | (code >> 8 << 32) | self.umask << 8 | self.cmask << 24
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    pub(crate) fn cpu(vendor: &str, family: u32, model: u32) -> Cpu {
        Cpu {
            vendor: Some(vendor.into()),
            family: Some(family),
            model: Some(model),
            ..Cpu::default()
        }
    }

    #[test]
    fn the_tables_are_read_and_every_entry_has_a_meaning_and_a_source() {
        let tables = toml::from_str::<Tables>(TABLES).unwrap().cpu;
        assert!(tables.len() >= 8);
        for table in &tables {
            assert!(!table.models.is_empty() && table.models.iter().all(|[low, high]| low <= high));
            for plan in &table.counter {
                assert!((1..=4).contains(&plan.events.len()), "{plan:?}");
                let of_maker = if table.vendor == "AuthenticAMD" { "PPR " } else { "SDM " };
                assert!(plan.source.starts_with(of_maker), "{plan:?}");
                assert!(plan.source.contains("Linux "), "{plan:?}");
                assert!(plan.meaning.len() > 10, "{plan:?}");
                for event in &plan.events {
                    assert!(event.code.is_some_and(|code| code <= 0xfff), "{event:?}");
                    assert!(event.umask <= 0xff && event.cmask <= 0xff, "{event:?}");
                    assert!(event.weight.is_power_of_two() && event.weight <= 16, "{event:?}");
                    let needs_second = event.name.starts_with("OCR.");
                    assert_eq!(needs_second, event.second != 0, "{event:?}");
                }
            }
        }
    }

    #[test]
    fn each_cpu_finds_its_own_and_others_find_only_what_linux_knows() {
        let quantities = |cpu: &Cpu| -> BTreeSet<CountedQuantity> {
            counter_plans(cpu).into_iter().map(|plan| plan.quantity).collect()
        };
        use CountedQuantity::{Cycles, Flops, FlopsDouble, Instructions, LocalDramLines};
        for (vendor, family, model, flops) in [
            ("AuthenticAMD", 0x17, 0x31, Flops),
            ("AuthenticAMD", 0x19, 0x01, Flops),
            ("AuthenticAMD", 0x19, 0x11, Flops),
            ("AuthenticAMD", 0x1a, 0x02, Flops),
            ("GenuineIntel", 6, 0x55, FlopsDouble),
            ("GenuineIntel", 6, 0x6a, FlopsDouble),
            ("GenuineIntel", 6, 0x8f, FlopsDouble),
        ] {
            let found = quantities(&cpu(vendor, family, model));
            assert!(found.contains(&flops) && found.contains(&LocalDramLines), "{model:#x}");
        }
        let client = quantities(&cpu("GenuineIntel", 6, 0x9e));
        assert!(client.contains(&FlopsDouble) && !client.contains(&LocalDramLines));
        for other in [Cpu::default(), cpu("GenuineIntel", 6, 0x3f), cpu("AuthenticAMD", 0x17, 1)] {
            assert_eq!(quantities(&other), [Cycles, Instructions].into(), "{other:?}");
        }
    }

    #[test]
    fn only_one_table_of_amd_holds_for_a_model() {
        for (family, model) in (0x17..=0x1a).flat_map(|it| (0..=0xff).map(move |model| (it, model)))
        {
            let cpu = cpu("AuthenticAMD", family, model);
            let count = tables().iter().filter(|table| table.is_of(&cpu)).count();
            assert!(count <= 1, "{family:#x} {model:#x}");
        }
    }

    #[test]
    fn events_are_put_into_the_register_as_the_makers_say() {
        let event = |code, umask, cmask| {
            let event = PlannedEvent {
                name: String::new(),
                code: Some(code),
                umask,
                cmask,
                second: 0,
                weight: 1,
            };
            event.config(code)
        };
        // Linux's own text form of the same: cpu/event=0x48,umask=0x1,cmask=1/ is r1000148.
        assert_eq!(event(0x48, 0x01, 1), 0x0100_0148);
        assert_eq!(event(0xc7, 0x10, 0), 0x10c7);
        assert_eq!(event(0x1c0, 0x0f, 0), 0x1_0000_0fc0);
    }
}
