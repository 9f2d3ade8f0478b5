//! Channels and theoretical maxima from lists of memory modules.

use nearfar_machine::{
    CpuSet, Direction, Machine, MemoryKind, MemoryModule, MemoryNode, NodeSet, Package, Scope,
    Source, TheoreticalMaximum,
};

fn machine(packages: u32, kinds: &[MemoryKind]) -> Machine {
    let node = |(os_index, kind): (u32, &MemoryKind)| MemoryNode {
        os_index,
        kind: *kind,
        cpus: CpuSet::new(),
        locality: CpuSet::new(),
        memory_bytes: Some(64 << 30),
        memory_side_cache_bytes: None,
    };
    Machine {
        source: Source::Live,
        packages: (0..packages)
            .map(|os_index| Package { os_index, cpus: CpuSet::new(), model: None })
            .collect(),
        nodes: (0..).zip(kinds).map(node).collect(),
        cores: Vec::new(),
        caches: Vec::new(),
        distances: None,
        firmware_figures: Vec::new(),
        devices: Vec::new(),
        allowed_cpus: CpuSet::new(),
        allowed_nodes: NodeSet::new(),
        interleave_weights: None,
        memory_modules: Some(Vec::new()),
        empty_memory_sockets: Some(0),
        memory_modules_unknown: None,
        notes: Vec::new(),
    }
}

fn module(locator: &str, bank: &str, kind: &str, mt_per_s: u32) -> MemoryModule {
    MemoryModule {
        locator: locator.into(),
        bank: (!bank.is_empty()).then(|| bank.into()),
        kind: Some(kind.into()),
        bytes: Some(16 << 30),
        configured_mt_per_s: Some(mt_per_s),
        max_mt_per_s: Some(mt_per_s),
        data_bits: Some(64),
        manufacturer: None,
        part_number: None,
    }
}

fn named(packages: u32, locators: &[&str]) -> Machine {
    let mut machine = machine(packages, &[MemoryKind::Dram, MemoryKind::Dram]);
    machine.memory_modules =
        Some(locators.iter().map(|locator| module(locator, "", "DDR4", 3200)).collect());
    machine
}

#[test]
fn two_modules_of_a_channel_are_one_channel() {
    let sockets = ["CPU0_DIMM_A1", "CPU0_DIMM_A2", "CPU0_DIMM_B1", "CPU1_DIMM_A1"];
    assert_eq!(named(2, &sockets).memory_channels(), Ok(3));
}

#[test]
fn letters_alone_are_channels_only_where_they_cannot_be_processors() {
    assert_eq!(named(2, &["DIMM_A1", "DIMM_B1", "DIMM_C1", "DIMM_C2"]).memory_channels(), Ok(3));
    for sockets in [&["A1", "A2", "B1", "B2"][..], &["A1", "A2"]] {
        let reason = named(2, sockets).memory_channels().unwrap_err();
        assert!(reason.contains("('A1') do not tell"), "{reason}");
    }
    assert_eq!(named(1, &["A1", "B1"]).memory_channels(), Ok(2));
}

#[test]
fn names_that_do_not_tell() {
    for sockets in [
        &["PROC 1 DIMM 3", "PROC 2 DIMM 3"][..],
        &["CPU0_DIMM_A1", "DIMM 7"],
        &["CPU0_DIMM_A1", "B1"],
        &["CPU0_DIMM_A1", "CPU0_DIMM_A1"],
    ] {
        let machine = named(2, sockets);
        assert!(machine.memory_channels().is_err(), "{sockets:?}");
        let maximum = TheoreticalMaximum::of_memory(&machine).unwrap();
        assert_eq!((maximum.name.as_str(), maximum.scope), ("DDR4-3200", Scope::Channel));
        assert!((maximum.bytes_per_s - 25.6e9).abs() < 1.0);
        assert!(maximum.source.contains("one channel: "), "{}", maximum.source);
    }
}

#[test]
fn the_maximum_is_of_ordinary_memory_and_its_nodes() {
    use MemoryKind::{Cxl, Dram, Hbm, Unknown};
    let mut machine = machine(2, &[Dram, Unknown, Hbm, Cxl]);
    let mut modules: Vec<MemoryModule> = Vec::new();
    for package in 0..2 {
        for channel in "ABCDEFGHIJKL".chars() {
            modules.push(module("DIMM 0", &format!("P{package} CHANNEL {channel}"), "DDR5", 4800));
        }
    }
    modules.push(module("CARD", "", "CXL", 4400));
    modules.push(module("HBM", "", "HBM2", 3200));
    machine.memory_modules = Some(modules);
    let maximum = TheoreticalMaximum::of_memory(&machine).unwrap();
    assert_eq!(maximum.name, "DDR5-4800x12");
    assert_eq!((maximum.scope, maximum.direction), (Scope::Node, Direction::Shared));
    assert!((maximum.bytes_per_s - 460.8e9).abs() < 1e3);

    // Three nodes of ordinary memory cannot share 24 - 1 channels evenly.
    machine.nodes[2].kind = Dram;
    machine.memory_modules.as_mut().unwrap().remove(0);
    let maximum = TheoreticalMaximum::of_memory(&machine).unwrap();
    assert_eq!(maximum.scope, Scope::Channel);
    assert!(maximum.source.contains("23 channels do not divide evenly over 3"));
}

#[test]
fn modules_that_differ_or_are_not_known_give_the_reason() {
    let mut mixed = named(1, &["A1", "B1", "C1"]);
    mixed.memory_modules.as_mut().unwrap()[2].configured_mt_per_s = Some(2933);
    let reason = TheoreticalMaximum::of_memory(&mixed).unwrap_err();
    assert_eq!(
        reason,
        "the memory modules have 2 different speeds: 1 at 2933 MT/s, 2 at 3200 MT/s"
    );
    mixed.memory_modules.as_mut().unwrap()[2].kind = Some("DDR5".into());
    let reason = TheoreticalMaximum::of_memory(&mixed).unwrap_err();
    assert_eq!(reason, "the memory modules are of several kinds: DDR4, DDR5");

    // What a module could run at is not what it runs at.
    let mut unsaid = named(1, &["A1", "B1"]);
    unsaid.memory_modules.as_mut().unwrap()[1].configured_mt_per_s = None;
    let reason = TheoreticalMaximum::of_memory(&unsaid).unwrap_err();
    assert_eq!(reason, "the firmware does not say the speed of the memory module 'B1'");

    unsaid.memory_modules = None;
    unsaid.memory_modules_unknown = Some("root only".into());
    assert_eq!(TheoreticalMaximum::of_memory(&unsaid).unwrap_err(), "root only");
    let none = machine(1, &[MemoryKind::Dram]);
    assert!(TheoreticalMaximum::of_memory(&none).unwrap_err().contains("no modules"));
}

/// The speeds of the standards are rounded in names and in the firmware.
#[test]
fn speeds_are_the_standards() {
    for (said, mt_per_s) in [
        (1333, 4000.0 / 3.0),
        (1866, 5600.0 / 3.0),
        (1867, 5600.0 / 3.0),
        (2133, 6400.0 / 3.0),
        (2400, 2400.0),
        (2666, 8000.0 / 3.0),
        (2667, 8000.0 / 3.0),
        (2933, 8800.0 / 3.0),
        (6400, 6400.0),
        (3110, 3110.0),
    ] {
        let mut machine = named(1, &["A1", "B1"]);
        for module in machine.memory_modules.as_mut().unwrap() {
            module.configured_mt_per_s = Some(said);
        }
        let maximum = TheoreticalMaximum::of_memory(&machine).unwrap();
        assert!((maximum.bytes_per_s / (mt_per_s * 8e6) - 1.0).abs() < 1e-12, "{said}");
        assert_eq!(maximum.name, format!("DDR4-{}x1", f64::floor(mt_per_s)));
        // The name gives the same maximum where the table of standards has it.
        if let Ok(by_name) = TheoreticalMaximum::memory(&maximum.name) {
            assert!((by_name.bytes_per_s / maximum.bytes_per_s - 1.0).abs() < 1e-12, "{said}");
        }
    }
}
