//! Looks the machine over before anything is measured (`nearfar doctor`).

use std::path::Path;
use std::sync::Mutex;
use std::thread;

use nearfar_machine::{Machine, TheoreticalMaximum};
use nearfar_record::{Check, Environment, Standing, Warning};
use nearfar_sys::{Errno, Refusal, has_memory_nodes};
use nearfar_units::{Bytes, BytesPerSecond};

use crate::native::LET_THREADS_START;
use crate::warning::before_measuring;

/// Calls that place or prove pages; without them only local memory can be measured.
const PLACEMENT_CALLS: [&str; 3] = ["mbind", "move_pages", "get_mempolicy"];

/// All checks of this machine. `probes` are the calls that were tried
/// ([`nearfar_sys::probe_calls`]).
pub fn check_machine(
    machine: &Machine,
    environment: &Environment,
    hwloc_overrides: &[String],
    probes: &[(&'static str, Result<(), Refusal>)],
) -> Vec<Check> {
    let warnings = before_measuring(machine, environment, hwloc_overrides);
    let mut checks = vec![machine_check(machine), memory_check(environment), module_check(machine)];
    let remedy = Some("send the output of hwloc-gather-topology with a bug report".to_string());
    let of_topology = |standing, finding| check("topology", standing, finding);
    checks.extend(
        machine.check().into_iter().map(|finding| Check {
            remedy: remedy.clone(),
            ..of_topology(Standing::Failed, finding)
        }),
    );
    checks.extend(machine.notes.iter().map(|note| of_topology(Standing::Warning, note.clone())));
    checks.extend(call_checks(machine, probes, has_memory_nodes(Path::new("/"))));
    checks.extend(fine_settings(environment, &warnings));
    checks.extend(warnings.into_iter().map(|warning| Check {
        remedy: Some(warning.remedy),
        ..check(&warning.code, Standing::Warning, warning.message)
    }));
    checks.extend(environment.unknown.iter().map(|(field, reason)| {
        let finding = format!("{}: not known: {reason}", field.replace('_', " "));
        check(field, Standing::Unknown, finding)
    }));
    checks
}

/// Whether a thread for each CPU that may be used can be started, by starting them.
pub fn check_threads(machine: &Machine) -> Check {
    let needed = machine.allowed_cpus.len();
    let gate = Mutex::new(());
    let refused = thread::scope(|scope| {
        // They wait until all are there, as they are while measuring.
        let _closed = gate.lock();
        let start = || thread::Builder::new().spawn_scoped(scope, || drop(gate.lock()));
        (0..needed).find_map(|started| Some((started, start().err()?)))
    });
    let Some((started, error)) = refused else {
        return fine("threads", format!("{} can be started, one a CPU", counted(needed, "thread")));
    };
    let finding = format!("{started} of {needed} threads, one a CPU, can be started: {error}");
    let failed = check("threads", Standing::Failed, finding);
    Check { remedy: Some(LET_THREADS_START.into()), ..failed }
}

/// A check with nothing to do about it.
pub(crate) fn check(check: &str, standing: Standing, finding: String) -> Check {
    Check { check: check.into(), standing, finding, remedy: None }
}

fn fine(name: &str, finding: String) -> Check {
    check(name, Standing::Fine, finding)
}

fn machine_check(machine: &Machine) -> Check {
    let memory_only = machine.nodes.iter().filter(|node| node.cpus.is_empty()).count();
    let mut parts = vec![
        counted(machine.packages.len(), "package"),
        counted(machine.nodes.len(), "memory node"),
        counted(machine.initiators().len(), "initiator"),
        counted(machine.l3_domains().len(), "L3 domain"),
        counted(machine.cores.len(), "core"),
        counted(machine.devices.len(), "PCIe device"),
    ];
    if memory_only > 0 {
        parts.insert(2, format!("{memory_only} of them without CPUs"));
    }
    fine("machine", parts.join(", "))
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn memory_check(environment: &Environment) -> Check {
    match environment.available_bytes {
        Some(bytes) => fine(
            "memory",
            format!("{} of memory can be used, a quarter of it for arrays", Bytes(bytes)),
        ),
        None => Check {
            remedy: Some("give --working-set when measuring".into()),
            ..check("memory", Standing::Unknown, "how much memory can be used is not known".into())
        },
    }
}

/// What the memory can carry at most, by its modules.
fn module_check(machine: &Machine) -> Check {
    match TheoreticalMaximum::of_memory(machine) {
        Ok(maximum) => fine(
            "memory_modules",
            format!(
                "memory: {} carries {} at most a {} ({})",
                maximum.name,
                BytesPerSecond(maximum.bytes_per_s),
                maximum.scope.as_str(),
                maximum.source
            ),
        ),
        Err(why) => {
            let finding = format!("what the memory can carry at most is not known: {why}");
            let unknown = check("memory_modules", Standing::Unknown, finding);
            Check { remedy: Some(module_remedy(machine)), ..unknown }
        }
    }
}

fn module_remedy(machine: &Machine) -> String {
    let by_name = "name the maximum when figures are compared with it (`nearfar model --help`)";
    match machine.memory_modules {
        Some(_) => by_name.into(),
        None => {
            format!("look as root, on the machine itself and outside of containers; or {by_name}")
        }
    }
}

/// What the calls do; one line where the kernel has no memory nodes. A filter can say of a call that it is not
/// there, too.
fn call_checks(
    machine: &Machine,
    probes: &[(&'static str, Result<(), Refusal>)],
    has_nodes: bool,
) -> Vec<Check> {
    let is_unknown =
        |result: &Result<(), Refusal>| result.as_ref().is_err_and(Refusal::is_unknown_call);
    let placing = probes.iter().filter(|(call, _)| PLACEMENT_CALLS.contains(call));
    let mut placing = placing.peekable();
    let has_no_nodes = placing.peek().is_some() && placing.all(|(_, result)| is_unknown(result));
    if has_nodes || !has_no_nodes {
        return probes.iter().map(|(call, result)| call_check(call, result, machine)).collect();
    }
    let finding = "this kernel was built without NUMA (CONFIG_NUMA): there is one memory node, and nothing to \
                   place";
    let others = probes.iter().filter(|(call, _)| call.starts_with("sched"));
    let others = others.map(|(call, result)| call_check(call, result, machine));
    others.chain([check("numa", Standing::Warning, finding.into())]).collect()
}

/// Errors by which a kernel before 6.9 answers weighted interleave.
const NO_SUCH_POLICY: Errno = Errno(22);

fn call_check(call: &str, result: &Result<(), Refusal>, machine: &Machine) -> Check {
    let name = Check::name_of_call(call);
    let Err(refusal) = result else {
        return fine(&name, format!("the kernel allows {call}"));
    };
    if call.contains("weighted") && refusal.errno() == Some(NO_SUCH_POLICY) {
        return fine(
            &name,
            "weighted interleave needs Linux 6.9; nearfar deals pages itself".into(),
        );
    }
    let needed = PLACEMENT_CALLS.contains(&call) && machine.nodes.len() > 1;
    let without = needed.then_some(
        "without it cases on remote memory may be refused; local ones are measured and proven by other means",
    );
    let remedies: Vec<&str> = refusal.remedy().into_iter().chain(without).collect();
    let standing = if needed { Standing::Failed } else { Standing::Warning };
    let remedy = (!remedies.is_empty()).then(|| remedies.join("; "));
    Check { remedy, ..check(&name, standing, refusal.cause()) }
}

/// Settings that could disturb and do not.
fn fine_settings(environment: &Environment, warnings: &[Warning]) -> Vec<Check> {
    let numa_balancing = environment.numa_balancing.map(|mode| match mode {
        0 => "automatic NUMA balancing is off".into(),
        _ => format!("automatic NUMA balancing is {mode}; with one node it does nothing"),
    });
    let huge_pages = environment.transparent_huge_pages.as_ref();
    let clock_source = environment.clock_source.as_ref();
    let governors = environment.governors.as_ref();
    let settings = [
        ("numa_balancing", numa_balancing),
        (
            "transparent_huge_pages",
            huge_pages.map(|mode| format!("transparent huge pages: {mode}")),
        ),
        ("clock_source", clock_source.map(|name| format!("the clock source is {name}"))),
        ("governors", governors.map(|all| format!("frequency governor: {}", all.join(", ")))),
        ("load_average", environment.load_average.map(|load| format!("load average {load:.2}"))),
    ];
    let is_warned_of = |name: &str| warnings.iter().any(|warning| warning.code.ends_with(name));
    let quiet = settings.into_iter().filter(|(name, _)| !is_warned_of(name));
    quiet.filter_map(|(name, finding)| Some(fine(name, finding?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel without memory nodes is one line; one before 6.9 lacks nothing that matters.
    #[test]
    fn kernels_without_nodes_or_weights_are_said_once() {
        let machine = nearfar_topology::parse_synthetic("pack:1 [numa] core:2 pu:1").unwrap();
        let failed = |call, errno: i32| {
            let (arguments, remedy) = (String::new(), "do something");
            (call, Err(Refusal::Call { call, arguments, errno: Errno(errno), remedy }))
        };
        let mut probes: Vec<_> = PLACEMENT_CALLS.map(|call| failed(call, 38)).into();
        probes.push(failed("mincore and get_mempolicy", 38));
        let checks = call_checks(&machine, &probes, false);
        let [only] = checks.as_slice() else { panic!("{checks:?}") };
        assert!(only.finding.contains("built without NUMA"), "{only:?}");
        assert_eq!(call_checks(&machine, &probes, true).len(), 4, "a filter says so of them");
        probes[0].1 = Ok(());
        assert_eq!(call_checks(&machine, &probes, false).len(), 4, "a filter forbids the others");
        let weighted = call_checks(&machine, &[failed("mbind(weighted-interleave)", 22)], true);
        assert_eq!(weighted[0].standing, Standing::Fine, "{weighted:?}");
    }

    /// `doctor` has no option for a maximum, and looking again as root helps only
    /// where the modules are not known.
    #[test]
    fn what_to_do_about_an_unknown_maximum_can_be_done() {
        let mut machine = nearfar_topology::parse_synthetic("pack:1 [numa] core:2 pu:1").unwrap();
        let unread = module_check(&machine);
        assert_eq!(unread.standing, Standing::Unknown);
        assert!(unread.remedy.as_ref().unwrap().contains("as root"), "{unread:?}");
        machine.memory_modules = Some(Vec::new());
        let none = module_check(&machine);
        assert!(!none.remedy.as_ref().unwrap().contains("root"), "{none:?}");
        for check in [unread, none] {
            let said = format!("{} {}", check.finding, check.remedy.unwrap());
            assert!(!said.contains("--gamma"), "{said}");
            assert_eq!(said.matches("not known").count(), 1, "{said}");
        }
    }
}
