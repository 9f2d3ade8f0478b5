//! Where the pages of a case's actors are, by the kernel's word.

use nearfar_machine::{Machine, MemoryPolicy};
use nearfar_record::{PLACED_FRACTION, PageNodes, PageSizes, ProofMethod, Reason, ReasonCode};
use nearfar_sys::{AddressRange, prove_part};
use nearfar_workloads::recorded_nodes;

/// Pages of one policy that are to be proven. Only addresses: nothing is borrowed, so that it can
/// be asked while threads have the memory.
#[derive(Debug, Clone)]
pub(super) struct PlacedArea {
    /// Of the arrays.
    pub range: AddressRange,
    /// Of the whole mapping that they are in.
    pub mapping: AddressRange,
    pub policy: MemoryPolicy,
    /// Threads that share the pages out.
    pub threads: u32,
    /// Sizes of the mapping's pages as they were when it was filled; `None` to ask anew.
    pub page_sizes: Option<PageSizes>,
}

/// An actor's pages that are to be proven.
#[derive(Debug, Clone, Default)]
pub(super) struct Placed {
    /// Of all its arrays, or of those that are read where the written one has a policy of its own.
    pub pages: Option<PlacedArea>,
    /// Of the written array where it has a policy of its own.
    pub written: Option<PlacedArea>,
}

/// Where an actor's pages were found, and how large they are.
#[derive(Debug, Clone)]
pub(super) struct Proven {
    pub pages: Option<PageNodes>,
    pub written: Option<PageNodes>,
    /// Of the whole mappings.
    pub page_sizes: PageSizes,
}

impl Placed {
    fn areas(&self) -> impl Iterator<Item = &PlacedArea> {
        self.pages.iter().chain(&self.written)
    }

    /// Asks where the pages are.
    ///
    /// # Errors
    /// When nothing can tell, or they are not where their policy puts them.
    pub fn prove(&self, machine: &Machine) -> Result<Proven, Reason> {
        let prove =
            |area: &Option<PlacedArea>| area.as_ref().map(|area| area.prove(machine)).transpose();
        let (pages, written) = (prove(&self.pages)?, prove(&self.written)?);
        let in_one = self.areas().map(|area| area.mapping).collect::<Vec<_>>();
        let in_one = in_one.windows(2).all(|pair| pair[0] == pair[1]);
        let sizes = match (&pages, &written) {
            (Some((_, sizes)), Some((_, others))) if !in_one => sum(*sizes, *others),
            (Some((_, sizes)), _) | (None, Some((_, sizes))) => *sizes,
            (None, None) => PageSizes { huge_bytes: None, resident_bytes: None },
        };
        Ok(Proven {
            pages: pages.map(|(nodes, _)| nodes),
            written: written.map(|(nodes, _)| nodes),
            page_sizes: sizes,
        })
    }
}

/// Page sizes as they stand in a record.
pub(super) fn recorded(sizes: Option<nearfar_sys::PageSizes>) -> PageSizes {
    PageSizes {
        huge_bytes: sizes.map(|sizes| sizes.huge_bytes),
        resident_bytes: sizes.map(|sizes| sizes.resident_bytes),
    }
}

fn sum(a: PageSizes, b: PageSizes) -> PageSizes {
    let sum = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    PageSizes {
        huge_bytes: sum(a.huge_bytes, b.huge_bytes),
        resident_bytes: sum(a.resident_bytes, b.resident_bytes),
    }
}

impl PlacedArea {
    fn prove(&self, machine: &Machine) -> Result<(PageNodes, PageSizes), Reason> {
        let asks_sizes = self.page_sizes.is_none();
        let found = prove_part(self.range, self.mapping, &machine.allowed_nodes, asks_sizes)
            .map_err(|refusal| Reason { code: ReasonCode::Unproven, text: refusal.to_string() })?;
        let unknown = found.nodes.unknown + self.absent(&found.nodes);
        let nodes = PageNodes { unknown, ..recorded_nodes(found.nodes) };
        self.judge(&nodes, machine)?;
        Ok((nodes, self.page_sizes.unwrap_or_else(|| recorded(found.sizes))))
    }

    /// Pages of the arrays that are not present.
    fn absent(&self, found: &nearfar_sys::PageNodes) -> u64 {
        let beyond = (self.mapping.bytes() - self.range.bytes()) as u64 / found.page_bytes;
        match found.method {
            // It counts whole mappings, and what threads do not use of one they do not touch.
            nearfar_sys::ProofMethod::NumaMaps if self.policy == MemoryPolicy::FirstTouch => {
                found.absent.saturating_sub(beyond)
            }
            _ => found.absent,
        }
    }

    /// Where whole mappings were counted, all pages elsewhere may be of these arrays: they must be
    /// few beside the arrays' own, not only beside the mapping's. `None` where they are, or where
    /// shares are judged.
    fn astray(&self, found: &PageNodes) -> Option<String> {
        let nodes = self.policy.nodes().filter(|nodes| nodes.len() == 1)?;
        if found.method != ProofMethod::NumaMaps {
            return None;
        }
        let elsewhere = found.pages.iter().filter(|&(&node, _)| !nodes.contains(node));
        let strays = elsewhere.map(|(_, &pages)| pages).sum::<u64>() + found.unknown;
        let own = (self.range.bytes() as u64).div_ceil(found.page_bytes);
        let placed = own.saturating_sub(strays) as f64 / own as f64;
        (placed < PLACED_FRACTION).then(|| {
            format!(
                "{strays} pages of a mapping are not on the node {nodes} of mem={}, and may be among \
                 the {own} of these arrays",
                self.policy
            )
        })
    }

    fn judge(&self, found: &PageNodes, machine: &Machine) -> Result<(), Reason> {
        let misplaced = found
            .misplacement(&self.policy, &machine.allowed_nodes, self.threads)
            .or_else(|| self.astray(found));
        misplaced.map_or(Ok(()), |what| {
            let counts: Vec<String> =
                found.pages.iter().map(|(node, pages)| format!("node {node}: {pages}")).collect();
            Err(Reason {
                code: ReasonCode::Misplaced,
                text: format!(
                    "{what} (pages of {} KiB: {}; not known: {}): the node may be full, its use \
                     forbidden meanwhile (cpuset), or the kernel migrates pages (sysctl \
                     kernel.numa_balancing)",
                    found.page_bytes / 1024,
                    counts.join(", "),
                    found.unknown
                ),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use nearfar_sys::{HUGE_PAGE_BYTES, Mapping, PageRequest};

    fn area(policy: &str, range: AddressRange) -> PlacedArea {
        PlacedArea {
            range,
            mapping: range,
            policy: policy.parse().unwrap(),
            threads: 1,
            page_sizes: None,
        }
    }

    fn pages(counts: &[(u32, u64)], unknown: u64) -> PageNodes {
        PageNodes {
            method: ProofMethod::MovePages,
            page_bytes: 4096,
            pages: counts.iter().copied().collect(),
            unknown,
        }
    }

    #[test]
    fn one_page_in_a_thousand_may_stray_and_no_more() {
        let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
        let area = area("preferred:1", AddressRange::new(0, 0));
        let judge = |counts: &[(u32, u64)], unknown| area.judge(&pages(counts, unknown), &machine);
        judge(&[(1, 1000)], 0).unwrap();
        judge(&[(0, 1), (1, 999)], 0).unwrap();
        for (counts, unknown) in [
            (&[(0, 2), (1, 998)][..], 0),
            (&[(1, 998)][..], 2),
            (&[(0, 1000)][..], 0),
            (&[][..], 0),
        ] {
            let reason = judge(counts, unknown).unwrap_err();
            assert_eq!(reason.code, ReasonCode::Misplaced);
            assert!(reason.text.contains("preferred:1"), "{}", reason.text);
            assert!(reason.text.contains("numa_balancing"), "{}", reason.text);
        }
    }

    /// Ten thousand pages are counted, of which a thousand are the arrays'.
    #[test]
    fn strays_of_a_mapping_are_held_against_the_arrays_own_pages() {
        let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
        let mapping = AddressRange::new(0, 10_000 * 4096);
        let judge = |method, policy: &str, strays: u64, unknown: u64| {
            let range = mapping.part(0, 1000 * 4096);
            let area = PlacedArea { mapping, ..area(policy, range) };
            let there = 10_000 - strays - unknown;
            let counts = pages(&[(0, strays), (1, there)], unknown);
            area.judge(&PageNodes { method, ..counts }, &machine).map_err(|reason| reason.text)
        };
        use ProofMethod::{MovePages, NumaMaps};
        for policy in ["preferred:1", "interleave:1"] {
            judge(NumaMaps, policy, 1, 0).unwrap();
            judge(NumaMaps, policy, 0, 1).unwrap();
            for (strays, unknown) in [(2, 0), (1, 1), (0, 2), (10, 0)] {
                let text = judge(NumaMaps, policy, strays, unknown).unwrap_err();
                assert!(text.contains("may be among the 1000"), "{text}");
                // Who counts the arrays' pages alone has no such doubt.
                judge(MovePages, policy, strays, unknown).unwrap();
            }
            let text = judge(NumaMaps, policy, 11, 0).unwrap_err();
            assert!(text.contains("% of the pages"), "{text}");
        }
    }

    #[test]
    fn pages_that_nobody_touched_prove_nothing() {
        let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
        let mut mapping = Mapping::new(4 * HUGE_PAGE_BYTES, PageRequest::Small).unwrap();
        let placed = Placed { pages: Some(area("first-touch", (&mapping).into())), written: None };
        assert_eq!(placed.prove(&machine).unwrap_err().code, ReasonCode::Misplaced);
        mapping.as_f64_mut().fill(1.0);
        let found = placed.prove(&machine).unwrap();
        assert_eq!(found.page_sizes.resident_bytes, Some(mapping.bytes() as u64));
        assert_eq!(found.pages.unwrap().unknown, 0);
        assert!(found.written.is_none());
    }

    #[test]
    fn one_mapping_with_two_areas_is_counted_once() {
        let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
        let mut mappings: Vec<Mapping> =
            (0..2).map(|_| Mapping::new(HUGE_PAGE_BYTES, PageRequest::Small).unwrap()).collect();
        mappings.iter_mut().for_each(|mapping| mapping.as_f64_mut().fill(1.0));
        let part = |mapping: &Mapping, half: usize| PlacedArea {
            range: AddressRange::from(mapping).part(half << 20, 1 << 20),
            ..area("first-touch", mapping.into())
        };
        let resident = |pages: PlacedArea, written: PlacedArea| {
            let placed = Placed { pages: Some(pages), written: Some(written) };
            let found = placed.prove(&machine).unwrap();
            for nodes in [found.pages.unwrap(), found.written.unwrap()] {
                assert_eq!(nodes.pages.values().sum::<u64>() * nodes.page_bytes, 1 << 20);
            }
            found.page_sizes.resident_bytes.unwrap()
        };
        assert_eq!(resident(part(&mappings[0], 0), part(&mappings[0], 1)), 2 << 20);
        assert_eq!(resident(part(&mappings[0], 0), part(&mappings[1], 1)), 4 << 20);
    }
}
