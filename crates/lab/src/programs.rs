//! The programs of this machine that a guest has, ready to be unpacked by its kernel.

use std::env::consts::ARCH;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::LabError;
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
    pub fn gather(programs: &[&Path]) -> Result<Self, LabError> {
        if ARCH != "x86_64" {
            return Err(LabError::Host(ARCH));
        }
        let mut files = Initramfs::default();
        Self::add_system(&mut files).map_err(LabError::file("the guest's files"))?;
        let busybox = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new);
        let busybox = busybox
            .into_iter()
            .find(|path| path.is_file())
            .ok_or(LabError::Missing("busybox-static"))?;
        // One that is linked statically: there is no loader in an empty guest.
        if !libraries(busybox).is_ok_and(|found| found.is_empty()) {
            return Err(LabError::Missing("busybox-static"));
        }
        let bytes = fs::read(busybox).map_err(LabError::file(busybox))?;
        files.file("/bin/busybox", &bytes, 0o755).map_err(LabError::file(busybox))?;
        for program in programs {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let file = LabError::file(*program);
            files.file(&format!("/lab/bin/{name}"), &stripped(program)?, 0o755).map_err(file)?;
            for library in libraries(program)? {
                add_library(&mut files, &library)?;
            }
        }
        let archive = files.finish().map_err(LabError::file("the guest's files"))?;
        Ok(Self { archive })
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

/// A library lies in a guest where it lies here.
fn add_library(files: &mut Initramfs, library: &Path) -> Result<(), LabError> {
    let bytes = fs::read(library).map_err(LabError::file(library))?;
    let mode = fs::metadata(library).map_err(LabError::file(library))?.permissions();
    let path = library.display().to_string();
    files.file(&path, &bytes, mode.mode() & 0o777).map_err(LabError::file(library))
}

/// A program without its debug sections: the guest's files lie in its memory.
fn stripped(program: &Path) -> Result<Vec<u8>, LabError> {
    let bytes = fs::read(program).map_err(LabError::file(program))?;
    if !bytes.starts_with(b"\x7fELF") {
        return Ok(bytes);
    }
    let file = tempfile::NamedTempFile::new().map_err(LabError::file(program))?;
    let output = Command::new("strip")
        .env("LC_ALL", "C")
        .arg("--strip-debug")
        .arg("-o")
        .arg(file.path())
        .arg(program)
        .output()
        .map_err(|_| LabError::Missing("strip (binutils)"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(LabError::Failed { what: format!("strip {}", program.display()), said });
    }
    fs::read(file.path()).map_err(LabError::file(program))
}

/// The libraries and the loader that a program needs; none for scripts and for what is
/// linked statically.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, LabError> {
    let output = Command::new("ldd")
        .arg(program)
        .env("LC_ALL", "C")
        .output()
        .map_err(|_| LabError::Missing("ldd (libc-bin)"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if let Some(missing) = said.lines().find(|line| line.contains("not found")) {
        let what = format!("ldd {}", program.display());
        return Err(LabError::Failed { what, said: missing.trim().into() });
    }
    let path = |line: &str| -> Option<PathBuf> {
        let path = line.split_whitespace().find(|word| word.starts_with('/'))?;
        Some(path.into())
    };
    Ok(said.lines().filter(|line| line.contains("(0x")).filter_map(path).collect())
}
