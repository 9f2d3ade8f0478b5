//! The tables that the runs make, for whoever runs them.

use std::io::Write;
use std::sync::Once;

use nearfar_lab::Ended;

/// Prints a line past the test runner, which hides what passing tests print.
pub fn say(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Columns by their names and widths, which are printed before the first row.
pub struct Table<const N: usize> {
    columns: [(&'static str, usize); N],
    head: Once,
}

impl<const N: usize> Table<N> {
    pub const fn new(columns: [(&'static str, usize); N]) -> Self {
        Self { columns, head: Once::new() }
    }

    pub fn print(&self, cells: [String; N]) {
        self.head.call_once(|| self.say(self.columns.map(|(name, _)| name.into())));
        self.say(cells);
    }

    fn say(&self, cells: [String; N]) {
        let widths = self.columns.iter().map(|(_, width)| *width);
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$} "));
        say(cells.collect::<String>().trim_end());
    }
}

/// Says which boots of a guest died before its script began, and how.
pub fn print_deaths(machine: &str, ended: &Ended) {
    for log in &ended.deaths {
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(8)..].join("\n  ");
        say(&format!(
            "{machine} {} died before its script began, and was booted again:\n  {last}",
            ended.release
        ));
    }
}

/// Says what a guest cost.
pub fn print_cost(machine: &str, ended: &Ended) {
    say(&format!("{machine:9} {:27} in all {:.1} s", ended.release, ended.elapsed.as_secs_f64()));
}
