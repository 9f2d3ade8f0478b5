//! What a run is asked for, by the environment.

use std::env;
use std::io::Write;
use std::time::Duration;

const SECONDS: &str = "NEARFAR_FUZZ_SECONDS";
const SEED: &str = "NEARFAR_FUZZ_SEED";
/// Set for the processes of a campaign only.
const CHILD: &str = "NEARFAR_FUZZ_CHILD";
/// One input to read again.
pub const INPUT: &str = "NEARFAR_FUZZ_INPUT";

const DEFAULT_SECONDS: u64 = 20;
const DEFAULT_SEED: u64 = 0x6e65_6172_6661_7231;

/// How long mutations are made, and which.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub length: Duration,
    pub seed: u64,
}

impl Options {
    pub fn from_environment() -> Self {
        let number = |name: &str, default: u64| {
            env::var(name).map_or(default, |text| {
                text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number"))
            })
        };
        Self {
            length: Duration::from_secs(number(SECONDS, DEFAULT_SECONDS)),
            seed: number(SEED, DEFAULT_SEED),
        }
    }

    /// The options of the campaign that started this process; `None` where none did.
    pub fn of_child() -> Option<Self> {
        env::var_os(CHILD).map(|_| Self::from_environment())
    }

    /// The environment that hands these options to a process of the campaign.
    pub fn for_child(self) -> [(&'static str, String); 3] {
        [
            (CHILD, "1".into()),
            (SECONDS, self.length.as_secs().to_string()),
            (SEED, self.seed.to_string()),
        ]
    }
}

/// Says what is to be seen though the test passes: the runner hides what `println!` prints.
pub fn say(words: &str) {
    let mut stderr = std::io::stderr();
    stderr.write_all(format!("{words}\n").as_bytes()).unwrap();
}
