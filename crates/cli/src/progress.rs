//! Progress on standard error, when it is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nearfar_measure::Status;

/// A line that shows what is measured and how long it still takes.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Begins. Nothing is drawn where standard error is no terminal.
    pub fn new() -> Self {
        // Drawn twice a second: the drawing thread must not run beside what is measured.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(2));
        let template = "{wide_bar} {pos}/{len} at most {eta} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
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
