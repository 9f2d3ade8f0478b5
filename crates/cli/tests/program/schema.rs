//! What the program prints and writes for programs, held against `docs/schema`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use jsonschema::Validator;
use nearfar_record::Experiment;
use serde_json::Value;

use crate::contract::docs;
use crate::support::{nearfar, run, text};

fn folder() -> PathBuf {
    docs().join("schema")
}

/// Every schema by the format that it describes, as documents name theirs.
fn schemas() -> BTreeMap<String, Validator> {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let of_file = |path: PathBuf| {
        let schema: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{}", path.display());
        let name = schema["$id"].as_str().unwrap().to_string();
        assert!(path.ends_with(format!("{}.json", name.replace('/', "-"))), "{}", path.display());
        (name, jsonschema::validator_for(&schema).unwrap())
    };
    files.map(of_file).collect()
}

static SCHEMAS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(schemas);

/// Complains about every place where a document is not what the schema of this format says.
fn assert_valid(format: &str, document: &Value) {
    let schema = SCHEMAS.get(format).unwrap_or_else(|| panic!("no schema of {format}"));
    let wrong: Vec<String> = schema
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}\n{document:#}", wrong.join("\n"));
}

/// Holds a document against the schema of the format that it names.
pub fn hold(document: &Value) -> String {
    let format = document["schema"].as_str().unwrap_or_else(|| panic!("no format: {document:#}"));
    assert_valid(format, document);
    format.into()
}

/// The formats of the documents that the program gave, each held against its schema.
#[derive(Default)]
struct Documents {
    seen: BTreeSet<String>,
}

impl Documents {
    /// Runs a command by words (`~` is a space in one), with `--json`; its output is a document a line, or one.
    fn asked(&mut self, words: &str, path: &Path) -> Vec<Value> {
        let path = path.to_str().unwrap();
        let words = words.split(' ').map(|word| word.replace("RECORD", path).replace('~', " "));
        let words: Vec<String> = words.collect();
        let output = run(nearfar().args(&words).arg("--json"));
        let said = text(&output.stderr);
        // What falls short of a promise and what a machine refuses are told as well.
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{words:?}: {said}");
        let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
        let documents: Vec<Value> = documents.map(|document| document.unwrap()).collect();
        assert!(!documents.is_empty(), "{words:?} prints nothing: {said}");
        self.seen.extend(documents.iter().map(hold));
        documents
    }

    fn file(&mut self, path: &Path) {
        self.seen.insert(hold(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap()));
    }

    /// Holds every line of a record, and gives the experiments that have samples.
    fn record(&mut self, path: &Path) -> BTreeSet<String> {
        let record = fs::read_to_string(path).unwrap();
        let lines: Vec<Value> =
            record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let format = lines[0]["header"]["schema"].as_str().unwrap();
        lines.iter().for_each(|line| assert_valid(format, line));
        self.seen.insert(format.into());
        let cases = lines.iter().filter_map(|line| line["sample"]["case"].as_str());
        cases.map(|case| case.split('/').next().unwrap().to_string()).collect()
    }
}

/// A machine with a slow node, one that has no room and a wiring that its firmware hides.
const FAULTY: &str = "extends = \"two-socket-8-nodes\"\nname = \"faulty\"\ntitle = \"faulty\"\n\
                      [[bandwidth]]\npairs = [[4, 7], [7, 4], [5, 6], [6, 5]]\none_thread = 13.0\n\
                      all_threads = 28.0\n\
                      [[fault]]\nkind = \"slow_memory\"\nnode = 1\nfactor = 0.8\n\
                      [[fault]]\nkind = \"full_memory\"\nnode = 2\n";

/// What is asked of each record that a simulated machine gives.
const QUESTIONS: [(&str, &[&str]); 7] = [
    (
        "--simulate amd-2p --suite standard --runs 30",
        &[
            "show RECORD",
            "doctor RECORD --gamma 1GB/s",
            "model RECORD --gamma DDR3-2133",
            "model RECORD classes --per-group --threads all",
            "predict RECORD --share 0.5,0.25,0.25",
            "predict RECORD --reach 0,1,2,2",
            "predict RECORD --data 0",
            "predict RECORD --device cuda0 --device cuda1 --phi braithwaite2012",
            "predict RECORD --processes 4",
            "predict RECORD --point 0.125,4.7 --point 30",
            "predict RECORD --curve --read-share 0.8 --bandwidth 5GB/s",
            "predict RECORD --what-if channels=1 --gamma DDR3-1333x2",
            "predict RECORD --program @ft.A --copies 2",
            "predict RECORD --bytes-per-step 15.6GB --compute-per-step 20ms --replicated 20GiB",
            "advise RECORD --instances",
            "advise RECORD",
            "advise RECORD --threads 4 --working-set 1GiB --pattern private",
            "advise RECORD --device cuda0",
        ],
    ),
    (
        "--simulate e5520 --only sharing --grid full",
        &["show RECORD", "model RECORD sharing", "predict RECORD --split 3,1 --node 1"],
    ),
    (
        "--simulate knl-flat --suite standard",
        &[
            "show RECORD",
            "model RECORD",
            "model RECORD hybrid --unbounded",
            "predict RECORD --load-share 0.67 --fast-share 0.5 --fast-share 1",
            "predict RECORD --point 0.125,4.7 --load-share 0.67 --fast-share 0.5",
        ],
    ),
    (
        "--simulate two-socket-8-nodes --only pairs,links,roofs,mixes --kernel load,triad",
        &[
            "doctor RECORD",
            "model RECORD",
            "predict RECORD --stream cpus=64-79~mem=interleave:0-1",
            "predict RECORD --what-if snc=off",
            "topo RECORD --export-xml TOPOLOGY",
            "record scrub RECORD --force -o SCRUBBED",
        ],
    ),
    ("--simulate FAULTY --suite quick", &["show RECORD", "model RECORD", "doctor RECORD"]),
    (
        "--simulate amd-2p --suite quick --only pairs,roofs,workloads",
        &["show RECORD", "model RECORD", "doctor RECORD"],
    ),
    ("--simulate two-socket-8-nodes --only exchange", &["show RECORD", "model RECORD exchange"]),
];

/// Formats of many machines.
const FLEET: [&str; 5] = [
    "nearfar.fleet-compare/1",
    "nearfar.fleet-drift/1",
    "nearfar.fleet-manifest/1",
    "nearfar.machine-summary/1",
    "nearfar.verdict/1",
];

#[test]
fn documents_and_records_of_every_kind_are_what_their_schemas_say() {
    let mut documents = Documents::default();
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    let faulty = in_folder("faulty.toml");
    fs::write(&faulty, FAULTY).unwrap();
    let mut experiments = BTreeSet::new();
    let put = |words: &str| {
        let words = words.replace("FAULTY", faulty.to_str().unwrap());
        let words = words.replace("TOPOLOGY", in_folder("f.xml").to_str().unwrap());
        words.replace("SCRUBBED", in_folder("scrubbed.jsonl").to_str().unwrap())
    };
    for (number, (machine, questions)) in QUESTIONS.into_iter().enumerate() {
        let record = in_folder(&format!("{number}.jsonl"));
        documents.asked(&put(&format!("characterize {machine} --out RECORD")), &record);
        experiments.extend(documents.record(&record));
        for question in questions {
            documents.asked(&put(question), &record);
        }
        let report = in_folder("report.json");
        let output = run(nearfar().args(["report", "-o"]).arg(&report).arg(&record));
        assert!(output.status.success(), "{}", text(&output.stderr));
        documents.file(&report);
    }
    // Measured over loopback: a simulated machine has no other one.
    let network = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record/network");
    experiments.extend(documents.record(&network));
    documents.asked("show RECORD", &network);
    documents.asked("model RECORD network", &network);
    let every = Experiment::OF_MACHINE.map(|experiment| experiment.to_string());
    assert!(experiments.is_superset(&every.into()), "{experiments:?}");
    let other = in_folder("4.jsonl");
    let compare = format!("compare RECORD {}", other.display());
    documents.asked(&compare, &in_folder("3.jsonl"));
    documents.asked("list RECORD", other.parent().unwrap());
    documents.asked("files RECORD", other.parent().unwrap());
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record/programs");
    documents.asked("sensitivity --from RECORD", &programs);

    let nothing = Path::new("");
    for words in [
        "topo",
        "topo --simulate knl-flat",
        "topo --synthetic pack:2~node:2~core:2~pu:2",
        "topo --simulate list",
        "characterize --kernel list",
        "characterize --dry-run --simulate amd-2p",
        "doctor",
        "ps --all",
        "reproduce",
        "workload list",
        "workload ep.S",
        "workload is.S --threads 1 --misses",
    ] {
        documents.asked(words, nothing);
    }
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../topology/tests/machines");
    for machine in fs::read_dir(machines).unwrap() {
        documents.asked("topo --xml RECORD", &machine.unwrap().path());
    }

    let mut waiting = Command::new("sleep").arg("600").spawn().unwrap();
    documents.asked(&format!("move --pid {} interleave", waiting.id()), nothing);
    waiting.kill().unwrap();
    waiting.wait().unwrap();

    let profile = in_folder("p.json");
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let watched =
        run(nearfar().args(["profile", "--out"]).arg(&profile).args(["--", "sh", "-c", busy]));
    assert_eq!(watched.status.code(), Some(0), "{}", text(&watched.stderr));
    documents.file(&profile);
    documents.asked("profile RECORD", &profile);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/program_profile");
    documents.asked("profile RECORD", &corpus.join("solver"));
    for (options, status) in [
        ("--placement interleave", 3),
        ("--placement compact --follow", 3),
        ("--placement bind:1000", 125),
    ] {
        let report = in_folder("run.json");
        let option = format!("--report={}", report.display());
        let mut command = nearfar();
        command.arg("run").args(options.split(' ')).arg(&option).args(["--", "sh", "-c"]);
        let output = run(command.arg("exit 3"));
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
        documents.file(&report);
    }
    let report = in_folder("instances.json");
    let option = format!("--report={}", report.display());
    run(nearfar().args(["run", "--each-node", &option, "--", "true"]));
    documents.file(&report);
    // Formats of many machines are held against their schemas in `fleet.rs`.
    documents.seen.extend(FLEET.map(String::from));
    // What needs a device is held against its schema where there is one (`tests/devices`).
    let all = SCHEMAS.keys().filter(|it| *it != "nearfar.device-workload/1").cloned();
    let all: BTreeSet<String> = all.collect();
    assert_eq!(documents.seen, all, "left: what was printed; right: docs/schema");
}
