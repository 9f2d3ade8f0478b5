//! An archive of files that a kernel unpacks into memory before its first process.

use std::collections::BTreeSet;
use std::io::{self, Write};

use cpio::newc;

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_777;
const DEVICE: u32 = 0o020_600;

/// An archive of files (`Documentation/driver-api/early-userspace/buffer-format.rst` of
/// Linux). Several may stand one after the other; later files replace earlier ones.
#[derive(Default)]
pub(crate) struct Initramfs {
    bytes: Vec<u8>,
    names: BTreeSet<String>,
}

impl Initramfs {
    /// Adds a folder and those above it.
    pub fn folder(&mut self, path: &str) -> io::Result<()> {
        let mut whole = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            whole = if whole.is_empty() { part.to_string() } else { format!("{whole}/{part}") };
            self.entry(&whole, FOLDER, &[], (0, 0))?;
        }
        Ok(())
    }

    /// Adds a file with these permissions; one that is there stays.
    pub fn file(&mut self, path: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.parent(path)?;
        self.entry(path, FILE | mode, bytes, (0, 0))
    }

    pub fn link(&mut self, path: &str, target: &str) -> io::Result<()> {
        self.parent(path)?;
        self.entry(path, LINK, target.as_bytes(), (0, 0))
    }

    pub fn device(&mut self, path: &str, number: (u32, u32)) -> io::Result<()> {
        self.parent(path)?;
        self.entry(path, DEVICE, &[], number)
    }

    pub fn finish(self) -> io::Result<Vec<u8>> {
        cpio::newc::trailer(self.bytes)
    }

    fn parent(&mut self, path: &str) -> io::Result<()> {
        match path.rsplit_once('/') {
            Some((parent, _)) => self.folder(parent),
            None => Ok(()),
        }
    }

    fn entry(&mut self, path: &str, mode: u32, data: &[u8], device: (u32, u32)) -> io::Result<()> {
        let name = path.trim_start_matches('/').to_string();
        if !self.names.insert(name.clone()) {
            return Ok(());
        }
        let length = u32::try_from(data.len())
            .map_err(|_| io::Error::other(format!("{name} is too large for an initramfs")))?;
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let header = newc::Builder::new(&name)
            .ino(number)
            .mode(mode)
            .nlink(1)
            .rdev_major(device.0)
            .rdev_minor(device.1);
        let mut writer = header.write(std::mem::take(&mut self.bytes), length);
        writer.write_all(data)?;
        self.bytes = writer.finish()?;
        Ok(())
    }
}
