//! A program in turns under a placement and without it, for `run --verify` and `advise --verify`.

use std::ffi::OsString;
use std::process::Stdio;

use anyhow::Context;
use nearfar_place::{
    NotLaunched, Outcome, Side, Steering, Verification, await_signals, start_watched, verify, watch,
};

use super::run::{Placed, command_of, status_number};
use crate::output;

/// Why comparing ended before its verdict.
pub(super) enum Ended {
    /// The program ended with this status, which is said.
    Failed(u8),
    /// This signal asked for an end.
    Interrupted(i32),
    /// It did not start.
    NotLaunched(NotLaunched),
    /// Something else failed.
    Unknown(anyhow::Error),
}

impl From<anyhow::Error> for Ended {
    fn from(error: anyhow::Error) -> Self {
        Self::Unknown(error)
    }
}

/// Runs a program in turns under a placement and as it would run without nearfar, with what looking at
/// it costs in both times; its input is empty and its output is dropped. What the last run under the
/// placement did, and what comparing found.
pub(super) fn compare(
    placed: &Placed,
    words: &[OsString],
    is_followed: bool,
) -> Result<(Outcome, Verification), Ended> {
    let awaited = await_signals().context("cannot wait for signals")?;
    let mut last = None;
    let verified = verify(|side| {
        let mut command = command_of(words)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (binding, steering) = match side {
            Side::Placed => {
                command.envs(placed.settings());
                (Some(&placed.resolution.start), placed.resolution.steering(is_followed))
            }
            Side::Default => (None, Steering { is_followed, ..Steering::default() }),
        };
        let watched = start_watched(&mut command, binding, steering, placed.may_lose, &awaited)
            .map_err(Ended::NotLaunched)?;
        let outcome = watch(watched, &awaited).context("cannot wait for the program")?;
        if let Some(signal) = outcome.told_to_end {
            return Err(Ended::Interrupted(signal));
        }
        if !outcome.status.success() {
            return Err(Ended::Failed(status_number(outcome.status)));
        }
        let seconds = outcome.took.as_secs_f64();
        if side == Side::Placed {
            last = Some(outcome);
        }
        Ok(seconds)
    });
    if let Err(Ended::Failed(status)) = verified {
        output::note(&format!(
            "nearfar: the program ended with status {status}, so there is nothing to compare; run it \
             without --verify to see what it says"
        ));
    }
    if let Err(Ended::Interrupted(_)) = verified {
        output::note("nearfar: interrupted: nothing is compared");
    }
    let verification = verified?.context("the program took no time")?;
    Ok((last.context("the program did not run under the placement")?, verification))
}
