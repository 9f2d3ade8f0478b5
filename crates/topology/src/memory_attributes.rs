//! Measured bandwidths and latencies in hwloc's XML, as its memory attributes.
//!
//! hwloc's binding sets values of attributes that it made up itself only, so that they are written
//! into the text, as hwloc 2 does (`hwloc__xml_export_memattrs` in its `topology-xml.c`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use nearfar_machine::{AttributeValue, IndexSet, MemoryAttribute};
use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

use crate::error::TopologyError;

/// `HWLOC_MEMATTR_FLAG_*` (`hwloc/memattrs.h`): which values are better, and that they are as seen
/// from an initiator.
const HIGHER_FIRST: u32 = 1;
const LOWER_FIRST: u32 = 1 << 1;
const NEED_INITIATOR: u32 = 1 << 2;

/// A topology with memory attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithAttributes {
    /// The XML.
    pub text: String,
    /// Attributes of which the text had values already, all of which the new ones replace.
    pub replaced: Vec<MemoryAttribute>,
}

/// What names of [`Caution`]s begin with, so that those of an earlier export are found.
const OURS: &str = "Nearfar";

/// What must be known of the values, which hwloc's tools show of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// They were computed, not measured.
    Simulated,
    /// They may not be what was measured.
    Seals,
}

impl Caution {
    fn name(self) -> String {
        format!("{OURS}{self:?}")
    }
}

/// The text of a topology with these values, and with what must be known of them. Values that it has of
/// the same attributes are left out, all of them: firmware's claims and measurements of one attribute
/// cannot be told apart later; and so are cautions of an earlier export. `name` is how messages call the
/// text.
///
/// # Errors
/// [`TopologyError::NotXml`] where the text is none, and [`TopologyError::NoTarget`] where it lacks
/// a node.
pub fn write_memory_attributes(
    text: &str,
    name: &str,
    values: &[AttributeValue],
    cautions: &[(Caution, String)],
) -> Result<WithAttributes, TopologyError> {
    let attributes: BTreeSet<MemoryAttribute> =
        values.iter().map(|value| value.attribute).collect();
    let places = Places::find(text, name, &attributes)?;
    let mut written = String::with_capacity(text.len() + 200 * values.len());
    written += &text[..places.machine_begun];
    for (caution, words) in cautions {
        let (name, words) = (caution.name(), escape(words));
        written += &format!("\n    <info name=\"{name}\" value=\"{words}\"/>");
    }
    let mut kept_from = places.machine_begun;
    for range in &places.replaced {
        written += &text[kept_from..range.start];
        kept_from = range.end;
    }
    written += &text[kept_from..places.end];
    for attribute in attributes {
        let order = if attribute.is_latency() { LOWER_FIRST } else { HIGHER_FIRST };
        written += &format!(
            "  <memattr name=\"{}\" flags=\"{}\">\n",
            attribute.as_str(),
            order | NEED_INITIATOR
        );
        for value in values.iter().filter(|value| value.attribute == attribute) {
            let target = places
                .nodes
                .get(&value.node)
                .ok_or_else(|| TopologyError::NoTarget { name: name.into(), node: value.node })?;
            written += &format!(
                "    <memattr_value target_obj_gp_index=\"{target}\" \
                 target_obj_type=\"NUMANode\" value=\"{}\" initiator_cpuset=\"{}\"/>\n",
                value.value,
                bitmap(&value.initiator)
            );
        }
        written += "  </memattr>\n";
    }
    written += &text[places.end..];
    Ok(WithAttributes { text: written, replaced: places.replaced_attributes })
}

/// What a text is changed by.
#[derive(Default)]
struct Places {
    /// hwloc's own number (`gp_index`) of each node, by the kernel's.
    nodes: BTreeMap<u32, u64>,
    /// Elements that are left out, in the order of the text.
    replaced: Vec<Range<usize>>,
    replaced_attributes: Vec<MemoryAttribute>,
    /// Where what is in the machine begins.
    machine_begun: usize,
    /// Where the root element ends.
    end: usize,
}

impl Places {
    fn find(
        text: &str,
        name: &str,
        attributes: &BTreeSet<MemoryAttribute>,
    ) -> Result<Self, TopologyError> {
        let not_xml = |reader: &Reader<&[u8]>, why: String| TopologyError::NotXml {
            name: name.into(),
            byte: reader.buffer_position(),
            why,
        };
        let mut places = Self::default();
        let mut reader = Reader::from_str(text);
        // The element that is being left out: where it begins.
        let mut leaving_out = None;
        loop {
            let before = position(&reader);
            let event = reader.read_event();
            match event.map_err(|error| not_xml(&reader, error.to_string()))? {
                Event::Start(element) if is_memattr(element.name().as_ref()) => {
                    let found = value_of(&element, "name");
                    let of_these =
                        attributes.iter().find(|one| found.as_deref() == Some(one.as_str()));
                    if let Some(attribute) = of_these {
                        places.replaced_attributes.push(*attribute);
                        leaving_out = Some(before);
                    }
                }
                Event::End(element) if is_memattr(element.name().as_ref()) => {
                    if let Some(begin) = leaving_out.take() {
                        places.replaced.push(with_blanks(text, begin..position(&reader)));
                    }
                }
                Event::Empty(element) if is_caution(&element) => {
                    places.replaced.push(with_blanks(text, before..position(&reader)));
                }
                Event::Start(element) if places.machine_begun == 0 && is_object(&element) => {
                    places.machine_begun = position(&reader);
                }
                Event::Start(element) | Event::Empty(element) => places.note_node(&element),
                Event::End(element) if element.name().as_ref() == "topology" => places.end = before,
                Event::Eof if places.end > 0 => return Ok(places),
                Event::Eof => return Err(not_xml(&reader, "no topology ends".into())),
                _ => {}
            }
        }
    }

    fn note_node(&mut self, element: &BytesStart<'_>) {
        let number = |key| value_of(element, key)?.parse::<u64>().ok();
        let is_node = value_of(element, "type").as_deref() == Some("NUMANode");
        if is_object(element) && is_node {
            let os_index = number("os_index").and_then(|index| u32::try_from(index).ok());
            self.nodes.extend(os_index.zip(number("gp_index")));
        }
    }
}

fn is_memattr(tag: &str) -> bool {
    tag == "memattr"
}

fn is_object(element: &BytesStart<'_>) -> bool {
    element.name().as_ref() == "object"
}

fn is_caution(element: &BytesStart<'_>) -> bool {
    let is_ours = |name: String| name.starts_with(OURS);
    element.name().as_ref() == "info" && value_of(element, "name").is_some_and(is_ours)
}

fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

/// An element with the blanks before it and the line end behind it.
fn with_blanks(text: &str, element: Range<usize>) -> Range<usize> {
    let begin = text[..element.start].trim_end_matches([' ', '\t']).len();
    let line_end = usize::from(text[element.end..].starts_with('\n'));
    begin..element.end + line_end
}

fn value_of(element: &BytesStart<'_>, key: &str) -> Option<String> {
    let attribute = element.attributes().flatten().find(|one| one.key.as_ref() == key)?;
    Some(attribute.value.to_string())
}

/// A set as hwloc writes it: words of 32 bits, the highest first.
pub(crate) fn bitmap<Kind>(set: &IndexSet<Kind>) -> String {
    let mut words = vec![0_u32; set.last().map_or(1, |last| last as usize / 32 + 1)];
    for member in set.iter() {
        words[member as usize / 32] |= 1 << (member % 32);
    }
    let words: Vec<String> = words.iter().rev().map(|word| format!("0x{word:08x}")).collect();
    words.join(",")
}
