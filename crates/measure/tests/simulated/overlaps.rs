//! Loads and non-temporal stores over a fast and a slow memory (denoyelle2019, equation 5).

use std::collections::BTreeMap;

use nearfar_machine::MemoryPolicy;
use nearfar_record::Stream;

use crate::single_case::{GIGA, assert_close, machine, rate, stream};

const CORES: [u32; 4] = [0, 1, 2, 3];

fn split(fast: u32, slow: u32) -> MemoryPolicy {
    MemoryPolicy::Weighted(BTreeMap::from([(0, fast), (2, slow)]))
}

fn mix(kernel: &str, reads: MemoryPolicy, writes: Option<MemoryPolicy>) -> Stream {
    Stream { write_memory: writes, ..stream(kernel, &CORES, reads) }
}

#[test]
fn one_kind_alone_gets_its_rate() {
    let machine = machine();
    for (kernel, node, wanted) in
        [("1l", 0, 30.0), ("1nt", 0, 20.0), ("1l", 2, 15.0), ("1nt", 2, 10.0)]
    {
        let found = rate(&machine, mix(kernel, MemoryPolicy::Preferred(node), None));
        assert_close(found, wanted * GIGA);
    }
}

#[test]
fn what_overlaps_takes_less_than_the_sum() {
    let machine = machine();
    // On the fast memory: two loads take 2 / 30, longer than the store.
    let found = rate(&machine, mix("2l1nt", MemoryPolicy::Preferred(0), None));
    assert_close(found, 3.0 * GIGA / (2.0 / 30.0 + 0.5 * 1.0 / 20.0));
    // Half the loads on either: 1.5 / 15 on the slow one, 1.5 / 30 beside it.
    let found = rate(&machine, mix("1l", split(1, 1), None));
    assert_close(found, 3.0 * GIGA / (0.1 + 0.6 * 0.05));
    // Reads of the fast, writes to the slow memory, faster than the longer of the two alone.
    let reads = MemoryPolicy::Preferred(0);
    let found = rate(&machine, mix("6l1nt", reads, Some(MemoryPolicy::Preferred(2))));
    assert_close(found, 7.0 * GIGA / (0.2 - 0.1 * 0.1));
    // All four kinds.
    let found = rate(&machine, mix("4l4nt", split(3, 1), Some(split(1, 3))));
    let times = [3.0 / 30.0, 1.0 / 20.0, 1.0 / 15.0, 3.0 / 10.0];
    let seconds = times[3] + 0.1 * times[0] + 0.2 * times[1] + 0.3 * times[2];
    assert_close(found, 8.0 * GIGA / seconds);
}

/// Other loads share the capacities of the machine: as without such an entry.
#[test]
fn other_streams_are_not_of_that_model() {
    let machine = machine();
    let local = MemoryPolicy::Preferred(0);
    let loads = |cpus: &[u32]| rate(&machine, stream("1l", cpus, local.clone()));
    assert_close(loads(&CORES[..3]), rate(&machine, stream("load", &CORES[..3], local.clone())));
    let remote = |kernel| rate(&machine, stream(kernel, &CORES, MemoryPolicy::Preferred(1)));
    assert_close(remote("1l"), remote("load"));
    let ordinary = rate(&machine, mix("1s", local.clone(), None));
    assert_close(ordinary, rate(&machine, mix("store", local, None)));
}
