//! `man`: the manual pages, made from the same definitions as `--help`.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::Arguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(folder: Option<&Path>) -> anyhow::Result<ExitStatus> {
    let command = Arguments::command();
    match folder {
        Some(folder) => clap_mangen::generate_to(command, folder)
            .with_context(|| format!("cannot write the manual pages into {}", folder.display()))?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            output::print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(ExitStatus::Done)
}
