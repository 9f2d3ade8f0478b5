//! The sets of the objects in a topology file, held against each other. hwloc
//! builds its tree on the relations that its own `hwloc_topology_check` asserts,
//! but imports files without looking: a set that breaks them can crash it.

use std::collections::{BTreeMap, BTreeSet};

/// The sets that every object but I/O and Misc has in format 2.
const SETS: [&str; 4] = ["cpuset", "complete_cpuset", "nodeset", "complete_nodeset"];

/// The kinds of objects as hwloc 2 writes them. It also reads other spellings, which would
/// not be held against each other here, and leaves out what it does not know.
const KINDS: [&str; 20] = [
    "Machine", "Package", "Die", "Core", "PU", "L1Cache", "L2Cache", "L3Cache", "L4Cache",
    "L5Cache", "L1iCache", "L2iCache", "L3iCache", "Group", "NUMANode", "MemCache", "Bridge",
    "PCIDev", "OSDev", "Misc",
];

/// The objects that are open at one place of a file.
#[derive(Default)]
pub(crate) struct ObjectTree {
    open: Vec<Object>,
    gp_indexes: BTreeSet<u64>,
    units: usize,
    nodes: Bits,
}

/// One open element; those that are no objects with sets have none.
#[derive(Default)]
struct Object {
    sets: BTreeMap<&'static str, Bits>,
    /// One of [`KINDS`]; empty for what is no object.
    kind: &'static str,
    cpus_of_children: Bits,
    complete_cpus: Siblings,
    memory_nodes: Siblings,
    complete_nodes: Siblings,
}

/// What the siblings so far have of a set of which each has its part, in order.
#[derive(Default)]
struct Siblings {
    all: Bits,
    first_of_last: Option<usize>,
}

impl ObjectTree {
    /// Opens an element; `attribute` gives its attributes by name.
    ///
    /// # Errors
    /// A sentence on the relation that is broken.
    pub(crate) fn open<'text>(
        &mut self,
        tag: &str,
        attribute: impl Fn(&str) -> Option<&'text str>,
    ) -> Result<(), String> {
        let kind = attribute("type").unwrap_or_default();
        let mut object = Object::default();
        if tag == "object" {
            let known = KINDS.iter().find(|known| **known == kind);
            object.kind = known.ok_or_else(|| {
                format!("an object is of the kind '{kind}', which hwloc 2 does not write")
            })?;
            if (self.open.len() == 1) != (kind == "Machine") {
                return Err(format!("a {kind} is not where the machine, and only it, belongs"));
            }
            // hwloc gives an object without a number one that may be taken.
            let index = attribute("gp_index").and_then(|index| index.parse().ok());
            let index = index.ok_or_else(|| format!("a {kind} has no gp_index"))?;
            if !self.gp_indexes.insert(index) {
                return Err(format!("two objects have the gp_index {index}"));
            }
        }
        if tag == "object" && !matches!(kind, "Bridge" | "PCIDev" | "OSDev" | "Misc") {
            for name in SETS {
                let text = attribute(name).ok_or_else(|| format!("a {kind} has no {name}"))?;
                let bits = Bits::parse(text).ok_or_else(|| format!("{name} has no end"))?;
                object.sets.insert(name, bits);
            }
            let os_index = attribute("os_index").and_then(|index| index.parse().ok());
            object.check_own(kind, os_index)?;
            for (name, whole) in [("allowed_cpuset", "cpuset"), ("allowed_nodeset", "nodeset")] {
                let part = attribute(name).map(Bits::parse);
                let within = |part: &Bits| part.is_subset(&object.sets[whole]);
                if part.is_some_and(|part| !part.as_ref().is_some_and(within)) {
                    return Err(format!("the {name} of a {kind} is not within its {whole}"));
                }
            }
            self.units += usize::from(kind == "PU");
            if kind == "NUMANode" {
                let node = &object.sets["nodeset"];
                if self.nodes.intersects(node) {
                    return Err("two NUMA nodes have the same number".into());
                }
                self.nodes.add(node);
            }
            if let Some(parent) = self.open.last_mut() {
                parent.check_child(&object, kind)?;
            }
        }
        self.open.push(object);
        Ok(())
    }

    /// Closes the element that was opened last.
    ///
    /// # Errors
    /// A sentence, when its children do not make up its CPUs.
    pub(crate) fn close(&mut self) -> Result<(), String> {
        let Some(object) = self.open.pop() else {
            return Ok(());
        };
        if object.is_made_of_cpus() && object.cpus_of_children.trimmed() != object.sets["cpuset"] {
            return Err("the CPUs of an object's children are not those of the object".into());
        }
        if object.kind == "MemCache" && object.memory_nodes.all != object.sets["nodeset"] {
            return Err("the nodes below a memory-side cache are not those of the cache".into());
        }
        // The machine itself is the object within <topology>.
        let nodes = object.sets.get("nodeset");
        if self.open.len() == 1 && nodes.is_some_and(|nodes| *nodes != self.nodes) {
            return Err("the machine's nodeset is not that of its NUMA nodes".into());
        }
        if self.open.is_empty() && self.units == 0 {
            return Err("the topology has no PU".into());
        }
        Ok(())
    }
}

impl Object {
    /// Whether it has CPUs and they are its children's: neither a PU nor memory nor I/O.
    fn is_made_of_cpus(&self) -> bool {
        !self.sets.is_empty() && !matches!(self.kind, "PU" | "NUMANode" | "MemCache")
    }

    fn check_own(&self, kind: &str, os_index: Option<usize>) -> Result<(), String> {
        for (set, complete) in [("cpuset", "complete_cpuset"), ("nodeset", "complete_nodeset")] {
            if !self.sets[set].is_subset(&self.sets[complete]) {
                return Err(format!("the {set} of a {kind} is not within its {complete}"));
            }
        }
        let sets = match kind {
            "PU" => &SETS[..2],
            "NUMANode" => &SETS[2..],
            _ => return Ok(()),
        };
        let own = os_index.map(Bits::single);
        if own.is_none() || sets.iter().any(|set| Some(&self.sets[set]) != own.as_ref()) {
            return Err(format!("the sets of a {kind} are not its own number"));
        }
        Ok(())
    }

    fn check_child(&mut self, child: &Object, kind: &str) -> Result<(), String> {
        for (name, set) in &self.sets {
            if !child.sets[name].is_subset(set) {
                return Err(format!("the {name} of a {kind} is not within its parent's"));
            }
        }
        if self.sets.is_empty() {
            return Ok(());
        }
        let is_memory = matches!(kind, "NUMANode" | "MemCache");
        if self.kind == "NUMANode" || (!is_memory && !self.is_made_of_cpus()) {
            return Err(format!("a {kind} stands within a {}", self.kind));
        }
        if is_memory {
            self.memory_nodes.add(&child.sets["nodeset"], "nodes", kind)?;
            return self.complete_nodes.add(&child.sets["complete_nodeset"], "nodes", kind);
        }
        self.cpus_of_children.add(&child.sets["cpuset"]);
        self.complete_cpus.add(&child.sets["complete_cpuset"], "CPUs", kind)
    }
}

impl Siblings {
    fn add(&mut self, part: &Bits, what: &str, kind: &str) -> Result<(), String> {
        if self.all.intersects(part) {
            return Err(format!("the {what} of a {kind} are also a sibling's"));
        }
        let first = part.first();
        if first.is_some() && first < self.first_of_last {
            return Err(format!("a {kind} comes after siblings with higher {what}"));
        }
        self.first_of_last = first.or(self.first_of_last);
        self.all.add(part);
        Ok(())
    }
}

/// A finite set as words of 32 bits, the lowest first, without empty words at the end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Bits {
    words: Vec<u32>,
}

impl Bits {
    /// Reads hwloc's notation: words in hexadecimal, the highest first, an empty
    /// word being 0. `None` for an infinite set or another notation.
    fn parse(text: &str) -> Option<Self> {
        let word = |word: &str| {
            let digits = word.strip_prefix("0x").unwrap_or(word);
            if word.is_empty() { Some(0) } else { u32::from_str_radix(digits, 16).ok() }
        };
        let words = text.rsplit(',').map(word).collect::<Option<Vec<u32>>>()?;
        Some(Self { words }.trimmed())
    }

    fn single(index: usize) -> Self {
        let mut words = vec![0; index / 32];
        words.push(1 << (index % 32));
        Self { words }
    }

    fn trimmed(mut self) -> Self {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        self
    }

    fn pairs<'set>(&'set self, other: &'set Self) -> impl Iterator<Item = (u32, u32)> {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter().copied().zip(others)
    }

    fn is_subset(&self, other: &Self) -> bool {
        self.pairs(other).all(|(ours, theirs)| ours & !theirs == 0)
    }

    fn intersects(&self, other: &Self) -> bool {
        self.pairs(other).any(|(ours, theirs)| ours & theirs != 0)
    }

    fn first(&self) -> Option<usize> {
        let word = self.words.iter().position(|&word| word != 0)?;
        Some(word * 32 + self.words[word].trailing_zeros() as usize)
    }

    fn add(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (ours, theirs) in self.words.iter_mut().zip(&other.words) {
            *ours |= theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depth, type, os_index, cpuset and complete_cpuset.
    type Line = (usize, &'static str, &'static str, &'static str, &'static str);

    fn check(objects: &[Line]) -> Result<(), String> {
        let nodes = if objects.iter().any(|line| line.1 == "NUMANode") { "0x1" } else { "0x0" };
        let mut tree = ObjectTree::default();
        tree.open("topology", |_| None)?;
        let mut depth = 0;
        for (number, &(level, kind, index, cpuset, complete)) in objects.iter().enumerate() {
            while depth > level {
                tree.close()?;
                depth -= 1;
            }
            let number = number.to_string();
            tree.open("object", |name| match name {
                "type" => Some(kind),
                "os_index" => Some(index),
                "gp_index" => Some(&number),
                "cpuset" => Some(cpuset),
                "complete_cpuset" => Some(complete),
                "nodeset" | "complete_nodeset" => Some(nodes),
                _ => None,
            })?;
            depth += 1;
        }
        (0..=depth).try_for_each(|_| tree.close())
    }

    #[test]
    fn sound_tree_passes() {
        let objects = [
            (0, "Machine", "0", "0x00000001,,0x00000002", "0x00000001,,0x00000003"),
            (1, "NUMANode", "0", "0x00000001,,0x00000002", "0x00000001,,0x00000003"),
            (1, "PU", "1", "0x2", "0x2"),
            (1, "PU", "64", "0x1,,0x0", "0x1,,0x0"),
        ];
        assert_eq!(check(&objects), Ok(()));
    }

    #[test]
    fn broken_relations_are_named() {
        let cases: [(&str, &[Line]); 13] = [
            ("where the machine", &[(0, "PU", "0", "0x1", "0x1")]),
            (
                "not those of the object",
                &[(0, "Machine", "0", "0x1", "0x1"), (1, "Core", "0", "0x1", "0x1")],
            ),
            // Mutations found files like these at which hwloc ends by an assertion.
            (
                "PU stands within a PU",
                &[
                    (0, "Machine", "0", "0x1", "0x1"),
                    (1, "PU", "0", "0x1", "0x1"),
                    (2, "PU", "0", "0x1", "0x1"),
                ],
            ),
            (
                "PU stands within a NUMANode",
                &[
                    (0, "Machine", "0", "0x1", "0x1"),
                    (1, "NUMANode", "0", "0x1", "0x1"),
                    (2, "PU", "0", "0x1", "0x1"),
                ],
            ),
            (
                "below a memory-side cache",
                &[
                    (0, "Machine", "0", "0x1", "0x1"),
                    (1, "MemCache", "0", "0x1", "0x1"),
                    (1, "PU", "0", "0x1", "0x1"),
                    (2, "NUMANode", "0", "0x1", "0x1"),
                ],
            ),
            (
                "two NUMA nodes",
                &[
                    (0, "Machine", "0", "0x1", "0x1"),
                    (1, "NUMANode", "0", "0x1", "0x1"),
                    (1, "PU", "0", "0x1", "0x1"),
                    (2, "NUMANode", "0", "0x1", "0x1"),
                ],
            ),
            ("has no PU", &[(0, "Machine", "0", "0x0", "0x0")]),
            ("not within its complete_cpuset", &[(0, "Machine", "0", "0x3", "0x1")]),
            (
                "not within its parent's",
                &[(0, "Machine", "0", "0x1", "0x1"), (1, "PU", "1", "0x2", "0x2")],
            ),
            (
                "not its own number",
                &[(0, "Machine", "0", "0x1", "0x1"), (1, "PU", "1", "0x1", "0x1")],
            ),
            (
                "also a sibling's",
                &[
                    (0, "Machine", "0", "0x3", "0x3"),
                    (1, "Core", "0", "0x1", "0x1"),
                    (2, "PU", "0", "0x1", "0x1"),
                    (1, "Core", "1", "0x3", "0x3"),
                ],
            ),
            (
                "after siblings with higher CPUs",
                &[
                    (0, "Machine", "0", "0x3", "0x3"),
                    (1, "PU", "1", "0x2", "0x2"),
                    (1, "PU", "0", "0x1", "0x1"),
                ],
            ),
            (
                "not those of the object",
                &[(0, "Machine", "0", "0x3", "0x3"), (1, "PU", "0", "0x1", "0x1")],
            ),
        ];
        for (reason, objects) in cases {
            let found = check(objects).unwrap_err();
            assert!(found.contains(reason), "{found:?} for {reason:?}");
        }
        assert!(check(&[(0, "Machine", "0", "0xf...f", "0xf...f")]).is_err());
    }
}
