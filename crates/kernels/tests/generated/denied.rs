//! A process that may not make memory executable.

use std::process::Command;

use nearfar_kernels::{Flops, Mix, Unavailable};

use crate::NARROWEST;

/// Set for the process in which memory cannot become executable. It cannot be undone, so that
/// other tests must not be in it.
const DENIED: &str = "NEARFAR_TEST_EXECUTABLE_MEMORY_DENIED";

const NAME: &str = "denied::memory_that_linux_keeps_from_being_executable_is_an_error_that_says_so";

#[test]
fn memory_that_linux_keeps_from_being_executable_is_an_error_that_says_so() {
    if std::env::var_os(DENIED).is_none() {
        let program = std::env::current_exe().unwrap();
        // Programs that are not of this machine are run by another.
        let mut command = match std::env::var_os("NEARFAR_TEST_RUNNER") {
            Some(runner) => Command::new(runner),
            None => Command::new(&program),
        };
        if command.get_program() != program {
            command.arg(&program);
        }
        let output =
            command.args(["--exact", NAME, "--nocapture"]).env(DENIED, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
        return;
    }
    // prctl(2): what is not executable cannot become so. Linux 6.3.
    let (refuse_gain, unused): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: this call takes numbers alone.
    let refused = unsafe { libc::prctl(libc::PR_SET_MDWE, refuse_gain, unused, unused, unused) };
    let mix = "2l1nt".parse::<Mix>().unwrap().generate(NARROWEST);
    let flops = "add_dp".parse::<Flops>().unwrap().generate(NARROWEST);
    if refused != 0 {
        // An older Linux cannot deny it.
        assert!(mix.is_ok() && flops.is_ok());
        return;
    }
    for refusal in [mix.unwrap_err(), flops.unwrap_err()] {
        assert!(matches!(refusal, Unavailable::NoExecutableMemory { .. }), "{refusal}");
        let text = refusal.to_string();
        assert!(text.contains("execmem") && text.contains("catalog"), "{text}");
    }
}
