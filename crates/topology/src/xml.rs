//! A machine from XML that hwloc wrote. Such files come from strangers, and hwloc
//! and its binding trust them more than they deserve: all text is checked here
//! before hwloc sees a byte.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nearfar_machine::{MAX_INDEX, Machine, Source};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::TopologyError;
use crate::hwloc::{build_machine, loaded_version};
use crate::object_tree::ObjectTree;

/// The largest file that is read; the largest known topology has under 4 MiB.
const MAX_FILE: u64 = 64 << 20;
/// The longest line that is read.
const MAX_LINE: usize = 16 << 20;
/// The deepest nesting; hwloc's own files stay below 20, deep PCI trees included.
const MAX_DEPTH: usize = 128;
/// The most objects of one distance matrix. hwloc allocates the square of the
/// number before it looks at the values.
const MAX_MATRIX: u64 = 2048;
/// The largest number of an object; hwloc counts them as it finds them.
const MAX_GP_INDEX: u64 = 1 << 24;
/// The 32-bit words of the largest set.
const MAX_WORDS: usize = (MAX_INDEX as usize + 1) / 32;
/// `HWLOC_DISTANCES_KIND_*` (`hwloc/distances.h`): origin, meaning, several types.
const KIND_FROM_OS: u64 = 1;
const KIND_FROM_USER: u64 = 1 << 1;
const KIND_LATENCY: u64 = 1 << 2;
const KIND_BANDWIDTH: u64 = 1 << 3;
const KIND_ALL: u64 = (1 << 6) - 1;

/// The elements between whose tags hwloc writes text. Its own parser goes astray at other text, at
/// comments and the like.
const WITH_TEXT: [&str; 3] = ["indexes", "u64values", "userdata"];
/// hwloc's own parser passes over attributes that XML allows and hwloc does not write.
const UNLIKE_HWLOC: &str = "hwloc writes attributes as name=\"value\", without blanks";

/// Reads a topology that hwloc saved (`lstopo --of xml FILE`, format 2).
/// The machine's source is the file's name without its folder.
///
/// # Errors
/// Each ground of refusal is a variant of [`TopologyError`]. A damaged file can
/// still make the C library abort: read foreign files in a child process.
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
        builder.from_xml(text).map_err(|error| error.to_string())
    })
}

fn check_text(text: &str, name: &str) -> Result<(), TopologyError> {
    check_length(text.len(), name)?;
    check_lines(text, name)?;
    Check { name, depth: 0, rooted: false, holds_text: false, tree: ObjectTree::default() }
        .run(text)
}

fn check_length(length: usize, name: &str) -> Result<(), TopologyError> {
    if u64::try_from(length).is_ok_and(|length| length <= MAX_FILE) {
        return Ok(());
    }
    Err(TopologyError::FileTooLarge { name: name.into(), limit_bytes: MAX_FILE })
}

fn check_lines(text: &str, name: &str) -> Result<(), TopologyError> {
    match text.lines().position(|line| line.len() > MAX_LINE) {
        None => Ok(()),
        Some(index) => Err(TopologyError::LineTooLong {
            name: name.into(),
            line: index + 1,
            limit_bytes: MAX_LINE,
        }),
    }
}

/// One pass over the text: well-formed, a topology that this hwloc reads, and
/// without the values that hwloc or its binding mishandle.
struct Check<'text> {
    name: &'text str,
    depth: usize,
    rooted: bool,
    /// Whether the innermost element is one of [`WITH_TEXT`].
    holds_text: bool,
    tree: ObjectTree,
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
                    if self.depth > MAX_DEPTH {
                        return Err(TopologyError::TooDeep {
                            name: self.name.into(),
                            limit: MAX_DEPTH,
                        });
                    }
                }
                Event::Empty(element) => {
                    self.element(&element, reader.buffer_position())?;
                    self.close(reader.buffer_position())?;
                }
                Event::End(_) => {
                    self.holds_text = false;
                    self.close(reader.buffer_position())?;
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
        let kind = find(&attributes, "type").unwrap_or_default();
        for (attribute, value) in &attributes {
            self.value(tag, kind, attribute, value)?;
        }
        self.tree
            .open(tag, |name| find(&attributes, name))
            .map_err(|why| self.contradictory(byte, &why))
    }

    fn close(&mut self, byte: u64) -> Result<(), TopologyError> {
        self.tree.close().map_err(|why| self.contradictory(byte, &why))
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
                loaded: loaded_version(),
            }),
            _ => Err(not_a_topology(format!("its format version is '{}'", shortened(version)))),
        }
    }

    fn value(
        &self,
        tag: &str,
        kind: &str,
        attribute: &str,
        value: &str,
    ) -> Result<(), TopologyError> {
        let title = format!("{tag} {attribute}");
        match attribute {
            "os_index" => {
                let index = self.number(&title, value)?;
                // Cores, packages and groups carry the firmware's labels, which are
                // large on some machines and never members of a set here.
                let limited = matches!(kind, "PU" | "NUMANode");
                if index > u64::from(if limited { MAX_INDEX } else { u32::MAX }) {
                    return Err(self.index_too_large(kind, value));
                }
            }
            "nbobjs" => {
                let count = self.number(&title, value)?;
                if !(1..=MAX_MATRIX).contains(&count) {
                    let why = format!("a matrix has 1 to {MAX_MATRIX} objects");
                    return Err(self.unsafe_value(&title, value, &why));
                }
            }
            "kind" if tag.starts_with("distances2") => {
                let kind = self.number(&title, value)?;
                let both = |flags: u64| kind & flags == flags;
                if kind > KIND_ALL
                    || both(KIND_FROM_OS | KIND_FROM_USER)
                    || both(KIND_LATENCY | KIND_BANDWIDTH)
                {
                    let why = "not a kind of distances that hwloc 2 knows";
                    return Err(self.unsafe_value(&title, value, why));
                }
            }
            // hwloc's own check takes them for members of a set.
            "gp_index" => {
                let index = self.number(&title, value)?;
                if !(1..=MAX_GP_INDEX).contains(&index) {
                    let why = "hwloc counts its objects from 1";
                    return Err(self.unsafe_value(&title, value, why));
                }
            }
            _ if attribute.ends_with("cpuset") || attribute.ends_with("nodeset") => {
                self.set(&title, value)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn number(&self, title: &str, value: &str) -> Result<u64, TopologyError> {
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        value
            .parse()
            .ok()
            .filter(|_| digits)
            .ok_or_else(|| self.unsafe_value(title, value, "not a number of 64 bits"))
    }

    /// hwloc's sets: 32-bit words in hexadecimal, the highest first, `0xf...f` before
    /// them for an infinite one; a word that is empty is 0.
    fn set(&self, title: &str, value: &str) -> Result<(), TopologyError> {
        let finite = value.strip_prefix("0xf...f").unwrap_or(value);
        let mut words = 0;
        for word in finite.split(',') {
            words += 1;
            let digits = word.strip_prefix("0x").unwrap_or(word);
            if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.unsafe_value(title, value, "not a set as hwloc writes it"));
            }
        }
        if words > MAX_WORDS + 1 {
            return Err(self.index_too_large(title, &format!("near {}", words * 32 - 1)));
        }
        Ok(())
    }

    fn index_too_large(&self, what: &str, index: &str) -> TopologyError {
        TopologyError::IndexTooLarge {
            name: self.name.into(),
            what: shortened(what),
            index: shortened(index),
        }
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

    fn contradictory(&self, byte: u64, why: &str) -> TopologyError {
        TopologyError::Contradictory {
            name: self.name.into(),
            what: vec![format!("before byte {byte} {}", shortened(why))],
        }
    }

    fn not_xml(&self, byte: u64, why: &dyn std::fmt::Display) -> TopologyError {
        TopologyError::NotXml { name: self.name.into(), byte, why: shortened(&why.to_string()) }
    }
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
