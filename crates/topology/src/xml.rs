//! A machine from XML that hwloc wrote. Such files come from strangers: what crashes hwloc costs the
//! child process that reads them. What is looked at here is what hwloc would silently read otherwise
//! than it is written.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nearfar_machine::{Machine, Source};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::{TopologyError, describe_hwloc_error};
use crate::hwloc::{build_machine, hwloc_version};

/// The largest file that is read; the largest known topology has under 4 MiB.
const MAX_FILE: u64 = 64 << 20;

/// The elements between whose tags hwloc writes text. Its own parser goes astray at other text, at
/// comments and the like.
const WITH_TEXT: [&str; 3] = ["indexes", "u64values", "userdata"];
/// hwloc's own parser passes over attributes that XML allows and hwloc does not write.
const UNLIKE_HWLOC: &str = "hwloc writes attributes as name=\"value\", without blanks";

/// Reads a topology that hwloc saved (`lstopo --of xml FILE`, format 2).
/// The machine's source is the file's name without its folder.
///
/// # Errors
/// Each ground of refusal is a variant of [`TopologyError`]. A damaged file can make the C library
/// crash: read foreign files in a child process.
pub fn read_xml(path: &Path) -> Result<Machine, TopologyError> {
    let name = file_name(path);
    parse_xml(&read_text(path, &name)?, &name)
}

/// The text of such a file, checked as [`read_xml`] does before hwloc sees a byte.
///
/// # Errors
/// As [`read_xml`].
pub fn read_xml_text(path: &Path) -> Result<String, TopologyError> {
    let name = file_name(path);
    let text = read_text(path, &name)?;
    check_text(&text, &name)?;
    Ok(text)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn read_text(path: &Path, name: &str) -> Result<String, TopologyError> {
    let unreadable = |source| TopologyError::Unreadable { path: path.into(), source };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    check_length(bytes.len(), name)?;
    String::from_utf8(bytes).map_err(|error| TopologyError::NotXml {
        name: name.into(),
        byte: u64::try_from(error.utf8_error().valid_up_to()).unwrap_or(u64::MAX),
        why: "not UTF-8 text".into(),
    })
}

/// The same from memory; `name` is how messages and the machine call the text.
///
/// # Errors
/// As [`read_xml`].
pub fn parse_xml(text: &str, name: &str) -> Result<Machine, TopologyError> {
    check_text(text, name)?;
    build_machine(name, Source::Xml(name.into()), |builder| {
        builder.from_xml(text).map_err(|error| describe_hwloc_error(&error))
    })
}

fn check_text(text: &str, name: &str) -> Result<(), TopologyError> {
    check_length(text.len(), name)?;
    // What is no XML at all may be anything, and is not repeated.
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        let why = "it does not begin with a tag".into();
        return Err(TopologyError::NotXml { name: name.into(), byte: 0, why });
    }
    Check { name, depth: 0, rooted: false, holds_text: false }.run(text)
}

fn check_length(length: usize, name: &str) -> Result<(), TopologyError> {
    if u64::try_from(length).is_ok_and(|length| length <= MAX_FILE) {
        return Ok(());
    }
    Err(TopologyError::FileTooLarge { name: name.into(), limit_bytes: MAX_FILE })
}

/// One pass over the text: well-formed, a topology of hwloc 2, and written as hwloc reads it.
struct Check<'text> {
    name: &'text str,
    depth: usize,
    rooted: bool,
    /// Whether the innermost element is one of [`WITH_TEXT`].
    holds_text: bool,
}

impl Check<'_> {
    fn run(mut self, text: &str) -> Result<(), TopologyError> {
        let mut reader = Reader::from_str(text);
        loop {
            let event = reader.read_event();
            match event.map_err(|error| self.not_xml(reader.error_position(), &error))? {
                Event::Start(element) => {
                    self.element(&element, reader.buffer_position())?;
                    self.holds_text = WITH_TEXT.contains(&element.name().as_ref());
                    self.depth += 1;
                }
                Event::Empty(element) => self.element(&element, reader.buffer_position())?,
                Event::End(_) => {
                    self.holds_text = false;
                    self.depth = self.depth.saturating_sub(1);
                }
                // Entities declared in the file itself can refer to each other and
                // grow without bound; hwloc's files name an external DTD at most.
                Event::DocType(text) if text.contains('[') => {
                    return Err(self.unsafe_value("DOCTYPE", &text, "it declares entities"));
                }
                Event::Text(text) if !self.holds_text && !text.trim().is_empty() => {
                    return Err(self.unlike_hwloc("text", &text));
                }
                Event::CData(text) => return Err(self.unlike_hwloc("CDATA", &text)),
                Event::Comment(text) if self.depth > 0 => {
                    return Err(self.unlike_hwloc("a comment", &text));
                }
                Event::PI(text) if self.depth > 0 => {
                    return Err(self.unlike_hwloc("an instruction", &text));
                }
                Event::Eof if !self.rooted => {
                    return Err(self.not_xml(reader.buffer_position(), &"no element"));
                }
                Event::Eof if self.depth > 0 => {
                    return Err(self.not_xml(reader.buffer_position(), &"ends within an element"));
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    fn element(&mut self, element: &BytesStart<'_>, byte: u64) -> Result<(), TopologyError> {
        let tag = element.name();
        let tag = tag.as_ref();
        let mut attributes = Vec::new();
        let mut raw = element.attributes_raw();
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|error| self.not_xml(byte, &error))?;
            let name = attribute.key.as_ref();
            raw = after_attribute(raw, name, &attribute.value).ok_or_else(|| {
                self.unsafe_value(&format!("{tag} {name}"), &attribute.value, UNLIKE_HWLOC)
            })?;
            attributes.push((name.to_owned(), attribute.value));
        }
        if self.depth == 0 {
            if self.rooted {
                return Err(self.not_xml(byte, &"more than one root element"));
            }
            self.rooted = true;
            self.root(tag, find(&attributes, "version"))?;
        }
        if tag == "object" && find(&attributes, "type").is_none() {
            return Err(self.unsafe_value("object type", "", "hwloc writes one of every object"));
        }
        for (attribute, value) in &attributes {
            self.value(tag, attribute, value)?;
        }
        Ok(())
    }

    fn root(&self, tag: &str, version: Option<&str>) -> Result<(), TopologyError> {
        let not_a_topology =
            |why: String| TopologyError::NotATopology { name: self.name.into(), why };
        if tag != "topology" {
            return Err(not_a_topology(format!("its root is <{}>", shortened(tag))));
        }
        // Format 1 has no version in most of its releases.
        let version = version.unwrap_or("1");
        match version.split('.').next().map(str::parse::<u32>) {
            Some(Ok(2)) => Ok(()),
            Some(Ok(0 | 1)) => Err(TopologyError::OlderFormat { name: self.name.into() }),
            Some(Ok(3..)) => Err(TopologyError::NewerFormat {
                name: self.name.into(),
                version: shortened(version),
                loaded: hwloc_version(),
            }),
            _ => Err(not_a_topology(format!("its format version is '{}'", shortened(version)))),
        }
    }

    /// hwloc takes what it can of a number or a set, and goes on with that.
    fn value(&self, tag: &str, attribute: &str, value: &str) -> Result<(), TopologyError> {
        let is_set = attribute.ends_with("cpuset") || attribute.ends_with("nodeset");
        let why = if attribute == "os_index" && !is_number(value) {
            "not a number of 32 bits"
        } else if is_set && !is_finite_set(value) {
            "not a finite set as hwloc writes it"
        } else {
            return Ok(());
        };
        Err(self.unsafe_value(&format!("{tag} {attribute}"), value, why))
    }

    fn unsafe_value(&self, attribute: &str, value: &str, why: &str) -> TopologyError {
        TopologyError::UnsafeValue {
            name: self.name.into(),
            attribute: shortened(attribute),
            value: shortened(value),
            why: why.into(),
        }
    }

    fn unlike_hwloc(&self, what: &str, text: &str) -> TopologyError {
        self.unsafe_value(what, text.trim(), "hwloc writes none there")
    }

    fn not_xml(&self, byte: u64, why: &dyn std::fmt::Display) -> TopologyError {
        TopologyError::NotXml { name: self.name.into(), byte, why: shortened(&why.to_string()) }
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u32>().is_ok()
}

/// hwloc's sets: 32-bit words in hexadecimal, the highest first; a word that is empty is 0.
fn is_finite_set(text: &str) -> bool {
    text.split(',').all(|word| {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        digits.len() <= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// What follows an attribute that is written as hwloc writes it.
fn after_attribute<'text>(raw: &'text str, name: &str, value: &str) -> Option<&'text str> {
    let value_on = raw.trim_start().strip_prefix(name)?.strip_prefix("=\"")?;
    value_on.strip_prefix(value)?.strip_prefix('"')
}

fn find<'list, Value: AsRef<str>>(
    attributes: &'list [(String, Value)],
    name: &str,
) -> Option<&'list str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_ref())
}

/// Foreign text for a message: short, control characters escaped.
fn shortened(text: &str) -> String {
    let short: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() { short + "..." } else { short }
}
