//! Sets of the kernel's numbers for CPUs and NUMA nodes, and their list syntax
//! (`0-3,8`): the one the kernel prints in sysfs and `taskset -c` reads.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use nearfar_units::excerpt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest CPU or node number accepted from text: far above any Linux
/// (`CONFIG_NR_CPUS` <= 8192), and small enough that a hostile list such as
/// `0-4294967295` cannot fill the memory.
pub const MAX_INDEX: u32 = 65_535;

/// Marks a set of CPU numbers (the kernel's logical CPUs, hwloc's PU `P#`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cpus {}

/// Marks a set of NUMA node numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nodes {}

/// CPU numbers as the kernel gives them.
pub type CpuSet = IndexSet<Cpus>;
/// NUMA node numbers as the kernel gives them.
pub type NodeSet = IndexSet<Nodes>;

/// An ordered set of operating-system numbers of one kind; a set of CPUs cannot
/// be passed where nodes are asked for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexSet<Kind> {
    members: BTreeSet<u32>,
    kind: PhantomData<Kind>,
}

/// Why a list of numbers could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexSetError {
    /// An entry is neither a number nor `first-last`.
    #[error(
        "'{}' in the list '{}' is neither a number nor a range such as 0-3",
        excerpt(entry),
        excerpt(list)
    )]
    NotARange {
        /// The entry that could not be read.
        entry: String,
        /// The whole list.
        list: String,
    },
    /// A range runs backwards.
    #[error("the range '{}' in the list '{}' runs backwards", excerpt(entry), excerpt(list))]
    Backwards {
        /// The entry that runs backwards.
        entry: String,
        /// The whole list.
        list: String,
    },
    /// A number above [`MAX_INDEX`].
    #[error(
        "'{}' in the list '{}' is above {MAX_INDEX}, the largest number accepted",
        excerpt(entry),
        excerpt(list)
    )]
    TooLarge {
        /// The entry with the number.
        entry: String,
        /// The whole list.
        list: String,
    },
}

impl<Kind> IndexSet<Kind> {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: BTreeSet::new(), kind: PhantomData }
    }

    /// The set with one member.
    #[must_use]
    pub fn single(index: u32) -> Self {
        [index].into_iter().collect()
    }

    /// Adds a member; says whether it was new.
    pub fn insert(&mut self, index: u32) -> bool {
        self.members.insert(index)
    }

    /// Whether `index` is a member.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        self.members.contains(&index)
    }

    /// Number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The smallest member.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.members.first().copied()
    }

    /// The largest member.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.members.last().copied()
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.members.iter().copied()
    }

    /// Members of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.members.intersection(&other.members).copied().collect()
    }

    /// Members of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.members.union(&other.members).copied().collect()
    }

    /// Members of this set that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.members.difference(&other.members).copied().collect()
    }

    /// Whether every member is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.members.is_subset(&other.members)
    }

    /// Whether the two share a member.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        !self.members.is_disjoint(&other.members)
    }
}

impl<Kind> Default for IndexSet<Kind> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Kind> FromIterator<u32> for IndexSet<Kind> {
    fn from_iter<I: IntoIterator<Item = u32>>(indexes: I) -> Self {
        Self { members: indexes.into_iter().collect(), kind: PhantomData }
    }
}

impl<Kind> Extend<u32> for IndexSet<Kind> {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, indexes: I) {
        self.members.extend(indexes);
    }
}

impl<Kind> fmt::Display for IndexSet<Kind> {
    /// The list syntax: ascending, neighbours joined (`0-3,8`); empty for the empty set.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut members = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = members.next() {
            let mut last = first;
            while let Some(next) = members.next_if(|&next| last.checked_add(1) == Some(next)) {
                last = next;
            }
            if first == last {
                write!(out, "{separator}{first}")?;
            } else {
                write!(out, "{separator}{first}-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl<Kind> fmt::Debug for IndexSet<Kind> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{{{self}}}")
    }
}

impl<Kind> FromStr for IndexSet<Kind> {
    type Err = IndexSetError;

    /// Reads the list syntax; blank text is the empty set, as in sysfs.
    fn from_str(list: &str) -> Result<Self, IndexSetError> {
        let mut ranges = Vec::new();
        let list = list.trim();
        if list.is_empty() {
            return Ok(Self::new());
        }
        for entry in list.split(',') {
            let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
            let first = parse_index(first, entry, list)?;
            let last = parse_index(last, entry, list)?;
            if last < first {
                return Err(IndexSetError::Backwards { entry: entry.into(), list: list.into() });
            }
            ranges.push((first, last));
        }
        Ok(merged(ranges).into_iter().flat_map(|(first, last)| first..=last).collect())
    }
}

/// The same ranges without overlap, so that a long list which names the same numbers again
/// and again takes no longer than its reading.
fn merged(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut apart: Vec<(u32, u32)> = Vec::new();
    for (first, last) in ranges {
        match apart.last_mut() {
            Some((_, end)) if first <= *end => *end = last.max(*end),
            _ => apart.push((first, last)),
        }
    }
    apart
}

fn parse_index(digits: &str, entry: &str, list: &str) -> Result<u32, IndexSetError> {
    let digits = digits.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(IndexSetError::NotARange { entry: entry.into(), list: list.into() });
    }
    match digits.parse::<u32>() {
        Ok(index) if index <= MAX_INDEX => Ok(index),
        _ => Err(IndexSetError::TooLarge { entry: entry.into(), list: list.into() }),
    }
}

impl<Kind> Serialize for IndexSet<Kind> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, Kind> Deserialize<'de> for IndexSet<Kind> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        list.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_syntax_reads_what_it_prints() {
        for list in ["", "0", "0-3", "0-3,8", "1,3,5-6,65535"] {
            let set: CpuSet = list.parse().unwrap();
            assert_eq!(set.to_string(), list);
        }
        assert_eq!("3,1,2,2-4\n".parse::<NodeSet>().unwrap().to_string(), "1-4");
    }

    /// A record can name any node in a case's coordinates.
    #[test]
    fn the_largest_number_is_printed() {
        let set: NodeSet = [u32::MAX, u32::MAX - 1, 3].into_iter().collect();
        assert_eq!(set.to_string(), "3,4294967294-4294967295");
    }

    #[test]
    fn ranges_may_overlap_in_any_order() {
        let read = |list: &str| list.parse::<CpuSet>().unwrap().to_string();
        assert_eq!(read("5-9,0-3,2-6,9,20,12-13,13"), "0-9,12-13,20");
        // Number by number this would be 13 billion insertions.
        assert_eq!(read("0-65535,".repeat(200_000).trim_end_matches(',')), "0-65535");
    }

    #[test]
    fn hostile_lists_are_refused() {
        for list in
            ["-1", "1-", "a", "0,,1", "4-2", "65536", "0-4294967295", "99999999999999", "0x1"]
        {
            assert!(list.parse::<CpuSet>().is_err(), "{list:?} was read");
        }
    }
}
