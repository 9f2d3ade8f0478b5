//! Profiles that the user names.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::Context;
use nearfar_record::{Profile, read_profile};

/// Reads a profile; `-` is standard input.
pub fn read(path: &Path) -> anyhow::Result<Profile> {
    if path.as_os_str() == "-" {
        return read_profile(io::stdin().lock()).context("standard input");
    }
    let file =
        File::open(path).with_context(|| format!("cannot open the profile {}", path.display()))?;
    read_profile(file).with_context(|| format!("{}", path.display()))
}
