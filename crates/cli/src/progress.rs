//! Progress on standard error, when it is a terminal.

use std::fmt;
use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use nearfar_document::printable;
use nearfar_measure::Status;
use nearfar_units::format_duration;

use crate::output;

/// A line that shows what is measured and how long it still takes.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Begins. Nothing is drawn where standard error is no terminal, or the user wants quiet. No more time is
    /// left than the budget leaves.
    pub fn new(budget: Option<Duration>) -> Self {
        // Drawn twice a second: the drawing thread must not run beside what is measured.
        let target = if output::is_quiet() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(2)
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let template = "{wide_bar} {pos}/{len} {left}  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let left = move |state: &ProgressState, out: &mut dyn fmt::Write| {
                let done = state.pos();
                let left = (done > 0).then(|| state.eta());
                // What cannot be written to a line of progress is lost.
                out.write_str(&describe_time_left(
                    left,
                    budget.map(|all| all.saturating_sub(state.elapsed())),
                ))
                .ok();
            };
            bar.set_style(style.with_key("left", left));
        }
        Self { bar }
    }

    /// Shows how far measuring has come.
    pub fn update(&self, status: Status<'_>) {
        self.bar.set_length(status.expected);
        self.bar.set_position(status.done);
        self.bar.set_message(format!("round {}, {}", status.round + 1, status.case));
    }

    /// Ends, leaving nothing behind.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The time that measuring still takes at most: nothing is said before anything is known.
fn describe_time_left(estimated: Option<Duration>, of_budget: Option<Duration>) -> String {
    let Some(left) = estimated.into_iter().chain(of_budget).min() else { return String::new() };
    match left.as_secs() {
        0 => "less than 1s left".into(),
        seconds => format!("at most {} left", format_duration(Duration::from_secs(seconds))),
    }
}

/// What takes longer than this is told of.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line that says what is waited for, once that takes longer than a second, for as long as this is
/// held. A thread draws it: nothing may be measured, and hwloc not be asked, meanwhile.
pub struct Waiting {
    bar: ProgressBar,
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Waiting {
    /// Begins. `length` is how much there is to do, in bytes, where that is known.
    pub fn new(what: &str, length: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        if output::is_quiet() || !io::stderr().is_terminal() {
            return Self { bar, drawing: None };
        }
        let template = match length {
            Some(_) => "{msg}  {wide_bar} {bytes} of {total_bytes}",
            None => "{spinner} {msg}  {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(printable(what).into_owned());
        let (end, ended) = channel();
        let drawn = bar.clone();
        let thread = spawn(move || {
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            drawn.set_draw_target(ProgressDrawTarget::stderr());
            while ended.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                drawn.tick();
            }
            drawn.finish_and_clear();
        });
        Self { bar, drawing: Some((end, thread)) }
    }

    /// Counts what is read of this.
    pub fn watch<R: Read>(&self, input: R) -> impl Read + use<R> {
        self.bar.wrap_read(input)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.drawing.take() {
            drop(end);
            // It has nothing to say beyond what it draws.
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_time_is_left_than_the_budget_and_never_none() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(describe_time_left(None, None), "");
        assert_eq!(describe_time_left(seconds(7200), seconds(40)), "at most 40.0 s left");
        assert_eq!(describe_time_left(seconds(0), None), "less than 1s left");
    }
}
