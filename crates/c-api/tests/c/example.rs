//! The example in C says what the library in Rust says.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use nearfar_model::{ClassRule, RecordFigures};
use nearfar_record::{host_name, record_name};
use nearfar_runtime::{Ranking, Touched};

use crate::compiler::compile;
use crate::record::{itanium2, write};

#[test]
fn the_example_prints_what_rust_answers() {
    let record = itanium2();
    let (folder, path) = write(&record);
    let program = folder.path().join("rank");
    compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rank.c"), &program);
    let run = |arguments: &[&str]| -> Output {
        Command::new(&program).arg(&path).args(arguments).output().unwrap()
    };
    let output = run(&["0=1000000000", "2=500000000", "2=1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let ranking = Ranking::new(&RecordFigures::new(&record), &ClassRule::default()).unwrap();
    let on = |node, bytes| Touched { node, bytes };
    let task = [on(0, 1_000_000_000), on(2, 500_000_000), on(2, 1)];
    let noise = 1.0 + ranking.noise().unwrap();
    let mut expected =
        format!("4 of 4 places, the best first; equally good up to {noise:.6} times\n");
    for found in ranking.rank(&task, &[]).unwrap().ranked {
        let place = &ranking.places()[found.place];
        expected += &format!(
            "place {}, initiator {}, node {}, {} CPUs: {:.9} s, {:.6} times the best\n",
            found.place,
            place.initiator,
            place.cpu_node.unwrap(),
            place.cpus.len(),
            found.seconds,
            found.ratio
        );
    }
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    let caution = "rank: SIMULATED: the figures were computed, not measured\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), caution);

    let output = run(&["9=1"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!(
            "{caution}rank: the record's machine has no such memory node: the machine of the record has \
             no memory node 9\n"
        )
    );
}

/// Opens the newest record of this host and says how many places it has.
const NEWEST: &str = r#"
#include <nearfar.h>
#include <stdio.h>
int main(void)
{
    nearfar_ranking *ranking = NULL;
    int32_t code = nearfar_open(NULL, 0, &ranking);
    printf("%d %zu %s\n", (int)code, nearfar_place_count(ranking), nearfar_error_detail());
    nearfar_free(ranking);
    return 0;
}
"#;

#[test]
fn without_a_path_the_newest_record_of_this_host_is_opened() {
    let mut record = itanium2();
    record.header.host = host_name();
    let (folder, path) = write(&record);
    let (source, program) = (folder.path().join("newest.c"), folder.path().join("newest"));
    fs::write(&source, NEWEST).unwrap();
    compile(&source, &program);
    let state = folder.path().join("nearfar");
    fs::create_dir(&state).unwrap();
    let run = || {
        let output = Command::new(&program).env("XDG_STATE_HOME", folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let none = run();
    assert!(none.starts_with("2 0 there is no record of this host in "), "{none}");
    // A file that is none counts for nothing, whatever it is called; a record for its header.
    fs::write(state.join(record_name(&host_name(), "2026-01-03T00:00:00Z")), "{}").unwrap();
    assert!(run().starts_with("2 0 "));
    fs::copy(&path, state.join("copied")).unwrap();
    assert_eq!(run(), "0 4 \n");
}
