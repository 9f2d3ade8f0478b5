//! Where pages really go, on every node of the machine that runs the test: exact
//! counts, by every method of proof. On one node it checks that node; lab guests
//! have more.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]
#![expect(clippy::print_stdout, reason = "shown with --nocapture: what was seen on this machine")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nearfar_machine::{CpuSet, MemoryPolicy, NodeSet};
use nearfar_sys::{
    AddressRange, HUGE_PAGE_BYTES, Mapping, PageNodes, PageRequest, ProofMethod, Refusal,
    achieved_page_sizes, base_page_bytes, bind_range, move_pages, pin_thread, prove, prove_part,
    prove_with, thread_cpus, usable_nodes,
};

const HUGE: usize = HUGE_PAGE_BYTES;

fn nodes() -> NodeSet {
    let nodes = usable_nodes(Path::new("/")).unwrap();
    assert!(!nodes.is_empty());
    println!("nodes with memory: {nodes}");
    nodes
}

/// The answers of all methods, which must agree with move_pages to the byte.
fn agreed(mapping: &Mapping) -> PageNodes {
    let allowed = nodes();
    let exact = prove_with(ProofMethod::MovePages, mapping, &allowed).unwrap();
    for method in ProofMethod::ALL {
        if method == ProofMethod::OneAllowedNode && allowed.len() > 1 {
            assert!(prove_with(method, mapping, &allowed).is_err());
            continue;
        }
        let found = prove_with(method, mapping, &allowed).unwrap();
        assert_eq!(found.method, method);
        assert_eq!(found.unknown, 0);
        assert_eq!(bytes(&found), bytes(&exact), "{method} against move_pages");
        assert_eq!(found.absent * found.page_bytes, exact.absent * exact.page_bytes, "{method}");
    }
    assert_eq!(prove(mapping, &allowed).unwrap(), exact);
    exact
}

fn bytes(found: &PageNodes) -> BTreeMap<u32, u64> {
    found.nodes.iter().map(|(&node, &pages)| (node, pages * found.page_bytes)).collect()
}

fn placed(size: usize, request: PageRequest, policy: &MemoryPolicy) -> BTreeMap<u32, u64> {
    let mut mapping = Mapping::new(size, request).unwrap();
    assert_eq!(mapping.bytes(), size);
    bind_range(&mapping, policy).unwrap();
    mapping.as_f64_mut().fill(1.25);
    let found = agreed(&mapping);
    assert_eq!(found.absent, 0);
    if request == PageRequest::Huge2M {
        assert_eq!(achieved_page_sizes(&mapping).unwrap().huge_bytes, size as u64);
    }
    println!("{policy} {request:?}: {:?}", bytes(&found));
    bytes(&found)
}

#[test]
fn bind_and_preferred_put_every_page_on_the_node() {
    let size = 2 * HUGE;
    for node in nodes().iter() {
        for request in [PageRequest::Small, PageRequest::Transparent] {
            let expected = BTreeMap::from([(node, size as u64)]);
            let bind = MemoryPolicy::Bind(NodeSet::single(node));
            assert_eq!(placed(size, request, &bind), expected);
            assert_eq!(placed(size, request, &MemoryPolicy::Preferred(node)), expected);
        }
    }
}

#[test]
fn pool_pages_go_to_the_node_where_it_has_some() {
    for node in nodes().iter() {
        let path = format!(
            "/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/free_hugepages"
        );
        let free = fs::read_to_string(path).map_or(0, |text| text.trim().parse().unwrap());
        if free < 2 {
            println!("node {node} has {free} free huge pages: two are needed");
            continue;
        }
        let bind = MemoryPolicy::Bind(NodeSet::single(node));
        let expected = BTreeMap::from([(node, 2 * HUGE as u64)]);
        assert_eq!(placed(2 * HUGE, PageRequest::Huge2M, &bind), expected);
    }
}

#[test]
fn interleave_puts_as_many_pages_on_each_node() {
    let nodes = nodes();
    let policy = MemoryPolicy::Interleave(nodes.clone());
    for (request, share) in
        [(PageRequest::Small, 100 * base_page_bytes()), (PageRequest::Transparent, 2 * HUGE)]
    {
        let expected = nodes.iter().map(|node| (node, share as u64)).collect();
        assert_eq!(placed(nodes.len() * share, request, &policy), expected);
    }
}

#[test]
fn interleaved_slices_cut_at_any_page_are_even_within_one_page_per_node() {
    let nodes = nodes();
    let page = base_page_bytes();
    let mut mapping = Mapping::new(103 * page, PageRequest::Small).unwrap();
    bind_range(&mapping, &MemoryPolicy::Interleave(nodes.clone())).unwrap();
    mapping.as_f64_mut().fill(1.25);
    let whole = AddressRange::from(&mapping);
    for (first, count) in [(0, 103), (1, 50), (51, 52), (3, 1)] {
        let slice = whole.part(first * page, count * page);
        for method in [ProofMethod::MovePages, ProofMethod::GetMempolicy] {
            let found = prove_with(method, slice, &nodes).unwrap();
            assert_eq!(found.pages(), count as u64);
            let least = (count / nodes.len()) as u64;
            let even = |node| (least..=least + 1).contains(&found.on(node));
            assert!(nodes.iter().all(even), "{method}: {found:?}");
        }
    }
}

#[test]
fn weighted_interleave_follows_the_weights_of_the_system() {
    let nodes = nodes();
    let weights: Option<BTreeMap<u32, u32>> = nodes
        .iter()
        .map(|node| {
            let path = format!("/sys/kernel/mm/mempolicy/weighted_interleave/node{node}");
            Some((node, fs::read_to_string(path).ok()?.trim().parse().unwrap()))
        })
        .collect();
    let Some(weights) = weights else {
        // Before Linux 6.9: the call must say so.
        let mapping = Mapping::new(HUGE, PageRequest::Small).unwrap();
        let weights = nodes.iter().map(|node| (node, 1)).collect();
        let refusal = bind_range(&mapping, &MemoryPolicy::Weighted(weights)).unwrap_err();
        assert!(refusal.to_string().contains("Linux 6.9"), "{refusal}");
        return;
    };
    let turns = 20;
    let page = base_page_bytes();
    let pages: u32 = weights.values().sum();
    let size = turns * pages as usize * page;
    let expected: BTreeMap<u32, u64> = weights
        .iter()
        .map(|(&node, &weight)| (node, turns as u64 * u64::from(weight) * page as u64))
        .collect();
    assert_eq!(placed(size, PageRequest::Small, &MemoryPolicy::Weighted(weights)), expected);
}

#[test]
fn first_touch_follows_the_thread() {
    let allowed = thread_cpus().unwrap();
    for node in nodes().iter() {
        let path = format!("/sys/devices/system/node/node{node}/cpulist");
        let cpus: CpuSet = fs::read_to_string(path).unwrap().parse().unwrap();
        let Some(cpu) = cpus.intersection(&allowed).first() else {
            println!("node {node} has no CPU to touch from");
            continue;
        };
        std::thread::spawn(move || {
            pin_thread(&CpuSet::single(cpu)).unwrap();
            let expected = BTreeMap::from([(node, HUGE as u64)]);
            assert_eq!(placed(HUGE, PageRequest::Small, &MemoryPolicy::FirstTouch), expected);
        })
        .join()
        .unwrap();
    }
}

#[test]
fn dropped_pages_are_placed_anew_and_present_ones_stay() {
    let nodes = nodes();
    let (first, last) = (nodes.first().unwrap(), nodes.last().unwrap());
    let mut mapping = Mapping::new(HUGE, PageRequest::Small).unwrap();
    let size = mapping.bytes() as u64;
    bind_range(&mapping, &MemoryPolicy::Preferred(first)).unwrap();
    mapping.as_f64_mut().fill(1.0);
    bind_range(&mapping, &MemoryPolicy::Preferred(last)).unwrap();
    mapping.as_f64_mut().fill(2.0);
    assert_eq!(bytes(&agreed(&mapping)), BTreeMap::from([(first, size)]));
    mapping.drop_pages().unwrap();
    assert!(agreed(&mapping).nodes.is_empty());
    mapping.as_f64_mut().fill(3.0);
    assert_eq!(bytes(&agreed(&mapping)), BTreeMap::from([(last, size)]));
}

#[test]
fn methods_agree_on_absent_pages() {
    let page = base_page_bytes();
    let mut mapping = Mapping::new(64 * page, PageRequest::Small).unwrap();
    let per_page = page / size_of::<f64>();
    for number in (0..64).filter(|number| number % 3 == 0) {
        mapping.as_f64_mut()[number * per_page] = 1.0;
    }
    let found = agreed(&mapping);
    assert_eq!((found.pages() - found.absent, found.absent), (22, 42));
    // Asking must not have made pages present.
    assert_eq!(agreed(&mapping), found);

    let mut large = Mapping::new(4 * HUGE, PageRequest::Transparent).unwrap();
    large.as_f64_mut()[HUGE / size_of::<f64>()] = 1.0;
    let present = achieved_page_sizes(&large).unwrap().resident_bytes;
    let found = agreed(&large);
    assert_eq!(bytes(&found).values().sum::<u64>(), present);
}

#[test]
fn zero_page_is_not_memory() {
    let mapping = Mapping::new(16 * base_page_bytes(), PageRequest::Small).unwrap();
    assert!(mapping.as_f64().iter().all(|number| number.to_bits() == 0));
    let found = prove_with(ProofMethod::MovePages, &mapping, &nodes()).unwrap();
    assert_eq!((found.nodes.len(), found.unknown), (0, 16), "{found:?}");
    let listed = prove_with(ProofMethod::NumaMaps, &mapping, &nodes()).unwrap();
    assert_eq!((listed.nodes.len(), listed.absent), (0, 16), "{listed:?}");
}

#[test]
fn neighbouring_mappings_are_told_apart() {
    let mut mappings: Vec<Mapping> =
        (0..4).map(|_| Mapping::new(HUGE, PageRequest::Small).unwrap()).collect();
    mappings[1].as_f64_mut().fill(1.0);
    for (number, mapping) in mappings.iter().enumerate() {
        let found = agreed(mapping);
        assert_eq!(found.absent == 0, number == 1, "mapping {number}: {found:?}");
    }
}

#[test]
fn ranges_that_are_not_mapped_prove_nothing() {
    // Below vm.mmap_min_addr: no thread of this test maps anything there meanwhile.
    let nowhere = AddressRange::new(base_page_bytes(), base_page_bytes());
    let found = prove_with(ProofMethod::MovePages, nowhere, &nodes()).unwrap();
    assert_eq!((found.nodes.len(), found.unknown), (0, 1), "{found:?}");
    for method in [ProofMethod::GetMempolicy, ProofMethod::NumaMaps, ProofMethod::OneAllowedNode] {
        let refusal = prove_with(method, nowhere, &nodes()).unwrap_err();
        assert!(!matches!(refusal, Refusal::Unproven { .. }), "{method}: {refusal}");
    }
}

#[test]
fn page_sizes_are_those_asked_for_where_the_kernel_has_them() {
    let mut small = Mapping::new(4 * HUGE, PageRequest::Small).unwrap();
    small.as_f64_mut().fill(1.0);
    let sizes = achieved_page_sizes(&small).unwrap();
    assert_eq!((sizes.base_bytes, sizes.huge_bytes), (small.bytes() as u64, 0));

    let mut large = Mapping::new(16 * HUGE, PageRequest::Transparent).unwrap();
    large.as_f64_mut().fill(1.0);
    let sizes = achieved_page_sizes(&large).unwrap();
    assert_eq!(sizes.resident_bytes, large.bytes() as u64);
    let setting = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let possible = setting.is_ok_and(|setting| !setting.contains("[never]"));
    assert_eq!(sizes.huge_bytes > 0, possible, "{sizes:?}");
    println!("transparent: {sizes:?}");
}

#[test]
fn parts_are_asked_about_by_huge_pages_where_all_is_in_huge_pages() {
    let nodes = nodes();
    let mut mapping = Mapping::new(4 * HUGE, PageRequest::Transparent).unwrap();
    bind_range(&mapping, &MemoryPolicy::Interleave(nodes.clone())).unwrap();
    let part = AddressRange::from(&mapping).part(HUGE, 2 * HUGE);
    for filled in [2 * HUGE, 4 * HUGE] {
        mapping.as_f64_mut()[..filled / size_of::<f64>()].fill(1.0);
        let found = prove_part(part, (&mapping).into(), &nodes, true).unwrap();
        let sizes = found.sizes.unwrap();
        let all_huge = sizes.huge_bytes == 4 * HUGE as u64;
        let page_bytes = if all_huge { HUGE } else { base_page_bytes() };
        assert_eq!(found.nodes.page_bytes, page_bytes as u64, "{sizes:?}");
        assert_eq!(found.nodes.pages() * found.nodes.page_bytes, 2 * HUGE as u64);
        let exact = prove_part(part, (&mapping).into(), &nodes, false).unwrap();
        assert_eq!((exact.nodes.page_bytes, exact.sizes), (base_page_bytes() as u64, None));
        assert_eq!(bytes(&found.nodes), bytes(&exact.nodes));
        println!("{} bytes filled: {found:?}", filled);
    }
}

#[test]
fn pages_of_every_size_move_where_they_are_sent() {
    let nodes: Vec<u32> = nodes().iter().collect();
    for (request, page_bytes) in
        [(PageRequest::Small, base_page_bytes()), (PageRequest::Transparent, HUGE)]
    {
        let mut mapping = Mapping::new(4 * nodes.len() * HUGE, request).unwrap();
        mapping.as_f64_mut().fill(3.0);
        let sizes = achieved_page_sizes(&mapping).unwrap();
        if page_bytes == HUGE && sizes.huge_bytes < mapping.bytes() as u64 {
            println!("not all in huge pages: {sizes:?}");
            continue;
        }
        let node_of = |page: usize| nodes[page % nodes.len()];
        let moved = move_pages((&mapping).into(), page_bytes, node_of).unwrap();
        assert_eq!(moved.left(), 0, "{moved:?}");
        assert_eq!(moved.pages() * page_bytes as u64, mapping.bytes() as u64);
        let expected = nodes.iter().map(|&node| (node, 4 * HUGE as u64)).collect();
        assert_eq!(bytes(&agreed(&mapping)), expected, "{request:?}");
        assert!(mapping.as_f64().iter().all(|number| number.to_bits() == 3.0_f64.to_bits()));
        println!("{request:?}: {moved:?}");
    }
}
