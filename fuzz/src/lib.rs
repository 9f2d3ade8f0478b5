//! Everything in the project that reads bytes of strangers, or of the kernel, each as one
//! function of bytes. A function panics where a reader breaks its word: it is used by the
//! fuzz targets beside it, and by the short run of the tests (`crates/cli/tests/readers`),
//! which includes this file.

mod fleet;
mod kernel_files;
mod machine_file;
mod mappings;
mod memory_modules;
mod network;
mod profile;
mod program_file;
mod record;
mod topology;
mod words;

pub use fleet::{fleet_manifest, host_list, machine_summary, verdict};
pub use kernel_files::kernel_files;
pub use machine_file::machine_file;
pub use mappings::{numa_maps, smaps};
pub use memory_modules::memory_modules;
pub use network::network_frame;
pub use profile::{profile, program_profile};
pub use program_file::program_file;
pub use record::record;
pub use topology::{synthetic, xml};
pub use words::{binding, cpu_list, quantity, theoretical_maximum};

use std::error::Error;

use nearfar_document::{Room, printable};

/// What a reader made of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was read, and what was read is sound.
    Accepted,
    /// It was refused, as the program's user is told.
    Rejected(String),
}

/// A reader, as a run over all of them sees it.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// Its name: that of its fuzz target and of its folder below `fuzz/corpus`.
    pub name: &'static str,
    /// Reads an input.
    pub read: fn(&[u8]) -> Outcome,
    /// Whether a C library reads what passes our own checks. The program has it in a child
    /// process and says so when that dies.
    pub in_c: bool,
}

const fn reader(name: &'static str, read: fn(&[u8]) -> Outcome) -> Reader {
    Reader { name, read, in_c: false }
}

/// All readers.
pub const READERS: [Reader; 20] = [
    reader("record", record),
    reader("machine_file", machine_file),
    reader("profile", profile),
    reader("program_file", program_file),
    reader("program_profile", program_profile),
    Reader { in_c: true, ..reader("xml", xml) },
    Reader { in_c: true, ..reader("synthetic", synthetic) },
    reader("cpu_list", cpu_list),
    reader("quantity", quantity),
    reader("binding", binding),
    reader("theoretical_maximum", theoretical_maximum),
    reader("memory_modules", memory_modules),
    reader("numa_maps", numa_maps),
    reader("smaps", smaps),
    reader("kernel_files", kernel_files),
    reader("machine_summary", machine_summary),
    reader("fleet_manifest", fleet_manifest),
    reader("host_list", host_list),
    reader("verdict", verdict),
    reader("network_frame", network_frame),
];

/// The longest message of a refusal, in characters: a screen of a terminal.
const LONGEST_MESSAGE: usize = 1500;

/// A refusal as the program prints it: an error with its causes.
fn rejected(error: &dyn Error) -> Outcome {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    rejected_words(&message)
}

/// A refusal in words of the reader's own.
fn rejected_words(message: &str) -> Outcome {
    let message = printable(message);
    assert!(!message.trim().is_empty(), "a refusal says nothing");
    let length = message.chars().count();
    let begin: String = message.chars().take(200).collect();
    assert!(length <= LONGEST_MESSAGE, "a refusal of {length} characters: {begin}");
    Outcome::Rejected(message.into_owned())
}

/// The input as text; the program refuses what is none before any reader sees it.
fn text(input: &[u8]) -> Result<&str, Outcome> {
    std::str::from_utf8(input).map_err(|error| rejected(&error))
}

/// The first screen of a narrow terminal, and all on a wide one.
const ROOMS: [Room; 2] = [Room { width: 40, full: false }, Room { width: 200, full: true }];

/// A page for the terminal has lines, colours of its own, and no other control character.
fn assert_printable(page: &str) {
    for (number, part) in page.split('\u{1b}').enumerate() {
        let part = match part.split_once('m') {
            Some((colour, rest)) if number > 0 && is_colour(colour) => rest,
            _ if number == 0 => part,
            _ => panic!("a page has an escape that is no colour: {page:?}"),
        };
        let control = |letter: char| letter.is_control() && letter != '\n';
        assert!(!part.contains(control), "a page has control characters: {page:?}");
    }
}

/// What stands between ESC and `m` to set a colour (SGR).
fn is_colour(text: &str) -> bool {
    let numbers = text.strip_prefix('[');
    numbers.is_some_and(|numbers| numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
}
