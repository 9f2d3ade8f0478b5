//! The tables of a machine file beside its bandwidths: caches, arithmetic, latency, hybrid
//! memory, pressure, curves.

#![expect(clippy::float_cmp, reason = "what a file says is kept to the last bit")]

use nearfar_flow::{FlowError, KernelLoad, Load, SimulatedMachine, Translation, parse_machine};

use crate::{assert_close, assert_refused, lone, on, rates};

/// Two nodes of four cores with second threads; node 5 is near both.
const SMALL: &str = r#"
name = "small"
title = "two nodes of four cores"
core_ghz = 2
threads_per_core = 2
variants = ["wide", "narrow"]
node = [
    { cores = 4, package = 0 },
    { cores = 4, package = 1 },
    { number = 5, kind = "hbm", near = [0] },
]
[cache]
l1 = "32 KiB"
l3 = "1 MiB"
[kernels]
load = 1.25
store = 0.5
store_nt = { factor = 0.8, variants = ["wide"] }
[[bandwidth]]
one_thread = 4
all_threads = 10
"#;

fn small(more: &str) -> Result<SimulatedMachine, FlowError> {
    parse_machine("small.toml", &format!("{SMALL}\n{more}"))
}

fn triad(load: Load) -> KernelLoad {
    KernelLoad::new("triad", "wide", load)
}

/// What triads get together, GB/s.
fn triads(machine: &SimulatedMachine, loads: &[Load]) -> Vec<f64> {
    rates(machine, "triad", "wide", loads)
}

#[test]
fn what_is_not_said_is_not_answered() {
    let machine = small("").unwrap();
    assert_eq!(machine.core_ghz, Some(2.0));
    assert_eq!(machine.cache_rate(1, "load", "wide", 1), None);
    assert_eq!(machine.flop_rate("add_dp", "wide"), None);
    assert_eq!(machine.idle_latency_ns(0, 0), None);
    assert_eq!(machine.cache_latency_ns(1), None);
    assert_eq!(machine.latency.translation, None);
    assert_eq!(machine.overlap_pair(0, (0, 5)), None);
    assert_eq!(machine.noise.unbound_factor(4, 0.0), 1.0);
    let loads = [triad(on(0, 4, 0))];
    let rates = machine.rates(&loads).unwrap();
    assert_eq!(machine.wait_ns(0, 0, &loads, &rates), None);
    // Whatever the queue, nothing waits where nothing moves.
    assert_eq!(machine.wait_ns(0, 0, &[], &[]), Some(0.0));
    assert_eq!(machine.wait_ns(1, 1, &loads, &rates), Some(0.0));
}

#[test]
fn curves_are_given_back_and_cap_what_is_spread() {
    let more = "[[bandwidth]]\nrelation = \"local\"\n\
                threads = { \"1\" = 4, \"3\" = { wide = 11, narrow = 9 }, \"4\" = 10.5 }";
    for controller in ["", "\n[[controller]]\ngb_per_s = 13\n"] {
        let machine = small(&format!("{more}{controller}")).unwrap();
        for (threads, expected) in [(1, 4.0), (2, 7.5), (3, 11.0), (4, 10.5), (9, 10.5)] {
            assert_close(lone(&machine, on(0, threads, 0)), expected);
            // Two loads are as one with all their threads.
            if threads > 1 {
                let both = [on(0, 1, 0), on(0, threads - 1, 0)];
                assert_close(triads(&machine, &both).iter().sum(), expected);
            }
        }
        assert_close(rates(&machine, "triad", "narrow", &[on(0, 3, 0)])[0], 9.0);
        // Half of the bytes on either node: the path carries no more than it ever does.
        let spread = Load { initiator: 0, threads: 8, shares: vec![(0, 0.5), (1, 0.5)] };
        let half = lone(&machine, spread) / 2.0;
        assert!(half < 11.0 * 1.13, "{half}");
    }
    let flat = small("[[bandwidth]]\nthreads = { \"1\" = 4 }").unwrap();
    assert_close(lone(&flat, on(0, 4, 0)), 4.0);
    // Of the other pairs nothing changed.
    assert_close(lone(&small(more).unwrap(), on(0, 4, 1)), 10.0);
    for (threads, words) in [
        ("{}", ["bandwidth[1].threads", "1 thread"]),
        ("{ \"2\" = 4 }", ["bandwidth[1].threads", "1 thread"]),
        ("{ \"1\" = 4, \"2\" = 9 }", ["bandwidth[1].threads.2", "more than 2 times"]),
        ("{ \"01\" = 4 }", ["bandwidth[1].threads", "\"01\""]),
        ("{ \"0\" = 4 }", ["bandwidth[1].threads", "\"0\""]),
        ("{ \"9999\" = 4 }", ["bandwidth[1].threads", "8192"]),
        ("{ \"1\" = 0 }", ["bandwidth[1].threads.1", "0.001"]),
        ("{ \"1\" = { wide = 4 } }", ["bandwidth[1].threads.1", "narrow"]),
        ("{ \"1\" = 4 }\none_thread = 4", ["bandwidth[1].threads", "instead"]),
    ] {
        assert_refused(small(&format!("[[bandwidth]]\nthreads = {threads}")), &words);
    }
    let narrow =
        "[[controller]]\ngb_per_s = 10.9\n[[bandwidth]]\nthreads = { \"1\" = 4, \"3\" = 11 }";
    assert_refused(small(narrow), &["the most of its threads", "controller of 10.9"]);
    // The later entry prevails, whichever it is.
    let back = format!("{more}\n[[bandwidth]]\none_thread = 4\nall_threads = 10");
    assert_close(lone(&small(&back).unwrap(), on(0, 4, 0)), 10.0);
}

#[test]
fn interference_lowers_what_several_initiators_share_and_nothing_else() {
    let with = |share: f64| {
        small(&format!("[[controller]]\ngb_per_s = 12\ninterference = {share}")).unwrap()
    };
    let both = |machine: &SimulatedMachine| {
        triads(machine, &[on(0, 4, 0), on(1, 4, 0)]).iter().sum::<f64>()
    };
    let (none, some) = (with(0.0), with(0.1));
    for threads in [1, 4] {
        assert_eq!(lone(&none, on(1, threads, 0)), lone(&some, on(1, threads, 0)));
    }
    // Two equal initiators leave 1 / 1.1 of the capacity, which they nearly use up.
    let ratio = both(&some) / both(&none);
    assert!((0.905..0.93).contains(&ratio), "{ratio}");
    let odd = small("[[controller]]\ngb_per_s = 12\ninterference = -1");
    assert_refused(odd, &["interference", "0 to 1"]);
}

#[test]
fn pressure_slows_groups_that_meet_and_no_others() {
    let machine = small("[[pressure]]\nnodes = [0]\na = 0.4\nb = 0.2").unwrap();
    let together = |loads: &[Load]| triads(&machine, loads);
    assert_close(together(&[on(0, 4, 0)])[0], 10.0);
    let met = together(&[on(0, 4, 0), on(1, 4, 0)]);
    assert_close(met[0], 10.0 / 1.4);
    // Four threads of 4 GB/s each ask for 1.6 times what they reach.
    assert_close(met[1], 10.0 / (1.0 + 0.2 * 1.6));
    // Each on its own node, or both from one side.
    assert_close(together(&[on(0, 4, 0), on(1, 4, 1)])[1], 10.0);
    assert_close(together(&[on(1, 2, 0), on(1, 2, 0)]).iter().sum(), 10.0);
    // A tenth of the pages there, and a tenth of the time is slowed.
    let spread = Load { initiator: 1, threads: 1, shares: vec![(0, 0.1), (1, 0.9)] };
    let beside = together(&[on(0, 4, 0), spread.clone()]);
    let slowed = together(&[spread])[0] / beside[1];
    assert!(slowed > 1.0 && slowed < 1.01, "{slowed}");
    // A missing module scales what the node reaches.
    let fault = "[[fault]]\nkind = \"slow_memory\"\nnode = 0\nfactor = 0.5";
    let slow = small(&format!("[[pressure]]\nnodes = [0]\na = 0.4\nb = 0.2\n{fault}")).unwrap();
    assert_close(slow.capacities[0].pressure[0].local_best, 5e9);
    for (more, words) in [
        ("[[pressure]]\na = 1\nb = 1\nnodes = [3]", ["pressure[0].nodes", "3"]),
        ("[[pressure]]\na = -1\nb = 1", ["pressure[0].a", "0 to 10"]),
        ("[[pressure]]\na = 1\nb = nan", ["pressure[0].b", "NaN"]),
        ("[[pressure]]\na = 1", ["line", "`b`"]),
        (
            "[[controller]]\ngb_per_s = 99\n[[pressure]]\na = 1\nb = 1",
            ["pressure[0]", "controller"],
        ),
    ] {
        assert_refused(small(more), &words);
    }
    let lonely = "name = \"n\"\ntitle = \"t\"\nnode = [{ cores = 1 }]\n[[bandwidth]]\none_thread = 4\n\
                  [[pressure]]\na = 1\nb = 1";
    let refusal = parse_machine("x", lonely).unwrap_err().to_string();
    assert!(refusal.contains("no initiator is remote"), "{refusal}");
}

#[test]
fn threads_that_pause_get_what_they_ask_for_up_to_the_roof() {
    let machine = small("[[controller]]\ngb_per_s = 13").unwrap();
    let with = |kernel: &str, threads, most: f64| {
        let load = KernelLoad::new(kernel, "wide", on(0, threads, 0));
        KernelLoad { most_per_thread: Some(most * 1e9), ..load }
    };
    let together = |loads: &[KernelLoad]| -> Vec<f64> {
        machine.rates(loads).unwrap().iter().map(|rate| rate / 1e9).collect()
    };
    for kernel in ["triad", "load"] {
        for threads in [1, 2, 4] {
            let free = rates(&machine, kernel, "wide", &[on(0, threads, 0)])[0];
            for most in [1e-3, 0.5, 1.0, 2.0, 2.49, 2.5, 3.0, 5.0, 1e6] {
                let ours = together(&[with(kernel, threads, most)])[0];
                assert_close(ours, free.min(f64::from(threads) * most));
            }
        }
    }
    // One that asks for little leaves the others theirs, and loses little to them.
    let others = triad(on(1, 4, 0));
    let meek = together(&[with("triad", 4, 0.1), others.clone()]);
    let free = together(&[triad(on(0, 4, 0)), others]);
    assert!(meek[0] > 0.39 && meek[0] <= 0.4 && meek[1] > 1.3 * free[1], "{meek:?} {free:?}");
    for most in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refusal = machine.rates(&[with("triad", 1, most)]).unwrap_err();
        assert!(matches!(refusal, FlowError::Load(_)), "{refusal}");
    }
}

#[test]
fn mixes_take_the_time_of_their_loads_and_stores() {
    let machine = small("").unwrap();
    let rate = |kernel: &str| rates(&machine, kernel, "wide", &[on(0, 1, 0)])[0];
    for (mix, kernel) in
        [("1l", "load"), ("1l_16fma", "load"), ("1s", "store"), ("1nt", "store_nt")]
    {
        assert_eq!(rate(mix), rate(kernel), "{mix}");
        assert_eq!(machine.variants(mix), machine.variants(kernel));
    }
    assert_close(rate("2l1s"), 4.0 * 3.0 / (2.0 / 1.25 + 1.0 / 0.5));
    assert_close(rate("2l1nt_4fma"), 4.0 * 3.0 / (2.0 / 1.25 + 1.0 / 0.8));
    // What the file names is what the file says.
    let named = small("[kernels.2l1s]\nfactor = 0.9\nvariants = [\"narrow\"]").unwrap();
    assert_eq!(named.variants("2l1s"), ["narrow"]);
    assert_eq!(machine.variants("2l1nt"), ["wide"]);
    assert!(machine.rates(&[KernelLoad::new("2l1nt", "narrow", on(0, 1, 0))]).is_err());
}

const ROOFS: &str = r#"
[[roof]]
level = 1
one_core = { wide = 100, narrow = 50 }
[[roof]]
level = 1
kernels = ["store"]
one_core = { wide = 40 }
[[roof]]
level = 3
one_core = 30
all_cores = 90
"#;

#[test]
fn caches_are_shared_by_the_cores_below_them() {
    let machine = small(ROOFS).unwrap();
    let of = |level, kernel, variant, threads| {
        machine.cache_rate(level, kernel, variant, threads).map(|rate| rate / 1e9)
    };
    assert_eq!(of(1, "load", "wide", 1), Some(100.0));
    assert_eq!(of(1, "triad", "narrow", 1), Some(50.0));
    // Two threads of one core share its cache, and what it carries.
    assert_eq!(of(1, "load", "wide", 2), Some(50.0));
    assert_eq!(of(1, "store", "wide", 1), Some(40.0));
    assert_eq!(of(1, "3s", "wide", 1), Some(40.0));
    assert_eq!(of(1, "1l", "wide", 1), Some(100.0));
    // No such loop, no such variant, no such level.
    assert_eq!(of(1, "store", "narrow", 1), None);
    assert_eq!(of(1, "store_nt", "narrow", 1), None);
    assert_eq!(of(1, "load", "odd", 1), None);
    assert_eq!(of(2, "load", "wide", 1), None);
    assert_close(of(3, "load", "wide", 1).unwrap(), 30.0);
    assert_close(4.0 * of(3, "load", "wide", 4).unwrap(), 90.0);
    assert_close(8.0 * of(3, "load", "wide", 8).unwrap(), 90.0);
    let two = 2.0 * of(3, "load", "wide", 2).unwrap();
    assert!((55.0..60.0).contains(&two), "{two}");
    // CPUs 0 to 3 are the first threads of node 0's cores, 8 to 11 the second ones.
    assert_eq!(machine.threads_in_domain(1, &[0, 8, 1, 4], 0), 2);
    assert_eq!(machine.threads_in_domain(3, &[0, 8, 1, 4], 0), 3);
    assert_eq!(machine.threads_in_domain(3, &[0, 8, 1, 4], 4), 1);
    assert_eq!(machine.threads_in_domain(2, &[0], 0), 0);
    // Threads share a set equally: one cache holds three quarters of this one.
    let (k, m) = (1 << 10, 1 << 20);
    assert_eq!(machine.level_of(&[0, 1, 2, 4], 32 * 4 * k), Some(1));
    assert_eq!(machine.level_of(&[0, 8], 32 * k), Some(1));
    assert_eq!(machine.level_of(&[0, 8], 33 * k), Some(3));
    assert_eq!(machine.level_of(&[0, 1, 2, 4], m + m / 3), Some(3));
    assert_eq!(machine.level_of(&[0, 1, 2, 4], m + m / 3 + 1), None);
    assert_eq!(machine.level_of(&[0, 1, 4, 5], 2 * m), Some(3));
    assert_eq!(machine.level_of(&[0, 1, 4, 5], u64::MAX), None);
}

#[test]
fn arithmetic_latency_and_queue_are_read() {
    let machine = small(
        r#"
        [flops]
        add_dp = 4
        fma_dp = { wide = 16 }
        [[latency]]
        ns = 120
        [[latency]]
        kind = "hbm"
        relation = "local"
        ns = 150
        [[latency]]
        pairs = [[1, 1]]
        ns = 80
        [chase]
        l1_ns = 2
        l3_ns = 20
        base_pages_ns = 12
        huge_pages_ns = 3
        [queue]
        service_ns = 5
        most_ns = 200
        [[controller]]
        nodes = [1]
        gb_per_s = 13
        [[link]]
        name = "x"
        crosses = [[0, 1]]
        gb_per_s = 12
        "#,
    )
    .unwrap();
    assert_eq!(machine.flop_rate("add_dp", "narrow"), Some(8e9));
    assert_eq!(machine.flop_rate("fma_dp", "wide"), Some(32e9));
    assert_eq!(machine.flop_rate("fma_dp", "narrow"), None);
    let idle = |initiator, node| machine.idle_latency_ns(initiator, node);
    assert_eq!([idle(0, 0), idle(0, 5), idle(1, 1)], [Some(120.0), Some(150.0), Some(80.0)]);
    assert_eq!([idle(1, 5), idle(2, 0), idle(0, 2)], [Some(120.0), None, None]);
    assert_eq!(
        [1, 2, 3, 4].map(|level| machine.cache_latency_ns(level)),
        [Some(2.0), None, Some(20.0), None]
    );
    assert_eq!(machine.cache_latency_ns(0), None);
    let translation = Translation { base_pages_ns: 12.0, huge_pages_ns: 3.0 };
    assert_eq!(machine.latency.translation, Some(translation));
    // By the law, u being what a node's controller or a link on the way carries of its capacity.
    let law = |used: f64| 5.0 * used / ((1.0 - used) + used * 5.0 / 200.0);
    let wait = |initiator, node, loads: &[KernelLoad], gb: &[f64]| {
        let rates: Vec<f64> = gb.iter().map(|rate| rate * 1e9).collect();
        machine.wait_ns(initiator, node, loads, &rates).unwrap()
    };
    let load = [triad(on(0, 4, 1))];
    assert_close(wait(1, 1, &load, &[6.5]), law(0.5));
    assert_close(wait(0, 1, &load, &[6.5]), law(6.5 / 12.0));
    assert_close(wait(1, 1, &load, &[1e3]), 200.0);
    assert_eq!(wait(1, 0, &load, &[6.5]), 0.0);
    // Bytes of loads weigh less than the triad's, and pages elsewhere nothing.
    let loads = Load { initiator: 1, threads: 4, shares: vec![(1, 0.5), (5, 0.5)] };
    let loads = [KernelLoad::new("load", "wide", loads)];
    assert_close(wait(1, 1, &loads, &[6.5]), law(0.5 * 6.5 / 1.25 / 13.0));
    // Where there is no controller the widest path to the node stands for one.
    assert!(wait(1, 0, &[triad(on(0, 4, 0))], &[8.0]) > law(0.6));
    for nonsense in [f64::NAN, -1.0, f64::INFINITY] {
        let ns = wait(1, 1, &load, &[nonsense]);
        assert!((0.0..=200.0).contains(&ns), "{nonsense}: {ns}");
    }
    // What is not of this machine is unknown, idle or not.
    let rates = [6.5e9];
    for (initiator, node) in [(7, 1), (1, 7)] {
        assert_eq!(machine.wait_ns(initiator, node, &load, &rates), None);
        assert_eq!(machine.wait_ns(initiator, node, &[], &[]), None);
    }
    for elsewhere in [triad(on(0, 4, 7)), triad(on(7, 4, 0))] {
        assert_eq!(machine.wait_ns(1, 1, &[elsewhere], &rates), None);
    }
    let odd = KernelLoad::new("triad", "odd", on(0, 4, 1));
    assert_eq!(machine.wait_ns(1, 1, &[odd], &rates), None);
}

#[test]
fn values_that_are_not_allowed_are_refused_by_their_key() {
    for (more, words) in [
        ("[[roof]]\nlevel = 5\none_core = 1", ["roof[0].level", "1 to 4"]),
        ("[[roof]]\nlevel = 2\none_core = 1", ["roof[0].level", "no cache"]),
        ("[[roof]]\nlevel = 4\none_core = 1", ["roof[0].level", "no cache"]),
        ("[[roof]]\nlevel = 1\none_core = 0", ["roof[0].one_core", "0.001"]),
        ("[[roof]]\nlevel = 1\none_core = { odd = 1 }", ["roof[0].one_core", "odd"]),
        ("[[roof]]\nlevel = 1\none_core = 1\nall_cores = 2", ["roof[0].all_cores", "of its own"]),
        ("[[roof]]\nlevel = 3\none_core = 9\nall_cores = 8", ["roof[0].all_cores", "0.1 %"]),
        ("[[roof]]\nlevel = 3\none_core = 9\nall_cores = 37", ["roof[0].all_cores", "4 threads"]),
        ("[[roof]]\nlevel = 1", ["line", "one_core"]),
        ("[[roof]]\nlevel = 1\none_core = 1\nkernels = [\"a b\"]", ["roof[0].kernels", "a b"]),
        ("[flops]\ndiv_dp = 1", ["flops.div_dp", "fma_dp"]),
        ("[flops]\nadd_dp = 0", ["flops.add_dp", "0.001"]),
        ("[flops]\nadd_dp = { odd = 1 }", ["flops.add_dp", "odd"]),
        ("[[latency]]\nns = 0", ["latency[0].ns", "0.01"]),
        ("[[latency]]\nns = 9\nkind = \"cxl\"", ["latency[0]", "selects no pair"]),
        ("[[latency]]\nns = 9\npairs = [[5, 0]]", ["latency[0].pairs", "[5, 0]"]),
        ("[chase]\nl2_ns = 3", ["chase", "level 2"]),
        ("[chase]\nmemory_side_ns = 3", ["chase", "level 4"]),
        ("[chase]\nl1_ns = inf", ["chase.l1_ns", "inf"]),
        ("[chase]\nbase_pages_ns = 3", ["chase", "huge_pages_ns"]),
        ("[queue]\nservice_ns = 3", ["queue", "most_ns"]),
        ("[queue]\nservice_ns = 3\nmost_ns = 2", ["queue.most_ns", "3 to"]),
        (
            "[noise]\nunbound = [{ share = 0.6, factor = 1 }, { share = 0.5, factor = 1 }]",
            ["noise.unbound", "add up to 1.1"],
        ),
        ("[noise]\nunbound = [{ share = 0.6, factor = 3 }]", ["unbound[0].factor", "0.01 to 2"]),
        (
            "[noise]\nunbound = [{ share = 1, factor = 1, threads = [3, 2] }]",
            ["unbound[0].threads", "3 to 8192"],
        ),
    ] {
        assert_refused(small(more), &words);
    }
    let clockless = SMALL.replace("core_ghz = 2", "") + "[flops]\nadd_dp = 4";
    let refusal = parse_machine("small.toml", &clockless).unwrap_err().to_string();
    assert!(refusal.contains("flops") && refusal.contains("core_ghz"), "{refusal}");
    for (top, words) in [("core_ghz = 0", "0.01 to 100"), ("core_ghz = 2\ncolour = 1", "colour")] {
        let text = SMALL.replace("core_ghz = 2", top);
        let refusal = parse_machine("small.toml", &text).unwrap_err().to_string();
        assert!(refusal.contains(words), "{refusal}");
    }
    // Modes for other numbers of threads do not add up.
    let apart = "[noise]\nunbound = [{ share = 0.6, factor = 1, threads = [1, 4] }, \
                 { share = 0.5, factor = 0.5, threads = [5, 9] }]";
    let noise = small(apart).unwrap().noise;
    assert_eq!([4, 5, 10].map(|threads| noise.unbound_factor(threads, 0.3)), [1.0, 0.5, 1.0]);
}

const OVERLAP: &str = r#"
[[overlap]]
memory = [[5, 0]]
gb_per_s = { fast_loads = 10, fast_stores = 8, slow_loads = 5, slow_stores = 4 }
fast_loads = { fast_stores = 0.9, slow_loads = 0.6, slow_stores = -0.1 }
fast_stores = { fast_loads = 0.8, slow_loads = 0.1, slow_stores = 0.3 }
slow_loads = { fast_loads = 0.3, fast_stores = 0.5, slow_stores = 0.4 }
slow_stores = { fast_loads = 0.5, fast_stores = 0.2, slow_loads = 0.3 }
"#;

#[test]
fn overlaps_are_for_the_initiators_that_are_named_or_near() {
    let own = small(OVERLAP).unwrap();
    assert_eq!(own.overlap_pair(0, (0, 5)), Some((5, 0)));
    assert_eq!(own.overlap_pair(1, (0, 5)), None);
    let named = small(&format!("{OVERLAP}cpu_nodes = [1]\n").replace("[[5, 0]]", "[[5, 1]]"));
    assert_eq!(named.unwrap().overlap_pair(1, (1, 5)), Some((5, 1)));
    for (from, to, words) in [
        ("[[5, 0]]", "[[0, 0]]", ["overlap[0].memory", "not two"]),
        ("[[5, 0]]", "[[5, 7]]", ["overlap[0].memory", "not two"]),
        ("[[5, 0]]", "[]", ["overlap[0].memory", "empty"]),
        ("[[5, 0]]", "[[5, 1]]", ["overlap[0].memory", "cpu_nodes"]),
        ("[[5, 0]]", "[[5, 0]]\ncpu_nodes = [5]", ["overlap[0].cpu_nodes", "no cores"]),
        ("= 10,", "= 0,", ["overlap[0].gb_per_s.fast_loads", "0.001"]),
        ("-0.1", "-0.4", ["overlap[0].fast_loads.slow_stores", "-0.3 to 3"]),
        ("-0.1", "-0.1, fast_loads = 1", ["overlap[0].fast_loads.fast_loads", "itself"]),
        (", slow_stores = -0.1", "", ["overlap[0].fast_loads.slow_stores", "missing"]),
    ] {
        assert_refused(small(&OVERLAP.replacen(from, to, 1)), &words);
    }
}

/// A file over another: entries of tables come behind the base's and prevail, keys of plain
/// tables one by one.
#[test]
fn files_over_others_change_what_they_name() {
    let text = r#"
        extends = "joe0"
        name = "mine"
        title = "joe0, changed"
        core_ghz = 2
        chase.l1_ns = 3
        queue.most_ns = 400
        flops.add_dp = 5
        [[roof]]
        level = 1
        kernels = ["ddot"]
        one_core = 70
        [[latency]]
        relation = "local"
        ns = 99
        [noise]
        unbound = [{ share = 1, factor = 0.5 }]
    "#;
    let mine = parse_machine("mine.toml", text).unwrap();
    let base = nearfar_flow::read_machine("joe0").unwrap();
    assert_eq!(mine.flop_rate("add_dp", "sse2"), Some(10e9));
    assert_eq!(mine.flop_rate("mul_dp", "avx2"), Some(7.96 * 2e9));
    assert_eq!(mine.cache_rate(1, "ddot", "avx2", 1), Some(70e9));
    assert_eq!(mine.cache_rate(1, "load", "avx2", 1), base.cache_rate(1, "load", "avx2", 1));
    assert_eq!([mine.idle_latency_ns(0, 0), mine.idle_latency_ns(0, 1)], [Some(99.0), Some(118.0)]);
    assert_eq!([mine.cache_latency_ns(1), mine.cache_latency_ns(2)], [Some(3.0), Some(7.1)]);
    let queue = mine.latency.queue.unwrap();
    assert_eq!((queue.service_ns, queue.most_ns), (1.7, 400.0));
    assert_eq!(mine.noise.unbound_factor(1, 0.5), 0.5);
}
