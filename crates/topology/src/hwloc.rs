//! The walk over a topology that hwloc built, to a [`Machine`].

use std::any::Any;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hwlocality::bitmap::Bitmap;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::ObjectAttributes;
use hwlocality::object::types::{CacheType, ObjectType};
use hwlocality::topology::Topology;
use hwlocality::topology::builder::{BuildFlags, TopologyBuilder, TypeFilter};
use hwlocality::topology::export::xml::XMLExportFlags;
use nearfar_machine::{
    Cache, CacheKind, Core, CpuSet, IndexSet, MAX_INDEX, Machine, MemoryKind, MemoryNode, NodeSet,
    Package, Source,
};

use crate::error::{TopologyError, describe_hwloc_error};
use crate::{devices, distances, firmware, ownership, side_cache};

const DATA_CACHES: [ObjectType; 5] = [
    ObjectType::L1Cache,
    ObjectType::L2Cache,
    ObjectType::L3Cache,
    ObjectType::L4Cache,
    ObjectType::L5Cache,
];

/// Builds a topology from what `input` selects and walks it. `name` is how
/// messages call the source. Everything of the machine is included, whether this
/// process may use it or not; what it may use is in the allowed sets.
pub(crate) fn build_machine(
    name: &str,
    source: Source,
    input: impl FnOnce(TopologyBuilder) -> Result<TopologyBuilder, String>,
) -> Result<Machine, TopologyError> {
    with_topology(name, input, |topology| walk(topology, name, source))
}

/// The XML that hwloc writes of the topology that `input` selects.
pub(crate) fn build_xml(
    name: &str,
    input: impl FnOnce(TopologyBuilder) -> Result<TopologyBuilder, String>,
) -> Result<String, TopologyError> {
    with_topology(name, input, |topology| match topology.export_xml(XMLExportFlags::empty()) {
        Ok(xml) => Ok(xml.as_str().to_owned()),
        Err(error) => Err(TopologyError::Refused {
            name: name.into(),
            why: describe_hwloc_error(&error),
            loaded: hwloc_version(),
        }),
    })
}

fn with_topology<Answer>(
    name: &str,
    input: impl FnOnce(TopologyBuilder) -> Result<TopologyBuilder, String>,
    answer: impl FnOnce(&Topology) -> Result<Answer, TopologyError>,
) -> Result<Answer, TopologyError> {
    check_environment()?;
    let refused =
        |why: String| TopologyError::Refused { name: name.into(), why, loaded: hwloc_version() };
    let attempt = || {
        let topology = configure(input(TopologyBuilder::new()).map_err(refused)?)
            .map_err(refused)?
            .build()
            .map_err(|error| refused(describe_hwloc_error(&error)))?;
        answer(&topology)
    };
    // Nothing that is shared is left half-changed: the topology dies with the closure.
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
        Err(TopologyError::BindingPanicked {
            name: name.into(),
            why: panic_message(panic.as_ref()),
            loaded: hwloc_version(),
        })
    })
}

/// Variables that must stand in the environment when hwloc is called, which reads them whenever it
/// begins a topology.
///
/// Its plugins would load OpenCL, CUDA and what else their drivers need, which replace signal
/// handlers, start threads and end the process at will: it looks for them in a folder that is not
/// there. libxml2, where hwloc is built with it, could follow a file to others: hwloc's own parser
/// is taken.
///
/// Where packages and nodes contradict each other, hwloc prints a page about itself, which says nothing
/// that [`crate::amend_from_sysfs`] does not mend.
pub const HWLOC_ENVIRONMENT: [(&str, &str); 3] = [
    ("HWLOC_PLUGINS_PATH", "/nonexistent/no-plugins"),
    ("HWLOC_LIBXML", "0"),
    ("HWLOC_HIDE_ERRORS", "2"),
];

/// Beside these in a child process that reads what a stranger wrote: hwloc holds the objects of a
/// topology against each other, and ends the process at the first that contradicts another.
pub const HWLOC_CHECKS: (&str, &str) = ("HWLOC_DEBUG_CHECK", "1");

fn check_environment() -> Result<(), TopologyError> {
    let lacks = |(name, value): &(&str, &str)| env::var_os(name).is_none_or(|is| is != *value);
    if HWLOC_ENVIRONMENT.iter().any(lacks) {
        let wanted = HWLOC_ENVIRONMENT.map(|(name, value)| format!("{name}={value}"));
        return Err(TopologyError::ForeignEnvironment { wanted: wanted.join(" ") });
    }
    Ok(())
}

/// The version of hwloc's interface that descriptions are read with, as `2.8`.
pub fn hwloc_version() -> String {
    let version = hwlocality::hwloc_api_version();
    format!("{}.{}", version >> 16, (version >> 8) & 0xff)
}

fn configure(builder: TopologyBuilder) -> Result<TopologyBuilder, String> {
    builder
        .with_flags(BuildFlags::INCLUDE_DISALLOWED)
        .map_err(|error| describe_hwloc_error(&error))?
        .with_io_type_filter(TypeFilter::KeepImportant)
        .map_err(|error| describe_hwloc_error(&error))?
        // hwloc drops memory-side caches by default.
        .with_type_filter(ObjectType::MemCache, TypeFilter::KeepAll)
        .map_err(|error| describe_hwloc_error(&error))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

/// A walk over a topology, with what was found so far.
pub(crate) struct Walk<'topology> {
    pub(crate) topology: &'topology Topology,
    /// How messages call the source.
    name: &'topology str,
    pub(crate) cpus: CpuSet,
    pub(crate) nodes: Vec<MemoryNode>,
    pub(crate) notes: Vec<String>,
}

fn walk(topology: &Topology, name: &str, source: Source) -> Result<Machine, TopologyError> {
    let (cpus, nodes, notes) = (CpuSet::new(), Vec::new(), Vec::new());
    let mut walk = Walk { topology, name, cpus, nodes, notes };
    walk.cpus = walk.processing_units()?;
    walk.nodes = walk.memory_nodes()?;
    walk.nodes.sort_by_key(|node| node.os_index);
    side_cache::fill(&mut walk);
    walk.notes.extend(ownership::infer(&mut walk.nodes));
    let machine = Machine {
        packages: walk.packages()?,
        cores: walk.cores()?,
        caches: walk.caches()?,
        distances: distances::between_nodes(&mut walk),
        firmware_figures: firmware::figures(&mut walk)?,
        devices: devices::list(&mut walk)?,
        allowed_cpus: among(topology.allowed_cpuset().as_ref(), walk.cpus.iter()),
        allowed_nodes: among(
            topology.allowed_nodeset().as_ref(),
            walk.nodes.iter().map(|node| node.os_index),
        ),
        interleave_weights: None,
        memory_modules: None,
        empty_memory_sockets: None,
        memory_modules_unknown: Some(
            "the firmware's list of memory modules is read on the machine itself only".into(),
        ),
        source,
        nodes: walk.nodes,
        notes: walk.notes,
    };
    let mut what = machine.check();
    if machine.cores.is_empty() {
        what.push("it has no CPU".into());
    }
    if what.is_empty() {
        Ok(machine)
    } else {
        Err(TopologyError::Contradictory { name: name.into(), what })
    }
}

/// Those of `candidates` that are in the set, however large the set is.
fn among<Kind>(bitmap: &Bitmap, candidates: impl Iterator<Item = u32>) -> IndexSet<Kind> {
    let is_set = |&index: &u32| usize::try_from(index).is_ok_and(|index| bitmap.is_set(index));
    candidates.filter(is_set).collect()
}

/// A text attribute; `None` where absent or blank.
pub(crate) fn info(object: &TopologyObject, key: &str) -> Option<String> {
    let text = object.info(key)?.to_string_lossy();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn accepted_index(index: usize) -> Option<u32> {
    u32::try_from(index).ok().filter(|&index| index <= MAX_INDEX)
}

/// The members of a set that hwloc gave.
fn members<Kind>(bitmap: &Bitmap, name: &str, what: &str) -> Result<IndexSet<Kind>, TopologyError> {
    let too_large = |index: String| TopologyError::IndexTooLarge {
        name: name.into(),
        what: what.into(),
        index,
    };
    if bitmap.weight().is_none() {
        return Err(too_large("without end".into()));
    }
    bitmap
        .iter_set()
        .map(|index| accepted_index(usize::from(index)).ok_or_else(|| too_large(index.to_string())))
        .collect()
}

impl Walk<'_> {
    pub(crate) fn members<Kind>(
        &self,
        bitmap: &Bitmap,
        what: &str,
    ) -> Result<IndexSet<Kind>, TopologyError> {
        members(bitmap, self.name, what)
    }

    /// The CPUs of an object, as far as they are processing units of this topology.
    pub(crate) fn cpus_of(&self, object: &TopologyObject) -> Result<CpuSet, TopologyError> {
        match object.cpuset() {
            Some(set) => Ok(self.members::<_>(set.as_ref(), "cpuset")?.intersection(&self.cpus)),
            None => Ok(CpuSet::new()),
        }
    }

    /// The number of a CPU or a node, which is all that its set holds: a file may say otherwise, and
    /// hwloc takes it.
    fn numbered(
        &self,
        object: &TopologyObject,
        set: Option<&Bitmap>,
    ) -> Result<u32, TopologyError> {
        let (name, what) = (self.name.into(), object.object_type().to_string());
        let index = object.os_index();
        let Some(accepted) = index.and_then(accepted_index) else {
            let index = index.map_or_else(|| "unknown".into(), |index| index.to_string());
            return Err(TopologyError::IndexTooLarge { name, what, index });
        };
        let is_own = |set: &Bitmap| set.weight() == Some(1) && set.is_set(accepted as usize);
        if !set.is_some_and(is_own) {
            let what = vec![format!("the set of {what} {accepted} is not its number")];
            return Err(TopologyError::Contradictory { name, what });
        }
        Ok(accepted)
    }

    fn processing_units(&self) -> Result<CpuSet, TopologyError> {
        let number = |unit: &TopologyObject| {
            let set = unit.cpuset();
            self.numbered(unit, set.as_ref().map(|set| set.as_ref()))
        };
        self.topology.objects_with_type(ObjectType::PU).map(number).collect()
    }

    fn packages(&mut self) -> Result<Vec<Package>, TopologyError> {
        let mut packages = Vec::new();
        let mut renumbered = false;
        for object in self.topology.objects_with_type(ObjectType::Package) {
            let given = object.os_index().and_then(|index| u32::try_from(index).ok());
            // Firmware on Arm numbers packages by table offsets, and some systems do
            // not number them at all: a package's number is a label, not an index.
            let counted = u32::try_from(object.logical_index()).unwrap_or(u32::MAX);
            renumbered |= given.is_none();
            packages.push(Package {
                os_index: given.unwrap_or(counted),
                cpus: self.cpus_of(object)?,
                model: info(object, "CPUModel"),
            });
        }
        if renumbered {
            let note = "packages have no numbers of their own; they are counted from 0";
            self.notes.push(note.into());
        }
        packages.sort_by_key(|package| package.os_index);
        Ok(packages)
    }

    fn cores(&mut self) -> Result<Vec<Core>, TopologyError> {
        let described = self.topology.objects_with_type(ObjectType::Core);
        let cores = described.map(|object| Ok(Core { cpus: self.cpus_of(object)? }));
        let mut cores: Vec<Core> = cores.collect::<Result<_, TopologyError>>()?;
        let placed: CpuSet = cores.iter().flat_map(|core| core.cpus.iter()).collect();
        let without = self.cpus.difference(&placed);
        if !without.is_empty() {
            self.notes.push(format!(
                "no core is described for the CPUs {without}: each is taken for a core of its own"
            ));
            cores.extend(without.iter().map(|cpu| Core { cpus: CpuSet::single(cpu) }));
        }
        cores.retain(|core| !core.cpus.is_empty());
        cores.sort_by_key(|core| core.cpus.first());
        Ok(cores)
    }

    fn caches(&self) -> Result<Vec<Cache>, TopologyError> {
        let mut caches = Vec::new();
        for (level, kind) in (1..).zip(DATA_CACHES) {
            for object in self.topology.objects_with_type(kind) {
                let Some(ObjectAttributes::Cache(attributes)) = object.attributes() else {
                    continue;
                };
                let kind = match attributes.cache_type() {
                    CacheType::Data => CacheKind::Data,
                    CacheType::Unified => CacheKind::Unified,
                    _ => continue,
                };
                let line = attributes.line_size().and_then(|line| u32::try_from(line.get()).ok());
                let (bytes, cpus) = (attributes.size().map(u64::from), self.cpus_of(object)?);
                caches.push(Cache { level, kind, bytes, line_bytes: line, cpus });
            }
        }
        caches.retain(|cache| !cache.cpus.is_empty());
        caches.sort_by_key(|cache| (cache.level, cache.cpus.first(), cache.kind));
        Ok(caches)
    }

    fn memory_nodes(&mut self) -> Result<Vec<MemoryNode>, TopologyError> {
        let mut nodes = Vec::new();
        let mut special = NodeSet::new();
        for object in self.topology.objects_with_type(ObjectType::NUMANode) {
            let set = object.nodeset();
            let os_index = self.numbered(object, set.as_ref().map(|set| set.as_ref()))?;
            let locality = self.cpus_of(object)?;
            let memory_bytes = match object.attributes() {
                Some(ObjectAttributes::NUMANode(attributes)) => attributes.local_memory(),
                _ => None,
            };
            if subtype(object).as_deref() == Some("SPM") {
                special.insert(os_index);
            }
            nodes.push(MemoryNode {
                os_index,
                kind: memory_kind(object),
                cpus: locality.clone(),
                locality,
                memory_bytes: memory_bytes.map(u64::from),
                memory_side_cache_bytes: None,
            });
        }
        if !special.is_empty() {
            self.notes.push(format!(
                "nodes {special} are specific-purpose memory: HBM or CXL, hwloc does not say which"
            ));
        }
        Ok(nodes)
    }
}

/// What a node is made of, by hwloc's subtype (`hwloc_obj::subtype`: `DRAM`, `HBM`,
/// `MCDRAM`, `NVM`, `SPM`, `GPUMemory`, `CXL-DRAM`), else by the DAX device that
/// its memory came from. ACPI0017 is the ACPI's id of the root of a CXL hierarchy.
fn memory_kind(object: &TopologyObject) -> MemoryKind {
    let subtype = subtype(object).unwrap_or_default();
    match subtype.as_str() {
        "DRAM" => MemoryKind::Dram,
        "HBM" | "MCDRAM" => MemoryKind::Hbm,
        "NVM" => MemoryKind::Nvm,
        "GPUMemory" => MemoryKind::Gpu,
        _ if subtype.starts_with("CXL") => MemoryKind::Cxl,
        _ if info(object, "DAXType").as_deref() == Some("NVM") => MemoryKind::Nvm,
        _ if info(object, "DAXParent").is_some_and(|parent| parent.contains("ACPI0017")) => {
            MemoryKind::Cxl
        }
        _ => MemoryKind::Unknown,
    }
}

fn subtype(object: &TopologyObject) -> Option<String> {
    object.subtype().map(|text| text.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_of_the_binding_becomes_an_error() {
        let machine = build_machine("odd.xml", Source::Live, |_| panic!("an odd value"));
        let Err(TopologyError::BindingPanicked { name, why, .. }) = machine else {
            panic!("{machine:?}")
        };
        assert_eq!((name.as_str(), why.as_str()), ("odd.xml", "an odd value"));
    }

    #[test]
    fn infinite_and_huge_sets_are_refused() {
        let refused = |bitmap: &Bitmap| {
            let set: Result<CpuSet, _> = members(bitmap, "odd.xml", "cpuset");
            matches!(set, Err(TopologyError::IndexTooLarge { .. }))
        };
        assert!(refused(&Bitmap::full()));
        assert!(refused(&Bitmap::from_range(65_536_usize..=65_536)));
        assert!(!refused(&Bitmap::from_range(0_usize..=65_535)));
    }
}
