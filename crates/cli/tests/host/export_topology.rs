//! `topo --export-xml`: hwloc's own tools read what was written, and choose by it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{SMALL, measuring, nearfar, run, text};

/// A record in `folder`.
fn characterize(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let mut command = nearfar();
    command.args(["characterize", "--force", "--out"]).arg(&path).args(options);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    path
}

/// Exports and gives what was said of it, as JSON.
fn export(record: &Path, file: &Path, options: &[&str]) -> Value {
    let mut command = nearfar();
    command.arg("topo").arg(record).arg("--export-xml").arg(file).arg("--json").args(options);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The values that lstopo shows of each attribute, sorted.
fn shown_by_lstopo(file: &Path) -> BTreeMap<String, Vec<u64>> {
    let output = Command::new("lstopo-no-graphics")
        .arg("-i")
        .arg(file)
        .arg("--memattrs")
        .output()
        .expect("lstopo-no-graphics is installed by scripts/install-packages host");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut shown: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut attribute = String::new();
    for line in text(&output.stdout).lines() {
        if let Some((_, named)) = line.split_once(" name `") {
            attribute = named.split('\'').next().unwrap().into();
        } else if let Some((_, value)) = line.split_once(" = ")
            && line.contains(" from cpuset ")
        {
            let value = value.split(' ').next().unwrap().parse().unwrap();
            shown.entry(attribute.clone()).or_default().push(value);
        }
    }
    shown.values_mut().for_each(|values| values.sort_unstable());
    shown
}

/// lstopo shows the values that the program says it wrote, and no other.
fn assert_shown(file: &Path, export: &Value) {
    let mut written: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for attribute in export["attributes"].as_array().unwrap() {
        let values = attribute["values"].as_array().unwrap();
        let mut values: Vec<u64> =
            values.iter().map(|value| value["value"].as_u64().unwrap()).collect();
        values.sort_unstable();
        written.insert(attribute["attribute"].as_str().unwrap().into(), values);
    }
    assert_eq!(shown_by_lstopo(file), written);
}

/// The node that hwloc-bind takes for a core, by one attribute, among all nodes.
fn best_node(file: &Path, attribute: &str, core: u32) -> u32 {
    let output = Command::new("hwloc-bind")
        .env("HWLOC_XMLFILE", file)
        .args(["--best-memattr", attribute, "-v", "--cpubind", &format!("core:{core}")])
        .args(["--membind", "machine:0", "--", "true"])
        .output()
        .expect("hwloc-bind is installed by scripts/install-packages host");
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let chosen = said.lines().find_map(|line| {
        let set = line.strip_prefix("memory binding is now ")?.trim_start();
        u64::from_str_radix(set.split(' ').next()?.strip_prefix("0x")?, 16).ok()
    });
    chosen.unwrap_or_else(|| panic!("{said}")).trailing_zeros()
}

/// On this machine every core's own node is the fastest of all by every measure.
#[test]
fn hwloc_bind_takes_the_local_node_of_each_of_eight() {
    let folder = tempfile::tempdir().unwrap();
    let machine = ["--simulate", "two-socket-8-nodes"];
    let record = characterize(folder.path(), "r.jsonl", &machine);
    let file = folder.path().join("eight.xml");
    let export = export(&record, &file, &machine);
    assert_eq!(
        (&export["topology"], &export["is_simulated"]),
        (&"description".into(), &true.into())
    );
    assert_shown(&file, &export);
    for attribute in export["attributes"].as_array().unwrap() {
        assert_eq!(attribute["values"].as_array().unwrap().len(), 64, "{attribute}");
        for node in [0, 3, 6] {
            let best = best_node(&file, attribute["attribute"].as_str().unwrap(), 16 * node + 5);
            assert_eq!(best, node, "{attribute}");
        }
    }
}

/// MCDRAM moves more bytes and answers later than the DDR beside it, so that the two attributes
/// lead to different nodes.
#[test]
fn hwloc_bind_takes_the_fast_memory_by_bandwidth_and_the_near_one_by_latency() {
    let folder = tempfile::tempdir().unwrap();
    let record = characterize(folder.path(), "r.jsonl", &["--simulate", "knl-flat"]);
    let file = folder.path().join("knl.xml");
    assert_shown(&file, &export(&record, &file, &[]));
    let topo = run(nearfar().args(["topo", "--json", "--xml"]).arg(&file));
    let topo: Value = serde_json::from_slice(&topo.stdout).unwrap();
    let kind = |node: u32| {
        let nodes = topo["nodes"].as_array().unwrap().iter();
        nodes.clone().find(|known| known["os_index"] == node).unwrap()["kind"].clone()
    };
    assert_eq!(kind(best_node(&file, "Bandwidth", 0)), "hbm");
    assert_eq!(kind(best_node(&file, "Latency", 0)), "dram");
}

/// A machine of every kind that is simulated can be described to hwloc: nodes without CPUs,
/// several nodes in a package, side caches, one node for all.
#[test]
fn every_simulated_machine_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let list = run(nearfar().args(["topo", "--simulate", "list", "--json"]));
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let machines = list["machines"].as_array().unwrap();
    assert!(machines.len() > 10);
    for machine in machines {
        let name = machine["name"].as_str().unwrap();
        let options =
            ["--simulate", name, "--only", "pairs", "--kernel", "load,triad", "--samples", "1"];
        let record = characterize(folder.path(), "r.jsonl", &options);
        let file = folder.path().join(format!("{name}.xml"));
        let export = export(&record, &file, &["--simulate", name]);
        let named = |attribute: &Value| attribute["attribute"] == "ReadBandwidth";
        assert!(export["attributes"].as_array().unwrap().iter().any(named), "{export}");
        assert_shown(&file, &export);
    }
}

#[test]
fn this_machine_is_exported_as_hwloc_finds_it_and_from_lstopos_file() {
    measuring(|| {
        let folder = tempfile::tempdir().unwrap();
        let options = [&["--only", "pairs", "--kernel", "load,copy"][..], &SMALL].concat();
        let record = characterize(folder.path(), "r.jsonl", &options);
        let file = folder.path().join("here.xml");
        let live = export(&record, &file, &[]);
        assert_eq!(live["topology"], "live");
        assert_shown(&file, &live);
        let kernels: Vec<&Value> =
            live["attributes"].as_array().unwrap().iter().map(|one| &one["kernel"]).collect();
        assert_eq!(kernels, ["copy", "load"]);

        let saved = folder.path().join("lstopo.xml");
        let lstopo =
            Command::new("lstopo-no-graphics").args(["-f", "--of", "xml"]).arg(&saved).status();
        assert!(lstopo.unwrap().success());
        let from_file = export(&record, &file, &["--xml", saved.to_str().unwrap()]);
        assert_eq!(from_file["topology"], "file");
        assert_eq!(from_file["attributes"], live["attributes"]);
        assert_shown(&file, &from_file);
        let said = run(nearfar().arg("topo").arg(&record).arg("--export-xml").arg(&file));
        assert!(text(&said.stdout).contains("--best-memattr"), "{}", text(&said.stdout));
    });
}
