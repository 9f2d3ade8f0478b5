//! Takes out of a record what tells whose machine it is of, so that it can be given away: names,
//! hardware addresses, paths, and what programs were given. Figures, cases and proofs stay as they are.
//! Fails when: somebody named a program after a person; labels stay, because cases are named by them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::line::Line;
use crate::reader::{Lines, ReadError, parse_line, read_record_with};

/// What is taken out of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Private {
    /// The host's name, also where a sentence holds it.
    HostName,
    /// A path outside /proc, /sys and /dev, or the name of a file.
    Path,
    /// The name or address of another machine, to which messages went, also where a sentence holds it.
    PeerName,
    /// Arguments, environment and folder of a program.
    ProgramArguments,
    /// An Ethernet address, also within an interface's name.
    HardwareAddress,
    /// What follows the number in the kernel's release: sites that build their own put their name there.
    KernelSuffix,
}

/// What stands where something was taken out.
pub(crate) const REMOVED: &str = "removed";

/// What a scrubbed record has lost: how many texts held each.
pub type Removed = BTreeMap<Private, u64>;

/// Why a record was not scrubbed.
#[derive(Debug, thiserror::Error)]
pub enum ScrubError {
    #[error(transparent)]
    Read(#[from] ReadError),
    /// New seals would hide that it was changed.
    #[error("{0}; scrubbing would seal that: scrub the record as it was measured")]
    NotAsWritten(String),
    /// What came out is no record: a fault of the program.
    #[error("line {line} of the record cannot be scrubbed: {what}; please report it")]
    Line { line: u64, what: String },
}

/// The lines of a record, in either form, without what is private. A torn last line is left out.
///
/// # Errors
/// When it is no record, or was changed since it was measured.
pub fn scrub_record(record: &[u8]) -> Result<(Vec<Line>, Removed), ScrubError> {
    let read = read_record_with(record, drop)?;
    if let Some(finding) = read.sealing.finding() {
        return Err(ScrubError::NotAsWritten(finding));
    }
    let mut scrubbing =
        Scrubbing { host: read.header.host, peers: Vec::new(), removed: Removed::new() };
    let mut lines = Lines::of(record)?;
    let mut scrubbed = Vec::new();
    while let Some(text) = lines.next_line()?.filter(|text| text.ends_with(b"\n")) {
        let line = lines.number();
        let wrong = |what: String| ScrubError::Line { line, what };
        let (content, _) = parse_line(&text).map_err(wrong)?;
        scrubbed.push(scrubbing.line(&content).map_err(wrong)?);
    }
    Ok((scrubbed, scrubbing.removed))
}

struct Scrubbing {
    host: String,
    /// Other machines that messages went to, as they were named.
    peers: Vec<String>,
    removed: Removed,
}

impl Scrubbing {
    fn line(&mut self, line: &Line) -> Result<Line, String> {
        let mut value = serde_json::to_value(line).map_err(|error| error.to_string())?;
        self.value("", &mut value);
        // As text: what reads lines is compiled for one form.
        parse_line(value.to_string().as_bytes()).map(|(line, _)| line)
    }

    /// Scrubs what stands under a key.
    fn value(&mut self, key: &str, value: &mut Value) {
        match value {
            // A simulated machine's file, and expressions that are looked for in a program's output.
            _ if matches!(key, "simulation" | "pattern" | "must_print") => {}
            Value::String(text) => self.text(key, text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(key, item)),
            Value::Object(fields) => {
                if fields.contains_key("program") && fields.contains_key("arguments") {
                    self.program(fields);
                }
                if fields.contains_key("peer") && fields.contains_key("zero_copy") {
                    self.peer(fields);
                }
                fields.iter_mut().for_each(|(key, field)| self.value(key, field));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Leaves of a program its own name.
    fn program(&mut self, fields: &mut Map<String, Value>) {
        if let Some(Value::String(program)) = fields.get_mut("program")
            && let Some((_, name)) = program.rsplit_once('/')
        {
            *program = if name.is_empty() { REMOVED.into() } else { name.to_string() };
            self.note(Private::Path);
        }
        let mut had_some = false;
        if let Some(Value::Array(arguments)) = fields.get_mut("arguments") {
            had_some |= !arguments.is_empty();
            arguments.clear();
        }
        if let Some(Value::Object(environment)) = fields.get_mut("environment") {
            had_some |= !environment.is_empty();
            environment.clear();
        }
        if had_some {
            self.note(Private::ProgramArguments);
        }
    }

    /// Remembers another machine's name, which reasons hold as well, and takes it out.
    fn peer(&mut self, network: &mut Map<String, Value>) {
        if let Some(Value::String(peer)) = network.get_mut("peer")
            && peer != REMOVED
            && !peer.is_empty()
        {
            self.peers.push(std::mem::replace(peer, REMOVED.into()));
            self.note(Private::PeerName);
        }
    }

    fn text(&mut self, key: &str, text: &mut String) {
        if let Some(peer) = self.peers.iter().find(|peer| text.contains(*peer)) {
            *text = text.replace(peer, REMOVED);
            self.note(Private::PeerName);
        }
        let is_name_of_file = key == "xml";
        if (key == "host" && text != REMOVED) || is_name_of_file {
            let what = if is_name_of_file { Private::Path } else { Private::HostName };
            *text = REMOVED.into();
            self.note(what);
            return;
        }
        if key == "kernel_release" {
            let number = kernel_number(text);
            if number.len() < text.len() {
                *text = number.to_string();
                self.note(Private::KernelSuffix);
            }
            return;
        }
        // Elsewhere than in sentences a host's name may be a word of the format's own: `load`.
        let is_sentence = text.contains(' ');
        let mut found = [None; 3];
        let cleaned = map_words(text, |word| {
            if is_sentence && word == self.host && word != REMOVED {
                found[0] = Some(Private::HostName);
            } else if is_private_path(word) {
                found[1] = Some(Private::Path);
            } else if holds_hardware_address(word) {
                found[2] = Some(Private::HardwareAddress);
            } else {
                return None;
            }
            Some(REMOVED)
        });
        for what in found.into_iter().flatten() {
            self.note(what);
        }
        if let Some(cleaned) = cleaned {
            *text = cleaned;
        }
    }

    fn note(&mut self, what: Private) {
        *self.removed.entry(what).or_default() += 1;
    }
}

/// The text with those words replaced for which `replaced` has something; `None` where it has nothing.
/// Words end at spaces, quotes, brackets and `=`, and a full stop, comma, colon or semicolon behind one is
/// not of it.
fn map_words(text: &str, mut replaced: impl FnMut(&str) -> Option<&'static str>) -> Option<String> {
    let is_between = |c: char| c.is_whitespace() || "'\"`()[]{}<>=,;".contains(c);
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    for piece in text.split_inclusive(is_between) {
        let whole = piece.trim_end_matches(is_between);
        let word = whole.trim_end_matches(['.', ':']);
        match replaced(word) {
            Some(other) => {
                out += other;
                out += &piece[word.len()..];
                changed = true;
            }
            None => out += piece,
        }
    }
    changed.then_some(out)
}

/// `6.1.0-50` of `6.1.0-50-cloud-amd64`, `5.14.0` of `5.14.0-site.el9`: numbers and what stands between them.
fn kernel_number(release: &str) -> &str {
    let mut end = 0;
    for part in release.split_inclusive(['.', '-']) {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        end += digits;
        if digits == 0 || !part[digits..].bytes().all(|byte| matches!(byte, b'.' | b'-')) {
            break;
        }
        end += part.len() - digits;
    }
    release[..end].trim_end_matches(['.', '-'])
}

/// An absolute path that is not the same on every Linux.
fn is_private_path(word: &str) -> bool {
    const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];
    let is_below = |folder: &str| {
        word.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_path = word.starts_with('/') || word.starts_with("~/");
    is_path && word.len() > 1 && !SYSTEM.iter().any(|folder| is_below(folder))
}

/// `00:1a:2b:3c:4d:5e`, also with more bytes (InfiniBand), or an interface named by one: `enx001a2b3c4d5e`.
fn holds_hardware_address(word: &str) -> bool {
    let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bytes: Vec<&str> = word.split(':').collect();
    let is_address =
        bytes.len() >= 6 && bytes.iter().all(|byte| byte.len() == 2 && is_hexadecimal(byte));
    let is_name = ["enx", "wlx", "ibx"].iter().any(|kind| {
        word.strip_prefix(kind).is_some_and(|rest| rest.len() == 12 && is_hexadecimal(rest))
    });
    is_address || is_name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::CommandProgram;

    #[test]
    fn of_a_kernel_its_number_stays() {
        for (release, number) in [
            ("6.1.0-50-cloud-amd64", "6.1.0-50"),
            ("5.14.0-503.11.1.el9_5.x86_64", "5.14.0-503.11.1"),
            ("6.8.0-ada-lab", "6.8.0"),
            ("6.8.0+", "6.8.0"),
            ("ada", ""),
        ] {
            assert_eq!(kernel_number(release), number);
        }
    }

    #[test]
    fn of_programs_their_names_stay() {
        let program = CommandProgram {
            environment: [("TOKEN".to_string(), "secret".to_string())].into(),
            ..CommandProgram::new("cg", "/opt/ada/cg", vec!["--key".into(), "k7".into()])
        };
        let mut value = serde_json::to_value(&program).unwrap();
        let mut scrubbing =
            Scrubbing { host: "h".into(), peers: Vec::new(), removed: Removed::new() };
        scrubbing.value("", &mut value);
        let scrubbed: CommandProgram =
            serde_json::from_slice(value.to_string().as_bytes()).unwrap();
        assert_eq!(scrubbed, CommandProgram::new("cg", "cg", Vec::new()));
        let counts = [(Private::Path, 1), (Private::ProgramArguments, 1)];
        assert_eq!(scrubbing.removed, counts.into());
    }
}
