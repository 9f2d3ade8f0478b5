//! Programs measured by the engine, and their record.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::fs;
use std::path::Path;

use nearfar_machine::{Binding, GroupBy, Machine, MemoryPolicy, NodeSet};
use nearfar_measure::{Engine, Interrupt, now_utc, read_environment, suite_inputs};
use nearfar_place::{CommandExecutor, ProgramCounters};
use nearfar_record::{
    Absence, Better, CommandInputs, CommandPlacement, CommandProgram, Executor, Experiment, Header,
    Inputs, Metric, ReasonCode, Record, RecordWriter, Suite, TriedCounter, read_record,
    summarize_runs,
};

/// The first initiator with its own node, and with the same pages dealt out over that one.
fn placements(machine: &Machine) -> Vec<CommandPlacement> {
    let cpu_group = machine.cpu_groups(GroupBy::Memory).swap_remove(0);
    let initiator = &machine.initiators()[0];
    let node = machine.allowed_nodes.first().unwrap();
    let cpus = cpu_group.cpus();
    let on_node =
        CommandPlacement::on_node(initiator.index, initiator.cpu_node, cpus.clone(), node);
    let memory = MemoryPolicy::Interleave(NodeSet::single(node));
    let dealt = CommandPlacement {
        memory_node: None,
        binding: Binding { cpus, memory },
        ..on_node.clone()
    };
    vec![on_node, dealt]
}

fn shell(label: &str, script: &str) -> CommandProgram {
    CommandProgram::new(label, "sh", vec!["-c".into(), script.into()])
}

fn measure(path: &Path, programs: Vec<CommandProgram>) -> Record {
    let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
    let environment = read_environment(Path::new("/"));
    let quantities = &TriedCounter::QUANTITIES;
    let counters = ProgramCounters::try_out(&machine, &environment.cpu, quantities);
    let pattern = "rate: ([0-9.]+)";
    let commands = CommandInputs {
        programs,
        placements: placements(&machine),
        metric: Some(Metric { pattern: pattern.into(), unit: None, better: Better::Higher }),
        timeout_ns: None,
        counters: Some(counters.tried()),
        pressures: Vec::new(),
    };
    let inputs = Inputs {
        experiments: vec![Experiment::Commands],
        window_ns: 0,
        windows_per_round: 1,
        min_rounds: 6,
        max_rounds: 20,
        commands: Some(commands.clone()),
        ..suite_inputs(Suite::Quick)
    };
    let header = Header::new("test", now_utc(), Executor::Native, inputs, machine);
    let record = Record::new(Header { environment, ..header });
    let interrupt = Interrupt::default();
    let executor = CommandExecutor::new(&commands, interrupt.clone()).unwrap();
    let mut executor = executor.with_counters(counters);
    let mut writer = RecordWriter::create(path, false).unwrap();
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    engine.begin(&[]).unwrap();
    let outcome = engine.measure().unwrap();
    let read = read_record(fs::File::open(path).unwrap()).unwrap();
    assert_eq!(outcome.record.samples, read.samples);
    read
}

/// A figure that never differs is known after the least number of runs; one run more of the
/// program, the first, does not count. What fails is not tried again, and the other goes on.
#[test]
fn programs_are_run_in_rounds_until_their_figure_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let note = |name: &str| format!("echo run >>{}", file(name).display());
    let steady = shell("steady", &format!("{}; echo rate: 7.5", note("steady")));
    let broken = shell("broken", &format!("{}; echo out of licences; exit 3", note("broken")));
    let record = measure(&file("runs.jsonl"), vec![steady, broken]);
    let lines = |name: &str| fs::read_to_string(file(name)).unwrap().lines().count();
    assert_eq!(lines("steady"), 1 + 2 * 6);
    assert_eq!(lines("broken"), 2, "once at each placement");
    assert_eq!((record.cases.len(), record.samples.len()), (4, 12));
    for case in record.cases.iter().filter(|case| case.id.contains("/steady/")) {
        let samples = record.samples.iter().filter(|sample| sample.case == case.id);
        let runs = summarize_runs(samples).unwrap();
        assert_eq!((runs.figure.median, runs.figure.count, runs.samples), (7.5, 6, 6));
    }
    assert_eq!(record.absent.len(), 2);
    for absent in &record.absent {
        assert_eq!(absent.absence, Absence::Refused);
        assert_eq!(absent.reason.code, ReasonCode::CommandFailed);
        assert!(absent.reason.text.contains("status 3; its last lines: out of licences"));
    }
}
