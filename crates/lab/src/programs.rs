//! The programs of this machine that a guest has, ready to be unpacked by its kernel.

use std::collections::BTreeSet;
use std::env::consts::ARCH;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::aarch64_program::Aarch64Program;
use crate::architecture::Architecture;
use crate::host_program::{call, missing};
use crate::initramfs::Initramfs;

/// Busybox, and programs of this machine without their debug sections, with the
/// libraries that they are linked against. In a guest they are found by name.
#[derive(Clone)]
pub struct Programs {
    archive: Vec<u8>,
}

impl Programs {
    /// Reads the programs at these paths.
    ///
    /// # Errors
    /// When this machine is none whose programs guests can run; when one of them, a
    /// library or busybox cannot be read.
    pub fn gather(programs: &[&Path]) -> anyhow::Result<Self> {
        ensure!(
            ARCH == "x86_64",
            "guests are x86-64 machines and run this machine's programs, but this one is {ARCH}; run \
             them on an x86-64 machine"
        );
        let mut files = Initramfs::default();
        Self::add_system(&mut files)?;
        let busybox = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new);
        let busybox = busybox.into_iter().find(|path| path.is_file());
        // One that is linked statically: there is no loader in an empty guest.
        let busybox = busybox.filter(|path| libraries(path).is_ok_and(|found| found.is_empty()));
        let busybox = busybox.with_context(|| missing("busybox-static"))?;
        files.file("/bin/busybox", &fs::read(busybox)?, 0o755)?;
        for program in programs {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let stripped = stripped(program, Architecture::X86_64)
                .with_context(|| program.display().to_string())?;
            files.file(&format!("/lab/bin/{name}"), &stripped, 0o755)?;
            for library in libraries(program)? {
                add_as_here(&mut files, &library)?;
            }
        }
        Ok(Self { archive: files.finish()? })
    }

    /// A program for AArch64 and what it needs.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn for_aarch64(built: &Aarch64Program) -> anyhow::Result<Self> {
        let mut files = Initramfs::default();
        Self::add_system(&mut files)?;
        let busybox = built.busybox();
        let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
        files.file("/bin/busybox", &read(&busybox)?, 0o755)?;
        for (folder, file) in std::iter::once(("/lab/bin", built.program.clone()))
            .chain(built.libraries()?.into_iter().map(|library| ("/lib", library)))
        {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let bytes = stripped(&file, Architecture::Aarch64)?;
            files.file(&format!("{folder}/{name}"), &bytes, 0o755)?;
        }
        Ok(Self { archive: files.finish()? })
    }

    /// Adds a program and whole folders, of what it opens at run time, where they lie here.
    ///
    /// # Errors
    /// As [`Programs::gather`].
    pub fn with(mut self, program: &Path, folders: &[&Path]) -> anyhow::Result<Self> {
        let mut files = Initramfs::default();
        add_as_here(&mut files, program)?;
        let mut needed: BTreeSet<PathBuf> = libraries(program)?.into_iter().collect();
        for folder in folders {
            add_folder(&mut files, folder, &mut needed)
                .with_context(|| folder.display().to_string())?;
        }
        for library in needed.iter().filter(|it| !folders.iter().any(|own| it.starts_with(own))) {
            add_as_here(&mut files, library)?;
        }
        self.archive.extend(files.finish()?);
        Ok(self)
    }

    /// The archive, to be followed by another with the guest's script.
    pub(crate) fn archive(&self) -> &[u8] {
        &self.archive
    }

    fn add_system(files: &mut Initramfs) -> io::Result<()> {
        for folder in ["/proc", "/sys", "/dev", "/tmp", "/run", "/root", "/out", "/etc"] {
            files.folder(folder)?;
        }
        files.device("/dev/console", (5, 1))?;
        files.device("/dev/null", (1, 3))?;
        files.link("/bin/sh", "/bin/busybox")?;
        files.file("/init", include_bytes!("init.sh"), 0o755)?;
        files.file("/lab/bin/as-nobody", include_bytes!("as_nobody.sh"), 0o755)?;
        let users = b"root::0:0:root:/root:/bin/sh\nnobody::65534:65534::/tmp:/bin/sh\n";
        files.file("/etc/passwd", users, 0o644)?;
        files.file("/etc/group", b"root:x:0:\nnogroup:x:65534:\n", 0o644)
    }
}

/// A file lies in a guest where it lies here.
fn add_as_here(files: &mut Initramfs, file: &Path) -> anyhow::Result<()> {
    let mode = fs::metadata(file)?.permissions().mode();
    Ok(files.file(&file.display().to_string(), &fs::read(file)?, mode & 0o777)?)
}

/// Adds all that is in a folder, and notes the libraries that those in it need.
fn add_folder(
    files: &mut Initramfs,
    folder: &Path,
    needed: &mut BTreeSet<PathBuf>,
) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_folder(files, &path, needed)?;
            continue;
        }
        if path.extension().is_some_and(|extension| extension == "so") {
            // One of its own folder it may find by who opens it.
            needed.extend(linked(&path)?.0);
        }
        add_as_here(files, &path)?;
    }
    Ok(())
}

/// A program without its debug sections: the guest's files lie in its memory.
fn stripped(program: &Path, architecture: Architecture) -> anyhow::Result<Vec<u8>> {
    let bytes = fs::read(program)?;
    if !bytes.starts_with(b"\x7fELF") {
        return Ok(bytes);
    }
    let file = tempfile::NamedTempFile::new()?;
    let strip = architecture.binutils("strip");
    call(Command::new(strip).args(["--strip-debug", "-o"]).arg(file.path()).arg(program))?;
    Ok(fs::read(file.path())?)
}

/// The libraries and the loader that a program needs; none for scripts and for what is
/// linked statically.
fn libraries(program: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (found, missing) = linked(program)?;
    match missing {
        Some(line) => bail!("ldd {}: {line}", program.display()),
        None => Ok(found),
    }
}

/// What of these is here, and the first line that says that one is not.
fn linked(program: &Path) -> anyhow::Result<(Vec<PathBuf>, Option<String>)> {
    let output = Command::new("ldd").arg(program).env("LC_ALL", "C").output();
    let output = output.with_context(|| missing("ldd (libc-bin)"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let missing = said.lines().find(|line| line.contains("not found"));
    let path = |line: &str| -> Option<PathBuf> {
        let path = line.split_whitespace().find(|word| word.starts_with('/'))?;
        Some(path.into())
    };
    let found = said.lines().filter(|line| line.contains("(0x")).filter_map(path).collect();
    Ok((found, missing.map(|line| line.trim().to_owned())))
}
