//! Sets of the kernel's numbers for CPUs and NUMA nodes, and their list syntax
//! (`0-3,8`): the one the kernel prints in sysfs and `taskset -c` reads.

use std::cmp::Ordering;
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

/// Marks a set of groups of CPUs' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuGroups {}

/// CPU numbers as the kernel gives them.
pub type CpuSet = IndexSet<Cpus>;
/// NUMA node numbers as the kernel gives them.
pub type NodeSet = IndexSet<Nodes>;
/// Groups of CPUs by their numbers.
pub type CpuGroupSet = IndexSet<CpuGroups>;

/// An ordered set of operating-system numbers of one kind; a set of CPUs cannot
/// be passed where nodes are asked for.
///
/// A machine may have thousands of CPUs, and a plan has sets of them in every case: what is kept
/// are ranges.
#[derive(Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(inline, with = "String", bound = "", description = "A list such as `0-3,8`."),
    schemars(extend("pattern" = "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$"))
)]
pub struct IndexSet<Kind> {
    /// First and last members of ranges, ascending; between two of them is at least one number.
    ranges: Vec<(u32, u32)>,
    kind: PhantomData<Kind>,
}

/// Why a list of numbers could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' in the list '{}' {wrong}", excerpt(entry), excerpt(list))]
pub struct IndexSetError {
    entry: String,
    list: String,
    wrong: String,
}

impl IndexSetError {
    fn new(entry: &str, list: &str, wrong: impl Into<String>) -> Self {
        Self { entry: entry.into(), list: list.into(), wrong: wrong.into() }
    }
}

impl<Kind> IndexSet<Kind> {
    /// The empty set.
    pub const fn new() -> Self {
        Self { ranges: Vec::new(), kind: PhantomData }
    }

    /// The set with one member.
    pub fn single(index: u32) -> Self {
        Self { ranges: vec![(index, index)], kind: PhantomData }
    }

    /// The members of ranges in any order.
    fn of_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut apart: Vec<(u32, u32)> = Vec::with_capacity(ranges.len().min(4));
        for (first, last) in ranges {
            match apart.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => apart.push((first, last)),
            }
        }
        Self { ranges: apart, kind: PhantomData }
    }

    /// Adds a member; says whether it was new.
    pub fn insert(&mut self, index: u32) -> bool {
        let at = self.ranges.partition_point(|&(_, last)| last < index);
        if self.ranges.get(at).is_some_and(|&(first, _)| first <= index) {
            return false;
        }
        let joins_before = at > 0 && self.ranges[at - 1].1 + 1 == index;
        let joins_after = self.ranges.get(at).is_some_and(|&(first, _)| first - 1 == index);
        match (joins_before, joins_after) {
            (true, true) => self.ranges[at - 1].1 = self.ranges.remove(at).1,
            (true, false) => self.ranges[at - 1].1 = index,
            (false, true) => self.ranges[at].0 = index,
            (false, false) => self.ranges.insert(at, (index, index)),
        }
        true
    }

    /// Whether `index` is a member.
    pub fn contains(&self, index: u32) -> bool {
        let at = self.ranges.partition_point(|&(_, last)| last < index);
        self.ranges.get(at).is_some_and(|&(first, _)| first <= index)
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.ranges.iter().map(|&(first, last)| (last - first) as usize + 1).sum()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The smallest member.
    pub fn first(&self) -> Option<u32> {
        self.ranges.first().map(|&(first, _)| first)
    }

    /// The largest member.
    pub fn last(&self) -> Option<u32> {
        self.ranges.last().map(|&(_, last)| last)
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|&(first, last)| first..=last)
    }

    /// Members of both, range by range.
    fn common(&self, other: &Self) -> impl Iterator<Item = (u32, u32)> {
        let (mut own, mut others) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        std::iter::from_fn(move || {
            loop {
                let (&&(a_first, a_last), &&(b_first, b_last)) = (own.peek()?, others.peek()?);
                if a_last <= b_last {
                    own.next()
                } else {
                    others.next()
                };
                let (first, last) = (a_first.max(b_first), a_last.min(b_last));
                if first <= last {
                    return Some((first, last));
                }
            }
        })
    }

    /// Members of both.
    pub fn intersection(&self, other: &Self) -> Self {
        Self { ranges: self.common(other).collect(), kind: PhantomData }
    }

    /// Members of either.
    pub fn union(&self, other: &Self) -> Self {
        Self::of_ranges(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    /// Members of this set that are not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let mut taken = self.common(other).peekable();
        for &(mut first, last) in &self.ranges {
            let mut is_left = true;
            while let Some((from, to)) = taken.next_if(|&(from, _)| from <= last) {
                if first < from {
                    ranges.push((first, from - 1));
                }
                is_left = to < last;
                first = to.saturating_add(1);
            }
            if is_left {
                ranges.push((first, last));
            }
        }
        Self { ranges, kind: PhantomData }
    }

    /// Whether every member is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.common(other).eq(self.ranges.iter().copied())
    }

    /// Whether the two share a member.
    pub fn intersects(&self, other: &Self) -> bool {
        self.common(other).next().is_some()
    }
}

/// By the members, the first difference deciding.
impl<Kind: Eq> Ord for IndexSet<Kind> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.ranges == other.ranges { Ordering::Equal } else { self.iter().cmp(other.iter()) }
    }
}

impl<Kind: Eq> PartialOrd for IndexSet<Kind> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Kind> Default for IndexSet<Kind> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Kind> FromIterator<u32> for IndexSet<Kind> {
    fn from_iter<I: IntoIterator<Item = u32>>(indexes: I) -> Self {
        Self::of_ranges(indexes.into_iter().map(|index| (index, index)).collect())
    }
}

impl<Kind> Extend<u32> for IndexSet<Kind> {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, indexes: I) {
        let more: Self = indexes.into_iter().collect();
        *self = self.union(&more);
    }
}

impl<Kind> fmt::Display for IndexSet<Kind> {
    /// The list syntax: ascending, neighbours joined (`0-3,8`); empty for the empty set.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for &(first, last) in &self.ranges {
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
                return Err(IndexSetError::new(entry, list, "runs backwards"));
            }
            ranges.push((first, last));
        }
        Ok(Self::of_ranges(ranges))
    }
}

fn parse_index(digits: &str, entry: &str, list: &str) -> Result<u32, IndexSetError> {
    let digits = digits.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let wrong = "is neither a number nor a range such as 0-3";
        return Err(IndexSetError::new(entry, list, wrong));
    }
    match digits.parse::<u32>() {
        Ok(index) if index <= MAX_INDEX => Ok(index),
        _ => {
            let wrong = format!("is above {MAX_INDEX}, the largest number accepted");
            Err(IndexSetError::new(entry, list, wrong))
        }
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
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn list_syntax_reads_what_it_prints() {
        for list in ["", "0", "0-3", "0-3,8", "1,3,5-6,65535"] {
            let set: CpuSet = list.parse().unwrap();
            assert_eq!(set.to_string(), list);
        }
        assert_eq!("3,1,2,2-4\n".parse::<NodeSet>().unwrap().to_string(), "1-4");
    }

    proptest::proptest! {
        /// Whatever is kept, it is the set of its members.
        #[test]
        fn ranges_are_the_set_of_their_members(
            ours in proptest::collection::vec(0_u32..24, 0..24),
            theirs in proptest::collection::vec(0_u32..24, 0..24),
        ) {
            let sets = |members: &[u32]| -> (BTreeSet<u32>, CpuSet) {
                let mut inserted = CpuSet::new();
                let mut known = BTreeSet::new();
                for &member in members {
                    assert_eq!(inserted.insert(member), known.insert(member));
                }
                assert_eq!(inserted, members.iter().copied().collect());
                (known, inserted)
            };
            let ((a, our), (b, their)) = (sets(&ours), sets(&theirs));
            let listed = |set: &CpuSet| set.iter().collect::<Vec<_>>();
            let members = |set: BTreeSet<u32>| set.into_iter().collect::<Vec<_>>();
            assert_eq!(listed(&our), members(a.clone()));
            assert!(our.iter().rev().eq(a.iter().rev().copied()));
            assert_eq!((our.len(), our.first(), our.last()), (a.len(), a.first().copied(), a.last().copied()));
            assert_eq!(listed(&our.intersection(&their)), members(&a & &b));
            assert_eq!(listed(&our.union(&their)), members(&a | &b));
            assert_eq!(listed(&our.difference(&their)), members(&a - &b));
            assert_eq!(our.is_subset(&their), a.is_subset(&b));
            assert_eq!(our.intersects(&their), !a.is_disjoint(&b));
            assert_eq!(our.cmp(&their), a.cmp(&b));
            assert!((0..24).all(|member| our.contains(member) == a.contains(&member)));
            for made in [our.intersection(&their), our.union(&their), our.difference(&their)] {
                assert_eq!(made, listed(&made).into_iter().collect());
                assert_eq!(made.to_string().parse(), Ok(made));
            }
            let mut extended = our.clone();
            extended.extend(theirs.iter().copied());
            assert_eq!(extended, our.union(&their));
        }
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
