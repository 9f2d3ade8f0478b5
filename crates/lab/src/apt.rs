//! apt with a state of its own in a folder that vanishes: no root, and /etc/apt and the
//! machine's package lists stay as they are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::architecture::Architecture;
use crate::host_program::call;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// apt that knows one Debian suite, of one architecture.
pub(crate) struct Apt {
    folder: tempfile::TempDir,
    options: Vec<String>,
}

impl Apt {
    /// Fetches the package lists of a suite; the state lies in a folder in `beside`.
    pub fn begin(suite: &str, architecture: Architecture, beside: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in(beside)?;
        for part in ["lists/partial", "archives/partial", "package"] {
            fs::create_dir_all(folder.path().join(part))?;
        }
        let mut apt = Self { folder, options: Vec::new() };
        apt.set("Dir::State::lists", &apt.path("lists"));
        apt.set("Dir::Cache", &apt.path(""));
        apt.set("APT::Sandbox::User", "");
        // What a machine's own sources say, before apt is told to look at others.
        let archives = apt.archives(suite)?;
        let list = apt.path("sources.list");
        apt.set("Dir::Etc::sourcelist", &list);
        for (option, value) in [
            ("Dir::Etc::sourceparts", "/dev/null"),
            ("Dir::Etc::preferencesparts", "/dev/null"),
            ("Dir::State::status", "/dev/null"),
            ("APT::Architecture", architecture.debian()),
            // Without it apt-get ends with 0 where the network is down.
            ("APT::Update::Error-Mode", "any"),
            ("Acquire::Languages", "none"),
            ("Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", "false"),
        ] {
            apt.set(option, value);
        }
        let mut refusals = Vec::new();
        for archive in archives {
            fs::write(&list, format!("deb [signed-by={KEYRING}] {archive} {suite} main\n"))?;
            match apt.call("apt-get", &["-q", "update"]) {
                Ok(_) => return Ok(apt),
                Err(error) => refusals.push(format!("{error:#}")),
            }
        }
        bail!("no Debian archive has {suite}: {}", refusals.join("\n"))
    }

    /// Debian archives to look in: the one that the environment names, otherwise those
    /// that this machine's own sources name. `--print-uris` tells them also where no
    /// list was ever fetched, unlike `apt-get indextargets`.
    fn archives(&self, suite: &str) -> anyhow::Result<Vec<String>> {
        if let Some(mirror) = env::var("NEARFAR_LAB_MIRROR").ok().filter(|it| !it.is_empty()) {
            return Ok(vec![mirror]);
        }
        let archives = debian_archives(&self.call("apt-get", &["--print-uris", "update"])?, suite);
        if archives.is_empty() {
            bail!("apt's sources have no Debian archive; name one by NEARFAR_LAB_MIRROR");
        }
        Ok(archives)
    }

    /// The first package that `package` depends on whose name begins so.
    pub fn dependency(&self, package: &str, start: &str) -> anyhow::Result<String> {
        let said = self.call("apt-cache", &["depends", package])?;
        let mut names = said.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        let found = names.find(|name| name.starts_with(start)).map(ToString::to_string);
        found.with_context(|| format!("{package} depends on nothing that begins with {start}"))
    }

    /// Downloads a package, whose hash apt checks, and unpacks it; the folder.
    pub fn unpack(&self, package: &str) -> anyhow::Result<PathBuf> {
        self.call("apt-get", &["-q", "download", package])?;
        let unpacked = self.folder.path().join("unpacked");
        for entry in fs::read_dir(self.folder.path().join("package"))?.flatten() {
            call(Command::new("dpkg-deb").arg("-x").arg(entry.path()).arg(&unpacked))?;
        }
        Ok(unpacked)
    }

    fn set(&mut self, option: &str, value: &str) {
        self.options.extend(["-o".into(), format!("{option}={value}")]);
    }

    fn path(&self, part: &str) -> String {
        self.folder.path().join(part).display().to_string()
    }

    fn call(&self, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(program);
        command.args(&self.options).args(arguments).current_dir(self.folder.path().join("package"));
        call(&mut command).with_context(|| format!("{program} {}", arguments.join(" ")))
    }
}

/// The archives in `apt-get --print-uris update` that may be Debian's and are not for
/// security updates only: first those from which this machine takes the suite.
fn debian_archives(uris: &str, suite: &str) -> Vec<String> {
    let (mut with_suite, mut others) = (Vec::new(), Vec::new());
    for line in uris.lines() {
        let uri = line.strip_prefix('\'').and_then(|rest| rest.split('\'').next());
        let Some((archive, rest)) = uri.and_then(|uri| uri.split_once("/dists/")) else { continue };
        let of = rest.split('/').next().unwrap_or_default();
        if archive.contains("debian") && !of.ends_with("-security") {
            let list = if of == suite { &mut with_suite } else { &mut others };
            list.push(archive.to_string());
        }
    }
    let mut archives: Vec<String> = Vec::new();
    for archive in with_suite.into_iter().chain(others) {
        if !archives.contains(&archive) {
            archives.push(archive);
        }
    }
    archives
}
