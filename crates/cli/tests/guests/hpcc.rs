//! HPC Challenge, as Debian has it, by the recipe of `docs/sensitivity.md` in a guest of four nodes. Its
//! problem is tiny: what counts is that the recipe reads what it prints, and that its pages are found.

use std::path::Path;

use nearfar_record::read_record;
use serde_json::Value;

use crate::boot::NEW;
use crate::recipe::{judge_runs, recipe};
use crate::{PROGRAMS, give_up, in_guest_with, left};

/// What Open MPI opens at run time.
const FOLDERS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/openmpi",
    "/usr/lib/x86_64-linux-gnu/pmix2",
    "/etc/openmpi",
    "/usr/share/openmpi",
];

const EXAMPLE: &str = "/usr/share/doc/hpcc/examples/_hpccinf.txt";

/// One process, and a matrix of a few KiB.
fn problem() -> String {
    let example = std::fs::read_to_string(EXAMPLE).unwrap_or_else(|_| {
        give_up("hpcc is missing (Debian: apt-get install --no-install-recommends hpcc)")
    });
    let mut lines: Vec<&str> = example.lines().collect();
    for (line, text) in [(5, "50 Ns"), (7, "16 NBs"), (10, "1 Ps"), (11, "1 Qs")] {
        lines[line] = text;
    }
    lines.join("\n")
}

#[test]
#[ignore = "make outer: needs Debian's hpcc"]
fn hpcc_is_run_by_its_recipe() {
    let problem = problem();
    let programs = PROGRAMS.clone().unwrap_or_else(|error| give_up(&error));
    let programs = programs.with(Path::new("/usr/bin/hpcc"), &FOLDERS.map(Path::new));
    let programs = programs.unwrap_or_else(|error| give_up(&format!("{error:#}")));
    let recipe = recipe("[[program]]\nname = \"hpcc\"");
    let script = format!(
        "cat >hpccinf.txt <<'END'\n{problem}\nEND\ncat >hpcc.toml <<'END'\n{recipe}\nEND
        nearfar sensitivity --programs hpcc.toml --rounds 1 --out /out/hpcc.jsonl --json \
            >/out/hpcc.json 2>/out/hpcc.said
        echo $? >/out/hpcc.status"
    );
    let (_, ended) = in_guest_with(&programs, "amd-2p", NEW, 384, &[], &script);
    let file = |ending: &str| left(&ended, &format!("hpcc.{ending}"));
    assert_eq!(file("status"), "0", "{}", file("said"));
    let record = read_record(file("jsonl").as_bytes()).unwrap();
    let view: Value = serde_json::from_str(&file("json")).unwrap();
    let placements = view["programs"][0]["placements"].as_array().unwrap();
    assert!(placements.len() > 1, "{view}");
    assert_eq!(record.samples.len(), placements.len());
    judge_runs(&record);
}
