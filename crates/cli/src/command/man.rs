//! `man`: the manual pages, made from the same definitions as `--help`.

use std::path::Path;

use anyhow::Context;
use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use nearfar_sys::WritableFile;

use crate::args::Arguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(folder: Option<&Path>) -> anyhow::Result<ExitStatus> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    match folder {
        Some(folder) => {
            let failed = || format!("cannot make the folder {}", folder.display());
            std::fs::create_dir_all(folder).with_context(failed)?;
            let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
            for command in shown
                .flat_map(|of| std::iter::once(of).chain(of.get_subcommands()))
                .chain([&command])
            {
                let path = folder.join(Man::new(command.clone()).get_filename());
                let page = page(command)?;
                WritableFile::find(&path)
                    .and_then(|file| file.write(page.as_bytes()))
                    .with_context(|| format!("cannot write the manual page {}", path.display()))?;
            }
        }
        None => output::print(&page(&command)?)?,
    }
    Ok(ExitStatus::Done)
}

/// The page of a command. What follows its help keeps its lines: examples, and the exit
/// statuses, are no running text.
fn page(command: &Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone().after_help(Resettable::Reset)).render(&mut page)?;
    if let Some(text) = command.get_after_help() {
        let title = if command.has_subcommands() { "EXIT STATUS" } else { "EXAMPLES" };
        let text = text.to_string();
        let is_title = |line: &&str| line.trim_end_matches(':').eq_ignore_ascii_case(title);
        let mut roff = Roff::new();
        roff.control("SH", [title]).control("nf", []);
        for line in text.lines().skip_while(is_title) {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
        page.extend(roff.render().into_bytes());
    }
    Ok(String::from_utf8(page)?)
}
