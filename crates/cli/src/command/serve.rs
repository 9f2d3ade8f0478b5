//! `serve`: answers messages of `characterize --only network` on another machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use nearfar_document::printable;
use nearfar_network::{Limits, Server, Token, Told};

use crate::args::ServeArguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(arguments: &ServeArguments) -> anyhow::Result<ExitStatus> {
    let token = Token::read(&arguments.token_file)?;
    let ended = Arc::new(AtomicBool::new(false));
    for signal in nearfar_sys::ending_signals() {
        signal_hook::flag::register(signal, Arc::clone(&ended))
            .context("cannot watch for signals")?;
    }
    let cannot = || format!("cannot listen at {}", arguments.listen);
    let server = Server::bind(arguments.listen, token, Limits::default()).with_context(cannot)?;
    let address = server.address().with_context(cannot)?;
    output::print(&format!("nearfar serves at {address}\n"))?;
    let ends = || ended.load(Ordering::Relaxed);
    let lines = Mutex::new(Lines::new(Instant::now()));
    // Who reads what it tells may be gone: it serves all the same.
    let print = |line: &str| drop(output::print(&format!("{}\n", printable(line))));
    let tell = |told: &Told| {
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        let is_refusal = matches!(told, Told::Refused { .. });
        lines
            .tell(&told.to_string(), is_refusal, Instant::now())
            .iter()
            .for_each(|line| print(line));
    };
    let served = server.serve(&ends, &tell).context("no longer waits for connections");
    lines
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .end()
        .iter()
        .for_each(|line| print(line));
    served?;
    Ok(ExitStatus::Done)
}

/// Lines of refused clients in so much time: strangers can cause any number.
const MAX_LINES: u32 = 20;
const LINES_TIME: Duration = Duration::from_secs(10);

/// What is told of clients, of refused ones in part.
struct Lines {
    since: Instant,
    told: u32,
    left_out: u64,
}

impl Lines {
    fn new(now: Instant) -> Self {
        Self { since: now, told: 0, left_out: 0 }
    }

    /// The lines to print now.
    fn tell(&mut self, line: &str, is_refusal: bool, now: Instant) -> Vec<String> {
        let mut lines = Vec::new();
        if now.duration_since(self.since) >= LINES_TIME {
            lines.extend(self.end());
            *self = Self::new(now);
        }
        if is_refusal && self.told >= MAX_LINES {
            self.left_out += 1;
        } else {
            self.told += u32::from(is_refusal);
            lines.push(line.into());
        }
        lines
    }

    /// What was left out so far.
    fn end(&self) -> Option<String> {
        (self.left_out > 0).then(|| format!("{} more connections were refused", self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_clients_are_told_at_a_bounded_rate() {
        let begun = Instant::now();
        let mut lines = Lines::new(begun);
        let told: usize = (0..1000).map(|_| lines.tell("refused", true, begun).len()).sum();
        assert_eq!(told, 20);
        assert_eq!(lines.tell("served", false, begun), ["served"]);
        let later = lines.tell("refused", true, begun + LINES_TIME);
        assert_eq!(later, ["980 more connections were refused", "refused"]);
        assert_eq!(lines.end(), None);
    }
}
