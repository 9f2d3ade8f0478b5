//! Starts a program under a binding.

use std::io;
use std::process::{Child, Command};
use std::thread;

use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_sys::{
    AwaitedSignals, PolicyMode, hear_of_children, pin_thread, set_thread_policy, thread_cpus,
    thread_policy,
};

use crate::loss::Loss;
use crate::pinning::try_pinning;

/// A program that was started.
#[derive(Debug)]
pub struct Launched {
    /// It.
    pub child: Child,
    /// What the kernel would not do for it: CPUs, policy. The program runs without that.
    pub losses: Vec<Loss>,
}

/// Why a program was not started.
#[derive(Debug)]
pub enum NotLaunched {
    /// The kernel refused a part of the binding, and all of it was to hold.
    Lost(Vec<Loss>),
    /// It cannot be executed.
    Program(io::Error),
}

/// Starts a program under a binding, which its threads and children inherit. A thread of ours
/// takes on the binding, starts the program and ends, so that nothing of this process changes; where
/// this thread has the binding already, it starts the program. A binding without CPUs leaves them as
/// they are. With `strict` nothing is started under a part of it, nor
/// where threads are to be pinned (`will_pin`) and cannot be. Signals that this process waits for
/// (`awaited`) do not wait in the program.
///
/// # Errors
/// When the program cannot be started, or not under all of the binding.
pub fn launch(
    command: &mut Command,
    binding: &Binding,
    will_pin: bool,
    strict: bool,
    awaited: Option<&AwaitedSignals>,
) -> Result<Launched, NotLaunched> {
    hear_of_children();
    let mut start = || {
        let mut losses = take_on(binding);
        if will_pin && let Err(refusal) = try_pinning() {
            losses.push(Loss::refused("pinning threads", &refusal));
        }
        if strict && !losses.is_empty() {
            return Err(NotLaunched::Lost(losses));
        }
        let spawned = match awaited {
            Some(awaited) => awaited.let_through(|| command.spawn()),
            None => command.spawn(),
        };
        let child = spawned.map_err(NotLaunched::Program)?;
        Ok(Launched { child, losses })
    };
    // A thread takes a tenth of a millisecond, which is much beside the start of a short program.
    if !will_pin && has_cpus(binding) && has_memory(binding) {
        return start();
    }
    let ended = || io::Error::other("the thread that starts the program ended in a panic");
    thread::scope(|scope| scope.spawn(start).join())
        .unwrap_or_else(|_| Err(NotLaunched::Program(ended())))
}

/// Takes on what the kernel allows of a binding; what it refuses is returned.
fn take_on(binding: &Binding) -> Vec<Loss> {
    // A thread of Linux begins with the CPUs and the policy of the one that started it.
    let cpus = if has_cpus(binding) { Ok(()) } else { pin_thread(&binding.cpus) };
    let memory = if has_memory(binding) { Ok(()) } else { set_thread_policy(&binding.memory) };
    let cpus = cpus.map_err(|refusal| Loss::refused(format!("CPUs {}", binding.cpus), &refusal));
    let memory =
        memory.map_err(|refusal| Loss::refused(format!("the policy {}", binding.memory), &refusal));
    [cpus, memory].into_iter().filter_map(Result::err).collect()
}

/// Whether this thread has the CPUs of a binding already.
fn has_cpus(binding: &Binding) -> bool {
    binding.cpus.is_empty() || thread_cpus().is_ok_and(|cpus| cpus == binding.cpus)
}

/// Whether this thread has the policy of a binding already, and none for instance from numactl.
fn has_memory(binding: &Binding) -> bool {
    // Where the kernel does not say which policy there is, none is the likely one.
    let has_other = || thread_policy().is_ok_and(|policy| policy.mode != PolicyMode::Default);
    binding.memory == MemoryPolicy::FirstTouch && !has_other()
}

#[cfg(test)]
mod tests {
    use nearfar_machine::CpuSet;

    use super::*;

    fn said(command: &mut Command, binding: &Binding) -> (String, usize) {
        let command = command.stdout(std::process::Stdio::piped());
        let launched = launch(command, binding, true, false, None).unwrap();
        let refused = launched.losses.len();
        let output = launched.child.wait_with_output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), refused)
    }

    #[test]
    fn a_program_inherits_cpus_and_this_process_keeps_its_own() {
        let before = thread_cpus().unwrap();
        let one = CpuSet::single(before.first().unwrap());
        let binding = Binding { cpus: one.clone(), memory: MemoryPolicy::FirstTouch };
        let mut command = Command::new("grep");
        let (text, refused) =
            said(command.args(["Cpus_allowed_list", "/proc/self/status"]), &binding);
        assert_eq!(refused, 0);
        assert_eq!(text.split_whitespace().last().unwrap(), one.to_string());
        assert_eq!(thread_cpus().unwrap(), before);
    }

    #[test]
    fn a_program_inherits_the_policy() {
        let node = nearfar_sys::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        let binding =
            Binding { cpus: thread_cpus().unwrap(), memory: MemoryPolicy::Preferred(node) };
        let (text, refused) = said(Command::new("cat").arg("/proc/self/numa_maps"), &binding);
        assert_eq!(refused, 0);
        assert!(text.contains(&format!("prefer:{node}")), "{text}");
    }

    #[test]
    fn what_the_kernel_refuses_is_returned_and_the_program_runs() {
        let binding =
            Binding { cpus: CpuSet::single(65_535), memory: MemoryPolicy::Preferred(65_535) };
        let (text, refused) = said(Command::new("echo").arg("ran"), &binding);
        assert_eq!((text.as_str(), refused), ("ran\n", 2));
        let strictly = launch(&mut Command::new("/no/such/program"), &binding, false, true, None);
        assert!(matches!(strictly, Err(NotLaunched::Lost(losses)) if losses.len() == 2));
        let missing = launch(&mut Command::new("/no/such/program"), &binding, false, false, None);
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        assert!(matches!(missing, Err(NotLaunched::Program(error)) if is_missing(&error)));
    }
}
