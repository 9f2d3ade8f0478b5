//! The table of the launches.

use std::sync::Once;

use nearfar_lab::GuestMachine;

use crate::boot::User;
use crate::run_launch::{Launch, Launched, deviation, in_words, shares};
use crate::table::say;

static HEAD: Once = Once::new();

/// Prints the row of a launch, after the head where it is the first.
pub fn print_row(
    machine: &GuestMachine,
    release: &str,
    launch: &Launch,
    launched: &Launched,
    as_expected: bool,
) {
    HEAD.call_once(|| {
        say(&format!(
            "{:27} {:>5} {:6} {:17} {:26} {:31} {:31} {:>6} {:>6} {:>7} {:>4}",
            "kernel",
            "nodes",
            "user",
            "program",
            "placement",
            "asked",
            "found inside",
            "off",
            "status",
            "seconds",
            "ok"
        ));
    });
    let user = if launch.user == User::Root { "root" } else { "nobody" };
    let truth = launched.truth.as_ref();
    let asked = truth.and_then(|truth| launch.expected.asked(machine, truth));
    let found = truth.map(|truth| shares(&truth.pages));
    let off = match (&asked, &found) {
        (Some(asked), Some(found)) => format!("{:.2}%", deviation(asked, found) * 100.0),
        _ => String::new(),
    };
    let words = |shares: Option<_>| shares.as_ref().map(in_words).unwrap_or_default();
    say(&format!(
        "{release:27} {:>5} {user:6} {:17} {:26} {:31} {:31} {off:>6} {:>6} {:>7.1} {:>4}",
        machine.node.len(),
        launch.program.name(),
        launch.placement,
        words(asked),
        words(found),
        launched.status,
        launched.seconds,
        if as_expected { "yes" } else { "NO" },
    ));
}
