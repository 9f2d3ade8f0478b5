//! What a record means, by the command line: classes, data access, papers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::answers::{json, printed, simulated};
use crate::support::{nearfar, refuse, run, text};

fn simulate(folder: &Path, machine: &str, suite: &str) -> PathBuf {
    simulated(folder, machine, &["--suite", suite, "--seed", "7"])
}

fn near(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap();
    assert!((value / expected - 1.0).abs() <= tolerance, "{value} is not {expected}");
}

/// braithwaite2012, tables 3.4, 4.1 and A.2: the best compiler, one thread.
#[test]
fn the_machines_of_the_thesis_have_its_classes() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, levels) in [
        ("amd-2p", &[9.3, 5.6, 3.1][..]),
        ("intel-2p", &[10.5, 7.1][..]),
        ("amd-4p", &[8.0, 5.5, 4.0, 3.2][..]),
    ] {
        let record = simulate(folder.path(), machine, "standard");
        let path = record.to_str().unwrap();
        let view = json(&["model", path, "classes", "--gamma", "DDR3-2133"]);
        let classes = view["classes"].as_array().unwrap();
        assert_eq!(classes.len(), levels.len(), "{machine}: {view:#}");
        for (class, &level) in classes.iter().zip(levels) {
            near(&class["max_gb_per_s"], level, 0.03);
            near(&class["alpha"], level / 17.0667, 0.03);
            near(&class["alpha_relative"], level / levels[0], 0.03);
        }
        assert_eq!(view["gamma"]["name"], "DDR3-2133");
        assert_eq!(view["executor"], "simulated");
    }
}

#[test]
fn alpha_is_unknown_with_the_option_that_gives_it() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p", "quick");
    let classes = &json(&["model", record.to_str().unwrap(), "classes"]);
    assert_eq!(classes["gamma"], Value::Null);
    assert!(classes["gamma_remedy"].as_str().unwrap().contains("--gamma"));
    // The reason and the remedy are two things, and each is said once.
    assert!(!classes["gamma_unknown"].as_str().unwrap().contains("--gamma"), "{classes:#}");
    for arguments in [&["model"][..], &["predict", "--share", "1,0,0"]] {
        let output = run(nearfar().args(arguments).arg(&record));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        assert_eq!(said.matches("--gamma").count(), 1, "{said}");
    }
    assert_eq!(classes["classes"][0]["alpha"], Value::Null);
    assert_eq!(classes["classes"][0]["alpha_relative"], 1.0);
}

#[test]
fn classes_are_worded_mapped_and_marked_as_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p", "quick");
    let path = record.to_str().unwrap();
    for arguments in [&["model", path, "classes"][..], &["model", path], &["show", path]] {
        let text = printed(arguments);
        assert!(text.contains("SIMULATED"), "{text}");
        assert!(text.contains("├──────────┴──────────┼──────────┬──────────┤"), "{text}");
        assert!(!text.contains('\u{1b}'), "a pipe is sent no colours");
    }
    let text = printed(&["model", path, "classes"]);
    for words in [
        "local: clusters 0-3 on their own node",
        "clusters 0-3 on the other node of their package",
        "clusters 0-3 on nodes of other packages",
        "alpha is unknown",
    ] {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    assert!(printed(&["predict", path, "--share", "1,0,0"]).contains("SIMULATED"));
}

#[test]
fn memory_without_cpus_is_told_from_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "two-socket-cxl", "quick");
    let view = json(&["model", record.to_str().unwrap(), "classes"]);
    let classes = view["classes"].as_array().unwrap();
    let pairs: Vec<&Value> =
        classes.iter().flat_map(|class| class["pairs"].as_array().unwrap()).collect();
    let of = |cluster: u32, node: u32| {
        *pairs
            .iter()
            .find(|pair| pair["cluster"] == cluster && pair["memory_node"] == node)
            .unwrap()
    };
    for (cluster, node, kind, relation) in [
        (0, 0, "dram", "local"),
        (0, 1, "dram", "other_package"),
        (0, 2, "cxl", "local"),
        (1, 2, "cxl", "other_package"),
    ] {
        let pair = of(cluster, node);
        assert_eq!((&pair["memory_kind"], &pair["relation"]), (&kind.into(), &relation.into()));
    }
    let text = printed(&["model", record.to_str().unwrap(), "classes"]);
    assert!(text.contains("local CXL: cluster 0 on its own CXL node"), "{text}");
}

#[test]
fn colours_are_sent_where_they_are_asked_for_and_tell_nothing_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p", "quick");
    let coloured = |name: &str, value: &str| {
        text(&run(nearfar().arg("model").arg(&record).arg("classes").env(name, value)).stdout)
    };
    let with = coloured("CLICOLOR_FORCE", "1");
    assert!(with.contains("\u{1b}[48;5;"), "{with:?}");
    let mut parts = with.split('\u{1b}');
    let mut without = parts.next().unwrap().to_string();
    parts.for_each(|part| without += part.split_once('m').unwrap().1);
    assert_eq!(without, coloured("NO_COLOR", "1"));
}

#[test]
fn a_record_comes_from_standard_input_or_is_the_newest_of_this_host() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "intel-2p", "quick");
    let named = printed(&["model", record.to_str().unwrap(), "classes"]);
    let end = |text: &str| text.rsplit_once("record: ").unwrap().0.to_string();

    let input = fs::File::open(&record).unwrap();
    let output =
        nearfar().args(["model", "-", "classes"]).stdin(Stdio::from(input)).output().unwrap();
    assert_eq!(end(&text(&output.stdout)), end(&named));

    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host: String = host
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' })
        .collect();
    let state = folder.path().join("nearfar");
    fs::create_dir(&state).unwrap();
    // Simulated machines are other hosts: they are named, not taken for this one.
    for time in ["20250301T120000Z", "20250302T120000Z"] {
        fs::copy(&record, state.join(format!("simulated_intel_2p-{time}.jsonl"))).unwrap();
    }
    let mut model = nearfar();
    refuse(
        model.arg("model").env("XDG_STATE_HOME", folder.path()),
        2,
        &[
            "no record of this host",
            "simulated machines",
            "simulated_intel_2p-20250302T120000Z.jsonl",
        ],
    );
    fs::copy(&record, state.join(format!("{host}-20250301T120000Z.jsonl"))).unwrap();
    let newest = |arguments: &[&str]| {
        let output = run(nearfar().args(arguments).env("XDG_STATE_HOME", folder.path()));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(end(&newest(&["model", "classes"])), end(&named));
    assert!(newest(&["model"]).contains("\n== classes ==\n"));
}

#[test]
fn what_is_not_in_the_record_is_refused_with_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p", "quick");
    for (arguments, words) in [
        (&["--threads", "3"][..], &["3 threads", "it holds", "triad"][..]),
        (&["--kernel", "ddot"], &["ddot", "triad"]),
        (&["--isa", "avx512"], &["avx512", "open64"]),
        (&["--threads", "0"], &["from 1 on, or all"]),
        (&["--class-span", "7"], &["class span", "0.10"]),
        (&["--gamma", "DDR9"], &["DDR9", "DDR4-", "HBM"]),
        (&["bogus"], &["bogus", "classes"]),
    ] {
        refuse(nearfar().arg("model").arg(&record).args(arguments), 2, words);
    }
    let header = fs::read_to_string(&record).unwrap().lines().next().unwrap().to_string();
    let empty = folder.path().join("empty.jsonl");
    fs::write(&empty, header + "\n").unwrap();
    refuse(nearfar().arg("model").arg(&empty), 2, &["nothing that a model", "characterize"]);
    refuse(
        nearfar().arg("model").arg(&empty).arg("classes"),
        2,
        &["no classes model", "characterize"],
    );
}

/// braithwaite2012, equation 4.11 (printed as 0.4000), and 4.17.
#[test]
fn data_access_of_given_alphas() {
    let alphas = ["--alpha", "0.5449,0.3281,0.1816"];
    let view = json(&["predict", alphas[0], alphas[1], "--share", "0.5,0.25,0.25"]);
    near(&view["d"], 0.399_875, 1e-12);
    near(&view["d_serial"], 0.327_202, 1e-6);
    near(&view["d_overlap"], 0.1816 / 0.25, 1e-12);
    assert_eq!(view["unit_gb_per_s"], Value::Null);

    let two = json(&["predict", alphas[0], alphas[1], "--share", "1,0,0", "--share", "0,0,1"]);
    assert_eq!(two["rows"].as_array().unwrap().len(), 2);
    assert_eq!(two["d"], two["rows"][0]["d"]);
    near(&two["rows"][1]["d"], 0.1816, 1e-12);

    let gpus = ["predict", "--alpha", "0.5156,0.4141,0.1797", "--reach", "0,1,2,2"];
    let view = json(&[&gpus[..], &["--reach", "0,1,2,2"]].concat());
    let rows = view["rows"].as_array().unwrap();
    for (shares, d) in
        [([0.5, 0.0, 0.5], 0.3477), ([0.0, 0.5, 0.5], 0.2969), ([0.0, 0.0, 1.0], 0.1797)]
    {
        let row = rows.iter().find(|row| row["shares"] == serde_json::json!(shares)).unwrap();
        near(&row["d"], d, 0.0002);
    }
    assert_eq!(view["d"], rows[0]["d"]);
}

#[test]
fn data_access_of_a_record_is_in_gb_per_s_too() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p", "quick");
    let path = record.to_str().unwrap();
    let relative = json(&["predict", path, "--share", "0,1,0"]);
    let absolute = json(&["predict", path, "--share", "0,1,0", "--gamma", "braithwaite2012"]);
    assert_eq!(
        (&relative["alphas_are"], &absolute["alphas_are"]),
        (&"relative".into(), &"absolute".into())
    );
    for view in [&relative, &absolute] {
        near(&view["rows"][0]["d_gb_per_s"], 5.6, 0.03);
    }
    near(&absolute["d"], 5.6 / 17.066, 0.03);
    // Two processes with their data on nodes 0 and 3 are best on clusters 0 and 3.
    let data = json(&["predict", path, "--data", "0", "--data", "3"]);
    assert_eq!(data["rows"][0]["example"], serde_json::json!([0, 3]));
    assert_eq!(data["initiator"], "cluster");
    assert_eq!(data["places"][3], serde_json::json!({"index": 3, "cpu_node": 3}));
    // Two processes at once: no bounds by time, but what each would get alone.
    assert_eq!((&data["d_serial"], &data["rows"][0]["d_serial"]), (&Value::Null, &Value::Null));
    assert!(data["bounds_unknown"].as_str().unwrap().contains("same time"));
    near(&data["rows"][0]["slowest_lone_gb_per_s"], 9.3, 0.03);
    near(&data["rows"][0]["sum_lone_gb_per_s"], 18.6, 0.03);
    let said = printed(&["predict", path, "--data", "0", "--data", "3"]);
    assert!(said.contains("cluster 0 (node 0),") && said.contains("cluster 3 (node 3)"), "{said}");
    assert_eq!(data["rows"][0]["shares"], serde_json::json!([1.0, 0.0, 0.0]));
    let mappings: u64 =
        data["rows"].as_array().unwrap().iter().map(|row| row["mappings"].as_u64().unwrap()).sum();
    assert_eq!(mappings, 4 * 3);
    refuse(nearfar().args(["predict", path, "--data", "9"]), 2, &["node 9", "0-3"]);
}

/// Two packages of two nodes, one of them without room.
#[test]
fn refused_nodes_stay_in_map_and_words_and_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("full.toml");
    let fault = "[[fault]]\nkind = \"full_memory\"\nnode = 1\n";
    let machine =
        format!("extends = \"amd-2p\"\nname = \"full\"\ntitle = \"one node is full\"\n{fault}");
    fs::write(&file, machine).unwrap();
    let path = folder.path().join("full.jsonl");
    let output = run(nearfar()
        .args(["characterize", "--suite", "quick", "--simulate"])
        .arg(&file)
        .arg("--out")
        .arg(&path));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let path = path.to_str().unwrap();

    let said = printed(&["model", path, "classes"]);
    assert_eq!(said.matches(" refused │").count(), 4, "{said}");
    assert!(said.contains("node 0     node 1     node 2     node 3"), "{said}");
    // Nothing is said of all where a pair is missing.
    for words in ["clusters 0-3 on the other node", "local: clusters 0-3"] {
        assert!(!said.contains(words), "'{words}' is in {said}");
    }
    assert!(said.contains("clusters 2-3 on node 0"), "{said}");

    let view = json(&["model", path, "classes"]);
    let left_out = view["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 4);
    assert_eq!((&left_out[3]["index"], &left_out[3]["memory_node"]), (&3.into(), &1.into()));
    assert!(left_out[3]["refused"].as_str().unwrap().contains("no room"), "{left_out:?}");

    refuse(nearfar().args(["predict", path, "--data", "1"]), 2, &["node 1", "no room", "0,2-3"]);
    let data = json(&["predict", path, "--data", "0"]);
    assert_eq!(data["places"].as_array().unwrap().len(), 4);
}

#[test]
fn only_kernels_that_were_measured_are_said_to_count() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = ["--suite", "quick", "--kernel", "load,triad"];
    let record = simulated(folder.path(), "amd-2p", &kernels);
    let path = record.to_str().unwrap();
    let said = printed(&["model", path, "classes"]);
    assert!(
        said.contains("best round of triad by one thread (triad_nt was not measured)"),
        "{said}"
    );
    let view = json(&["model", path, "classes"]);
    assert_eq!(
        (&view["kernels"], &view["absent_kernels"]),
        (&["triad"][..].into(), &["triad_nt"][..].into())
    );
}

#[test]
fn text_keeps_to_a_hundred_columns_and_says_what_a_view_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "two-socket-8-nodes", "quick");
    let path = record.to_str().unwrap();
    let eight = ["0"; 8].map(|node| ["--data", node]).concat();
    for arguments in [
        &["model", path, "classes"][..],
        // Many narrow classes make wide tables.
        &["model", path, "classes", "--class-span", "0.001"],
        &["model", path, "classes", "--per-initiator"],
        &[&["predict", path], &eight[..]].concat(),
    ] {
        printed(arguments);
    }
    let said = printed(&["model", path, "classes", "--per-initiator"]);
    assert!(said.contains("--json has them"), "{said}");
}

#[test]
fn given_alphas_may_stand_in_any_order_and_shares_are_shown_as_they_count() {
    let said = printed(&["predict", "--alpha", "0.2,0.5", "--share", "0.333,0.6665"]);
    assert!(said.starts_with("alpha by class: 0.2000, 0.5000; given"), "{said}");
    let view = json(&["predict", "--alpha", "0.2,0.5", "--share", "0.333,0.6665"]);
    near(&view["rows"][0]["shares"][0], 0.333 / 0.9995, 1e-12);
}

#[test]
fn alphas_and_shares_that_do_not_fit_are_refused() {
    for (arguments, words) in [
        (&["--share", "1"][..], &["2 alphas and 1 share:"][..]),
        (&["--share", "0.5,0.4"], &["sum to 0.9"]),
        (&["--share=-0.5,1.5"], &["-0.5", "between 0 and 1"]),
        (&["--share", "0.5,x"], &["'x'"]),
        (&["--reach", "0,2"], &["class 2", "2 classes"]),
        (&["--reach", "0,1", "--reach", "0"], &["target 1 has 1 place and target 0 has 2"]),
        (&["--reach", "0", "--reach", "0"], &["2 processes", "1 place in all"]),
        (&["--reach", "0,1", "--share", "1,0"], &["cannot be used with"]),
        (&["--data", "0"], &["cannot be used with"]),
        (&["--share", "1,0", "--kernel", "load"], &["cannot be used with"]),
        (&[], &["--share", "--reach", "--data"]),
    ] {
        refuse(nearfar().args(["predict", "--alpha", "0.5,0.2"]).args(arguments), 2, words);
    }
    for alpha in ["0,0.2", "1e-9,0.2", "nan,0.2", "inf,0.2", "9300,3100"] {
        refuse(
            nearfar().args(["predict", "--share", "1,0", "--alpha", alpha]),
            2,
            &["not between 0.000001 and 1000"],
        );
    }
}

#[test]
fn the_papers_tables_hold() {
    let text = printed(&["reproduce", "braithwaite2012"]);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("braithwaite2012: ") && last.contains(" 0 fail"), "{last}");
    assert!(last.contains("114 pass (54 round trips)"), "{last}");
    assert_eq!(text.matches(" round trip: the simulated machine was given").count(), 3, "{text}");
    assert!(text.contains("table 5.2") && !text.contains("FAIL"), "{text}");
    refuse(nearfar().args(["reproduce", "nobody1900"]), 2, &["nobody1900", "braithwaite2012"]);
}
