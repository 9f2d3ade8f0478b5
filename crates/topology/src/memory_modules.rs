//! The memory modules that the firmware lists (SMBIOS, DMTF DSP0134), from the copy of
//! its tables that Linux keeps below `/sys/firmware/dmi/tables`.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use nearfar_machine::{Machine, MemoryModule};
use smbioslib::{
    Handle, MemoryArrayLocation, MemoryArrayUse, MemoryDeviceTechnology, MemoryDeviceType,
    MemorySize, MemorySizeExtended, MemorySpeed, MemorySpeedExtended, SMBiosData, SMBiosEndOfTable,
    SMBiosEntryPoint32, SMBiosEntryPoint64, SMBiosMemoryDevice, SMBiosPhysicalMemoryArray,
    SMBiosString, SMBiosStruct,
};

const FOLDER: &str = "sys/firmware/dmi/tables";
/// Tables of large servers have some 20 KiB.
const MAX_TABLES: u64 = 4 << 20;
const MIB: u64 = 1 << 20;

/// What the firmware lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySockets {
    /// The modules, in the order of the tables; at least one.
    pub modules: Vec<MemoryModule>,
    /// Sockets without a module.
    pub empty: u32,
}

/// Fills in the memory modules of a machine from the firmware's tables under `root`,
/// which must belong to the same machine. Where they are not to be had,
/// [`Machine::memory_modules_unknown`] says why; what to do about it depends on who
/// asked, and is said there.
pub fn amend_memory_modules(machine: &mut Machine, root: &Path) {
    match read_memory_sockets(&root.join(FOLDER)) {
        Ok(sockets) => {
            machine.memory_modules = Some(sockets.modules);
            machine.empty_memory_sockets = Some(sockets.empty);
            machine.memory_modules_unknown = None;
        }
        Err(why) => {
            machine.memory_modules = None;
            machine.empty_memory_sockets = None;
            machine.memory_modules_unknown = Some(why);
        }
    }
}

fn read_memory_sockets(folder: &Path) -> Result<MemorySockets, String> {
    let entry_point = read_file(folder, "smbios_entry_point")?;
    list_memory_sockets(entry_point, read_file(folder, "DMI")?)
}

/// The sockets by the bytes of the firmware's entry point and tables.
///
/// # Errors
/// In words: the bytes are no SMBIOS tables, are damaged, or say nothing of memory modules.
pub fn list_memory_sockets(entry_point: Vec<u8>, tables: Vec<u8>) -> Result<MemorySockets, String> {
    let announced = structures_announced(entry_point)?;
    let tables = SMBiosData::from_vec_and_version(tables, None);
    let ends = tables.iter().any(|one| one.header.struct_type() == SMBiosEndOfTable::STRUCT_TYPE);
    // The end mark came with SMBIOS 2.2; before it, the entry point's count says the end.
    let whole = ends || announced.is_some_and(|count| tables.iter().count() == count);
    if !whole {
        return Err(format!(
            "/{FOLDER}/DMI is damaged: it ends after {} structures, without its end mark",
            tables.iter().count()
        ));
    }
    list_sockets(&tables)
}

fn read_file(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    File::open(folder.join(name))
        .and_then(|file| file.take(MAX_TABLES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_TABLES {
        return Err(format!(
            "/{FOLDER}/{name} is larger than {} MiB, which no firmware's tables are",
            MAX_TABLES / MIB
        ));
    }
    Ok(bytes)
}

fn unreadable(name: &str, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => format!("/{FOLDER}/{name} may be read by root only"),
        ErrorKind::NotFound | ErrorKind::NotADirectory => format!(
            "there is no /{FOLDER}/{name}: the firmware lists no memory modules here (many virtual \
             machines), or does so without SMBIOS, or a container hides it"
        ),
        _ => format!("/{FOLDER}/{name} cannot be read: {error}"),
    }
}

/// The number of structures by a 32-bit entry point; `None` for a 64-bit one, which
/// does not count them.
fn structures_announced(mut bytes: Vec<u8>) -> Result<Option<usize>, String> {
    let refused = |why: String| format!("/{FOLDER}/smbios_entry_point is not understood: {why}");
    if bytes.starts_with(&SMBiosEntryPoint64::SM3_ANCHOR) {
        let checked = SMBiosEntryPoint64::try_from(bytes);
        return checked.map(|_| None).map_err(|error| refused(error.to_string()));
    }
    // The crate takes exactly this many bytes and panics at others.
    bytes.truncate(SMBiosEntryPoint32::MINIMUM_SIZE);
    SMBiosEntryPoint32::try_from(bytes)
        .map(|entry_point| Some(entry_point.number_of_smbios_structures().into()))
        .map_err(|error| refused(error.to_string()))
}

fn list_sockets(tables: &SMBiosData) -> Result<MemorySockets, String> {
    let arrays: Vec<SMBiosPhysicalMemoryArray<'_>> = tables.collect();
    let mut sockets = MemorySockets { modules: Vec::new(), empty: 0 };
    for device in tables.defined_struct_iter::<SMBiosMemoryDevice<'_>>() {
        let array = array_of(&arrays, device.physical_memory_array_handle());
        // Flash for the firmware itself is listed by some as well.
        let other_use = array.and_then(SMBiosPhysicalMemoryArray::usage).is_some_and(|usage| {
            !matches!(
                *usage,
                MemoryArrayUse::SystemMemory | MemoryArrayUse::Other | MemoryArrayUse::Unknown
            )
        });
        if other_use {
            continue;
        }
        match device.size() {
            Some(MemorySize::NotInstalled) => sockets.empty += 1,
            _ => sockets.modules.push(module(&device, array)),
        }
    }
    if sockets.modules.is_empty() {
        return Err("the firmware's tables list no memory module".into());
    }
    let says_nothing = |module: &MemoryModule| {
        module.kind.as_deref().is_none_or(|kind| kind == "RAM" || kind == "DRAM")
            && module.configured_mt_per_s.is_none()
            && module.max_mt_per_s.is_none()
    };
    if sockets.modules.iter().all(says_nothing) {
        let name = sockets.modules[0].name();
        return Err(format!(
            "the firmware's tables name memory modules ({name}) without kind or speed, as those \
             that a hypervisor makes up"
        ));
    }
    Ok(sockets)
}

fn array_of<'a, 'tables>(
    arrays: &'a [SMBiosPhysicalMemoryArray<'tables>],
    handle: Option<Handle>,
) -> Option<&'a SMBiosPhysicalMemoryArray<'tables>> {
    let handle = handle?;
    arrays.iter().find(|array| *array.parts().header.handle() == *handle)
}

fn module(
    device: &SMBiosMemoryDevice<'_>,
    array: Option<&SMBiosPhysicalMemoryArray<'_>>,
) -> MemoryModule {
    MemoryModule {
        locator: text(device.device_locator()).unwrap_or_default(),
        bank: text(device.bank_locator()),
        kind: kind(device, array),
        bytes: bytes(device),
        configured_mt_per_s: speed(
            device.configured_memory_speed(),
            device.extended_configured_memory_speed(),
        ),
        max_mt_per_s: speed(device.speed(), device.extended_speed()),
        // 0 marks a device for check bits only, FFFFh an unknown width: both go below.
        data_bits: device.data_width().map(u32::from),
        manufacturer: text(device.manufacturer()),
        part_number: text(device.part_number()),
    }
    .without_absurd_figures()
}

/// A string that says something; boards fill in words where they know nothing.
fn text(string: SMBiosString) -> Option<String> {
    const NOTHING: [&str; 6] =
        ["", "not specified", "unknown", "none", "undefined", "to be filled by o.e.m."];
    let text = string.to_utf8_lossy()?.trim().to_string();
    (!NOTHING.contains(&text.to_lowercase().as_str())).then_some(text)
}

fn bytes(device: &SMBiosMemoryDevice<'_>) -> Option<u64> {
    match device.size()? {
        MemorySize::NotInstalled | MemorySize::Unknown => None,
        MemorySize::Kilobytes(kib) => Some(u64::from(kib) << 10),
        MemorySize::Megabytes(mib) => Some(u64::from(mib) * MIB),
        MemorySize::SeeExtendedSize => match device.extended_size()? {
            MemorySizeExtended::Megabytes(mib) => Some(u64::from(mib) * MIB),
            MemorySizeExtended::SeeSize => None,
        },
    }
}

/// Speeds of 65535 MT/s and above stand in a field of their own (SMBIOS 3.3).
fn speed(short: Option<MemorySpeed>, extended: Option<MemorySpeedExtended>) -> Option<u32> {
    match short? {
        MemorySpeed::Unknown => None,
        MemorySpeed::MTs(speed) => Some(speed.into()),
        MemorySpeed::SeeExtendedSpeed => match extended? {
            MemorySpeedExtended::MTs(speed) => Some(speed),
            MemorySpeedExtended::SeeSpeed => None,
        },
    }
}

/// What a module is made of. Memory behind CXL and persistent memory call themselves
/// DDR as well; they are not what a memory channel's speed is about.
fn kind(
    device: &SMBiosMemoryDevice<'_>,
    array: Option<&SMBiosPhysicalMemoryArray<'_>>,
) -> Option<String> {
    let location = array.and_then(SMBiosPhysicalMemoryArray::location);
    if location.is_some_and(|at| *at == MemoryArrayLocation::CxlFlexbus10AddOnCard) {
        return Some("CXL".into());
    }
    let persistent = device.memory_technology().is_some_and(|technology| {
        use MemoryDeviceTechnology::{IntelOptaneDcPersistentMemory, NvdimmF, NvdimmP};
        matches!(*technology, NvdimmF | NvdimmP | IntelOptaneDcPersistentMemory)
    });
    if persistent {
        return Some("NVDIMM".into());
    }
    let raw = device.memory_type()?;
    KINDS.iter().find(|(kind, _)| *kind == *raw).map(|(_, name)| (*name).into())
}

/// Names of the kinds of memory that a main memory can be made of.
const KINDS: [(MemoryDeviceType, &str); 20] = [
    (MemoryDeviceType::Dram, "DRAM"),
    (MemoryDeviceType::Ram, "RAM"),
    (MemoryDeviceType::Sdram, "SDRAM"),
    (MemoryDeviceType::Rdram, "RDRAM"),
    (MemoryDeviceType::Ddr, "DDR"),
    (MemoryDeviceType::Ddr2, "DDR2"),
    (MemoryDeviceType::Ddr2Fbdimm, "DDR2 FB-DIMM"),
    (MemoryDeviceType::Ddr3, "DDR3"),
    (MemoryDeviceType::Ddr4, "DDR4"),
    (MemoryDeviceType::Ddr5, "DDR5"),
    (MemoryDeviceType::Mrdimm, "DDR5 MRDIMM"),
    (MemoryDeviceType::Lpddr, "LPDDR"),
    (MemoryDeviceType::Lpddr2, "LPDDR2"),
    (MemoryDeviceType::Lpddr3, "LPDDR3"),
    (MemoryDeviceType::Lpddr4, "LPDDR4"),
    (MemoryDeviceType::Lpddr5, "LPDDR5"),
    (MemoryDeviceType::LogicalNonVolatileDevice, "NVDIMM"),
    (MemoryDeviceType::Hbm, "HBM"),
    (MemoryDeviceType::Hbm2, "HBM2"),
    (MemoryDeviceType::Hbm3, "HBM3"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests may run as root, whom no file's mode stops.
    #[test]
    fn files_for_root_only_say_so() {
        let why = unreadable("DMI", &io::Error::from(ErrorKind::PermissionDenied));
        assert_eq!(why, "/sys/firmware/dmi/tables/DMI may be read by root only");
    }
}
