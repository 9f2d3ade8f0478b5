//! A named program at every placement: one that ran beside loads, or a workload by the traffic that its
//! loops declare.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_measure::now_utc;
use nearfar_model::{
    DeclaredPhase, ProgramAnswer, ProgramQuestion, RecordFigures, declared_parts,
    measuring_command, predict_program, roofline,
};
use nearfar_record::{Experiment, PROGRAM_SCHEMA, ProgramProfile, Record, Suite};
use nearfar_workloads::Workload;

use super::no_model;
use crate::record_file;

/// The time of a program that is named by its profile's file, or of a workload (`@cg.A`).
pub(super) fn predicted_program(
    named: &str,
    record: &Record,
    asked: &ProgramQuestion,
) -> anyhow::Result<ProgramAnswer> {
    let profile = match named.strip_prefix('@') {
        Some(workload) => declared_program(workload, record)?,
        None => record_file::read_program_profile(Path::new(named))?,
    };
    predict_program(&RecordFigures::new(record), &profile, asked).map_err(|why| {
        let command = measuring_command(record, &[Experiment::Latency], Suite::Standard);
        anyhow!("{why}; try `{command}`")
    })
}

/// A workload by all cores of a record's first initiator on its own node, which has not run.
fn declared_program(named: &str, record: &Record) -> anyhow::Result<ProgramProfile> {
    let workload: Workload = named.parse()?;
    let machine = &record.header.machine;
    let initiators = machine.initiators();
    let initiator = initiators.first().context("the record's machine has no initiator")?;
    let node =
        initiator.memory_nodes.first().context("its first initiator has no node of its own")?;
    let chart = roofline(&RecordFigures::new(record)).map_err(no_model("roofline"))?;
    let charts = chart.charts.iter().filter(|chart| chart.initiator == initiator.index);
    // What a compiler makes of a loop is nearer to the lowest ceiling than to the highest.
    let ceilings = charts.flat_map(|chart| &chart.ceilings);
    let per_thread = ceilings.map(|it| it.flops.value.0 / f64::from(it.threads.max(1)));
    let Some(per_thread) = per_thread.min_by(f64::total_cmp) else {
        let command = measuring_command(record, &[Experiment::Roofs], Suite::Standard);
        bail!(
            "the record does not say what cores compute, by which declared operations become time; try \
             `{command}`"
        );
    };
    let caches = machine.last_level_caches(&initiator.cpus);
    let cache_bytes: Option<u64> = caches.iter().map(|cache| cache.bytes).sum();
    let cache_bytes = cache_bytes.context("the sizes of the record's caches are not known")?;
    let cores = machine.cores.iter().filter(|core| core.cpus.intersects(&initiator.cpus));
    let threads = u32::try_from(cores.count()).unwrap_or(u32::MAX);
    let phases = workload.program().traffic(cache_bytes as f64);
    if phases.iter().all(|phase| phase.bytes() <= 0.0) {
        bail!(
            "the arrays of {workload} fit in the caches of {}: what these take is not declared; take a \
             larger size",
            record.header.host
        );
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
        .with_context(|| format!("{workload} declares neither traffic nor operations"))?;
    Ok(ProgramProfile {
        schema: PROGRAM_SCHEMA.into(),
        nearfar: env!("CARGO_PKG_VERSION").into(),
        host: record.header.host.clone(),
        started: now_utc(),
        name: workload.to_string(),
        initiator: initiator.index,
        memory_node: node,
        cpus: initiator.cpus.clone(),
        runs: Vec::new(),
        parts,
        drawn: Vec::new(),
        misfit: 0.0,
    })
}
