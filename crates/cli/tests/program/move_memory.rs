//! `nearfar move` on this machine, whatever it has, of a process of our own that waits. What it does on
//! several nodes is tried in guests.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::schema::hold;
use crate::support::{nearfar, refuse, run, text};

/// Ends with the test.
struct Waiting(Child);

impl Waiting {
    fn start() -> Self {
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn moved(pid: &str, arguments: &[&str]) -> Command {
    let mut command = nearfar();
    command.args(["move", "--pid", pid]).args(arguments);
    command
}

#[test]
fn a_process_is_moved_and_told_with_what_stays() {
    let waiting = Waiting::start();
    // Until it has become its program, it is this one.
    let command = format!("/proc/{}/comm", waiting.pid());
    while std::fs::read_to_string(&command).unwrap().trim() != "cat" {
        std::thread::yield_now();
    }
    for arguments in
        [&["interleave"][..], &["interleave", "--files", "--threads", "--rate", "1MB/s"]]
    {
        let output = run(moved(&waiting.pid(), arguments).arg("--json"));
        let view: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(hold(&view), "nearfar.move/1");
        assert_eq!(output.status.code(), Some(0), "{view:#}");
        let bytes = view["bytes_by_node"].as_object().unwrap().values();
        assert!(bytes.map(|bytes| bytes.as_u64().unwrap()).sum::<u64>() > 0, "{view:#}");
        let has_one_node = view["asked_shares"].as_object().unwrap().len() == 1;
        assert!(!has_one_node || view["moved_bytes"] == 0, "{view:#}");
        // Its libraries are mapped by this test as well.
        let has_files = arguments.len() > 1;
        assert!(!has_files || view["shared_bytes"].as_u64() > Some(0), "{view:#}");
        assert_eq!(view["threads"], usize::from(has_files), "{view:#}");
        let said = text(&run(&mut moved(&waiting.pid(), arguments)).stdout);
        assert_eq!(said.contains("one memory node"), has_one_node, "{said}");
        assert_eq!(said.matches("its own policy").count(), 1, "{said}");
        assert!(said.lines().count() < 24, "{said}");
    }
}

#[test]
fn what_cannot_be_moved_is_refused() {
    let waiting = Waiting::start();
    let pid = waiting.pid();
    refuse(&mut moved("4194304", &["interleave"]), 2, &["no process 4194304", "nearfar ps"]);
    // In a container it is any process.
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        refuse(&mut moved("2", &["interleave"]), 3, &["process 2"]);
    }
    refuse(&mut moved("all", &["interleave"]), 2, &["--pid"]);
    refuse(&mut moved(&pid, &["local"]), 2, &["names no nodes"]);
    refuse(&mut moved(&pid, &["everywhere"]), 2, &["not a placement"]);
    refuse(&mut moved(&pid, &["bind:1000"]), 3, &["bind:1000: cannot have", "; try bind:"]);
    refuse(&mut moved(&pid, &[]), 2, &["PLACEMENT"]);
    for (rate, said) in [("0GB/s", "1MB/s or more"), ("999KB/s", "no unit"), ("fast", "number")] {
        refuse(&mut moved(&pid, &["interleave", "--rate", rate]), 2, &["--rate", said]);
    }
    // A shell that becomes nearfar has its number.
    let line = format!("exec {} move --pid $$ interleave", env!("CARGO_BIN_EXE_nearfar"));
    refuse(Command::new("sh").args(["-c", &line]), 3, &["this nearfar itself"]);
}
