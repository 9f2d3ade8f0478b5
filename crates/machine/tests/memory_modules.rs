//! Channels and theoretical maxima from lists of memory modules.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers as well")]

use nearfar_machine::{
    CpuSet, Direction, Machine, MemoryKind, MemoryModule, MemoryNode, Package, Scope,
    TheoreticalMaximum,
};
use nearfar_specimen::empty_machine;

/// Two CPUs a package. The first nodes with CPUs are the packages, in their order;
/// ordinary and unknown memory beyond them has none, as other kinds.
fn machine(packages: u32, kinds: &[MemoryKind]) -> Machine {
    let cpus = |package: u32| -> CpuSet { (2 * package..2 * package + 2).collect() };
    let node = |(os_index, kind): (u32, &MemoryKind)| MemoryNode {
        os_index,
        kind: *kind,
        cpus: if os_index < packages { cpus(os_index) } else { CpuSet::new() },
        locality: (0..2 * packages).collect(),
        memory_bytes: Some(64 << 30),
        memory_side_cache_bytes: None,
    };
    Machine {
        packages: (0..packages)
            .map(|os_index| Package { os_index, cpus: cpus(os_index), model: None })
            .collect(),
        nodes: (0..).zip(kinds).map(node).collect(),
        memory_modules: Some(Vec::new()),
        empty_memory_sockets: Some(0),
        ..empty_machine()
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

/// Every package a node, DDR4-3200 in these sockets.
fn named(packages: u32, locators: &[&str]) -> Machine {
    let mut machine = machine(packages, &vec![MemoryKind::Dram; packages as usize]);
    machine.memory_modules =
        Some(locators.iter().map(|locator| module(locator, "", "DDR4", 3200)).collect());
    machine
}

/// `P0 CHANNEL A` on: this many channels of each package.
fn of_packages(nodes: u32, channels: &[u8]) -> Machine {
    let packages = u32::try_from(channels.len()).unwrap();
    let mut machine = named(packages, &[]);
    let modules = (0..).zip(channels).flat_map(|(package, count)| {
        (b'A'..b'A' + count).map(move |channel| {
            let bank = format!("P{package} CHANNEL {}", char::from(channel));
            module("DIMM 0", &bank, "DDR4", 3200)
        })
    });
    machine.memory_modules = Some(modules.collect());
    let cpus: Vec<u32> = machine.packages.iter().flat_map(|package| package.cpus.iter()).collect();
    let each = cpus.len() / nodes as usize;
    machine.nodes = (0..)
        .zip(cpus.chunks(each))
        .map(|(os_index, cpus)| MemoryNode {
            os_index,
            cpus: cpus.iter().copied().collect(),
            ..machine.nodes[0].clone()
        })
        .collect();
    assert_eq!(machine.nodes.len(), nodes as usize);
    machine
}

/// Why the maximum is of one channel.
fn why_one_channel(machine: &Machine) -> String {
    let maximum = TheoreticalMaximum::of_memory(machine).unwrap();
    assert_eq!((maximum.name.as_str(), maximum.scope), ("DDR4-3200", Scope::Channel));
    assert!((maximum.bytes_per_s - 25.6e9).abs() < 1.0);
    let (begin, why) = maximum.source.split_once(": ").unwrap();
    assert_eq!(begin, "the machine's memory modules, one channel");
    why.into()
}

#[test]
fn two_modules_of_a_channel_are_one_channel() {
    let sockets = ["CPU0_DIMM_A1", "CPU0_DIMM_A2", "CPU0_DIMM_B1", "CPU1_DIMM_A1"];
    assert_eq!(named(2, &sockets).memory_channels(), Ok(3));
}

/// Dell's A1 to A12 are sockets of processor A; two letters may be two processors.
#[test]
fn letters_alone_are_channels_only_where_they_cannot_be_processors() {
    for (packages, sockets, channels) in [
        (2, &["DIMM_A1", "DIMM_B1", "DIMM_C1", "DIMM_C2"][..], Some(3)),
        (1, &["DIMM_A1", "DIMM_A2", "DIMM_B1", "DIMM_B2"], Some(2)),
        (2, &["DIMM_A1", "DIMM_A2", "DIMM_B1", "DIMM_B2"], None),
        (4, &["DIMM_A1", "DIMM_B1", "DIMM_C1"], None),
        (1, &["DIMM_A1", "DIMM_B1"], None),
        (1, &["DIMM_A1", "DIMM_A2", "DIMM_A3", "DIMM_A4"], None),
        (1, &["A1", "B1"], None),
        (1, &["A1", "A2", "B1", "B2", "C1", "C2"], None),
        (2, &["A1", "A2", "B1", "B2"], None),
    ] {
        match (named(packages, sockets).memory_channels(), channels) {
            (found @ Ok(_), Some(channels)) => assert_eq!(found, Ok(channels), "{sockets:?}"),
            (Err(reason), None) => assert!(reason.contains("do not tell"), "{reason}"),
            other => panic!("{sockets:?}: {other:?}"),
        }
    }
}

#[test]
fn names_that_do_not_tell() {
    for sockets in [
        &["PROC 1 DIMM 3", "PROC 2 DIMM 3"][..],
        &["CPU0_DIMM_A1", "DIMM 7"],
        &["CPU0_DIMM_A1", "B1"],
        &["CPU0_DIMM_A1", "P1-DIMMA1"],
        &["CPU0_DIMM_A1", "CPU0_DIMM_A1"],
    ] {
        let machine = named(2, sockets);
        let reason = machine.memory_channels().unwrap_err();
        assert_eq!(why_one_channel(&machine), reason);
    }
}

/// One channel by two vocabularies would be counted twice.
#[test]
fn names_of_two_rules_are_not_compared() {
    let by_names = |names: &[(&str, &str)]| {
        let mut machine = named(1, &[]);
        machine.memory_modules =
            Some(names.iter().map(|(bank, at)| module(at, bank, "DDR4", 3200)).collect());
        machine.memory_channels()
    };
    assert!(by_names(&[("P1 CHANNEL A", "DIMM 1"), ("", "P1-DIMMA2")]).is_err());
    assert!(by_names(&[("P0 CHANNEL A", "DIMM 1"), ("CPU0 CHANNEL A", "DIMM 2")]).is_err());
    assert_eq!(by_names(&[("P0 CH 0", "DIMM 1"), ("P00 CHANNEL 00", "DIMM 2")]), Ok(1));
    // Firmware that writes the same bank everywhere contradicts the sockets' names.
    let bank = "P0_Node0_Channel0_Dimm0";
    let reason = by_names(&[(bank, "P1-DIMMA1"), (bank, "P1-DIMMB1")]).unwrap_err();
    assert!(reason.contains("by their banks: 1, by their sockets: 2"), "{reason}");
}

#[test]
fn the_maximum_is_of_nodes_with_cpus() {
    use MemoryKind::{Cxl, Dram, Hbm, Unknown};
    // A CXL expander often has no kind; it has no CPUs and no DDR channels.
    let mut machine = machine(2, &[Dram, Unknown, Hbm, Cxl, Unknown]);
    let mut modules = of_packages(2, &[12, 12]).memory_modules.unwrap();
    for module in &mut modules {
        (module.kind, module.configured_mt_per_s) = (Some("DDR5".into()), Some(4800));
        module.max_mt_per_s = Some(4800);
    }
    modules.push(module("CARD", "", "CXL", 4400));
    modules.push(module("HBM", "", "HBM2", 3200));
    machine.memory_modules = Some(modules);
    let maximum = TheoreticalMaximum::of_memory(&machine).unwrap();
    assert_eq!(maximum.name, "DDR5-4800x12");
    assert_eq!((maximum.scope, maximum.direction), (Scope::Node, Direction::Shared));
    assert!((maximum.bytes_per_s - 460.8e9).abs() < 1e3);
    assert!(maximum.source.ends_with("for the memory nodes with CPUs of their own"));

    // A module of unsaid kind may be on a channel as well.
    machine.memory_modules.as_mut().unwrap()[24].kind = None;
    let reason = TheoreticalMaximum::of_memory(&machine).unwrap_err();
    assert_eq!(reason, "the firmware does not say the kind of the memory module 'CARD'");
}

#[test]
fn channels_that_may_not_be_spread_evenly_make_no_node() {
    let node = TheoreticalMaximum::of_memory(&of_packages(2, &[8, 8])).unwrap();
    assert_eq!(node.name, "DDR4-3200x8");
    for (nodes, channels, reason) in [
        (2, &[8, 4][..], "the packages have 4 and 8 channels in use"),
        (2, &[8, 6], "the packages have 6 and 8 channels in use"),
        (2, &[4, 0], "by the names of the memory modules: 1, in the machine: 2"),
        (4, &[8, 8], "packages: 2, memory nodes with CPUs: 4"),
        (2, &[8], "packages: 1, memory nodes with CPUs: 2"),
        (1, &[4, 4], "packages: 2, memory nodes with CPUs: 1"),
    ] {
        let why = why_one_channel(&of_packages(nodes, channels));
        assert!(why.contains(reason), "{why}");
    }
    // A package without memory of its own, and a node over two packages.
    let mut machine = of_packages(2, &[8, 8]);
    machine.nodes[1].memory_bytes = Some(0);
    assert!(why_one_channel(&machine).contains("packages: 2, memory nodes with CPUs: 1"));
    let mut machine = of_packages(2, &[8, 8]);
    machine.nodes[0].cpus = machine.packages[1].cpus.clone();
    assert!(
        why_one_channel(&machine)
            .contains("only where each package is one node of ordinary memory")
    );
    // High-bandwidth memory is a package's own node as well.
    let mut machine = of_packages(2, &[8]);
    machine.nodes[1].kind = MemoryKind::Hbm;
    assert!(why_one_channel(&machine).contains("packages: 1, memory nodes with CPUs: 2"));
    machine.nodes.remove(0);
    assert!(why_one_channel(&machine).contains("one node of ordinary memory"));
    // Letters without a package do not say where the channels are.
    let letters = ["DIMM_A1", "DIMM_B1", "DIMM_C1", "DIMM_D1"];
    assert!(why_one_channel(&named(2, &letters)).contains("do not tell their package"));
    assert_eq!(TheoreticalMaximum::of_memory(&named(1, &letters)).unwrap().name, "DDR4-3200x4");
    // Two controllers of one processor are one node's.
    let names = ["Controller0-ChannelA-DIMM0", "Controller1-ChannelA-DIMM0"];
    assert_eq!(TheoreticalMaximum::of_memory(&named(1, &names)).unwrap().name, "DDR4-3200x2");
    assert!(why_one_channel(&named(2, &names)).contains("do not tell their package"));
    let many: Vec<String> = (0..65).map(|channel| format!("P0 CHANNEL {channel}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(why_one_channel(&named(1, &many)).contains("65 channels are more than a node"));
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

fn all_at(kind: &str, configured: u32, max: Option<u32>, bits: u32) -> Machine {
    let mut machine = of_packages(1, &[4]);
    for module in machine.memory_modules.as_mut().unwrap() {
        module.kind = Some(kind.into());
        (module.configured_mt_per_s, module.max_mt_per_s) = (Some(configured), max);
        module.data_bits = Some(bits);
    }
    machine
}

/// The speeds of the standards are rounded in names and in the firmware.
#[test]
fn speeds_are_the_standards() {
    for (kind, said, name, mt_per_s) in [
        ("DDR3", 1067, "DDR3-1066x4", 3200.0 / 3.0),
        ("DDR3", 1333, "DDR3-1333x4", 4000.0 / 3.0),
        ("DDR4", 1866, "DDR4-1866x4", 5600.0 / 3.0),
        ("DDR4", 1867, "DDR4-1866x4", 5600.0 / 3.0),
        ("DDR4", 2133, "DDR4-2133x4", 6400.0 / 3.0),
        ("DDR4", 2134, "DDR4-2133x4", 6400.0 / 3.0),
        ("DDR4", 2400, "DDR4-2400x4", 2400.0),
        ("DDR4", 2666, "DDR4-2666x4", 8000.0 / 3.0),
        ("DDR4", 2667, "DDR4-2666x4", 8000.0 / 3.0),
        ("DDR4", 2933, "DDR4-2933x4", 8800.0 / 3.0),
        ("DDR5", 6400, "DDR5-6400x4", 6400.0),
    ] {
        let maximum = TheoreticalMaximum::of_memory(&all_at(kind, said, Some(said), 64)).unwrap();
        assert!((maximum.bytes_per_s / (mt_per_s * 4.0 * 8e6) - 1.0).abs() < 1e-12, "{said}");
        assert_eq!(maximum.name, name);
    }
}

/// Whatever the firmware says: a name that is read as the same maximum, or a reason.
#[test]
fn every_result_has_a_name_with_that_value() {
    let kinds =
        ["DDR", "DDR2", "DDR3", "DDR4", "DDR5", "DDR5 MRDIMM", "LPDDR4", "LPDDR5", "HBM2", "RAM"];
    let (mut known, mut unknown) = (0, 0);
    for kind in kinds {
        for said in (0..14_000).chain([66_000, u32::MAX / 2, u32::MAX / 3 + 1, u32::MAX]) {
            let max = [Some(said), Some(said.saturating_mul(2)), None][said as usize % 3];
            for (bits, max) in [(64, Some(said)), (64, max), (32, max), (72, max), (0, max)] {
                match TheoreticalMaximum::of_memory(&all_at(kind, said, max, bits)) {
                    Ok(maximum) => {
                        let by_name = TheoreticalMaximum::memory(&maximum.name).unwrap();
                        assert!((by_name.bytes_per_s - maximum.bytes_per_s).abs() < 1.0);
                        assert_eq!(by_name.scope, maximum.scope);
                        assert_eq!(bits, 64, "{kind} {said}");
                        known += 1;
                    }
                    Err(reason) => {
                        assert!(!reason.is_empty());
                        unknown += 1;
                    }
                }
            }
        }
    }
    assert!(known > 28 && unknown > 100_000, "{known} known, {unknown} unknown");
}

#[test]
fn what_no_standard_has_is_unknown() {
    for (kind, said, max, bits, reason) in [
        ("DDR4", 3110, Some(3200), 64, "3110 MT/s, which is no speed of DDR4 by JEDEC JESD79-4"),
        ("DDR3", 3200, Some(3200), 64, "no speed of DDR3"),
        ("LPDDR5", 6400, Some(6400), 64, "the memory is LPDDR5; known are channels of DDR3"),
        ("DDR5", 4800, Some(4800), 32, "32 data bits, where a channel of DDR5 has 64"),
        ("DDR4", 3200, Some(3200), 72, "72 data bits"),
        ("DDR4", 1600, Some(3200), 64, "may be its clock"),
        ("DDR3", 1066, Some(2133), 64, "may be its clock"),
        ("DDR4", 1600, None, 64, "may be its clock"),
    ] {
        let found = TheoreticalMaximum::of_memory(&all_at(kind, said, max, bits)).unwrap_err();
        assert!(found.contains(reason), "{found}");
    }
    assert!(TheoreticalMaximum::of_memory(&all_at("DDR4", 1600, Some(2133), 64)).is_ok());
    assert!(TheoreticalMaximum::of_memory(&all_at("DDR4", 3200, None, 64)).is_ok());
}

#[test]
fn figures_that_no_module_has_are_told() {
    let sound = module("DIMM 0", "", "DDR4", 3200);
    assert_eq!(sound.absurdity(), None);
    assert_eq!(sound.clone().without_absurd_figures(), sound);
    for (absurd, word) in [
        (MemoryModule { configured_mt_per_s: Some(0), ..sound.clone() }, "0 MT/s"),
        (MemoryModule { configured_mt_per_s: Some(u32::MAX), ..sound.clone() }, "4294967295 MT/s"),
        (MemoryModule { max_mt_per_s: Some(0), ..sound.clone() }, "0 MT/s at most"),
        (MemoryModule { data_bits: Some(0), ..sound.clone() }, "0 data bits"),
        (MemoryModule { data_bits: Some(65_000), ..sound.clone() }, "65000 data bits"),
        (MemoryModule { bytes: Some(0), ..sound.clone() }, "a size of 0 bytes"),
        (MemoryModule { bytes: Some(u64::MAX), ..sound.clone() }, "a size of 1844"),
    ] {
        let told = absurd.absurdity().unwrap();
        assert!(told.contains("'DIMM 0' has ") && told.contains(word), "{told}");
        assert_eq!(absurd.without_absurd_figures().absurdity(), None);
    }
}
