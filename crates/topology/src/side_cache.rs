//! Sizes of memory-side caches. The binding has no accessor for them, so hwloc
//! writes the topology as XML and the sizes are read from there.

use hwlocality::object::types::ObjectType;
use hwlocality::topology::export::xml::XMLExportFlags;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::error::describe_hwloc_error;
use crate::hwloc::Walk;

/// Fills `memory_side_cache_bytes` of the nodes that have such a cache before
/// them. Costs nothing where the topology has none.
pub(crate) fn fill(walk: &mut Walk<'_>) {
    let topology = walk.topology;
    if topology.objects_with_type(ObjectType::MemCache).next().is_none() {
        return;
    }
    let found = topology
        .export_xml(XMLExportFlags::empty())
        .map_err(|error| describe_hwloc_error(&error))
        .and_then(|xml| {
            sizes(AsRef::<str>::as_ref(&xml)).map_err(|error| describe_hwloc_error(&error))
        });
    match found {
        Ok(found) => {
            for (number, bytes) in found {
                if let Some(node) = walk.nodes.iter_mut().find(|node| node.os_index == number) {
                    node.memory_side_cache_bytes = Some(bytes);
                }
            }
        }
        Err(why) => {
            walk.notes.push(format!("the sizes of memory-side caches could not be read: {why}"));
        }
    }
}

/// Node numbers with the size of the cache that is nearest to them.
fn sizes(xml: &str) -> Result<Vec<(u32, u64)>, quick_xml::Error> {
    let mut reader = Reader::from_str(xml);
    let mut enclosing: Vec<Option<u64>> = Vec::new();
    let mut found = Vec::new();
    loop {
        let event = reader.read_event()?;
        match &event {
            Event::Start(element) | Event::Empty(element) => {
                let mut cache = enclosing.last().copied().flatten();
                match attribute(element, "type")?.as_deref() {
                    Some("MemCache") => {
                        cache = attribute(element, "cache_size")?
                            .and_then(|size| size.parse().ok())
                            .filter(|&size: &u64| size > 0);
                    }
                    Some("NUMANode") => {
                        let number = attribute(element, "os_index")?.and_then(|n| n.parse().ok());
                        found.extend(number.zip(cache));
                    }
                    _ => {}
                }
                if matches!(event, Event::Start(_)) {
                    enclosing.push(cache);
                }
            }
            Event::End(_) => {
                enclosing.pop();
            }
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, quick_xml::Error> {
    let found = element.try_get_attribute(name)?;
    Ok(found.map(|attribute| attribute.value.into_owned()))
}
