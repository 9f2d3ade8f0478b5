//! What real programs do under `nearfar run`: many threads and children, another tracer, another user, a
//! container.

use std::process::Command;

use serde_json::Value;

use crate::run::{load, report, run};
use crate::support::text;

fn words(program: &[String]) -> Vec<&str> {
    program.iter().map(String::as_str).collect()
}

fn threads(told: &Value) -> u64 {
    told["threads"].as_array().unwrap().len() as u64 + told["threads_unlisted"].as_u64().unwrap()
}

#[test]
fn a_thousand_threads_and_two_thousand_children_are_counted() {
    for (what, count) in [("threads", 1000), ("forks", 2000)] {
        let program = load(&[what, &count.to_string()]);
        let told = report(&["--follow"], &words(&program), 0);
        assert_eq!(threads(&told), count + 1, "{what}");
        report(&[], &words(&program), 0);
    }
}

/// A process has one tracer: who comes second is told of the first.
#[test]
fn another_tracer_is_named() {
    let within = [env!("CARGO_BIN_EXE_nearfar"), "run", "--follow", "--", "true"];
    let output = run(&["--follow"], &within);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("traces it already") && !said.contains("SYS_PTRACE"), "{said}");
    let tracer = run(&["--report"], &within);
    assert_eq!(tracer.status.code(), Some(0), "{}", text(&tracer.stderr));
}

/// What a program starts as another user, and in a container of its own, keeps its binding and is counted.
#[test]
fn other_users_and_containers_are_counted() {
    const WAYS: [&[&str]; 2] = [
        &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
        &["unshare", "--mount", "--pid", "--fork"],
    ];
    for through in WAYS {
        let is_allowed = Command::new(through[0]).args(&through[1..]).arg("true").output();
        if !is_allowed.is_ok_and(|output| output.status.success()) {
            nearfar_lab::skip(&format!("{} is refused here", through[0]));
            continue;
        }
        let told = report(
            &["--follow", "--placement", "interleave"],
            &[through, &["sh", "-c", "dd if=/dev/zero of=/dev/null bs=48M count=1; exit 5"]]
                .concat(),
            5,
        );
        let memory = &told["memory"];
        let own = memory["own_bytes_by_node"].as_object().unwrap().values();
        let own: u64 = own.filter_map(Value::as_u64).sum();
        assert!(own > 48 << 20, "{through:?}: {told}");
        assert!(memory["largest_deviation"].as_f64().unwrap() < 0.05, "{through:?}: {told}");
    }
}
