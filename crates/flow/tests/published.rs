//! Machines of published figures: that files say where all is from, and that lone cases give back what
//! they print.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use nearfar_flow::{SimulatedMachine, parse_machine, published_machines, read_machine};

use crate::{assert_close, assert_refused, on, rates};

fn published() -> Vec<SimulatedMachine> {
    published_machines().unwrap()
}

#[test]
fn every_file_of_the_folder_is_built_in_and_names_its_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines/published");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<String> =
        files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let machines = published();
    let named: BTreeSet<String> = machines.iter().map(|machine| machine.name.clone()).collect();
    assert!(files.len() >= 9 && files.is_subset(&named), "{files:?} of {named:?}");
    for machine in machines {
        let origin = &machine.origin;
        assert!(!origin.assumed.is_empty(), "{}", machine.name);
        assert!(origin.sources.iter().all(|source| !source.of.is_empty()), "{}", machine.name);
        assert_eq!(read_machine(&machine.name).unwrap(), machine);
        assert_eq!(parse_machine("record", &machine.text).unwrap(), machine);
    }
}

#[test]
fn lone_cases_give_back_the_matrices_and_the_curves() {
    let mut cells = 0;
    for machine in published() {
        for (initiator, node, threads, rate) in lone(&machine) {
            let found =
                rates(&machine, "load", &machine.variants[0], &[on(initiator, threads, node)])[0];
            assert_close(found, rate / 1e9);
            cells += 1;
        }
        for (row, of_row) in machine.published.latency_ns.iter().enumerate() {
            for (column, ns) in of_row.iter().enumerate() {
                let node = machine.machine.nodes[column].os_index;
                assert_close(
                    machine.idle_latency_ns(u32::try_from(row).unwrap(), node).unwrap(),
                    *ns,
                );
                cells += 1;
            }
        }
    }
    assert!(cells > 200, "{cells}");
}

/// Initiator, node, threads and bytes/s of what was published of lone threads.
fn lone(machine: &SimulatedMachine) -> Vec<(u32, u32, u32, f64)> {
    let initiators = machine.machine.initiators();
    let mut found = Vec::new();
    for (row, of_row) in machine.published.all_threads.iter().enumerate() {
        let initiator = &initiators[row];
        let cores = u32::try_from(machine.machine.allowed_cores(&initiator.cpus).len()).unwrap();
        for (column, rate) in of_row.iter().enumerate() {
            let node = machine.machine.nodes[column].os_index;
            let is_curve =
                |it: &nearfar_flow::DemandCurve| (it.initiator, it.node) == (initiator.index, node);
            // A pair with a curve has that.
            if !machine.capacities[0].curves.iter().any(is_curve) {
                found.push((initiator.index, node, cores, *rate));
            }
        }
    }
    for ((from, to), points) in &machine.published.threads {
        let initiator = initiators.iter().find(|it| it.cpu_node == Some(*from)).unwrap().index;
        found.extend(points.iter().map(|(threads, rate)| (initiator, *to, *threads, *rate)));
    }
    found
}

const SMALL: &str = r#"
name = "small"
title = "two nodes"
node = [{ cores = 2 }, { package = 1, cores = 2 }]
[matrix]
latency_ns = [[80, 140], [141, 81]]
all_threads = [[20, 8], [9]]
[[bandwidth]]
one_thread = 6
[[bandwidth]]
pairs = [[1, 1]]
all_threads = 11
"#;

fn with(text: &str) -> String {
    SMALL.replace("[matrix]", &format!("{text}\n[matrix]"))
}

#[test]
fn a_matrix_prevails_over_entries_and_may_end_early() {
    let machine = parse_machine("small.toml", &SMALL.replace("20, 8", "11.5, 8")).unwrap();
    for (initiator, node, rate, ns) in
        [(0, 0, 11.5, 80.0), (0, 1, 8.0, 140.0), (1, 0, 9.0, 141.0), (1, 1, 11.0, 81.0)]
    {
        assert_close(rates(&machine, "load", "simulated", &[on(initiator, 2, node)])[0], rate);
        assert_close(machine.idle_latency_ns(initiator, node).unwrap(), ns);
    }
    assert!(machine.published.all_threads.is_empty(), "no source, nothing published");
    for (wrong, words) in [
        ("[[11, 8], [9, 11], [1]]", ["matrix.all_threads[2][0]", "no pair"]),
        ("[[11, 8, 1]]", ["matrix.all_threads[0][2]", "no pair"]),
        ("[[-1]]", ["matrix.all_threads[0][0]", "-1"]),
        ("[[20, 8], [9]]", ["bandwidth", "more than 2 threads"]),
    ] {
        let text = SMALL.replace("[[20, 8], [9]]", wrong);
        assert_refused(parse_machine("small.toml", &text), &words);
    }
}

#[test]
fn a_file_with_a_source_says_of_every_key_where_it_is_from() {
    let sound = "[assumed]\n\"bandwidth.one_thread\" = \"ours\"\n\"bandwidth.all_threads\" = \"ours\"\n\
                 [[source]]\ntitle = \"a note\"\nof = [\"matrix\", \"node\"]";
    let text = |source: &str| with(source).replace("20, 8", "11.5, 8");
    let machine = parse_machine("small.toml", &text(sound)).unwrap();
    assert_eq!(machine.origin.sources[0].title, "a note");
    assert_eq!(machine.published.all_threads[1], [9e9]);
    assert_eq!(machine.origin.assumed["bandwidth.one_thread"], "ours");
    for (from, to, words) in [
        ("\"bandwidth.one_thread\" = \"ours\"\n", "", ["bandwidth.one_thread", "from no source"]),
        ("\"matrix\", ", "\"matrix.latency_ns\", ", ["matrix.all_threads", "from no source"]),
        ("\"node\"]", "\"node\", \"link\"]", ["speaks of", "link"]),
        ("[assumed]\n", "[assumed]\nqueue = \"ours\"\n", ["speaks of", "queue"]),
        (
            "[assumed]\n",
            "[kernels]\n\"\\u001b[31m\" = 1\n[assumed]\n",
            ["kernels.", "from no source"],
        ),
        ("a note", "", ["source[0].title", "1 to 200"]),
    ] {
        assert_refused(parse_machine("small.toml", &text(&sound.replace(from, to))), &words);
    }
    let traffic = text(sound).replace("latency_ns", "traffic = { load = -1 }\nlatency_ns");
    assert_refused(parse_machine("small.toml", &traffic), &["matrix.traffic.load", "-1"]);
    assert_refused(
        parse_machine("small.toml", &text("left_out = [\"writes\"]")),
        &["source", "missing beside"],
    );
}

/// What is changed of a published machine is from none of its sources.
#[test]
fn a_file_that_extends_one_has_none_of_its_sources() {
    let text = "extends = \"xeon-6240\"\nname = \"mine\"\ntitle = \"mine\"\ncore_ghz = 9.0\n";
    let machine = parse_machine("mine.toml", text).unwrap();
    assert!(machine.origin.sources.is_empty() && machine.origin.assumed.is_empty());
}
