//! Processes that were started together.

use crate::refusal::{Errno, Refusal};

/// Ends a process group at once (SIGKILL): the program that leads it and the children that did
/// not leave it. One that is gone is no error.
///
/// # Errors
/// When the number is no group's, or the kernel refuses.
pub fn kill_process_group(leader: u32) -> Result<(), Refusal> {
    let group = match i32::try_from(leader) {
        // 0 would be this process's own group, and 1 everything.
        Ok(group) if group > 1 => group,
        _ => {
            return Err(Refusal::Argument {
                what: format!("the process group {leader}"),
                reason: "it is no group of a program that was started",
            });
        }
    };
    // SAFETY: kill(2) touches no memory of this process.
    if unsafe { libc::kill(-group, libc::SIGKILL) } == 0 {
        return Ok(());
    }
    match Errno::last() {
        gone if gone.0 == libc::ESRCH => Ok(()),
        refused => Err(Refusal::call("kill", format_args!("-{group}"), refused)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_and_its_child_end_and_neither_is_waited_for() {
        let mut shell = Command::new("sh");
        let mut child = shell.args(["-c", "sleep 600 & wait"]).process_group(0).spawn().unwrap();
        kill_process_group(child.id()).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        // It is gone; its number is of no group any more.
        kill_process_group(child.id()).unwrap();
    }

    #[test]
    fn this_process_and_everything_are_refused() {
        for absurd in [0, 1, u32::MAX] {
            assert!(kill_process_group(absurd).is_err(), "{absurd}");
        }
    }
}
