//! Streams whose sets caches hold.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Actor, ReasonCode, Roof, Stream};

use crate::single_case::{
    GIGA, MIB, assert_close, at_roof, machine, on_memory, rate, rates, stream, window,
};

fn set(cpus: &[u32], working_set_bytes: u64) -> Stream {
    Stream { working_set_bytes, ..stream("load", cpus, MemoryPolicy::Preferred(0)) }
}

#[test]
fn each_level_gives_what_the_file_says() {
    let machine = machine();
    let all = [0, 1, 2, 3];
    for (level, bytes, of_one, of_all) in
        [(1, MIB / 64, 120.0, 480.0), (2, MIB / 8, 60.0, 240.0), (3, MIB, 30.0, 80.0)]
    {
        let rate = |cpus: &[u32]| {
            let bytes = bytes * cpus.len() as u64;
            rates(&machine, &at_roof(Roof::Cache { level }, Actor::Stream(set(cpus, bytes))))[0]
        };
        assert_close(rate(&all[..1]), of_one * GIGA);
        assert_close(rate(&all), of_all * GIGA);
    }
}

/// A placement check with a tiny --working-set asks where pages lie.
#[test]
fn a_case_on_memory_is_answered_by_memory() {
    let machine = machine();
    let large = rate(&machine, stream("load", &[0], MemoryPolicy::Preferred(0)));
    assert_close(rate(&machine, set(&[0], MIB / 64)), large);
    let of_node = at_roof(Roof::Memory { node: 0 }, Actor::Stream(set(&[0], MIB / 64)));
    assert_close(rates(&machine, &of_node)[0], large);
}

#[test]
fn the_clock_is_looked_at_where_the_core_decides() {
    let machine = machine();
    let ghz = |case| window(&machine, &case).unwrap().actors[0].threads[0].core_ghz;
    let actor = Actor::Stream(set(&[0], MIB / 64));
    assert_eq!(ghz(at_roof(Roof::Cache { level: 1 }, actor.clone())), Some(2.0));
    assert_eq!(ghz(on_memory(vec![actor])), None);
}

#[test]
fn a_cache_of_which_the_file_says_nothing_is_refused() {
    let bare = crate::support::machine(1, "");
    let mut held = set(&[0], MIB);
    held.variant = "avx512".into();
    let case = at_roof(Roof::Cache { level: 3 }, Actor::Stream(held));
    let reason = window(&bare, &case).unwrap_err();
    assert_eq!(reason.code, ReasonCode::NotSimulated);
    assert!(reason.text.contains("[[roof]]") && reason.text.contains("level 3"), "{}", reason.text);
}
