//! `ps`: running processes whose memory lies far from where they run.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::bail;
use nearfar_document::process_list_answer;
use nearfar_place::{NotListed, ProcessQuestion, list_processes};

use crate::args::PsArguments;
use crate::exit_status::ExitStatus;
use crate::{live_machine, output};

pub fn run(arguments: &PsArguments) -> anyhow::Result<ExitStatus> {
    let question = ProcessQuestion {
        pids: arguments.pid.clone(),
        all: arguments.all,
        budget: arguments.budget,
    };
    // Where /sys is hidden one node is shown, whatever there is: that nothing is far is not said then.
    let machine = live_machine::read_to_measure()?;
    match list_processes(Path::new("/"), &machine, &question, &is_in_path) {
        Ok(list) => output::answer(arguments.form(), &list, || process_list_answer(&list)),
        Err(NotListed::NoSuchProcess(pid)) => bail!("there is no process {pid}"),
        Err(refused) => {
            output::complain(&refused.into());
            Ok(ExitStatus::Refused)
        }
    }
}

/// Whether a shell finds a program of this name.
fn is_in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| {
        let found = folder.join(program).metadata();
        found.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    })
}
