//! A program behind `nearfar run` on a terminal: Ctrl-Z stops both, `fg` wakes both, Ctrl-C ends the
//! program. A shell sits on a pseudo-terminal, which script(1) makes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// How long the shell may take for what takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Gives up when the shell does not answer: a hanging terminal is what this test looks for.
fn wait_until(what: &str, log: &Path, mut is_there: impl FnMut() -> bool) {
    let step = Duration::from_millis(20);
    for _ in 0..PATIENCE.as_millis() / step.as_millis() {
        if is_there() {
            return;
        }
        thread::sleep(step);
    }
    let said = fs::read(log).unwrap_or_default();
    panic!("{what}: {}", String::from_utf8_lossy(&said));
}

struct Terminal {
    script: Child,
    log: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Terminal {
    fn open() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        Command::new("script").arg("--version").output().ok()?;
        // Whoever runs tests in the background may have them ignore SIGINT, and a shell hands that on.
        let mut script = Command::new("env");
        script.args(["--default-signal=INT,QUIT,TSTP", "script", "-q", "-f", "-c"]);
        script.arg("exec bash --norc --noprofile -i").arg(&log);
        script.env("TERM", "dumb").current_dir(folder.path());
        let script = script.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(Self { script: script.spawn().ok()?, log, _folder: folder })
    }

    fn type_in(&mut self, text: &str) {
        self.script.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// How often the terminal shows this.
    fn count(&self, what: &str) -> usize {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).matches(what).count()
    }

    fn await_count(&self, what: &str, count: usize) {
        wait_until(&format!("{count} times '{what}'"), &self.log, || self.count(what) >= count);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.script.kill().ok();
        self.script.wait().ok();
    }
}

/// One that leaves stops to the kernel, one that deals with them and stops by SIGSTOP as top(1) does.
const PROGRAMS: [&str; 2] = [
    "echo up-$((1+1)); read line; echo got-$line; exit 9",
    "trap \"echo bye-$((1+1)); kill -STOP $$; echo back-$((1+1))\" TSTP; echo up-$((1+1)); \
     until read -t 1 line; do :; done; echo got-$line; exit 9",
];

#[test]
fn a_program_is_stopped_woken_and_ended_by_its_terminal() {
    for (number, program) in PROGRAMS.iter().enumerate() {
        for way in ["", "--report", "--follow"] {
            let Some(mut terminal) = Terminal::open() else {
                nearfar_lab::skip("there is no script(1) (util-linux) for a pseudo-terminal");
                return;
            };
            terminal.await_count("bash-", 1);
            let nearfar = env!("CARGO_BIN_EXE_nearfar");
            terminal.type_in(&format!("{nearfar} run -q {way} -- bash -c '{program}'\n"));
            terminal.await_count("up-2", 1);
            terminal.type_in("\x1a");
            if number == 1 {
                terminal.await_count("bye-2", 1);
            }
            terminal.await_count("Stopped", 1);
            terminal.type_in("jobs -l; echo now-$((2+2))\n");
            terminal.await_count("now-4", 1);
            terminal.type_in("fg\n");
            if number == 1 {
                terminal.await_count("back-2", 1);
            }
            terminal.type_in("word\n");
            terminal.await_count("got-word", 1);
            terminal.type_in("echo status-$?\n");
            terminal.await_count("status-9", 1);
            // No shell: bash(1) loses a signal that comes between a command and its exec.
            terminal.type_in("echo go-$((1+2)) > there\n");
            terminal.type_in(&format!("{nearfar} run -q {way} -- cat there -\n"));
            terminal.await_count("go-3", 1);
            // What is typed before the shell is back goes with the interrupted line.
            let prompts = terminal.count("bash-");
            terminal.type_in("\x03");
            terminal.await_count("bash-", prompts + 1);
            terminal.type_in("echo then-$?\n");
            terminal.await_count("then-130", 1);
        }
    }
}
