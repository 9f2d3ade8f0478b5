//! Starts a program under a binding: in the place of this process, or as a child of it.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use nearfar_machine::{Binding, MemoryPolicy, NodeSet};
use nearfar_sys::{
    AwaitedSignals, has_memory_nodes, pin_thread, restore_thread_policy, set_thread_policy,
    stand_in_for_program, start_as_this_was_started, thread_cpus, thread_policy,
};

use crate::loss::Loss;

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum NotLaunched {
    /// The kernel refused a part of the binding.
    #[error("it cannot have {}", .0.iter().map(Loss::to_string).collect::<Vec<_>>().join("; nor "))]
    Lost(Vec<Loss>),
    /// It cannot be executed, or no process can be started.
    #[error(transparent)]
    Program(io::Error),
}

/// Binds the calling thread, whose CPUs and policy a program inherits; a binding without CPUs leaves
/// these as they are. What the kernel refuses is returned.
pub fn bind(binding: &Binding) -> Vec<Loss> {
    let cpus = if has_cpus(binding) { Ok(()) } else { pin_thread(&binding.cpus) };
    let is_trivial = has_policy(binding) || has_one_place(binding);
    let memory = if is_trivial { Ok(()) } else { set_thread_policy(&binding.memory) };
    let cpus = cpus.map_err(|refusal| Loss::refused(format!("CPUs {}", binding.cpus), &refusal));
    let memory =
        memory.map_err(|refusal| Loss::refused(format!("the policy {}", binding.memory), &refusal));
    [cpus, memory].into_iter().filter_map(Result::err).collect()
}

/// Becomes a program, in this process: it has its number, its parent and its threads' binding. Returns
/// why it did not.
pub fn become_program(command: &mut Command) -> io::Error {
    start_as_this_was_started(command, None);
    command.exec()
}

/// Starts a program as a child under a binding, which its threads and children inherit; the calling
/// thread keeps its own. Without a binding it has that of the calling thread. A refused part of the
/// binding starts nothing, unless it may be lost: then it is returned with the child. Signals that this process
/// waits for (`awaited`) do not wait in the program.
///
/// # Errors
/// When the program cannot be started, or not under all of the binding.
pub fn launch(
    command: &mut Command,
    binding: Option<&Binding>,
    may_lose: bool,
    awaited: Option<&AwaitedSignals>,
) -> Result<(Child, Vec<Loss>), NotLaunched> {
    stand_in_for_program();
    start_as_this_was_started(command, awaited);
    let spawn = |command: &mut Command| command.spawn().map_err(NotLaunched::Program);
    let Some(binding) = binding else { return Ok((spawn(command)?, Vec::new())) };
    // Not in a thread of its own: a program that asks for a signal when its parent ends
    // (PR_SET_PDEATHSIG) would get it when that thread does.
    let (cpus, policy) = (thread_cpus(), thread_policy());
    let losses = bind(binding);
    let child = match losses.is_empty() || may_lose {
        true => spawn(command),
        false => Err(NotLaunched::Lost(losses.clone())),
    };
    // What the kernel does not tell cannot be given back.
    if let Ok(cpus) = cpus
        && !binding.cpus.is_empty()
        && cpus != binding.cpus
    {
        pin_thread(&cpus).ok();
    }
    if let Ok(policy) = policy {
        restore_thread_policy(&policy).ok();
    }
    Ok((child?, losses))
}

/// Whether this thread has the CPUs of a binding already.
fn has_cpus(binding: &Binding) -> bool {
    binding.cpus.is_empty() || thread_cpus().is_ok_and(|cpus| cpus == binding.cpus)
}

/// Whether there is no other place for its pages: on a kernel without memory nodes, which has no policies either.
fn has_one_place(binding: &Binding) -> bool {
    let nodes = binding.memory.nodes();
    nodes.is_none_or(|nodes| nodes == NodeSet::single(0)) && !has_memory_nodes(Path::new("/"))
}

/// Whether this thread has the policy of a binding already, and none for instance from numactl.
fn has_policy(binding: &Binding) -> bool {
    // Where the kernel does not say which policy there is, none is the likely one.
    let has_other = || thread_policy().is_ok_and(|policy| !policy.is_default());
    binding.memory == MemoryPolicy::FirstTouch && !has_other()
}

#[cfg(test)]
mod tests {
    use nearfar_machine::{CpuSet, NodeSet};

    use super::*;

    fn said(command: &mut Command, binding: &Binding) -> (String, usize) {
        let command = command.stdout(std::process::Stdio::piped());
        let (child, losses) = launch(command, Some(binding), true, None).unwrap();
        let output = child.wait_with_output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), losses.len())
    }

    #[test]
    fn a_program_inherits_cpus_and_this_thread_keeps_its_own() {
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
    fn a_program_inherits_the_policy_and_this_thread_keeps_its_own() {
        let node = nearfar_sys::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        let binding =
            Binding { cpus: thread_cpus().unwrap(), memory: MemoryPolicy::Preferred(node) };
        let (text, refused) = said(Command::new("cat").arg("/proc/self/numa_maps"), &binding);
        assert_eq!(refused, 0);
        assert!(text.contains(&format!("prefer:{node}")), "{text}");
        assert!(thread_policy().unwrap().is_default());
    }

    /// As under `numactl --interleave`, which a program that nobody places keeps.
    #[test]
    fn a_program_without_a_binding_has_the_policy_that_it_would_have() {
        let node = nearfar_sys::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        let of_thread = || {
            set_thread_policy(&MemoryPolicy::Interleave(NodeSet::single(node))).unwrap();
            let mut command = Command::new("cat");
            let command = command.arg("/proc/self/numa_maps").stdout(std::process::Stdio::piped());
            let (child, _) = launch(command, None, false, None).unwrap();
            let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            assert!(text.contains(&format!("interleave:{node}")), "{text}");
        };
        std::thread::scope(|scope| scope.spawn(of_thread).join()).unwrap();
    }

    #[test]
    fn what_the_kernel_refuses_starts_nothing_unless_it_may_be_lost() {
        let binding =
            Binding { cpus: CpuSet::single(65_535), memory: MemoryPolicy::Preferred(65_535) };
        let (text, refused) = said(Command::new("echo").arg("ran"), &binding);
        assert_eq!((text.as_str(), refused), ("ran\n", 2));
        let whole = launch(&mut Command::new("/no/such/program"), Some(&binding), false, None);
        assert!(matches!(whole, Err(NotLaunched::Lost(losses)) if losses.len() == 2));
        let missing = launch(&mut Command::new("/no/such/program"), Some(&binding), true, None);
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        assert!(matches!(missing, Err(NotLaunched::Program(error)) if is_missing(&error)));
    }
}
