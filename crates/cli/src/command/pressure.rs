//! `profile --pressure`: a program in turns alone and beside threads that load its memory.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use nearfar_kernels::{Mix, find};
use nearfar_machine::{CpuGroup, CpuSet, GroupBy, Machine};
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{
    DEFAULT_CACHE_MULTIPLE, HostLock, Interrupt, Outcome, store_method, suite_inputs,
};
use nearfar_model::{FamilyLaw, home_family, measuring_command};
use nearfar_place::{CommandExecutor, run_once};
use nearfar_record::{
    Command, CommandInputs, CommandPlacement, CommandProgram, Experiment, Inputs, Pressure, Record,
    RecordWriter, Suite,
};
use nearfar_units::nanoseconds;

use super::characterize::{Session, register_signals};
use crate::args::{PressureKind, ProfileArguments};
use crate::{output, record_continuation, record_file, record_header};

/// What is run beside the program where nothing else is said: cores that are busy and move next to nothing,
/// as many reads as one core or half of a machine's can make, as many reads as writes, and less of a mix of
/// both.
const PRESSURES: [(&str, u32); 4] =
    [("load", 1_000_000), ("load", 0), ("copy_nt", 0), ("2l1nt", 1024)];

/// Rounds of runs: fewer have no interval of 95 %, more are worth no one's time.
const ROUNDS: (u32, u32) = (6, 24);

/// Half-width of the interval of a case, as a fraction of its median, at which it is done.
const TARGET: f64 = 0.005;

/// Start, end and the looks at a program take a part of a run that is shorter.
const SHORTEST: Duration = Duration::from_millis(100);

/// A run beside other threads is ended after this many times the time of the first run alone.
const PATIENCE: u32 = 20;

/// The machine's CPUs and memory, as a program and the threads beside it share them.
pub(super) struct Shares {
    pub at: CommandPlacement,
    pub others: CpuSet,
}

impl Shares {
    /// The program on the CPUs that are asked for, or on half of the first initiator's cores.
    pub fn of(machine: &Machine, asked: Option<&CpuSet>) -> anyhow::Result<Self> {
        let groups = machine.cpu_groups(GroupBy::Memory);
        let holds = |group: &&CpuGroup| asked.is_none_or(|asked| asked.is_subset(&group.cpus()));
        let Some(group) = groups.iter().filter(|group| group.cores.len() > 1).find(holds) else {
            bail!(match asked {
                Some(asked) => format!(
                    "--cpus {asked}: give CPUs of one initiator that has other cores beside them, which \
                     load the memory"
                ),
                None =>
                    "no initiator has two cores that may be used: nothing can load a program's \
                         memory beside it"
                        .into(),
            });
        };
        let half = group.cores.len() / 2;
        let own = asked.cloned().unwrap_or_else(|| {
            group.cores[..half].iter().flat_map(|core| core.iter().collect::<Vec<_>>()).collect()
        });
        let free = group.cores.iter().filter(|core| !core.intersects(&own));
        let others: CpuSet = free.filter_map(CpuSet::first).collect();
        if others.is_empty() {
            bail!("--cpus {own} leaves no core of their initiator that could load the memory");
        }
        let initiators = machine.initiators();
        let initiator = initiators.iter().find(|it| it.index == group.initiator);
        let initiator = initiator.context("a group of CPUs belongs to no initiator")?;
        let node =
            machine.home_memory(initiator).filter(|&node| machine.allowed_nodes.contains(node));
        let node = node.context("the memory next to the program's CPUs may not be used")?;
        let at = CommandPlacement::on_node(initiator.index, initiator.cpu_node, own, node);
        Ok(Self { at, others })
    }
}

/// The law of the memory that a program is understood by.
pub(super) fn family_of(
    arguments: &ProfileArguments,
    machine: &Machine,
    shares: &Shares,
) -> anyhow::Result<FamilyLaw> {
    let (path, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    record_continuation::refuse_another_fingerprint(&path, &record, machine)?;
    let CommandPlacement { initiator, memory_node, .. } = shares.at;
    let node = memory_node.context("the program's memory is asked for on no node")?;
    home_family(&record, initiator, node).map_err(|why| {
        let command = measuring_command(&record, &[Experiment::Latency], Suite::Standard);
        anyhow!("{}: {why}; `{command}` measures it", path.display())
    })
}

/// The program that was named.
pub(super) fn program_of(command: &[OsString]) -> anyhow::Result<CommandProgram> {
    let word = |it: &OsString| it.to_str().map(String::from);
    let words: Option<Vec<String>> = command.iter().map(word).collect();
    let words = words.context("a word of the command is not UTF-8, which a record cannot hold")?;
    let (program, words) = words.split_first().context("no program is named")?;
    let file = Path::new(program).file_name().and_then(|name| name.to_str());
    Ok(CommandProgram::new(file.unwrap_or(program), program.clone(), words.to_vec()))
}

/// Runs a program in turns; the record of its runs.
pub(super) fn measure(
    arguments: &ProfileArguments,
    program: CommandProgram,
    machine: Machine,
    shares: &Shares,
) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::default();
    register_signals(&interrupt)?;
    let _lock = HostLock::take()?;
    let CommandProgram { label, program: file, arguments: words, environment, .. } =
        program.clone();
    let binding = shares.at.binding.clone();
    let command = Command { label, program: file, arguments: words, environment, binding };
    let took = run_once(&command, None, &interrupt)?;
    if took < SHORTEST {
        bail!(
            "{} runs for {:.0} ms: what starting it takes would be a part of every figure; give it work for \
             {} ms or more",
            command.label,
            took.as_secs_f64() * 1e3,
            SHORTEST.as_millis()
        );
    }
    let pressures = pressures(arguments, shares)?;
    say_cost(arguments, &command.label, took, pressures.len() + 1);
    let commands = CommandInputs {
        programs: vec![program],
        placements: vec![shares.at.clone()],
        metric: None,
        timeout_ns: Some(nanoseconds(took.saturating_mul(PATIENCE))),
        counters: None,
        pressures,
    };
    let inputs = Inputs {
        experiments: vec![Experiment::Commands],
        // Loads beside the programs are to be of memory: nobody looks for sizes here.
        cache_multiple: Some(DEFAULT_CACHE_MULTIPLE),
        // A run takes as long as it takes.
        window_ns: 0,
        windows_per_round: 1,
        min_rounds: ROUNDS.0,
        max_rounds: ROUNDS.1,
        target: TARGET,
        budget_ns: Some(nanoseconds(arguments.budget)),
        commands: Some(commands),
        ..suite_inputs(Suite::Quick)
    };
    let record = record_header::new_of_this_machine(inputs, machine);
    run_rounds(record, &interrupt)
}

fn run_rounds(record: Record, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let header = &record.header;
    let path = record_file::new_path_of_runs(&header.host, &header.started)?;
    let mut writer = RecordWriter::create(&path, false)?;
    let commands = header.inputs.commands.as_ref().context("no programs were planned")?;
    let streams = NativeExecutor::new(
        header.machine.clone(),
        store_method(&header.environment.cpu),
        header.environment.memory_bytes,
        header.inputs.seed,
        interrupt.clone(),
    );
    let mut executor = CommandExecutor::new(commands, interrupt.clone())?.with_streams(streams);
    let session = Session { executor: &mut executor, writer: &mut writer, interrupt };
    let outcome = session.measure(record, None, None)?;
    output::note(&format!("runs  {}", path.display()));
    Ok(outcome)
}

fn pressures(arguments: &ProfileArguments, shares: &Shares) -> anyhow::Result<Vec<Pressure>> {
    let asked: Vec<PressureKind> = match arguments.beside.is_empty() {
        false => arguments.beside.clone(),
        true => PRESSURES
            .map(|(kernel, pause_cycles)| PressureKind { kernel: kernel.into(), pause_cycles })
            .to_vec(),
    };
    for (position, kind) in asked.iter().enumerate() {
        let PressureKind { kernel, .. } = kind;
        if asked[..position].contains(kind) {
            bail!("--beside {kernel}: it is given twice");
        }
        if find(kernel).is_none() && kernel.parse::<Mix>().is_err() {
            bail!(
                "--beside {kernel}: no kernel has that name; `nearfar characterize --kernel list` \
                 shows them"
            );
        }
    }
    let pressure = |kind: PressureKind| Pressure {
        kernel: kind.kernel,
        pause_cycles: kind.pause_cycles,
        cpus: shares.others.clone(),
    };
    Ok(asked.into_iter().map(pressure).collect())
}

fn say_cost(arguments: &ProfileArguments, label: &str, took: Duration, kinds: usize) {
    let (least, most) = ROUNDS;
    let seconds = took.as_secs_f64();
    let total = |rounds: u32| f64::from(rounds) * kinds as f64 * seconds;
    output::note(&format!(
        "{label} takes {seconds:.2} s alone; alone and beside {} that is {:.0} s for {least} \
         rounds and {:.0} s for {most}, more where loads slow it down; --budget ends it after {} s",
        match kinds - 1 {
            1 => "a load".into(),
            loads => format!("{loads} kinds of load"),
        },
        total(least),
        total(most),
        arguments.budget.as_secs_f64()
    ));
}
