//! What the last level of a cache that Valgrind simulates fetches and writes back in the timed part of a
//! run: of all threads, which it runs one at a time, without prefetches.

use std::path::Path;
use std::process::Command;

use serde::Serialize;

/// Under these names the [`Clock`](crate::Clock) has counts written besides those of its phases.
pub(crate) const STARTED: &str = "(started)";
pub(crate) const RESUMED: &str = "(resumed)";
pub(crate) const STOPPED: &str = "(stopped)";

/// Bytes of a line.
const LINE: u64 = 64;

/// What the last level was asked for, in lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastLevelCounts {
    /// Accesses that the levels above it missed.
    pub accesses: u64,
    /// Of these, those that it missed: a line is fetched from memory.
    pub misses: u64,
    /// Lines that were written back to make room.
    pub written_back: u64,
}

impl LastLevelCounts {
    /// Bytes from memory and to it.
    #[expect(clippy::cast_precision_loss, reason = "lines are far below 2^53")]
    pub fn bytes(self) -> f64 {
        (LINE * (self.misses + self.written_back)) as f64
    }
}

/// Ways of the simulated last level at the least.
const LEAST_WAYS: u64 = 16;

/// Starts whatever is appended below a last level of this many bytes, of which all threads share one, and
/// first levels of 32 KiB; counts go to a file.
pub fn simulating(cache_bytes: u64, counts: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--quiet", "--combine-dumps=yes"])
        .args(["--cache-sim=yes", "--simulate-wb=yes", "--I1=32768,8,64", "--D1=32768,8,64"])
        .arg(format!("--LL={cache_bytes},{},{LINE}", ways(cache_bytes)))
        .arg(format!("--callgrind-out-file={}", counts.display()));
    command
}

/// Valgrind wants a power of two of sets.
fn ways(cache_bytes: u64) -> u64 {
    let lines = (cache_bytes / LINE).max(1);
    let mut ways = lines >> lines.trailing_zeros();
    while ways < LEAST_WAYS && ways < lines {
        ways *= 2;
    }
    ways
}

/// What was counted in the timed part of a run, by phase; under an empty name what lies between phases.
///
/// # Errors
/// A line that is not as callgrind writes it.
pub fn counts_of(text: &str) -> Result<Vec<(String, LastLevelCounts)>, String> {
    let mut phases: Vec<(String, LastLevelCounts)> = Vec::new();
    let (mut events, mut name, mut is_timed): (Vec<&str>, &str, bool) = (vec![], "", false);
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("events: ") {
            events = names.split_whitespace().collect();
        } else if let Some(trigger) = line.strip_prefix("desc: Trigger: ") {
            name = trigger.strip_prefix("Client Request: ").unwrap_or("");
        } else if let Some(totals) = line.strip_prefix("totals: ") {
            match name {
                STARTED => phases.clear(),
                RESUMED | "" => {}
                _ if !is_timed => {}
                _ => {
                    let phase = if name == STOPPED { "" } else { name };
                    let counted = of_totals(&events, totals).ok_or_else(|| line.to_owned())?;
                    add(&mut phases, phase, counted);
                }
            }
            is_timed = matches!(name, STARTED | RESUMED) || is_timed && name != STOPPED;
        }
    }
    Ok(phases)
}

fn add(phases: &mut Vec<(String, LastLevelCounts)>, name: &str, more: LastLevelCounts) {
    match phases.iter_mut().find(|phase| phase.0 == name) {
        Some((_, sum)) => {
            sum.accesses += more.accesses;
            sum.misses += more.misses;
            sum.written_back += more.written_back;
        }
        None => phases.push((name.into(), more)),
    }
}

/// Zeroes at a line's end are left out.
fn of_totals(events: &[&str], totals: &str) -> Option<LastLevelCounts> {
    let numbers: Vec<u64> =
        totals.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let sum = |names: [&str; 3]| {
        names.into_iter().try_fold(0, |sum, name| {
            let place = events.iter().position(|event| *event == name)?;
            Some(sum + numbers.get(place).unwrap_or(&0))
        })
    };
    Some(LastLevelCounts {
        accesses: sum(["I1mr", "D1mr", "D1mw"])?,
        misses: sum(["ILmr", "DLmr", "DLmw"])?,
        written_back: sum(["ILdmr", "DLdmr", "DLdmw"])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As callgrind 3.19 writes parts, shortened.
    fn parts(parts: &[(&str, &str)]) -> String {
        let part = |(name, totals): &(&str, &str)| {
            format!(
                "desc: Trigger: Client Request: {name}\n\
                 events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw\n\
                 fn=(1) main\n1 2\n\ntotals: {totals}\n\n"
            )
        };
        parts.iter().map(part).collect::<String>()
            + "desc: Trigger: Program termination\nevents: Ir\ntotals: 9\n"
    }

    #[test]
    fn what_is_not_timed_is_left_out_and_phases_add_up() {
        let text = parts(&[
            ("phase", "1 1 1 100 100 100 100 100 100"),
            (STARTED, "1 1 1 200 200 200 200 200 200"),
            ("phase", "9 9 9 1 20 300 0 2 30 0 1 5"),
            ("other", "9 9 9 0 1"),
            (STOPPED, "9"),
            ("phase", "1 1 1 100 100 100 100 100 100"),
            (RESUMED, "1 1 1 100 100 100 100 100 100"),
            ("phase", "9 9 9 0 4 0 0 3"),
            (STOPPED, "9"),
        ]);
        let counted = counts_of(&text).unwrap();
        let of = |name: &str| counted.iter().find(|phase| phase.0 == name).unwrap().1;
        assert_eq!(of("phase"), LastLevelCounts { accesses: 325, misses: 35, written_back: 6 });
        assert_eq!(of("other"), LastLevelCounts { accesses: 1, ..LastLevelCounts::default() });
        assert_eq!(counted.len(), 3);
        assert!(counts_of(&text.replace("DLmw", "DLxx")).is_err());
    }

    #[test]
    fn sets_are_a_power_of_two() {
        for (bytes, expected) in
            [(32 << 20, 16), (36 << 20, 18), (36_608 << 10, 143), (48 << 20, 24)]
        {
            assert_eq!(ways(bytes), expected, "{bytes}");
        }
    }
}
