//! Lines of every kind, with every optional field both given and null, made of the
//! record's own types; cases at a place of every kind in every experiment.

mod case;
mod header;
mod sample;
pub mod vocabulary;

pub use case::cases;
pub use header::*;
pub use sample::sample;

use nearfar_record::{
    Absence, Absent, Case, Executor, Finished, Header, Line, ProofMethod, Reason, ReasonCode,
    Resumed, Warning,
};

/// A refusal of a case in its first round.
pub fn refused(case: &Case, code: ReasonCode) -> Absent {
    Absent {
        case: case.id.clone(),
        coordinates: case.coordinates.clone(),
        absence: Absence::Refused,
        reason: Reason { code, text: "what happened; what to do".into() },
        round: Some(0),
    }
}

/// A case that was not asked for.
fn omitted(case: &Case, code: ReasonCode) -> Absent {
    Absent {
        coordinates: Vec::new(),
        absence: Absence::Omitted,
        round: None,
        ..refused(case, code)
    }
}

/// Absences for every reason that there is, of one case after the other.
fn absences(cases: &[Case]) -> Vec<Absent> {
    let codes = |other| {
        let codes = vocabulary::reason_codes().into_iter();
        codes.filter(move |code| code.absence() != Some(other))
    };
    let refusals = cases.iter().zip(codes(Absence::Omitted));
    let omissions = cases.iter().zip(codes(Absence::Refused));
    let refusals = refusals.map(|(case, code)| refused(case, code));
    refusals.chain(omissions.map(|(case, code)| omitted(case, code))).collect()
}

/// Who says where the pages of sample number `sequence` were.
fn method(header: &Header, sequence: u64) -> ProofMethod {
    match (header.executor, sequence % 4) {
        (Executor::Simulated, _) => ProofMethod::Simulated,
        (_, 0) => ProofMethod::MovePages,
        (_, 1) => ProofMethod::GetMempolicy,
        (_, 2) => ProofMethod::NumaMaps,
        _ => ProofMethod::OneAllowedNode,
    }
}

/// A record that can be read, with lines of every kind after `header`. Every fifth case has no
/// sample.
pub fn record(header: Header) -> Vec<Line> {
    let cases = cases(&header);
    let mut samples = Vec::new();
    for (number, case) in cases.iter().enumerate().filter(|(number, _)| number % 5 != 4) {
        let rounds = case.rounds(&header.inputs).unwrap();
        for (round, window) in [(0, 0), (0, 1), (1, 0)] {
            let sequence = samples.len() as u64;
            // Some have one window, some one round.
            if window < rounds.windows && (number % 2 == 0 || round == 0) {
                // Every fourth is disturbed, and has threads that can be moved and that work: those
                // of a transfer wait.
                let first = &case.actors[0];
                let waits = matches!(first, nearfar_record::Actor::Transfer(_));
                let disturbed = number % 4 == 0 && first.is_pinned() && !waits;
                let disturbances =
                    if disturbed && window == 0 { vocabulary::disturbances() } else { vec![] };
                let said = method(&header, sequence);
                samples.push(sample(case, sequence, (round, window), said, disturbances));
            }
        }
    }
    let mut lines = vec![Line::Header(Box::new(header))];
    lines.extend(cases.iter().cloned().map(Line::Case));
    lines.extend(samples.iter().cloned().map(Line::Sample));
    lines.extend(absences(&cases).into_iter().map(Line::Absent));
    lines.extend([true, false].map(|of_samples| {
        Line::Warning(Warning {
            code: "numa_balancing".into(),
            message: "what it means".into(),
            remedy: "what to do".into(),
            of_samples,
        })
    }));
    for given in [true, false] {
        lines.push(Line::Finished(Finished {
            at: "2025-03-01T12:06:00Z".into(),
            seconds: 1.25,
            rounds: 6,
            interrupted_by: given.then_some(2),
            peak_resident_bytes: given.then_some(15 << 20),
        }));
        lines.push(Line::Resumed(Resumed {
            at: "2025-03-01T12:05:00Z".into(),
            samples: samples.len() as u64,
            torn_line_dropped: given,
            budget_ns: given.then_some(1),
        }));
    }
    lines
}
