//! Workloads by the traffic that their loops declare, as programs that were profiled.

use nearfar_machine::CpuSet;
use nearfar_model::{DeclaredPhase, RecordFigures, declared_parts, measuring_command, roofline};
use nearfar_record::{Experiment, PROGRAM_SCHEMA, ProgramProfile, Record, Suite};
use nearfar_workloads::{NoWorkload, Workload};

/// A workload by all cores of a record's first initiator on its own node, which has not run; of several
/// copies at a time each by its part of them.
///
/// # Errors
///
/// No such workload, or what of the record it takes is not there.
pub fn declared_program(
    named: &str,
    record: &Record,
    copies: u32,
) -> Result<ProgramProfile, String> {
    let workload: Workload = named.parse().map_err(|error: NoWorkload| error.to_string())?;
    let machine = &record.header.machine;
    let initiators = machine.initiators();
    let initiator = initiators.first().ok_or("the record's machine has no initiator")?;
    let node =
        machine.home_memory(initiator).ok_or("no node of the record's machine has memory")?;
    let chart = roofline(&RecordFigures::new(record))
        .map_err(|without| without.without_model("roofline"))?;
    let charts = chart.charts.iter().filter(|chart| chart.initiator == initiator.index);
    // What a compiler makes of a loop is nearer to the lowest ceiling than to the highest.
    let ceilings = charts.flat_map(|chart| &chart.ceilings);
    let per_thread = ceilings.map(|it| it.flops.value.0 / f64::from(it.threads.max(1)));
    let Some(per_thread) = per_thread.min_by(f64::total_cmp) else {
        let command = measuring_command(record, &[Experiment::Roofs], Suite::Standard);
        return Err(format!(
            "the record does not say what cores compute, by which declared operations become time; try \
             `{command}`"
        ));
    };
    let caches = machine.last_level_caches(&initiator.cpus);
    let cache_bytes: Option<u64> = caches.iter().map(|cache| cache.bytes).sum();
    let cache_bytes = cache_bytes.ok_or("the sizes of the record's caches are not known")?;
    let cores = machine.cores.iter().filter(|core| core.cpus.intersects(&initiator.cpus));
    let cores: Vec<&CpuSet> = cores.map(|core| &core.cpus).collect();
    let threads = cores.len() / copies.max(1) as usize;
    if threads == 0 {
        return Err(format!(
            "{copies} copies are more than the {} cores of the record's first initiator",
            cores.len()
        ));
    }
    let cpus = cores.iter().take(threads).flat_map(|cpus| cpus.iter()).collect();
    let threads = u32::try_from(threads).unwrap_or(u32::MAX);
    let phases = workload.program().traffic(cache_bytes as f64);
    if phases.iter().all(|phase| phase.bytes() <= 0.0) {
        return Err(format!(
            "the arrays of {workload} fit in the caches of {}: what these take is not declared; take a \
             larger size",
            record.header.host
        ));
    }
    let phases: Vec<DeclaredPhase> = phases
        .iter()
        .map(|phase| {
            let total = |of: fn(&nearfar_workloads::ArrayTraffic) -> f64| {
                phase.arrays.iter().map(of).sum::<f64>()
            };
            DeclaredPhase {
                flops: phase.flops,
                read_bytes: total(|it| it.read_bytes),
                written_bytes: total(|it| it.written_bytes),
                random_lines: total(|it| it.random_lines),
            }
        })
        .collect();
    let parts = declared_parts(&phases, threads, per_thread)
        .ok_or_else(|| format!("{workload} declares neither traffic nor operations"))?;
    Ok(ProgramProfile {
        schema: PROGRAM_SCHEMA.into(),
        nearfar: env!("CARGO_PKG_VERSION").into(),
        host: record.header.host.clone(),
        started: record.header.started.clone(),
        name: workload.to_string(),
        initiator: initiator.index,
        memory_node: node,
        cpus,
        runs: Vec::new(),
        left_out: Vec::new(),
        moved: None,
        parts,
        drawn: Vec::new(),
        misfit: 0.0,
    })
}
