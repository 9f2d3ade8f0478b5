//! The XML by which hwloc knows a machine that it did not discover: a simulated one, or that of a
//! record. Format 2, as hwloc writes it (`hwloc2.dtd`); what a [`Machine`] does not hold is not in
//! it (devices apart from their place, capabilities, the names of instruction caches).

use std::fmt::Write;

use nearfar_machine::{CacheKind, CpuSet, Machine, MemoryKind, MemoryNode, NodeSet};
use quick_xml::escape::escape;

use crate::memory_attributes::bitmap;

/// hwloc's kinds of caches (`hwloc_obj_cache_type_e`).
const UNIFIED: u32 = 0;
const DATA: u32 = 1;
/// Distances that firmware gives, of latency (`HWLOC_DISTANCES_KIND_*`).
const FIRMWARE_LATENCY: u32 = 1 | 1 << 2;

/// The XML of a machine; why it has none where its parts do not lie within each other, as hwloc's
/// objects must.
///
/// # Errors
/// A sentence on the parts that overlap.
pub fn machine_xml(machine: &Machine) -> Result<String, String> {
    let mut parts = parts(machine);
    parts.sort_by_key(|part| (std::cmp::Reverse(part.cpus.len()), part.rank, part.cpus.first()));
    let mut parts = parts.into_iter();
    let mut root = parts.next().ok_or("it has no part")?;
    for part in parts {
        root.take(part)?;
    }
    for node in &machine.nodes {
        root.place_of(&node.locality).memory.push(node.clone());
    }
    let mut writer = Writer { machine, text: String::new(), next_gp_index: 1 };
    writer.text += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n";
    writer.object(&root, 1);
    writer.distances();
    writer.text += "</topology>\n";
    Ok(writer.text)
}

/// An object with CPUs, and what lies within it.
struct Part {
    kind: String,
    /// Of parts with the same CPUs the lower one is the outer one.
    rank: u32,
    cpus: CpuSet,
    /// Attributes of its own, as XML.
    attributes: String,
    model: Option<String>,
    memory: Vec<MemoryNode>,
    children: Vec<Part>,
}

const GROUP_RANK: u32 = 2;
/// Above the level of every cache.
const INNERMOST_RANK: u32 = 100;

impl Part {
    fn new(kind: impl Into<String>, rank: u32, cpus: CpuSet, attributes: String) -> Self {
        let (model, memory, children) = (None, Vec::new(), Vec::new());
        Self { kind: kind.into(), rank, cpus, attributes, model, memory, children }
    }

    /// Takes a part in that is no larger than any that was taken before.
    fn take(&mut self, part: Self) -> Result<(), String> {
        if let Some(child) =
            self.children.iter_mut().find(|child| child.cpus.intersects(&part.cpus))
        {
            if !part.cpus.is_subset(&child.cpus) {
                return Err(format!(
                    "hwloc's objects lie within each other, and a {} with the CPUs {} and a {} with \
                     the CPUs {} do not",
                    child.kind, child.cpus, part.kind, part.cpus
                ));
            }
            return child.take(part);
        }
        self.children.push(part);
        Ok(())
    }

    /// The part to which the memory of these CPUs belongs: the innermost package or group with
    /// just them, else the outermost object with them.
    fn place_of(&mut self, cpus: &CpuSet) -> &mut Self {
        let is_place = |child: &Self| {
            let is_same = child.cpus == *cpus && child.rank <= GROUP_RANK;
            is_same || (cpus.is_subset(&child.cpus) && child.cpus.len() > cpus.len())
        };
        let is_outermost = |child: &Self| child.cpus == *cpus;
        let own = self.cpus == *cpus;
        let inner = self.children.iter().position(is_place);
        let inner = inner.or_else(|| self.children.iter().position(is_outermost).filter(|_| !own));
        match inner {
            Some(child) => self.children[child].place_of(cpus),
            None => self,
        }
    }
}

fn parts(machine: &Machine) -> Vec<Part> {
    let allowed = format!(
        " allowed_cpuset=\"{}\" allowed_nodeset=\"{}\"",
        bitmap(&machine.allowed_cpus),
        bitmap(&machine.allowed_nodes)
    );
    let mut parts = vec![Part::new("Machine", 0, machine.cpus(), allowed)];
    for package in &machine.packages {
        let mut part = Part::new("Package", 1, package.cpus.clone(), os_index(package.os_index));
        part.model.clone_from(&package.model);
        parts.push(part);
    }
    for cache in &machine.caches {
        let kind = if cache.kind == CacheKind::Data { DATA } else { UNIFIED };
        let attributes = format!(
            " cache_size=\"{}\" depth=\"{}\" cache_linesize=\"{}\" cache_associativity=\"0\" \
             cache_type=\"{kind}\"",
            cache.bytes.unwrap_or(0),
            cache.level,
            cache.line_bytes.unwrap_or(0)
        );
        let rank = INNERMOST_RANK.saturating_sub(cache.level);
        parts.push(Part::new(
            format!("L{}Cache", cache.level),
            rank,
            cache.cpus.clone(),
            attributes,
        ));
    }
    for (number, core) in (0..).zip(&machine.cores) {
        parts.push(Part::new("Core", INNERMOST_RANK, core.cpus.clone(), os_index(number)));
        let unit = |cpu| Part::new("PU", INNERMOST_RANK + 1, CpuSet::single(cpu), os_index(cpu));
        parts.extend(core.cpus.iter().map(unit));
    }
    for node in &machine.nodes {
        if !parts.iter().any(|part| part.cpus == node.locality) {
            let attributes = " kind=\"0\" subkind=\"0\"".into();
            parts.push(Part::new("Group", GROUP_RANK, node.locality.clone(), attributes));
        }
    }
    parts.retain(|part| part.rank == 0 || !part.cpus.is_empty());
    parts
}

fn os_index(number: u32) -> String {
    format!(" os_index=\"{number}\"")
}

/// hwloc's word for a kind of memory (`hwloc_obj::subtype`).
fn subtype(kind: MemoryKind) -> Option<&'static str> {
    match kind {
        MemoryKind::Dram => Some("DRAM"),
        MemoryKind::Hbm => Some("HBM"),
        MemoryKind::Cxl => Some("CXL-DRAM"),
        MemoryKind::Nvm => Some("NVM"),
        MemoryKind::Gpu => Some("GPUMemory"),
        MemoryKind::Unknown => None,
    }
}

struct Writer<'machine> {
    machine: &'machine Machine,
    text: String,
    next_gp_index: u32,
}

impl Writer<'_> {
    fn object(&mut self, part: &Part, depth: usize) {
        let near = self.machine.nodes.iter().filter(|node| {
            node.locality.intersects(&part.cpus) || (part.rank == 0 && node.locality.is_empty())
        });
        let nodes: NodeSet = near.map(|node| node.os_index).collect();
        self.open(&part.kind, &part.cpus, &nodes, &part.attributes, depth);
        self.text += ">\n";
        if let Some(model) = &part.model {
            self.line(depth + 1, &format!("<info name=\"CPUModel\" value=\"{}\"/>", escape(model)));
        }
        for node in &part.memory {
            self.memory(node, depth + 1);
        }
        let mut children: Vec<&Part> = part.children.iter().collect();
        children.sort_by_key(|child| child.cpus.first());
        for child in children {
            self.object(child, depth + 1);
        }
        self.line(depth, "</object>");
    }

    /// A node, within its memory-side cache where it has one.
    fn memory(&mut self, node: &MemoryNode, depth: usize) {
        let nodes = NodeSet::single(node.os_index);
        let mut attributes = os_index(node.os_index);
        if let Some(bytes) = node.memory_bytes {
            write!(attributes, " local_memory=\"{bytes}\"").ok();
        }
        if let Some(subtype) = subtype(node.kind) {
            write!(attributes, " subtype=\"{subtype}\"").ok();
        }
        let Some(bytes) = node.memory_side_cache_bytes else {
            self.open("NUMANode", &node.locality, &nodes, &attributes, depth);
            self.text += "/>\n";
            return;
        };
        let cache = format!(
            " cache_size=\"{bytes}\" depth=\"1\" cache_linesize=\"0\" cache_associativity=\"0\" \
             cache_type=\"{UNIFIED}\""
        );
        self.open("MemCache", &node.locality, &nodes, &cache, depth);
        self.text += ">\n";
        self.open("NUMANode", &node.locality, &nodes, &attributes, depth + 1);
        self.text += "/>\n";
        self.line(depth, "</object>");
    }

    /// The tag of an object, without its end.
    fn open(&mut self, kind: &str, cpus: &CpuSet, nodes: &NodeSet, more: &str, depth: usize) {
        let (cpus, nodes) = (bitmap(cpus), bitmap(nodes));
        write!(
            self.text,
            "{:width$}<object type=\"{kind}\" cpuset=\"{cpus}\" complete_cpuset=\"{cpus}\" \
             nodeset=\"{nodes}\" complete_nodeset=\"{nodes}\" gp_index=\"{}\"{more}",
            "",
            self.next_gp_index,
            width = 2 * depth
        )
        .ok();
        self.next_gp_index += 1;
    }

    fn line(&mut self, depth: usize, text: &str) {
        writeln!(self.text, "{:width$}{text}", "", width = 2 * depth).ok();
    }

    fn distances(&mut self) {
        let Some(distances) = &self.machine.distances else { return };
        let numbers = |numbers: &mut dyn Iterator<Item = u64>| -> String {
            numbers.map(|number| format!("{number} ")).collect()
        };
        let indexes = numbers(&mut distances.nodes.iter().map(|&node| u64::from(node)));
        let values = numbers(&mut distances.values.iter().flatten().copied());
        self.line(
            1,
            &format!(
                "<distances2 type=\"NUMANode\" nbobjs=\"{}\" kind=\"{FIRMWARE_LATENCY}\" \
                 name=\"NUMALatency\" indexing=\"os\">",
                distances.nodes.len()
            ),
        );
        self.line(2, &format!("<indexes length=\"{}\">{indexes}</indexes>", indexes.len()));
        self.line(2, &format!("<u64values length=\"{}\">{values}</u64values>", values.len()));
        self.line(1, "</distances2>");
    }
}
