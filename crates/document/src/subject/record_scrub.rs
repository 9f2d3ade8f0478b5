//! What `record scrub` took out of a record and what the copy still says.

use std::path::Path;

use nearfar_record::{Private, Record, Removed};
use serde::Serialize;

use super::figures::count;
use crate::answer::{Answer, Part, Shown};

/// A copy of a record that can be given away; `record scrub --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScrubbedRecord {
    pub schema: &'static str,
    /// The copy.
    pub file: String,
    /// Cases that it holds: all.
    pub cases: usize,
    /// Samples that it holds: all.
    pub samples: usize,
    /// How many texts of the record lost something of each kind; what none held is left out.
    pub removed: Removed,
}

impl ScrubbedRecord {
    /// Of a copy that was read again.
    pub fn new(file: &Path, copy: &Record, removed: Removed) -> Self {
        Self {
            schema: "nearfar.record-scrub/1",
            file: file.display().to_string(),
            cases: copy.cases.len(),
            samples: copy.samples.len(),
            removed,
        }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let Self { file, .. } = self;
        let removed: Vec<String> =
            self.removed.iter().map(|(what, texts)| removed_words(*what, *texts)).collect();
        let removed = match removed.as_slice() {
            [] => "nothing: it names nobody".into(),
            some => some.join(", "),
        };
        let all = format!("{} and {}", count(self.cases, "case"), count(self.samples, "sample"));
        Answer::saying(format!("{file}: {all}, sealed anew"))
            .and(Shown::Always, Part::words("  taken out: ", removed))
            .and(Shown::Always, Part::words("  still there: ", STILL_THERE))
            .and_next([
                (format!("nearfar show {file}").as_str(), "what it says"),
                (format!("{} {file} | less", reader(file)).as_str(), "every word of it"),
            ])
    }
}

/// What a record cannot do without, or what makes it worth having.
const STILL_THERE: &str = "CPU, board and BIOS by their names, part numbers of memory modules, names and \
                           addresses of PCIe devices, the kernel's number, dates, the labels of programs";

fn reader(file: &str) -> &'static str {
    if file.ends_with(".zst") { "zstdcat" } else { "cat" }
}

fn removed_words(what: Private, texts: u64) -> String {
    let noun = match what {
        Private::HostName => "the host's name",
        Private::PeerName => "names or addresses of other machines",
        Private::Path => "paths",
        Private::ProgramArguments => "arguments and environment of programs",
        Private::HardwareAddress => "hardware addresses",
        Private::KernelSuffix => "what follows the number in the kernel's release",
    };
    let times = if texts == 1 { "once".into() } else { format!("{texts} times") };
    format!("{noun} ({times})")
}
