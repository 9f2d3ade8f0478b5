//! Records of simulated machines that tests have in common: each is made once, when it is asked for.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use crate::support::{run, text};

/// A record's name, and the machine and options of `characterize` by which it is made.
const RECORDS: &[(&str, &str)] = &[
    ("amd-2p", "amd-2p --suite quick --kernel load,triad,triad_nt"),
    ("amd-4p", "amd-4p --suite quick --kernel triad"),
    ("cxl", "two-socket-cxl --suite quick --kernel triad"),
    ("curves", "xeon-8568-cxl --only latency"),
    ("degraded", "two-socket-8-nodes-degraded --only pairs --kernel load,triad"),
    ("devices", "amd-2p --only devices"),
    ("e5520", "e5520 --only pairs,sharing,latency --grid full --kernel triad"),
    ("e7-4870", "e7-4870 --only pairs,roofs,mixes --kernel load,triad"),
    ("eight", "two-socket-8-nodes --only pairs,links,roofs,mixes --kernel load,triad"),
    ("fast", "knl-flat --suite quick --only pairs,latency,mixes,hybrid --kernel load"),
    ("families", "xeon-8568-cxl --suite standard --only pairs,latency,roofs"),
    ("few-runs", "e7-4870 --only scaling --kernel copy --seed 3 --runs 10"),
    ("full", "full.toml --suite quick --kernel triad"),
    ("hubs", "amd-2p-two-hubs --only devices"),
    ("intel-2p", "intel-2p --only pairs,links,roofs,mixes --kernel load,triad"),
    ("itanium2", "itanium2 --only roofs,latency"),
    ("joe0", "joe0 --only pairs,roofs --seed 7"),
    ("knl-flat", "knl-flat --only pairs,roofs,hybrid"),
    ("knl-mixes", "knl-flat --only pairs,roofs,mixes,hybrid --kernel load,triad"),
    ("knl-sharing", "knl-flat --only pairs,sharing --grid sparse"),
    ("longer", "longer.toml --suite quick --seed 2"),
    ("many", "two-socket-8-nodes --suite quick --only pairs,sharing --kernel triad --grid sparse"),
    ("nodes-8", "two-socket-8-nodes --suite quick --only pairs,latency,mixes --kernel load"),
    ("one", "one.toml --only pairs"),
    ("opteron-8", "opteron-8 --only roofs,latency"),
    ("pairs", "itanium2 --suite quick --only pairs"),
    ("runs", "e7-4870 --only scaling --kernel copy --seed 3 --runs 1000"),
    ("skylake-hybrid", "skylake-hybrid --only hybrid,latency"),
    ("slower", "slower.toml --suite quick --seed 2"),
    ("sound", "joe0 --suite quick --seed 1"),
    ("two", "intel-2p --suite quick --only pairs,latency,mixes --kernel load"),
    ("sparse", "e5520 --only pairs,sharing --grid sparse --kernel triad"),
];

/// Machines of these records that are not built in.
const MACHINES: [(&str, &str); 4] = [
    (
        "full",
        "extends = \"amd-2p\"\ntitle = \"one node is full\"\n\
         fault = [{ kind = \"full_memory\", node = 1 }]\n",
    ),
    (
        "one",
        "title = \"one node\"\nvariants = [\"sse2\"]\n\
         node = [{ package = 0, cores = 4, memory = \"8GiB\" }]\n\
         bandwidth = [{ relation = \"local\", one_thread = 5, all_threads = 12 }]\n",
    ),
    (
        "slower",
        "extends = \"joe0\"\ntitle = \"one narrow path\"\n\
         bandwidth = [{ pairs = [[0, 1]], one_thread = 3.3, all_threads = 15.4 }]\n",
    ),
    // Every access takes a seventh longer.
    (
        "longer",
        "extends = \"joe0\"\ntitle = \"slow accesses\"\n\
         latency = [{ relation = \"local\", ns = 109 }, { relation = \"same_package\", ns = 135 },\n\
         { distance = 31, ns = 189 }, { distance = 32, ns = 203 }]\n",
    ),
];

/// Where they lie, which is this process's for as long as it lives.
pub fn folder() -> &'static Path {
    static FOLDER: LazyLock<(PathBuf, File)> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records");
        let lock = File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir(&folder).unwrap();
        for (name, lines) in MACHINES {
            let file = folder.join(format!("{name}.toml"));
            fs::write(file, format!("name = \"{name}\"\n{lines}")).unwrap();
        }
        (folder, lock)
    });
    &FOLDER.0
}

/// The path of a record; that called `empty` is one of joe0 in which nothing was measured.
pub fn record(name: &str) -> PathBuf {
    static MADE: [OnceLock<()>; RECORDS.len() + 1] = [const { OnceLock::new() }; RECORDS.len() + 1];
    let path = folder().join(format!("{name}.jsonl"));
    let number = RECORDS.iter().position(|(known, _)| *known == name).unwrap_or(RECORDS.len());
    MADE[number].get_or_init(|| {
        let Some((_, options)) = RECORDS.get(number) else {
            assert_eq!(name, "empty");
            let whole = fs::read_to_string(record("sound")).unwrap();
            return fs::write(&path, whole.lines().next().unwrap().to_owned() + "\n").unwrap();
        };
        let words = format!("characterize --simulate {options} --out {name}.jsonl");
        let output = run(&mut asked(&words));
        // A node without room for its pages is told by 3.
        let status = if name == "full" { 3 } else { 0 };
        assert_eq!(output.status.code(), Some(status), "{name}: {}", text(&output.stderr));
    });
    path
}

/// A line of shell in that folder, where `@NAME` is a record.
pub fn line(words: &str) -> Command {
    let mut script = String::new();
    for (number, part) in words.split('@').enumerate() {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(part.len());
        match (number, part.split_at(end)) {
            (0, _) => script += part,
            (_, ("", rest)) => script += &format!("@{rest}"),
            (_, (name, rest)) => {
                record(name);
                script += &format!("{name}.jsonl{rest}");
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_BIN_EXE_nearfar")).parent().unwrap();
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", &script, "bash"]);
    command
        .current_dir(folder())
        .env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()))
        .env("XDG_STATE_HOME", folder())
        .env("LC_ALL", "C")
        .env("TESTS", root.join("tests/program"))
        .env("CRATES", root.parent().unwrap());
    for variable in ["COLUMNS", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command
}

/// A command line of the program there, to which arguments can be added.
pub fn asked(words: &str) -> Command {
    line(&format!("exec nearfar {words} \"$@\""))
}

/// What such a command line gives for programs.
pub fn json(words: &str) -> Value {
    let output = run(asked(words).arg("--json"));
    assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
