//! Memory modules from the firmware's tables, which the tests build byte by byte
//! (DMTF DSP0134, structure types 16, 17 and 127).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers as well")]

use std::fs;
use std::path::Path;

use nearfar_machine::{Machine, MemoryModule, Scope, TheoreticalMaximum};
use nearfar_topology::{amend_memory_modules, parse_synthetic};
use tempfile::TempDir;

const FOLDER: &str = "sys/firmware/dmi/tables";

/// A structure: its formatted part, whose length is filled in, and its strings.
fn structure(kind: u8, handle: u16, fields: &[u8], strings: &[&str]) -> Vec<u8> {
    let mut bytes = vec![kind, u8::try_from(fields.len() + 4).unwrap()];
    bytes.extend(handle.to_le_bytes());
    bytes.extend(fields);
    for string in strings {
        bytes.extend(string.as_bytes());
        bytes.push(0);
    }
    bytes.extend(if strings.is_empty() { &[0, 0][..] } else { &[0] });
    bytes
}

/// A memory array on the system board (location 3) for system memory (use 3).
fn array(handle: u16, location: u8, usage: u8) -> Vec<u8> {
    structure(16, handle, &[location, usage, 6, 0, 0, 0, 0, 0xfe, 0xff, 16, 0], &[])
}

struct Socket<'a> {
    array: u16,
    locator: &'a str,
    bank: &'a str,
    kind: u8,
    technology: u8,
    size: u16,
    extended_size: u32,
    speed: u16,
    configured: u16,
    extended_speed: u32,
    extended_configured: u32,
    data_bits: u16,
}

/// 64 GiB of DDR4-3200 that runs at 2933 MT/s.
const SOCKET: Socket<'static> = Socket {
    array: 0x1000,
    locator: "DIMM 1",
    bank: "P0 CHANNEL A",
    kind: 0x1a,
    technology: 3,
    size: 0x7fff,
    extended_size: 64 << 10,
    speed: 3200,
    configured: 2933,
    extended_speed: 0,
    extended_configured: 0,
    data_bits: 64,
};

/// A memory device of 92 bytes (SMBIOS 3.3), cut off at `length`.
fn device(socket: &Socket<'_>, length: usize) -> Vec<u8> {
    let mut fields = [0; 0x5c];
    // An empty string cannot stand in the list: it is number 0.
    let mut strings = vec![socket.locator, "Micron", "36ASF8G "];
    let bank = if socket.bank.is_empty() { 0 } else { 4 };
    strings.extend((bank > 0).then_some(socket.bank));
    let mut put = |at: usize, bytes: &[u8]| fields[at..at + bytes.len()].copy_from_slice(bytes);
    put(0x04, &socket.array.to_le_bytes());
    put(0x06, &0xfffe_u16.to_le_bytes());
    put(0x08, &(socket.data_bits.saturating_add(8)).to_le_bytes());
    put(0x0a, &socket.data_bits.to_le_bytes());
    put(0x0c, &socket.size.to_le_bytes());
    put(0x0e, &[9, 0, 1, bank, socket.kind]);
    put(0x15, &socket.speed.to_le_bytes());
    put(0x17, &[2, 0, 0, 3]);
    put(0x1c, &socket.extended_size.to_le_bytes());
    put(0x20, &socket.configured.to_le_bytes());
    put(0x28, &[socket.technology]);
    put(0x54, &socket.extended_speed.to_le_bytes());
    put(0x58, &socket.extended_configured.to_le_bytes());
    structure(17, 0x1100, &fields[4..length], &strings)
}

fn sum_to_zero(bytes: &mut [u8], checksum: usize) {
    bytes[checksum] = 0;
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes[checksum] = 0_u8.wrapping_sub(sum);
}

fn entry_point_64(length: usize) -> Vec<u8> {
    let mut bytes = b"_SM3_\0\x18\x03\x03\0\x01\0".to_vec();
    bytes.extend(u32::try_from(length).unwrap().to_le_bytes());
    bytes.extend(0x7bb0_2000_u64.to_le_bytes());
    sum_to_zero(&mut bytes, 5);
    bytes
}

fn entry_point_32(length: usize, structures: u16) -> Vec<u8> {
    let mut bytes = b"_SM_\0\x1f\x02\x01\x80\0\0\0\0\0\0\0_DMI_\0".to_vec();
    bytes.extend(u16::try_from(length).unwrap().to_le_bytes());
    bytes.extend(0x000f_0000_u32.to_le_bytes());
    bytes.extend(structures.to_le_bytes());
    bytes.push(0x21);
    sum_to_zero(&mut bytes[0x10..], 5);
    sum_to_zero(&mut bytes, 4);
    bytes
}

fn end() -> Vec<u8> {
    structure(127, 0xfeff, &[], &[])
}

fn tree(entry_point: &[u8], tables: &[u8]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("smbios_entry_point"), entry_point).unwrap();
    fs::write(folder.join("DMI"), tables).unwrap();
    root
}

/// Two packages with one node each.
fn amended(root: &Path) -> Machine {
    let mut machine = parse_synthetic("pack:2 [numa(memory=64GB)] core:4 pu:1").unwrap();
    amend_memory_modules(&mut machine, root);
    assert_eq!(machine.memory_modules.is_none(), machine.memory_modules_unknown.is_some());
    assert_eq!(machine.memory_modules.is_none(), machine.empty_memory_sockets.is_none());
    machine
}

fn of_sockets(sockets: &[Socket<'_>]) -> Machine {
    let mut tables = array(0x1000, 3, 3);
    tables.extend(array(0x2000, 0xa4, 3));
    tables.extend(array(0x3000, 3, 5));
    tables.extend(sockets.iter().flat_map(|socket| device(socket, 0x5c)));
    tables.extend(end());
    amended(tree(&entry_point_64(tables.len()), &tables).path())
}

/// The reason, which gives no advice: options and commands are those of who prints it.
fn why(machine: &Machine) -> &str {
    let why = machine.memory_modules_unknown.as_deref().unwrap();
    assert!(!why.contains("--") && !why.contains("nearfar"), "{why}");
    why
}

fn modules(machine: &Machine) -> &[MemoryModule] {
    machine.memory_modules.as_deref().unwrap()
}

/// Eight channels a package, one module and one empty socket on each.
fn server() -> Vec<u8> {
    let mut tables = array(0x1000, 3, 3);
    for package in 0..2 {
        for channel in 'A'..='H' {
            let bank = format!("P{package} CHANNEL {channel}");
            tables.extend(device(&Socket { bank: &bank, ..SOCKET }, 0x5c));
            let empty = Socket { bank: &bank, locator: "DIMM 0", size: 0, ..SOCKET };
            tables.extend(device(&empty, 0x5c));
        }
    }
    tables.extend(end());
    tables
}

#[test]
fn two_packages_of_eight_channels() {
    let tables = server();
    // A 64-bit entry point gives the most that the tables may take, not what they take.
    let machine = amended(tree(&entry_point_64(tables.len() + 100), &tables).path());
    assert_eq!(modules(&machine).len(), 16);
    assert_eq!(machine.empty_memory_sockets, Some(16));
    assert_eq!(
        modules(&machine)[9],
        MemoryModule {
            locator: "DIMM 1".into(),
            bank: Some("P1 CHANNEL B".into()),
            kind: Some("DDR4".into()),
            bytes: Some(64 << 30),
            configured_mt_per_s: Some(2933),
            max_mt_per_s: Some(3200),
            data_bits: Some(64),
            manufacturer: Some("Micron".into()),
            part_number: Some("36ASF8G".into()),
        }
    );
    assert_eq!(machine.memory_channels(), Ok(16));
    let maximum = TheoreticalMaximum::of_memory(&machine).unwrap();
    assert_eq!((maximum.name.as_str(), maximum.scope), ("DDR4-2933x8", Scope::Node));
    // 2933.33 MT/s x 8 bytes x 8 channels.
    assert!((maximum.bytes_per_s / 187.733_333e9 - 1.0).abs() < 1e-6);
}

/// SMBIOS 2.1: a 32-bit entry point, 21 bytes a module, no speed, no end mark.
#[test]
fn first_version_with_modules() {
    let old = Socket { size: 512, kind: 0x12, ..SOCKET };
    let mut tables = array(0x1000, 3, 3);
    tables.extend(device(&old, 0x15));
    let machine = amended(tree(&entry_point_32(tables.len(), 2), &tables).path());
    let module = &modules(&machine)[0];
    assert_eq!((module.bytes, module.kind.as_deref()), (Some(512 << 20), Some("DDR")));
    assert_eq!((module.configured_mt_per_s, module.max_mt_per_s), (None, None));
    assert_eq!((&module.manufacturer, &module.part_number), (&None, &None));
    let reason = TheoreticalMaximum::of_memory(&machine).unwrap_err();
    assert!(reason.contains("does not say the speed"), "{reason}");
    let cut_off = amended(tree(&entry_point_32(tables.len(), 3), &tables).path());
    assert!(why(&cut_off).contains("without its end mark"), "{}", why(&cut_off));
}

#[test]
fn sizes_and_speeds_of_every_coding() {
    let machine = of_sockets(&[
        Socket { size: 0x8000 | 512, ..SOCKET },
        Socket { size: 16 << 10, ..SOCKET },
        Socket { size: 0xffff, ..SOCKET },
        Socket { size: 0x7fff, extended_size: 0, ..SOCKET },
        Socket { size: 0x7fff, extended_size: 512 << 10, ..SOCKET },
    ]);
    let sizes: Vec<Option<u64>> = modules(&machine).iter().map(|module| module.bytes).collect();
    assert_eq!(sizes, [Some(512 << 10), Some(16 << 30), None, None, Some(512 << 30)]);
    let machine = of_sockets(&[
        Socket { speed: 0xffff, extended_speed: 70_000, configured: 0xffff, ..SOCKET },
        Socket { speed: 0, configured: 0xffff, extended_configured: 1 << 31 | 66_000, ..SOCKET },
    ]);
    let speeds: Vec<(Option<u32>, Option<u32>)> = modules(&machine)
        .iter()
        .map(|module| (module.max_mt_per_s, module.configured_mt_per_s))
        .collect();
    assert_eq!(speeds, [(Some(70_000), None), (None, Some(66_000))]);
}

/// Figures that no module has are unknown: zeros and ones of firmware that knows none.
#[test]
fn absurd_figures_are_unknown() {
    let machine = of_sockets(&[
        Socket { configured: 1, speed: 0, data_bits: 0, size: 0x8000, ..SOCKET },
        Socket { configured: 0xffff, extended_configured: (1 << 31) - 1, ..SOCKET },
        Socket { extended_size: (1 << 31) - 1, data_bits: 0xfffe, ..SOCKET },
    ]);
    let [first, second, third] = modules(&machine) else { panic!("{machine:?}") };
    assert_eq!((first.configured_mt_per_s, first.max_mt_per_s), (None, None));
    assert_eq!((first.data_bits, first.bytes), (None, None));
    assert_eq!((second.configured_mt_per_s, second.max_mt_per_s), (None, Some(3200)));
    assert_eq!((third.data_bits, third.bytes), (None, None));
}

#[test]
fn other_memory_is_told_apart() {
    let machine = of_sockets(&[
        SOCKET,
        Socket { locator: "PMEM", technology: 7, ..SOCKET },
        Socket { locator: "CARD", array: 0x2000, kind: 0x22, ..SOCKET },
        Socket { locator: "HBM", kind: 0x21, ..SOCKET },
        Socket { locator: "ROM", array: 0x3000, kind: 9, ..SOCKET },
        Socket { locator: "ODD", kind: 0xee, data_bits: 0xffff, ..SOCKET },
    ]);
    let kinds: Vec<(&str, Option<&str>)> = modules(&machine)
        .iter()
        .map(|module| (module.locator.as_str(), module.kind.as_deref()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("DIMM 1", Some("DDR4")),
            ("PMEM", Some("NVDIMM")),
            ("CARD", Some("CXL")),
            ("HBM", Some("HBM2")),
            ("ODD", None),
        ]
    );
    assert_eq!(modules(&machine)[4].data_bits, None);
    let reason = machine.memory_channels().unwrap_err();
    assert!(reason.contains("does not say the kind of the memory module 'ODD'"), "{reason}");
    let machine = of_sockets(&[SOCKET, Socket { locator: "CARD", array: 0x2000, ..SOCKET }]);
    assert_eq!(machine.memory_channels(), Ok(1), "only ordinary memory has channels");
}

#[test]
fn a_hypervisors_invention() {
    // As QEMU writes it: kind RAM, no speed, no bank.
    let machine = of_sockets(&[Socket {
        locator: "DIMM 0",
        bank: "",
        kind: 7,
        technology: 0,
        speed: 0,
        configured: 0,
        data_bits: 0xffff,
        ..SOCKET
    }]);
    assert!(why(&machine).contains("without kind or speed"), "{}", why(&machine));
    assert!(why(&machine).contains("'DIMM 0'"), "{}", why(&machine));
}

#[test]
fn absent_or_unreadable_tables_say_why_and_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let machine = amended(empty.path());
    assert!(why(&machine).starts_with("there is no /sys/firmware/dmi/tables/smbios_entry_point"));

    let root = tree(&entry_point_64(100), &server());
    let file = root.path().join(FOLDER).join("DMI");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let machine = amended(root.path());
    assert!(why(&machine).contains("cannot be read"), "{}", why(&machine));

    let mut wrong = entry_point_64(100);
    wrong[8] ^= 1;
    for entry_point in [wrong, b"_SM_".to_vec(), Vec::new(), vec![0xff; 64]] {
        let machine = amended(tree(&entry_point, &server()).path());
        assert!(why(&machine).contains("is not understood"), "{}", why(&machine));
    }
    let machine = amended(tree(&entry_point_64(100), &end()).path());
    assert!(why(&machine).contains("list no memory module"), "{}", why(&machine));
}

#[test]
fn tables_that_end_early_are_damaged() {
    let tables = server();
    let mut lengths: Vec<usize> = (0..tables.len()).step_by(7).collect();
    lengths.push(tables.len() - 1);
    for length in lengths {
        let machine = amended(tree(&entry_point_64(length), &tables[..length]).path());
        assert!(why(&machine).contains("end mark"), "{length}: {}", why(&machine));
    }
}

/// Whatever the bytes: modules or a reason, and a name for every figure or a reason.
#[test]
fn mutated_tables_are_never_a_panic() {
    let tables = server();
    let mut random = fastrand::Rng::with_seed(17);
    let root = tree(&entry_point_64(tables.len()), &tables);
    let folder = root.path().join(FOLDER);
    let mut machine = parse_synthetic("pack:2 [numa(memory=64GB)] core:4 pu:1").unwrap();
    let (mut listed, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut mutated = tables.clone();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..mutated.len());
            match random.u8(..4) {
                0 => mutated[at] = random.u8(..),
                1 => mutated[at] = *random.choice(&[0, 1, 3, 4, 0x7f, 0xff]).unwrap(),
                2 => mutated.insert(at, random.u8(..)),
                _ => drop(mutated.drain(at..(at + random.usize(1..40)).min(mutated.len()))),
            }
        }
        fs::write(folder.join("DMI"), &mutated).unwrap();
        let mut entry_point =
            if random.bool() { entry_point_64(9) } else { entry_point_32(9, random.u16(..60)) };
        if random.u8(..4) == 0 {
            let at = random.usize(..entry_point.len());
            entry_point[at] = random.u8(..);
            entry_point.truncate(random.usize(..=entry_point.len()));
        }
        fs::write(folder.join("smbios_entry_point"), entry_point).unwrap();
        amend_memory_modules(&mut machine, root.path());
        match (&machine.memory_modules, &machine.memory_modules_unknown) {
            (Some(modules), None) => {
                assert!(!modules.is_empty());
                listed += 1;
            }
            (None, Some(reason)) => {
                assert!(!reason.is_empty());
                refused += 1;
            }
            both => panic!("{both:?}"),
        }
        match TheoreticalMaximum::of_memory(&machine) {
            Ok(maximum) => {
                let by_name = TheoreticalMaximum::memory(&maximum.name).unwrap();
                assert!((by_name.bytes_per_s - maximum.bytes_per_s).abs() < 1.0);
            }
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
    assert!(listed > 500 && refused > 500, "{listed} listed, {refused} refused");
}
