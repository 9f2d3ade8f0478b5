//! Looks the machine over before anything is measured (`nearfar doctor`).

use nearfar_machine::{Machine, TheoreticalMaximum};
use nearfar_record::{Check, Environment, Standing};
use nearfar_sys::Refusal;
use nearfar_units::{Bytes, BytesPerSecond};

use crate::warning::{Caution, before_measuring};

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
    let cautions = before_measuring(machine, environment, hwloc_overrides);
    let mut checks = vec![machine_check(machine), memory_check(environment), module_check(machine)];
    checks.extend(machine.check().into_iter().map(|finding| Check {
        check: "topology".into(),
        standing: Standing::Failed,
        finding,
        remedy: Some("send the output of hwloc-gather-topology with a bug report".into()),
    }));
    checks.extend(machine.notes.iter().map(|note| Check {
        check: "topology".into(),
        standing: Standing::Warning,
        finding: note.clone(),
        remedy: None,
    }));
    checks.extend(probes.iter().map(|(call, result)| call_check(call, result, machine)));
    checks.extend(fine_settings(environment, &cautions));
    checks.extend(cautions.iter().map(caution_check));
    checks.extend(environment.unknown.iter().map(|(field, reason)| Check {
        check: field.clone(),
        standing: Standing::Unknown,
        finding: format!("{}: not known: {reason}", field.replace('_', " ")),
        remedy: None,
    }));
    checks
}

fn fine(check: &str, finding: String) -> Check {
    Check { check: check.into(), standing: Standing::Fine, finding, remedy: None }
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
            check: "memory".into(),
            standing: Standing::Unknown,
            finding: "how much memory can be used is not known".into(),
            remedy: Some("give --working-set when measuring".into()),
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
        Err(why) => Check {
            check: "memory_modules".into(),
            standing: Standing::Unknown,
            finding: format!("what the memory can carry at most is not known: {why}"),
            remedy: Some(module_remedy(machine)),
        },
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

fn call_check(call: &str, result: &Result<(), Refusal>, machine: &Machine) -> Check {
    let check = format!("call.{}", call.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
    let Err(refusal) = result else {
        return fine(&check, format!("the kernel allows {call}"));
    };
    let needed = PLACEMENT_CALLS.contains(&call) && machine.nodes.len() > 1;
    let without = needed.then_some(
        "without it cases on remote memory may be refused; local ones are measured and proven by other means",
    );
    let remedies: Vec<&str> = refusal.remedy().into_iter().chain(without).collect();
    Check {
        check,
        standing: if needed { Standing::Failed } else { Standing::Warning },
        finding: refusal.cause(),
        remedy: (!remedies.is_empty()).then(|| remedies.join("; ")),
    }
}

fn caution_check(caution: &Caution) -> Check {
    let warning = caution.warning();
    Check {
        check: warning.code,
        standing: Standing::Warning,
        finding: warning.message,
        remedy: Some(warning.remedy),
    }
}

/// Settings that could disturb and do not.
fn fine_settings(environment: &Environment, cautions: &[Caution]) -> Vec<Check> {
    let warned = |code: &str| cautions.iter().any(|caution| caution.warning().code == code);
    let mut checks = Vec::new();
    if let (Some(mode), false) = (environment.numa_balancing, warned("numa_balancing")) {
        let finding = match mode {
            0 => "automatic NUMA balancing is off".into(),
            _ => format!("automatic NUMA balancing is {mode}; with one node it does nothing"),
        };
        checks.push(fine("numa_balancing", finding));
    }
    if let (Some(mode), false) =
        (&environment.transparent_huge_pages, warned("no_transparent_huge_pages"))
    {
        checks.push(fine("transparent_huge_pages", format!("transparent huge pages: {mode}")));
    }
    if let (Some(name), false) = (&environment.clock_source, warned("clock_source")) {
        checks.push(fine("clock_source", format!("the clock source is {name}")));
    }
    if let (Some(governors), false) = (&environment.governors, warned("governors")) {
        checks.push(fine("governors", format!("frequency governor: {}", governors.join(", "))));
    }
    if let (Some(load), false) = (environment.load_average, warned("load_average")) {
        checks.push(fine("load_average", format!("load average {load:.2}")));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

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
