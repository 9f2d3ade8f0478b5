//! What differs around two measurements: the first thing to know of two records.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::hash::Hasher;

use nearfar_machine::{Fnv1a, Machine};
use nearfar_record::{Executor, Header};
use serde::Serialize;

/// Something that is not the same in both records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnvironmentDifference {
    pub name: &'static str,
    /// In the first record; `None` where it does not know.
    pub a: Option<String>,
    /// In the second; `None` where it does not know.
    pub b: Option<String>,
}

/// What differs between the headers of two records, what changes most first. Times, seals and what
/// a record says of its own samples are no environment.
pub fn environment_differences(a: &Header, b: &Header) -> Vec<EnvironmentDifference> {
    let (a, b) = (environment_settings(a), environment_settings(b));
    let pairs = a.into_iter().zip(b).filter(|((_, a), (_, b))| a != b);
    pairs.map(|((name, a), (_, b))| EnvironmentDifference { name, a, b }).collect()
}

/// Name and value of everything about machine, system and inputs that can differ between records, the
/// same names in the same order for every header; `None` where it does not know.
pub fn environment_settings(header: &Header) -> Vec<(&'static str, Option<String>)> {
    let Header { environment, inputs, machine, simulation, versions, .. } = header;
    let simulation = simulation.as_ref();
    let list = |names: &[String]| names.join(", ");
    let experiments: Vec<&str> = inputs.experiments.iter().map(|one| one.as_str()).collect();
    let cgroup = &environment.cgroup;
    vec![
        ("executor", Some(executor(header.executor).into())),
        ("simulated_machine", simulation.map(|simulation| simulation.name.clone())),
        ("simulated_file", simulation.map(|simulation| fingerprint_of(&simulation.file))),
        ("simulated_noise", simulation.map(|simulation| switch(simulation.noise).into())),
        ("machine", Some(header.fingerprint.clone())),
        ("cpu", environment.cpu.model_name.clone()),
        ("cpu_stepping", text(environment.cpu.stepping.as_ref())),
        ("microcode", environment.cpu.microcode.clone()),
        ("cores", Some(machine.cores.len().to_string())),
        ("memory_nodes", Some(machine.nodes.len().to_string())),
        ("node_bytes", node_bytes(machine)),
        ("memory_modules", memory_modules(machine)),
        ("system_vendor", environment.firmware.system_vendor.clone()),
        ("product", environment.firmware.product.clone()),
        ("board", environment.firmware.board.clone()),
        ("bios_version", environment.firmware.bios_version.clone()),
        ("bios_date", environment.firmware.bios_date.clone()),
        ("kernel_release", environment.kernel_release.clone()),
        ("architecture", Some(environment.architecture.clone())),
        ("hypervisor", environment.hypervisor.clone()),
        ("governors", environment.governors.as_deref().map(list)),
        ("boost", environment.boost.map(|on| switch(on).into())),
        ("smt", environment.smt.map(|on| switch(on).into())),
        ("transparent_huge_pages", environment.transparent_huge_pages.clone()),
        ("numa_balancing", text(environment.numa_balancing.as_ref())),
        ("ksm", text(environment.ksm.as_ref())),
        ("clock_source", environment.clock_source.clone()),
        ("cgroup_cpu_limit", text(cgroup.cpu_limit.as_ref())),
        ("cgroup_memory_limit_bytes", text(cgroup.memory_limit_bytes.as_ref())),
        ("usable_cpus", Some(machine.allowed_cpus.to_string())),
        ("usable_nodes", Some(machine.allowed_nodes.to_string())),
        ("suite", Some(inputs.suite.as_str().into())),
        ("experiments", Some(experiments.join(", "))),
        ("group_by", Some(inputs.group_by.as_str().into())),
        ("kernels", inputs.kernels.as_deref().map(list)),
        ("variant", inputs.variant.clone()),
        ("pages", Some(format!("{:?}", inputs.pages).to_lowercase())),
        ("working_set_bytes", text(inputs.working_set_bytes.as_ref())),
        ("cache_multiple", text(inputs.cache_multiple.as_ref())),
        ("chase_multiple", text(inputs.chase_multiple.as_ref())),
        ("window_ns", Some(inputs.window_ns.to_string())),
        ("windows_per_round", Some(inputs.windows_per_round.to_string())),
        ("runs", Some(inputs.runs.to_string())),
        ("min_rounds", Some(inputs.min_rounds.to_string())),
        ("max_rounds", Some(inputs.max_rounds.to_string())),
        ("seed", Some(inputs.seed.to_string())),
        ("nearfar", Some(versions.nearfar.clone())),
        ("hwloc", versions.hwloc.clone()),
    ]
}

fn text(value: Option<&impl Display>) -> Option<String> {
    value.map(ToString::to_string)
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn executor(executor: Executor) -> &'static str {
    match executor {
        Executor::Native => "native",
        Executor::Simulated => "simulated",
    }
}

/// Of a text that is too long to be shown.
fn fingerprint_of(text: &str) -> String {
    let mut hash = Fnv1a::default();
    hash.write(text.as_bytes());
    format!("{:016x}", hash.finish())
}

/// Node by node; `None` where a size is not known.
fn node_bytes(machine: &Machine) -> Option<String> {
    let sizes: Option<Vec<String>> =
        machine.nodes.iter().map(|node| Some(node.memory_bytes?.to_string())).collect();
    sizes.map(|sizes| sizes.join(", "))
}

/// How many modules of each kind, size and speed.
fn memory_modules(machine: &Machine) -> Option<String> {
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for module in machine.memory_modules.as_ref()? {
        let known = |value: Option<String>, unit: &str| {
            value.map_or_else(|| "unknown".into(), |value| format!("{value}{unit}"))
        };
        let kind = format!(
            "{} {} at {}",
            known(module.kind.clone(), ""),
            known(module.bytes.map(|bytes| bytes.to_string()), " bytes"),
            known(module.configured_mt_per_s.map(|speed| speed.to_string()), " MT/s"),
        );
        *alike.entry(kind).or_default() += 1;
    }
    let words: Vec<String> =
        alike.into_iter().map(|(kind, count)| format!("{count} x {kind}")).collect();
    Some(words.join("; "))
}
