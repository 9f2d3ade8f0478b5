//! Machine files as people and strangers write them.

#![expect(clippy::float_cmp, reason = "what a file says is kept to the last bit")]

use std::fs;

use nearfar_flow::{
    Disturber, Fault, FlowError, ModeUnit, SimulatedMachine, builtin_machines, parse_machine,
    read_machine,
};

use crate::{assert_close, assert_refused, lone, on};

/// Two nodes, and a memory-only one with a hole in the numbers before it.
const SMALL: &str = r#"
name = "small"
title = "two nodes of two cores"
node = [
    { cores = 2, package = 0, memory = "8 GiB" },
    { cores = 2, package = 1 },
    { number = 5, kind = "hbm", near = [0, 1], memory = "1GB", memory_side_cache = "16 MiB" },
]

[[bandwidth]]
one_thread = 4

[[bandwidth]]
relation = "local"
one_thread = 10
all_threads = 15.5
"#;

fn small(more: &str) -> Result<SimulatedMachine, FlowError> {
    parse_machine("small.toml", &format!("{SMALL}\n{more}"))
}

/// The file with one text replaced by another.
fn with(from: &str, to: &str) -> Result<SimulatedMachine, FlowError> {
    assert!(SMALL.contains(from), "{from}");
    parse_machine("small.toml", &SMALL.replacen(from, to, 1))
}

#[test]
fn what_is_not_said_is_unknown_or_has_the_documented_default() {
    let machine = small("").unwrap();
    assert_eq!(machine.variants, ["simulated"]);
    assert_eq!(machine.paper, None);
    let parts = &machine.machine;
    assert!(parts.caches.is_empty() && parts.distances.is_none());
    assert_eq!(parts.packages[0].model, None);
    let memory: Vec<_> = parts.nodes.iter().map(|node| node.memory_bytes).collect();
    assert_eq!(memory, [Some(8 << 30), None, Some(1_000_000_000)]);
    assert_eq!(parts.node(5).unwrap().memory_side_cache_bytes, Some(16 << 20));
    assert_eq!(parts.node(5).unwrap().locality.to_string(), "0-3");
    let capacities = &machine.capacities[0];
    assert_eq!((capacities.saturation, capacities.fairness), (6.0, 0.5));
    assert_eq!(machine.noise, nearfar_flow::Noise::default());
    assert_eq!((machine.real_time, machine.faults.len()), (0.0, 0));
    // Later entries prevail; without all_threads nothing saturates.
    assert_close(lone(&machine, on(0, 1, 0)), 10.0);
    assert_close(lone(&machine, on(0, 2, 0)), 15.5);
    assert_close(lone(&machine, on(0, 2, 5)), 8.0);
}

#[test]
fn every_knob_is_read() {
    let machine = small(
        r#"
        [[controller]]
        nodes = [5]
        gb_per_s = 7

        [[issue]]
        cpu_nodes = [1]
        gb_per_s = 17.5

        [[link]]
        name = "x"
        from_package = 0
        to_package = 1
        gb_per_s = 6

        [noise]
        between_rounds = 0.01
        within_round = 0.02
        outliers = { share = 0.03, lowered_by = [0.1, 0.2] }
        disturbed = { share = 0.04, by = "stolen", lowered_by = [0.3, 0.4] }
        drift_per_round = 0.05
        modes = [{ share = 0.6, factor = 0.7, per = "case" }]

        [clock]
        real_time = 0.25

        [[fault]]
        kind = "full_memory"
        node = 1
        "#,
    )
    .unwrap();
    let capacities = &machine.capacities[0];
    assert_eq!(capacities.controller, [None, None, Some(7e9)]);
    assert_eq!(capacities.issue, [None, Some(17.5e9)]);
    assert_eq!(capacities.links[0].crosses.iter().collect::<Vec<_>>(), [&(0, 1)]);
    // A limit binds lone cases without all_threads, but one thread gets what is said.
    assert_close(lone(&machine, on(0, 1, 5)), 4.0);
    assert!(lone(&machine, on(0, 2, 5)) < 7.0);
    assert_close(lone(&machine, on(0, 1, 1)), 4.0);
    assert!(lone(&machine, on(0, 2, 1)) < 6.0);
    assert_close(lone(&machine, on(1, 2, 1)), 15.5);
    let noise = &machine.noise;
    assert_eq!((noise.between_rounds, noise.within_round), (0.01, 0.02));
    assert_eq!((noise.outliers.share, noise.outliers.lowered_by), (0.03, (0.1, 0.2)));
    assert_eq!((noise.disturbed.by, noise.disturbed.lowered_by.1), (Disturber::Stolen, 0.4));
    assert_eq!((noise.drift_per_round, noise.modes[0].per), (0.05, ModeUnit::Case));
    assert_eq!(machine.real_time, 0.25);
    assert_eq!(machine.full_nodes(), [1]);
}

#[test]
fn a_file_may_start_from_a_built_in_machine() {
    let text = r#"
        extends = "two-socket-8-nodes-degraded"
        name = "mine"
        title = "worse still"
        variants = ["avx2", "sse2", "portable"]
        cache.l3 = "16 MiB"
        noise.within_round = 0
        kernels.load = 1.1
        [[bandwidth]]
        pairs = [[0, 0]]
        one_thread = 19.5
        [[link]]
        name = "quadrant-0-to-package-1"
        from_nodes = [0]
        to_package = 1
        gb_per_s = 29
        [[fault]]
        kind = "slow_initiator"
        cpu_node = 7
        factor = 0.5
    "#;
    let mine = parse_machine("mine.toml", text).unwrap();
    let base = read_machine("two-socket-8-nodes-degraded").unwrap();
    assert_eq!((mine.name.as_str(), mine.machine.nodes.len()), ("mine", 8));
    assert_eq!(mine.faults.len(), base.faults.len() + 1);
    assert_eq!(mine.noise.within_round, 0.0);
    assert_eq!(mine.noise.between_rounds, base.noise.between_rounds);
    assert_eq!((mine.kernels["load"].factor, mine.kernels["copy"].factor), (1.1, 0.89));
    let l3 = |machine: &SimulatedMachine| machine.machine.caches.last().unwrap().bytes.unwrap();
    assert_eq!((l3(&mine), l3(&base)), (16 << 20, 32 << 20));
    assert_eq!(mine.capacities[0].links.len(), base.capacities[0].links.len());
    assert_eq!(mine.capacities[0].links[0].capacity, 29e9);
    assert_close(lone(&mine, on(0, 1, 0)), 19.5);
    assert_close(lone(&mine, on(0, 16, 0)), 33.0);
    assert_close(lone(&mine, on(3, 1, 3)), 20.0);
    for threads in [1, 16] {
        let left = lone(&mine, on(7, threads, 7)) / lone(&base, on(7, threads, 7));
        assert!((0.5..0.6).contains(&left), "{threads} threads: {left}");
    }
}

#[test]
fn each_fault_acts_on_its_parts_only() {
    let end =
        "[[controller]]\ngb_per_s = 30\n[[link]]\nname = \"x\"\ncrosses = [[0, 1]]\ngb_per_s = 9\n";
    let faulty = |fault: &str| small(&format!("{end}[[fault]]\n{fault}")).unwrap();
    let healthy = small(end).unwrap();
    let ratios = |machine: &SimulatedMachine| -> Vec<f64> {
        [(0, 0), (0, 1), (1, 0), (1, 1)]
            .map(|(initiator, node)| {
                let ratio =
                    lone(machine, on(initiator, 2, node)) / lone(&healthy, on(initiator, 2, node));
                (ratio * 1e3).round() / 1e3
            })
            .to_vec()
    };
    let path =
        ratios(&faulty("kind = \"narrow_path\"\ncpu_node = 1\nmemory_node = 1\nfactor = 0.5"));
    assert!(path[..3] == [1.0; 3] && path[3] < 0.6, "{path:?}");
    let link = ratios(&faulty("kind = \"narrow_link\"\nlink = \"x\"\nfactor = 0.5"));
    assert!(link[1] < 0.6 && [link[0], link[2], link[3]] == [1.0; 3], "{link:?}");
    let memory = ratios(&faulty("kind = \"slow_memory\"\nnode = 0\nfactor = 0.5"));
    assert!(memory[0] < 0.6 && [memory[1], memory[3]] == [1.0; 2], "{memory:?}");
    let initiator = ratios(&faulty("kind = \"slow_initiator\"\ncpu_node = 0\nfactor = 0.5"));
    assert!(
        initiator[0] < 0.52 && initiator[1] < 0.6 && initiator[2..] == [1.0; 2],
        "{initiator:?}"
    );
    let full = faulty("kind = \"full_memory\"\nnode = 5");
    assert_eq!((ratios(&full), full.full_nodes()), (vec![1.0; 4], vec![5]));
    assert_eq!(full.faults, [Fault::FullMemory { node: 5 }]);
}

#[test]
fn values_that_are_not_allowed_are_refused_by_their_key() {
    for (from, to, words) in [
        ("\"small\"", "\"sm/all\"", ["name", "letters"]),
        ("\"small\"", "\"\\u001b[2J\"", ["name", "u{1b}"]),
        ("\"two nodes of two cores\"", "\"\"", ["title", "characters"]),
        ("name = \"small\"", "", ["name", "missing"]),
        ("cores = 2", "cores = 5000", ["node.cores", "4096"]),
        ("cores = 2", "cores = 2, l3_domains = 0", ["node[0].l3_domains", "divide"]),
        ("cores = 2", "cores = 2, l3_domains = 3", ["node[0].l3_domains", "divide"]),
        ("cores = 2", "cores = 2, near = [0]", ["node[0].near", "without cores"]),
        ("cores = 2", "cores = -1", ["line 5", "u32"]),
        ("number = 5", "number = 1", ["node[2].number", "2 to 65535"]),
        ("number = 5", "number = 65536", ["node[2].number", "65535"]),
        ("near = [0, 1]", "near = [5]", ["node[2].near", "no node with cores"]),
        ("near = [0, 1]", "package = 9", ["node[2]", "near = [..]"]),
        ("package = 1", "package = 70000", ["node[1].package", "65535"]),
        ("\"8 GiB\"", "\"8 gib\"", ["node[0].memory", "unit"]),
        ("\"8 GiB\"", "\"0 GiB\"", ["node[0].memory", "is 0"]),
        ("\"hbm\"", "\"tape\"", ["line 7", "tape"]),
        ("one_thread = 10", "one_thread = 0", ["bandwidth[1].one_thread", "0.001"]),
        ("one_thread = 10", "one_thread = nan", ["bandwidth[1].one_thread", "NaN"]),
        ("one_thread = 10", "one_thread = inf", ["bandwidth[1].one_thread", "inf"]),
        ("one_thread = 10", "one_thread = \"10\"", ["line 15", "expected GB/s"]),
        ("one_thread = 10", "one_thread = { a = 1 }", ["bandwidth[1].one_thread", "simulated"]),
        ("one_thread = 4", "all_threads = 4", ["bandwidth", "[0, 1]"]),
        ("one_thread = 4", "one_thread = {}", ["bandwidth[0].one_thread", "no figure"]),
        ("15.5", "9", ["[0, 0]", "at least 0.1 %"]),
        ("15.5", "20.5", ["[0, 0]", "2 threads of 10"]),
        ("\"local\"", "\"near\"", ["line 14", "same_package"]),
        ("relation = \"local\"", "distance = 10", ["bandwidth[1]", "selects no pair"]),
        ("relation = \"local\"", "pairs = [[5, 0]]", ["bandwidth[1].pairs", "[5, 0]"]),
        ("relation = \"local\"", "colour = \"blue\"", ["line 14", "colour"]),
    ] {
        assert_refused(with(from, to), &words);
    }
    for (more, words) in [
        ("[[controller]]\nnodes = [3]\ngb_per_s = 9", ["controller[0].nodes", "3"]),
        ("[[controller]]\nkind = \"cxl\"\ngb_per_s = 9", ["controller[0]", "no memory node"]),
        ("[[controller]]\ngb_per_s = 15.4", ["controller of 15.4", "at most"]),
        ("[[issue]]\ngb_per_s = 2", ["issue limit of 2", "at most"]),
        ("[[issue]]\ncpu_nodes = [5]\ngb_per_s = 2", ["issue[0].cpu_nodes", "no cores"]),
        ("[[link]]\nname = \"x\"\ngb_per_s = 9", ["link[0]", "crosses"]),
        ("[[link]]\nname = \"x\"\ngb_per_s = 1\ncrosses = [[0, 0]]", ["link \"x\"", "at most"]),
        ("[[link]]\nname = \"x\"\ngb_per_s = 9\nto_nodes = [4]", ["link[0]", "no pair"]),
        ("[[link]]\nname = \"x y\"\ngb_per_s = 9\nto_nodes = [0]", ["link[0].name", "x y"]),
        ("[cache]\nl3 = \"big\"", ["cache.l3", "number"]),
        ("[cache]\nline = 8", ["cache.line", "16 to 1024"]),
        ("[kernels]\nload = 0", ["kernels.load", "0.01"]),
        ("[kernels]\nload = { factor = 1, variants = [\"v\"] }", ["kernels.load.variants", "v"]),
        ("[kernels]\nload = { factor = 1, variants = [] }", ["kernels.load.variants", "empty"]),
        ("[noise]\nbetween_rounds = 0.3", ["noise.between_rounds", "0.2"]),
        ("[noise]\nwithin_round = -0.1", ["noise.within_round", "-0.1"]),
        ("[noise]\noutliers = { share = 2 }", ["noise.outliers.share", "0 to 1"]),
        ("[noise]\ndisturbed = { lowered_by = [0.4, 0.3] }", ["disturbed.lowered_by", "0.4"]),
        ("[noise]\nmodes = [{ share = 0.5, factor = 0, per = \"round\" }]", ["modes[0]", "0.01"]),
        ("[noise]\ndrift_per_round = nan", ["noise.drift_per_round", "NaN"]),
        ("[clock]\nreal_time = 2", ["clock.real_time", "0 to 1"]),
        ("[[fault]]\nkind = \"slow_memory\"\nnode = 9\nfactor = 0.5", ["fault[0]", "9"]),
        ("[[fault]]\nkind = \"slow_memory\"\nnode = 1\nfactor = 1.5", ["fault[0].factor", "1.5"]),
        ("[[fault]]\nkind = \"narrow_link\"\nlink = \"y\"\nfactor = 0.5", ["fault[0]", "no such"]),
        (
            "[[fault]]\nkind = \"slow_initiator\"\ncpu_node = 5\nfactor = 0.5",
            ["fault[0]", "no cores"],
        ),
        ("[[fault]]\nkind = \"gremlin\"", ["gremlin", "slow_memory"]),
        ("[[fault]]\nkind = \"full_memory\"\nnode = 0\nfactor = 0.5", ["factor", "`node`"]),
    ] {
        assert_refused(small(more), &words);
    }
    for (top, words) in [
        ("variants = []", ["variants", "1 to 16"]),
        ("variants = [\"a\", \"a\"]", ["variants", "twice"]),
        ("saturation = 26", ["saturation", "1 to 25"]),
        ("fairness = 1.1", ["fairness", "0 to 1"]),
        ("threads_per_core = 0", ["threads_per_core", "1 to 8"]),
        ("distances = [[10, 20], [20, 10]]", ["distances", "3 rows"]),
        ("distances = [[10, 1, 9], [9, 9, 9], [9, 9, 9]]", ["distances", "10 to 255"]),
        ("colour = 1", ["line 1", "colour"]),
        ("extends = 3", ["line 1", "string"]),
    ] {
        assert_refused(parse_machine("small.toml", &format!("{top}\n{SMALL}")), &words);
    }
}

/// Many faults on one part, many entries, many nodes.
#[test]
fn sizes_are_bounded() {
    let fault = "[[fault]]\nkind = \"slow_memory\"\nnode = 0\nfactor = 0.01\n";
    assert_refused(small(&fault.repeat(5)), &["fault[2]", "less than 1 MB/s"]);
    let entry = "[[bandwidth]]\nall_threads = 7.9\n";
    assert_refused(small(&entry.repeat(1100)), &["bandwidth", "1024"]);
    let node = "{ cores = 1 }, ".repeat(257);
    let text = format!("name = \"n\"\ntitle = \"t\"\nnode = [{node}]");
    assert_refused(parse_machine("small.toml", &text), &["node", "1 to 256"]);
    let text = format!("{SMALL}\n#{}", "x".repeat(1 << 20));
    let error = parse_machine("small.toml", &text).unwrap_err();
    assert!(matches!(error, FlowError::TooLarge { .. }), "{error}");
    // Brackets within brackets must not use up the stack.
    let deep = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_refused(parse_machine("small.toml", &deep), &["line 1"]);
}

/// A link that is named again replaces the one before, where that stands; only those that
/// are left count.
#[test]
fn of_links_with_one_name_the_last_holds() {
    let link = |name: &str, to: &str, gb_per_s: u32| {
        format!("[[link]]\nname = \"{name}\"\n{to}\ngb_per_s = {gb_per_s}\n")
    };
    let text = [
        link("x", "crosses = [[0, 0], [0, 1]]", 100),
        link("y", "to_nodes = [5]", 60),
        link("x", "crosses = [[0, 1]]", 70),
    ];
    let machine = small(&text.concat()).unwrap();
    let links: Vec<(&str, f64, usize)> = machine.capacities[0]
        .links
        .iter()
        .map(|link| (link.name.as_str(), link.capacity / 1e9, link.crosses.len()))
        .collect();
    assert_eq!(links, [("x", 70.0, 1), ("y", 60.0, 2)]);
}

#[test]
fn links_are_bounded_by_what_crosses_them() {
    let node = "{ cores = 1 }, ".repeat(256);
    let mut text = format!("name = \"n\"\ntitle = \"t\"\nnode = [{node}]\n");
    text += "[[bandwidth]]\none_thread = 5\n";
    for index in 0..5 {
        text += &format!("[[link]]\nname = \"l{index}\"\nto_package = 0\ngb_per_s = 100\n");
    }
    assert_refused(parse_machine("small.toml", &text), &["link", "262144"]);
    let again = "[[link]]\nname = \"l\"\nto_package = 0\ngb_per_s = 100\n".repeat(1000);
    let text = text.split("[[link]]").next().unwrap().to_string() + &again;
    assert_eq!(parse_machine("small.toml", &text).unwrap().capacities[0].links.len(), 1);
}

/// The largest machine that is allowed: read in seconds, answered at once.
#[test]
fn the_largest_machine_is_read() {
    let node = "{ cores = 16, package = 0 }, ".repeat(256);
    let mut text = format!(
        "name = \"n\"\ntitle = \"t\"\nthreads_per_core = 2\nnode = [{node}]\n\
         [[bandwidth]]\none_thread = 5\nall_threads = 50\n"
    );
    for index in 0..4 {
        text += &format!("[[link]]\nname = \"l{index}\"\nto_package = 0\ngb_per_s = 100\n");
    }
    let machine = parse_machine("large.toml", &text).unwrap();
    assert_eq!((machine.machine.cpus().len(), machine.capacities[0].links.len()), (8192, 4));
    assert_close(lone(&machine, on(255, 16, 0)), 50.0);
}

#[test]
fn names_are_built_in_and_paths_are_read() {
    let unknown = read_machine("amd-3p").unwrap_err().to_string();
    for (name, _) in builtin_machines().unwrap() {
        assert!(unknown.contains(&name), "{unknown}");
    }
    let extends = parse_machine("x.toml", "extends = \"./x.toml\"").unwrap_err();
    assert!(matches!(extends, FlowError::UnknownBase { .. }), "{extends}");
    let extends = extends.to_string();
    assert!(extends.starts_with("x.toml: extends \"./x.toml\""), "{extends}");
    assert!(extends.contains("amd-2p") && !extends.contains("ends in"), "{extends}");
    let folder = std::env::temp_dir().join(format!("nearfar-machine-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("small.toml");
    let name = path.to_str().unwrap();
    let missing = read_machine(name).unwrap_err();
    assert!(matches!(missing, FlowError::Unreadable { .. }), "{missing}");
    // The cause is the source's to tell; a chain that is printed has it once.
    let cause = std::error::Error::source(&missing).unwrap().to_string();
    assert!(!missing.to_string().contains(&cause), "{missing}");
    fs::write(&path, SMALL).unwrap();
    assert_eq!(
        read_machine(name).unwrap(),
        small("").map(|it| SimulatedMachine { text: SMALL.into(), ..it }).unwrap()
    );
    fs::write(&path, b"name = \"\xff\"").unwrap();
    assert!(read_machine(name).unwrap_err().to_string().contains("UTF-8"));
    fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(matches!(read_machine(name).unwrap_err(), FlowError::TooLarge { .. }));
    fs::remove_dir_all(&folder).unwrap();
}
