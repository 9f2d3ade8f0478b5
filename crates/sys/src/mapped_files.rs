//! Which files a process maps (/proc/PID/maps), and which of its mappings are locked (smaps).

use std::collections::BTreeSet;
use std::path::Path;

use crate::refusal::Refusal;
use crate::system_file::read_text;
use crate::vma::parse_header;

/// A mapping of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Its first address.
    pub start: usize,
    /// As `st_dev` of stat(2); some file systems (Btrfs) name another device there.
    pub device: u64,
    pub inode: u64,
    /// As the kernel has it, line breaks as `\012`, ` (deleted)` at its end where that is so.
    pub path: String,
}

/// The mappings of files of a process.
///
/// # Errors
/// When the kernel does not let this user look into the process (ptrace(2), access mode).
pub fn mapped_files(root: &Path, pid: u32) -> Result<Vec<MappedFile>, Refusal> {
    Ok(parse_mapped_files(&read_text(root, format!("proc/{pid}/maps"))?))
}

/// From the text of /proc/PID/maps.
fn parse_mapped_files(maps: &str) -> Vec<MappedFile> {
    let parse = |line: &str| {
        let range = parse_header(line)?;
        // Addresses, rights, offset, device, inode, and blanks before the path.
        let mut fields = line.splitn(6, ' ');
        let (major, minor) = fields.nth(3)?.split_once(':')?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        let device = libc::makedev(number(major)?, number(minor)?);
        let inode = fields.next()?.parse().ok().filter(|&inode| inode > 0)?;
        let path = fields.next()?.trim_start().into();
        Some(MappedFile { start: range.start(), device, inode, path })
    };
    maps.lines().filter_map(parse).collect()
}

/// Where the mappings of a process begin that are locked into memory (mlock(2)).
///
/// # Errors
/// As [`mapped_files`].
pub fn locked_mappings(root: &Path, pid: u32) -> Result<BTreeSet<usize>, Refusal> {
    Ok(parse_locked(&read_text(root, format!("proc/{pid}/smaps"))?))
}

fn parse_locked(smaps: &str) -> BTreeSet<usize> {
    let mut mapping = None;
    let mut locked = BTreeSet::new();
    for line in smaps.lines() {
        match line.strip_prefix("VmFlags:") {
            Some(flags) if flags.split_ascii_whitespace().any(|flag| flag == "lo") => {
                locked.extend(mapping);
            }
            _ => mapping = parse_header(line).map(|range| range.start()).or(mapping),
        }
    }
    locked
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn files_are_told_by_device_and_inode() {
        let maps = "\
555e05323000-555e05325000 r--p 00000000 fe:00 247278   /usr/bin/a b (deleted)
7f0000000000-7f0000010000 rw-p 00000000 00:00 0
7f0000600000-7f0000700000 rw-s 00000000 00:01 2060   /SYSV00000000 (deleted)
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0       [stack]
";
        let found = parse_mapped_files(maps);
        let told: Vec<_> = found.iter().map(|it| (it.device, it.inode, it.path.as_str())).collect();
        let device = |major, minor| libc::makedev(major, minor);
        let expected = [
            (device(0xfe, 0), 247_278, "/usr/bin/a b (deleted)"),
            (device(0, 1), 2060, "/SYSV00000000 (deleted)"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn locked_mappings_are_those_with_the_flag() {
        let smaps = "1000-3000 r--s 00000000 fe:00 7 /a\nLocked: 8 kB\nVmFlags: rd sh lo\n\
            4000-5000 r--s 00000000 fe:00 7 /a\nVmFlags: rd sh\n";
        assert_eq!(parse_locked(smaps), [0x1000].into());
    }

    #[test]
    fn this_process_maps_its_program() {
        let program = std::env::current_exe().unwrap();
        let about = program.metadata().unwrap();
        let found = mapped_files(Path::new("/"), std::process::id()).unwrap();
        let own = |it: &MappedFile| (it.device, it.inode) == (about.dev(), about.ino());
        assert!(found.iter().any(own), "{found:?}");
        assert!(mapped_files(Path::new("/"), u32::MAX).is_err());
    }
}
