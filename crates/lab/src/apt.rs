//! apt with a state of its own in a folder that vanishes: no root, and /etc/apt and the
//! machine's package lists stay as they are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::LabError;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// apt that knows one Debian suite.
pub(crate) struct Apt {
    folder: tempfile::TempDir,
    options: Vec<String>,
}

impl Apt {
    /// Fetches the package lists of a suite; the state lies in a folder in `beside`.
    pub fn begin(suite: &str, beside: &Path) -> Result<Self, LabError> {
        let folder = tempfile::tempdir_in(beside).map_err(LabError::file(beside))?;
        let root = folder.path();
        for part in ["lists/partial", "archives/partial", "package"] {
            fs::create_dir_all(root.join(part)).map_err(LabError::file(root))?;
        }
        let mut apt = Self { folder, options: Vec::new() };
        apt.set("Dir::State::lists", &apt.path("lists"));
        apt.set("Dir::Cache", &apt.path(""));
        apt.set("APT::Sandbox::User", "");
        let mirror = match env::var("NEARFAR_LAB_MIRROR") {
            Ok(mirror) => mirror,
            Err(_) => apt.mirror()?,
        };
        let list = apt.path("sources.list");
        fs::write(&list, format!("deb [signed-by={KEYRING}] {mirror} {suite} main\n"))
            .map_err(LabError::file(&list))?;
        apt.set("Dir::Etc::sourcelist", &list);
        for (option, value) in [
            ("Dir::Etc::sourceparts", "/dev/null"),
            ("Dir::Etc::preferencesparts", "/dev/null"),
            ("Dir::State::status", "/dev/null"),
            ("APT::Architecture", "amd64"),
            ("Acquire::Languages", "none"),
            ("Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", "false"),
        ] {
            apt.set(option, value);
        }
        apt.call("apt-get", &["-q", "update"])?;
        Ok(apt)
    }

    /// The Debian archive that this machine's own sources name. `--print-uris` tells
    /// it also where no list was ever fetched, unlike `apt-get indextargets`.
    fn mirror(&self) -> Result<String, LabError> {
        let said = self.call("apt-get", &["--print-uris", "update"])?;
        debian_archive(&said).ok_or_else(|| LabError::Failed {
            what: "looking for a Debian archive in apt's sources".into(),
            said: "there is none; name one by NEARFAR_LAB_MIRROR".into(),
        })
    }

    /// The first package that `package` depends on whose name begins so.
    pub fn dependency(&self, package: &str, start: &str) -> Result<String, LabError> {
        let said = self.call("apt-cache", &["depends", package])?;
        said.lines()
            .filter_map(|line| line.trim().strip_prefix("Depends: "))
            .find(|name| name.starts_with(start))
            .map(ToString::to_string)
            .ok_or_else(|| LabError::Failed {
                what: format!("apt-cache depends {package}"),
                said: format!("no dependency begins with {start}"),
            })
    }

    /// Downloads a package, whose hash apt checks, and unpacks it; the folder.
    pub fn unpack(&self, package: &str) -> Result<PathBuf, LabError> {
        self.call("apt-get", &["-q", "download", package])?;
        let folder = self.folder.path().join("package");
        let unpacked = self.folder.path().join("unpacked");
        for entry in fs::read_dir(&folder).map_err(LabError::file(&folder))?.flatten() {
            let mut command = Command::new("dpkg-deb");
            command.arg("-x").arg(entry.path()).arg(&unpacked);
            call("dpkg-deb", command)?;
        }
        Ok(unpacked)
    }

    fn set(&mut self, option: &str, value: &str) {
        self.options.extend(["-o".into(), format!("{option}={value}")]);
    }

    fn path(&self, part: &str) -> String {
        self.folder.path().join(part).display().to_string()
    }

    fn call(&self, program: &'static str, arguments: &[&str]) -> Result<String, LabError> {
        let mut command = Command::new(program);
        command.args(&self.options).args(arguments).current_dir(self.folder.path().join("package"));
        call(program, command)
    }
}

/// The first archive in `apt-get --print-uris update` that is Debian's and not for
/// security updates only.
fn debian_archive(uris: &str) -> Option<String> {
    uris.lines().find_map(|line| {
        let uri = line.strip_prefix('\'')?.split('\'').next()?;
        let (archive, suite) = uri.split_once("/dists/")?;
        let suite = suite.split('/').next()?;
        (archive.contains("debian") && !suite.ends_with("-security")).then(|| archive.to_string())
    })
}

/// Runs a program; what it printed.
fn call(program: &'static str, mut command: Command) -> Result<String, LabError> {
    let output = command.output().map_err(|_| LabError::Missing(program))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let arguments: Vec<_> = command.get_args().map(|it| it.to_string_lossy()).collect();
    let what = format!("{program} {}", arguments.join(" "));
    Err(LabError::Failed { what, said: format!("{said}{errors}") })
}

#[cfg(test)]
mod tests {
    use super::debian_archive;

    #[test]
    fn the_archive_is_debians_and_has_more_than_security_updates() {
        let uris = "\
'http://a.example/debian-security/dists/bookworm-security/InRelease' a 0
'http://b.example/nodistro/dists/stable/InRelease' b 0
'http://c.example/mirror/debian/dists/bookworm-updates/InRelease' c 0
'http://d.example/debian/dists/bookworm/InRelease' d 0
";
        assert_eq!(debian_archive(uris).as_deref(), Some("http://c.example/mirror/debian"));
        assert_eq!(debian_archive("'http://e.example/ubuntu/dists/noble/InRelease' e 0"), None);
        assert_eq!(debian_archive("Reading package lists...\n\n"), None);
    }
}
