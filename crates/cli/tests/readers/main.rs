//! Every reader of foreign bytes against seeded mutations of a corpus
//! (CONTRIBUTING.md, "Fuzzing").

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod campaign;
mod child;
mod corpus;
mod mutation;
mod options;
mod process;
mod tally;
// The functions that the fuzz targets call.
#[path = "../../../../fuzz/src/lib.rs"]
mod strangers;

use std::fs;

use campaign::Campaign;
use options::Options;
use strangers::{Outcome, READERS};

/// `NEARFAR_FUZZ_SECONDS` and `NEARFAR_FUZZ_SEED` make it longer or other.
#[test]
fn no_mutation_breaks_a_reader() {
    let campaign = Campaign::new(Options::from_environment());
    campaign.run();
    campaign.say_table();
    let failures = campaign.failures();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    for (reader, tally) in campaign.tallies() {
        assert!(tally.accepted > 0, "{}: nothing was accepted, so little was reached", reader.name);
        assert!(tally.rejected > 0, "{}: nothing was rejected", reader.name);
    }
}

/// Not a test of its own: what the processes of a campaign do, which are this binary again.
#[test]
fn serves_a_campaign() {
    if let Some(options) = Options::of_child() {
        child::serve(options);
    }
}

/// Not a test of its own: reads one input that a campaign kept,
/// `NEARFAR_FUZZ_INPUT=READER:FILE`.
#[test]
fn replays_an_input() {
    let Ok(asked) = std::env::var(options::INPUT) else { return };
    let (name, path) = asked.split_once(':').unwrap();
    let reader = READERS.iter().find(|reader| reader.name == name).unwrap();
    let outcome = (reader.read)(&fs::read(path).unwrap());
    options::say(&format!("{name}: {outcome:?}"));
}

/// What the corpus has to hold, so that a campaign reaches beyond the first refusal.
#[test]
fn every_corpus_has_what_is_read_and_what_is_refused() {
    for reader in READERS {
        let files = corpus::files(reader.name);
        let (mut accepted, mut rejected) = (0, 0);
        for file in &files {
            assert!(file.bytes.len() <= 32 << 10, "{}/{} is not small", reader.name, file.name);
            match (reader.read)(&file.bytes) {
                Outcome::Accepted => accepted += 1,
                Outcome::Rejected(_) => rejected += 1,
            }
        }
        assert!(accepted > 0 && rejected > 0, "{}: {accepted}, {rejected}", reader.name);
    }
}
