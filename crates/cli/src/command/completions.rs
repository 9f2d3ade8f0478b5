//! `completions`: what a shell offers where the user asks it to go on.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::args::Arguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(shell: Shell) -> anyhow::Result<ExitStatus> {
    output::print(&script(shell))?;
    Ok(ExitStatus::Done)
}

/// Of the commands that the help shows: `clap_complete` offers those that are hidden as well.
fn script(shell: Shell) -> String {
    let all = Arguments::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
    let mut offered = Command::new("nearfar")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments())
        .subcommands(shown.cloned());
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut offered, "nearfar", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_is_offered_what_the_help_shows() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for offered in ["characterize", "quiet", "color", "version", "what-if"] {
                assert!(script.contains(offered), "{shell}: {offered}");
            }
            assert!(!script.contains("read-topology") && !script.contains("read-devices"));
        }
    }
}
