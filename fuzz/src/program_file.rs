//! Files of programs for `sensitivity`.

use nearfar_place::{MetricPattern, parse_programs};

use super::{Outcome, rejected, text};

/// Files of programs: each has a command, and patterns that can be looked for in any output.
pub fn program_file(input: &[u8]) -> Outcome {
    let text = match text(input) {
        Ok(text) => text,
        Err(outcome) => return outcome,
    };
    let programs = match parse_programs("programs.toml", text) {
        Ok(programs) => programs,
        Err(error) => return rejected(&error),
    };
    assert!(!programs.is_empty(), "a file without programs is accepted");
    for program in programs {
        assert!(!program.program.is_empty(), "{program:?}");
        if let Some(metric) = &program.metric {
            let pattern = MetricPattern::new(&metric.pattern).expect("it was looked over");
            if let Ok(figure) = pattern.figure(text) {
                assert!(figure.is_finite() && figure >= 0.0, "{figure}");
            }
        }
    }
    Outcome::Accepted
}
