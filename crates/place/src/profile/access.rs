//! From looks to shares of accesses.

use std::collections::BTreeMap;

use nearfar_record::{AccessShares, PairShare, ProfileLook, ProfiledInitiator};

use crate::program_memory::shares;

/// The share of the threads' CPU time by initiator times the share of the pages by memory node,
/// look by look, each weighing what CPU time was used since the one before. Pages that were not
/// counted at a look are taken to be where they were before.
///
/// # Errors
/// Why there is none, in words.
pub(crate) fn access_shares(
    looks: &[ProfileLook],
    initiators: &[ProfiledInitiator],
) -> Result<AccessShares, String> {
    let mut cpu_time: BTreeMap<u32, f64> = BTreeMap::new();
    let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let mut pages: BTreeMap<u32, f64> = BTreeMap::new();
    let mut total = 0.0;
    let mut now: Option<BTreeMap<u32, f64>> = None;
    for look in looks {
        now = look.bytes.as_ref().and_then(shares).or(now);
        let Some(now) = &now else { continue };
        for (&initiator, &seconds) in &look.cpu_seconds {
            total += seconds;
            *cpu_time.entry(initiator).or_default() += seconds;
            for (&node, share) in now {
                *pairs.entry((initiator, node)).or_default() += seconds * share;
                *pages.entry(node).or_default() += seconds * share;
            }
        }
    }
    if now.is_none() {
        return Err("no look counted its pages".into());
    }
    if total <= 0.0 {
        return Err("it used no tick (10 ms) of CPU time between looks".into());
    }
    let is_local = |initiator: u32, node: u32| {
        initiators.iter().any(|it| it.index == initiator && it.memory_nodes.contains(&node))
    };
    let local: f64 = pairs
        .iter()
        .filter(|((initiator, node), _)| is_local(*initiator, *node))
        .map(|it| it.1)
        // A sum of nothing is -0.
        .fold(0.0, |sum, it| sum + it);
    let of_total = |sums: BTreeMap<u32, f64>| {
        sums.into_iter().map(|(key, sum)| (key, (sum / total).min(1.0))).collect()
    };
    Ok(AccessShares {
        local_share: (local / total).min(1.0),
        cpu_time: of_total(cpu_time),
        pages: of_total(pages),
        pairs: pairs
            .into_iter()
            .map(|((initiator, memory_node), sum)| PairShare {
                initiator,
                memory_node,
                share: (sum / total).min(1.0),
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(cpu: &[(u32, f64)], bytes: Option<&[(u32, u64)]>) -> ProfileLook {
        ProfileLook {
            at_seconds: 0.0,
            processes: 1,
            threads: 1,
            cpu_seconds: cpu.iter().copied().collect(),
            bytes: bytes.map(|bytes| bytes.iter().copied().collect()),
        }
    }

    fn initiators() -> [ProfiledInitiator; 2] {
        [0, 1].map(|index| ProfiledInitiator {
            index,
            cpus: "0".parse().unwrap(),
            cpu_node: Some(index),
            memory_nodes: vec![index, index + 2],
        })
    }

    #[test]
    fn shares_weigh_looks_by_cpu_time() {
        // 1 s on initiator 0 with a quarter of the pages on node 1; then 3 s, a third of them on
        // initiator 1, with all pages on node 1; then 1 s without counted pages.
        let looks = [
            look(&[(0, 1.0)], Some(&[(0, 300), (1, 100)])),
            look(&[(0, 2.0), (1, 1.0)], Some(&[(1, 400), (0, 0)])),
            look(&[(1, 1.0)], None),
        ];
        let found = access_shares(&looks, &initiators()).unwrap();
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-12, "{value}");
        near(found.cpu_time[&0], 3.0 / 5.0);
        near(found.pages[&0], 0.75 / 5.0);
        near(found.pages[&1], 4.25 / 5.0);
        let pair = |initiator, node| {
            let found =
                found.pairs.iter().find(|it| (it.initiator, it.memory_node) == (initiator, node));
            found.map(|it| it.share)
        };
        near(pair(0, 0).unwrap(), 0.75 / 5.0);
        near(pair(0, 1).unwrap(), 2.25 / 5.0);
        near(pair(1, 1).unwrap(), 2.0 / 5.0);
        assert_eq!(pair(1, 0), None);
        near(found.local_share, 2.75 / 5.0);
        near(found.pairs.iter().map(|it| it.share).sum(), 1.0);
    }

    #[test]
    fn memory_only_nodes_of_a_initiator_are_local_to_it() {
        let looks = [look(&[(1, 1.0)], Some(&[(3, 100)]))];
        let found = access_shares(&looks, &initiators()).unwrap();
        assert!((found.local_share - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_was_not_seen_is_no_share() {
        let why = |looks: &[ProfileLook]| access_shares(looks, &initiators()).unwrap_err();
        assert!(why(&[]).contains("no look counted"));
        assert!(why(&[look(&[(0, 1.0)], None)]).contains("no look counted"));
        assert!(why(&[look(&[], Some(&[(0, 1)]))]).contains("no tick"));
        assert!(why(&[look(&[(0, 0.0)], Some(&[(0, 0)]))]).contains("no look counted"));
    }
}
