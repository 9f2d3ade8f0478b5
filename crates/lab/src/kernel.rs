//! Kernels of guests: Debian's cloud kernels, which have serial ports, NVMe and NUMA
//! built in, and virtual network adapters as modules; and that for every machine, which has RDMA over Ethernet.
//! Fetched once by apt, kept in a cache.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::apt::Apt;
use crate::architecture::Architecture;

/// A kernel that can be booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    pub image: PathBuf,
    /// Its modules for guests on a wire, in the order in which they are loaded; none for an image that was put into
    /// the cache alone.
    pub modules: Vec<PathBuf>,
}

/// What a kernel is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Virtual machines.
    Cloud,
    /// Every machine. It has RDMA over Ethernet, and NVMe as a module, so that its guests need a wire, for which
    /// modules are loaded.
    Generic,
}

/// Of a disk, where it is not built in.
const DISK_MODULES: [&str; 7] =
    ["crct10dif_common", "crc-t10dif", "crc64", "crc64-rocksoft", "t10-pi", "nvme-core", "nvme"];

/// Of a virtual network adapter.
const NETWORK_MODULES: [&str; 8] = [
    "virtio",
    "virtio_ring",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "failover",
    "net_failover",
    "virtio_net",
];

/// Of RDMA over Ethernet.
const RDMA_MODULES: [&str; 6] =
    ["crc32_generic", "ib_core", "ib_uverbs", "udp_tunnel", "ip6_udp_tunnel", "rdma_rxe"];

impl Flavour {
    fn package(self, architecture: Architecture) -> String {
        match self {
            Self::Cloud => format!("linux-image-cloud-{}", architecture.debian()),
            Self::Generic => format!("linux-image-{}", architecture.debian()),
        }
    }

    /// Each needs those before it; some are built into some kernels.
    fn modules(self) -> Vec<&'static str> {
        match self {
            Self::Cloud => NETWORK_MODULES.to_vec(),
            Self::Generic => [&DISK_MODULES[..], &NETWORK_MODULES, &RDMA_MODULES].concat(),
        }
    }

    /// The one that is built into none.
    fn certain_module(self) -> &'static str {
        match self {
            Self::Cloud => "virtio_net",
            Self::Generic => "rdma_rxe",
        }
    }
}

impl Kernel {
    /// The Debian suites whose kernels the tests boot: Linux 6.1, which has no weighted
    /// interleave, and 6.12, which has.
    pub const SUITES: [&'static str; 2] = ["bookworm", "trixie"];
}

/// `${NEARFAR_LAB_CACHE:-${XDG_CACHE_HOME:-~/.cache}/nearfar-lab}`.
fn cache() -> PathBuf {
    let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || from("HOME").unwrap_or_else(env::temp_dir).join(".cache");
    from("NEARFAR_LAB_CACHE")
        .unwrap_or_else(|| from("XDG_CACHE_HOME").unwrap_or_else(home).join("nearfar-lab"))
}

/// The kernel of a Debian suite (`bookworm`, `trixie`) for an architecture, from the cache or
/// fetched.
///
/// # Errors
/// When it is not in the cache and cannot be fetched.
pub fn find_kernel(
    suite: &str,
    architecture: Architecture,
    flavour: Flavour,
) -> anyhow::Result<Kernel> {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    ensure!(
        !suite.is_empty() && suite.chars().all(word),
        "suites are named like bookworm, trixie, bookworm-backports, and not '{suite}'"
    );
    let of_flavour = if flavour == Flavour::Generic { "-generic" } else { "" };
    let of_architecture = match architecture {
        Architecture::X86_64 => String::new(),
        other => format!("-{}", other.debian()),
    };
    let folder = cache().join(format!("{suite}{of_flavour}{of_architecture}"));
    match newest_image(&folder, architecture).map(with_modules) {
        Some(whole) if !whole.modules.is_empty() => Ok(whole),
        Some(bare) => Ok(fetch(suite, architecture, flavour, &folder).unwrap_or(bare)),
        None => fetch(suite, architecture, flavour, &folder).with_context(|| {
            format!(
                "no kernel of the suite {suite}: put a whole vmlinuz-* of Debian's {} \
                 into {}, or name a Debian archive that has the suite by NEARFAR_LAB_MIRROR",
                flavour.package(architecture),
                folder.display()
            )
        }),
    }
}

/// An image and the modules that lie beside it, by names that are in their order.
fn with_modules(image: PathBuf) -> Kernel {
    let entries = fs::read_dir(modules_of(&image)).into_iter().flatten().flatten();
    let mut modules: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    modules.sort();
    Kernel { image, modules }
}

/// Where the modules of an image are kept: `modules-6.1.0` beside `vmlinuz-6.1.0`.
fn modules_of(image: &Path) -> PathBuf {
    let name = image.file_name().unwrap_or_default().to_string_lossy();
    image.with_file_name(name.replacen("vmlinuz-", "modules-", 1))
}

/// The newest whole image of a folder.
fn newest_image(folder: &Path, architecture: Architecture) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let whole = |path: &PathBuf| {
        is_named_image(path) && is_whole_image(path, architecture).unwrap_or(false)
    };
    // By when it was built: names sort 6.9 after 6.12.
    entries.filter(whole).max_by_key(|path| path.metadata().and_then(|it| it.modified()).ok())
}

fn is_named_image(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("vmlinuz-"))
}

/// Whether a file is a kernel image of an architecture and as long as its header says. For x86
/// (`Documentation/arch/x86/boot.rst` of Linux) `HdrS` stands at 0x202, setup sectors at
/// 0x1f1, the rest in units of 16 bytes at 0x1f4; for AArch64 (`Documentation/arm64/booting.rst`)
/// `ARM\x64` at 0x38; its size counts memory that the file does not have.
fn is_whole_image(path: &Path, architecture: Architecture) -> io::Result<bool> {
    let mut head = [0; 0x206];
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length < head.len() as u64 {
        return Ok(false);
    }
    file.read_exact(&mut head)?;
    if architecture == Architecture::Aarch64 {
        return Ok(&head[0x38..0x3c] == b"ARM\x64");
    }
    let setup_bytes = (u64::from(head[0x1f1]) + 1) * 512;
    let rest = u32::from_le_bytes([head[0x1f4], head[0x1f5], head[0x1f6], head[0x1f7]]);
    Ok(&head[0x202..] == b"HdrS" && length >= setup_bytes + u64::from(rest) * 16)
}

fn fetch(
    suite: &str,
    architecture: Architecture,
    flavour: Flavour,
    folder: &Path,
) -> anyhow::Result<Kernel> {
    fs::create_dir_all(folder)?;
    let apt = Apt::begin(suite, architecture, folder)?;
    let meta = apt.dependency(&flavour.package(architecture), "linux-image-")?;
    // Some kernels' images are in a package of their own.
    let package = apt.dependency(&meta, "linux-binary-").unwrap_or_else(|_| meta.clone());
    let unpacked = apt.unpack(&package)?;
    let image = find_file(&unpacked, &is_named_image);
    let image = image.with_context(|| format!("there is no file vmlinuz-* in {package}"))?;
    ensure!(
        is_whole_image(&image, architecture)?,
        "the kernel in {package} is not a whole image for {}",
        architecture.debian()
    );
    let kept = folder.join(format!("vmlinuz-{}", meta.trim_start_matches("linux-image-")));
    // The unpacked package lies in the same file system, so each file is there at once, the image the last.
    let modules = modules_of(&kept);
    fs::create_dir_all(&modules)?;
    for (place, name) in flavour.modules().into_iter().enumerate() {
        let is_it = |path: &Path| {
            [".ko", ".ko.xz"].iter().any(|end| path.ends_with(format!("{name}{end}")))
        };
        if let Some(module) = find_file(&unpacked, &is_it) {
            let file = module.file_name().unwrap_or_default().to_string_lossy();
            fs::rename(&module, modules.join(format!("{place:02}-{file}")))?;
        } else {
            ensure!(name != flavour.certain_module(), "there is no module {name} in {package}");
        }
    }
    fs::rename(&image, &kept)?;
    Ok(with_modules(kept))
}

/// The first file below a folder that is wanted.
fn find_file(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_it = |path: &&PathBuf| is_wanted(path) && path.is_file() && !path.is_symlink();
    let here = entries.iter().find(is_it).cloned();
    let folders = || entries.iter().filter(|path| path.is_dir() && !path.is_symlink());
    here.or_else(|| folders().find_map(|folder| find_file(folder, is_wanted)))
}
