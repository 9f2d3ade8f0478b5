//! One guest: booted, its script run, its results read, gone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::host_program::missing;
use crate::initramfs::Initramfs;
use crate::kernel::Kernel;
use crate::machine::GuestMachine;
use crate::programs::Programs;
use crate::wire::WireEnd;

/// A guest to run.
#[derive(Clone)]
pub struct Guest<'a> {
    pub machine: &'a GuestMachine,
    pub kernel: &'a Kernel,
    /// Programs that the script finds by their names, beside busybox's.
    pub programs: &'a Programs,
    /// Memory of each node, MiB.
    pub node_mib: u32,
    /// PCIe devices by QEMU's name, each near a node.
    pub devices: &'a [(u32, String)],
    /// A network adapter on a wire to another guest.
    pub wire: Option<&'a WireEnd>,
    /// Shell lines that root runs in /tmp; `as-nobody COMMAND` gives up root's rights.
    pub script: &'a str,
    /// The longest that it may take, its boot included.
    pub limit: Duration,
}

/// What a guest left.
#[derive(Debug, Clone)]
pub struct Ended {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub release: String,
    /// Files that it left in /out, by their paths below it.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The kernel's last messages in boots that died before the script began, as those
    /// of emulated kernels sometimes do.
    pub deaths: Vec<String>,
    /// Time from QEMU's start to its end, of the boot that did not die.
    pub elapsed: Duration,
}

/// What the guest's first process prints before the script begins.
const BEGINS: &str = "nearfar-lab: begins";
/// At most this many boots of a guest that dies before its script begins. Such a death
/// says nothing of the script; a later one does.
const MOST_BOOTS: usize = 5;
/// The longest that a boot may take until the script begins: many times what it takes on
/// a loaded machine. One that hangs is as good as dead.
const BOOT_LIMIT: Duration = Duration::from_secs(90);
/// What a dead kernel prints; it then takes another ten seconds to end QEMU.
const PANIC: &str = "Kernel panic - not syncing";
/// What a kernel prints that may go on and never come to its first process.
const FAULTS: [&str; 3] = ["Oops:", "BUG: ", "double fault"];
/// Room for results; the file has holes where nothing was written.
const RESULT_BYTES: u64 = 256 << 20;

/// What QEMU reads and writes: files without names, so that nothing is left behind
/// however this process ends.
struct Files {
    initramfs: File,
    console: File,
    complaint: File,
    results: File,
}

impl Guest<'_> {
    /// Boots it, runs the script, reads what it left.
    ///
    /// # Errors
    /// When QEMU is missing or refuses, when the guest dies or takes too long.
    pub fn run(&self) -> anyhow::Result<Ended> {
        ensure!(
            self.wire.is_none() || !self.kernel.modules.is_empty(),
            "{} has no modules for network adapters beside it, and they could not be fetched",
            self.kernel.image.display()
        );
        let mut deaths = Vec::new();
        loop {
            match self.boot()? {
                Ok(ended) => return Ok(Ended { deaths, ..ended }),
                Err(log) if deaths.len() + 1 < MOST_BOOTS => deaths.push(log),
                Err(log) => bail!("the guest died before the script began; {LAST_MESSAGES}\n{log}"),
            }
        }
    }

    fn files(&self) -> io::Result<Files> {
        let mut own = Initramfs::default();
        own.file("/lab/run", self.script.as_bytes(), 0o644)?;
        let modules = self.wire.map_or(&[][..], |_| &self.kernel.modules);
        for module in modules {
            let name = module.file_name().unwrap_or_default().to_string_lossy();
            own.file(&format!("/lab/modules/{name}"), &fs::read(module)?, 0o644)?;
        }
        let mut files = Files {
            initramfs: tempfile::tempfile()?,
            console: tempfile::tempfile()?,
            complaint: tempfile::tempfile()?,
            results: tempfile::tempfile()?,
        };
        files.initramfs.write_all(self.programs.archive())?;
        files.initramfs.write_all(&own.finish()?)?;
        files.results.set_len(RESULT_BYTES)?;
        Ok(files)
    }

    /// One boot; the kernel's last messages where it died before the script began.
    fn boot(&self) -> anyhow::Result<Result<Ended, String>> {
        let mut files = self.files().context("a temporary file")?;
        let began = Instant::now();
        let (how, complaint) = {
            let mut qemu = self.start(&files)?;
            let how = qemu.wait(began, self.limit, &mut files.console);
            qemu.end();
            (how, read_text(&mut files.complaint).unwrap_or_default())
        };
        let qemu = self.machine.architecture.qemu();
        for (program, name) in [qemu, ("timeout", "timeout (coreutils)")] {
            ensure!(!complaint.contains(&format!("failed to execute {program}")), missing(name));
        }
        let log = read_text(&mut files.console).unwrap_or_default();
        let lines: Vec<&str> = log.lines().chain(complaint.lines()).collect();
        let tail = lines[lines.len().saturating_sub(60)..].join("\n");
        if how == How::TooLong {
            let seconds = self.limit.as_secs();
            bail!("the guest ran longer than {seconds} s; {LAST_MESSAGES}\n{tail}");
        }
        ensure!(!log.is_empty() || complaint.trim().is_empty(), "{} failed: {complaint}", qemu.0);
        if !log.contains(BEGINS) {
            return Ok(Err(tail));
        }
        let left = read_results(&mut files.results).ok().and_then(|mut left| {
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_string();
            Some(Ended {
                status: text(left.remove("status")?).parse().ok()?,
                stdout: left.remove("stdout")?,
                stderr: left.remove("stderr")?,
                release: text(left.remove("release")?),
                files: left,
                deaths: Vec::new(),
                elapsed: began.elapsed(),
            })
        });
        let died = || format!("the guest died while the script ran; {LAST_MESSAGES}\n{tail}");
        left.map(Ok).with_context(died)
    }

    /// The kernel ends QEMU when this thread dies, however it dies, and `timeout` when it
    /// forgets: a signal at a parent's death does not pass on, so each has its own.
    fn start(&self, files: &Files) -> anyhow::Result<Running> {
        let mortal = ["setpriv", "--pdeathsig", "KILL", "--"];
        let [setpriv, options @ ..] = mortal;
        let seconds = (self.limit + BOOT_LIMIT).as_secs().to_string();
        Command::new(setpriv)
            .args(options)
            .args(["timeout", "--foreground", "--signal=KILL", &seconds])
            .args(mortal)
            .arg(self.machine.architecture.qemu().0)
            .args(self.arguments(files))
            // What could not be executed is read from what it says.
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(files.complaint.try_clone()?)
            .spawn()
            .map(Running)
            .with_context(|| missing("setpriv (util-linux)"))
    }

    fn arguments(&self, files: &Files) -> Vec<String> {
        let process = std::process::id();
        let path = |file: &File| format!("/proc/{process}/fd/{}", file.as_raw_fd());
        let mut arguments: Vec<String> = [
            // One thread for all CPUs: less time in all than one for each, and the kernel's
            // patches of its own code are seen by every CPU at once.
            "-accel",
            "tcg,thread=single",
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ]
        .map(ToString::to_string)
        .to_vec();
        arguments.extend([
            "-kernel".into(),
            self.kernel.image.display().to_string(),
            "-initrd".into(),
            path(&files.initramfs),
            "-append".into(),
            self.machine.architecture.kernel_arguments().into(),
            "-serial".into(),
            format!("file:{}", path(&files.console)),
            "-drive".into(),
            format!("if=none,id=results,format=raw,file={}", path(&files.results)),
            "-device".into(),
            "nvme,serial=nearfar-lab,drive=results".into(),
        ]);
        arguments.extend(self.machine.qemu_arguments(self.node_mib));
        let mut devices = self.devices.to_vec();
        if let Some(wire) = self.wire {
            arguments.extend(["-netdev".into(), wire.netdev()]);
            devices.push((wire.node, wire.device()));
        }
        arguments.extend(bridges(&devices));
        arguments
    }
}

/// A host bridge near each node that devices are near to, and the devices.
fn bridges(devices: &[(u32, String)]) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut known: Vec<u32> = Vec::new();
    for (number, (node, device)) in devices.iter().enumerate() {
        if !known.contains(node) {
            let bus = 32 + 24 * known.len();
            known.push(*node);
            arguments.extend([
                "-device".into(),
                format!("pxb-pcie,id=bridge{node},bus=pcie.0,bus_nr={bus},numa_node={node}"),
            ]);
        }
        arguments.extend([
            "-device".into(),
            format!("pcie-root-port,id=port{number},bus=bridge{node},chassis={}", number + 1),
            "-device".into(),
            format!("{device},bus=port{number}"),
        ]);
    }
    arguments
}

const LAST_MESSAGES: &str = "the kernel's last messages:";

/// QEMU, ended at the latest when this goes out of scope.
struct Running(Child);

/// How a boot came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// By itself, or by a death that its log tells of.
    Ended,
    TooLong,
}

impl Running {
    /// Waits for QEMU's end, the kernel's death or the limits.
    fn wait(&mut self, began: Instant, limit: Duration, console: &mut File) -> How {
        while began.elapsed() < limit {
            if matches!(self.0.try_wait(), Ok(Some(_))) {
                return How::Ended;
            }
            if read_text(console).is_ok_and(|log| is_dead(&log, began.elapsed())) {
                return How::Ended;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        How::TooLong
    }

    fn end(&mut self) {
        // Both fail only where it has ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a kernel with these messages will not come to its end any more.
fn is_dead(log: &str, age: Duration) -> bool {
    let faulty = || age > BOOT_LIMIT || FAULTS.iter().any(|fault| log.contains(fault));
    log.contains(PANIC) || (!log.contains(BEGINS) && faulty())
}

fn read_text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The files in the archive that the guest wrote over its disk.
fn read_results(disk: &mut File) -> io::Result<BTreeMap<String, Vec<u8>>> {
    disk.rewind()?;
    let mut archive = tar::Archive::new(disk);
    let mut files = BTreeMap::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name: PathBuf = entry.path()?.into_owned();
        if entry.header().entry_type().is_file() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            let name = name.display().to_string();
            files.insert(name.trim_start_matches("./").to_string(), bytes);
        }
    }
    Ok(files)
}
