//! A program in turns under a placement and without it, for `run --verify` and `advise --verify`.

use std::ffi::OsString;
use std::process::Stdio;

use anyhow::Context;
use nearfar_machine::{Binding, CpuSet, MemoryPolicy};
use nearfar_place::{
    NotLaunched, Outcome, Side, Steering, Verification, await_signals, start_watched, verify, watch,
};
use nearfar_sys::Refusal;

use super::run::{Placed, command_of, status_number};
use crate::output;

/// What became of comparing.
pub(super) enum Compared {
    /// What the last run under the placement did, and what comparing found.
    Found { outcome: Box<Outcome>, verification: Verification },
    /// The program ended with this status, which is said, and nothing is compared.
    Failed(u8),
    /// It did not start.
    NotLaunched(NotLaunched),
}

/// Runs a program in turns under a placement and as it would run without nearfar, with what looking at
/// it costs in both times; its input is empty and its output is dropped.
pub(super) fn compare(
    placed: &Placed,
    words: &[OsString],
    is_followed: bool,
) -> anyhow::Result<Compared> {
    let awaited = await_signals().context("cannot wait for signals")?;
    let mut last = None;
    let verified = verify(|side| {
        let mut command = command_of(words).map_err(Ended::Unknown)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let unbound = Binding { cpus: CpuSet::new(), memory: MemoryPolicy::FirstTouch };
        let (binding, steering) = match side {
            Side::Placed => {
                command.envs(placed.settings());
                (&placed.resolution.start, placed.resolution.steering(is_followed))
            }
            Side::Default => (&unbound, Steering { is_followed, ..Steering::default() }),
        };
        let outcome = start_watched(&mut command, binding, steering, placed.may_lose, &awaited)
            .map_err(Ended::Early)
            .and_then(|watched| watch(watched, &awaited).map_err(Ended::unwatched))?;
        if !outcome.status.success() {
            return Err(Ended::Failed(status_number(outcome.status)));
        }
        let seconds = outcome.took.as_secs_f64();
        if side == Side::Placed {
            last = Some(outcome);
        }
        Ok(seconds)
    });
    let verification = match verified {
        Ok(verification) => verification.context("the program took no time")?,
        Err(Ended::Early(why)) => return Ok(Compared::NotLaunched(why)),
        Err(Ended::Unknown(error)) => return Err(error),
        Err(Ended::Failed(status)) => {
            output::say(&format!(
                "nearfar: the program ended with status {status}, so there is nothing to compare; run it \
                 without --verify to see what it says"
            ));
            return Ok(Compared::Failed(status));
        }
    };
    let outcome = Box::new(last.context("the program did not run under the placement")?);
    Ok(Compared::Found { outcome, verification })
}

/// Why comparing ended before its verdict.
enum Ended {
    Early(NotLaunched),
    Unknown(anyhow::Error),
    Failed(u8),
}

impl Ended {
    fn unwatched(refusal: Refusal) -> Self {
        Self::Unknown(anyhow::Error::new(refusal).context("cannot wait for the program"))
    }
}
