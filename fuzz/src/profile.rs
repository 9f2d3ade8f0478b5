//! Profiles, and what is said of those that are read.

use nearfar_document::{Room, profile_answer, program_answer};
use nearfar_model::profiled_point;
use nearfar_record::{read_profile, read_program_profile};

use super::{Outcome, assert_printable, rejected};

/// Profiles: what is read is written and read again as the same, and its text can be made.
pub fn profile(input: &[u8]) -> Outcome {
    let profile = match read_profile(input) {
        Ok(profile) => profile,
        Err(error) => return rejected(&error),
    };
    let written = serde_json::to_vec(&profile).unwrap_or_default();
    let again = read_profile(&written[..]);
    assert!(
        again.is_ok_and(|again| again == profile),
        "what is written is read as another profile"
    );
    assert_printable(&profile_answer(&profile).text(Room { width: 80, full: true }));
    if let Ok(found) = profiled_point(&profile) {
        assert!(found.point.intensity.is_normal() && found.point.intensity > 0.0);
        assert!(found.point.flops.is_none_or(|flops| flops.0.is_normal() && flops.0 > 0.0));
    }
    Outcome::Accepted
}

/// Profiles of programs beside loads: as profiles.
pub fn program_profile(input: &[u8]) -> Outcome {
    let profile = match read_program_profile(input) {
        Ok(profile) => profile,
        Err(error) => return rejected(&error),
    };
    let written = serde_json::to_vec(&profile).unwrap_or_default();
    let again = read_program_profile(&written[..]);
    assert!(
        again.is_ok_and(|again| again == profile),
        "what is written is read as another profile"
    );
    let answer = program_answer(&profile, Err("there is no record".into()));
    assert_printable(&answer.text(Room { width: 80, full: true }));
    Outcome::Accepted
}
