//! Pairs of records of a simulated machine, sound ones and ones of which the second has one pair of
//! initiator and node slower, and what comparing them finds.

use nearfar_flow::{SimulatedMachine, parse_machine};
use nearfar_machine::CpuSet;
use nearfar_measure::simulated::{SimulatedExecutor, new_record};
use nearfar_measure::{Engine, Interrupt, suite_inputs};
use nearfar_model::{PRACTICAL_FLOOR, RecordComparison, Verdict, compare as compare_figures};
use nearfar_record::{Actor, Case, Coordinates, Record, RecordWriter, Suite};

/// The slower pair: an initiator, by the node of its cores, and a node.
const INITIATOR: u32 = 0;
const NODE: u32 = 1;

/// joe0 with the noise that is asked for.
const SOUND: &str = "extends = \"joe0\"\nname = \"sound\"\ntitle = \"joe0 with more noise\"\n\
                     [noise]\nbetween_rounds = 0.008\n";

/// 6 % less for one initiator on one node: 0.94 of 3.8 and of 17.5 GB/s.
const SLOWER: &str = "[[bandwidth]]\npairs = [[0, 1]]\none_thread = 3.572\nall_threads = 16.45\n";

/// A sound machine, and the same with one pair slower.
pub struct Machines {
    pub sound: SimulatedMachine,
    pub slower: SimulatedMachine,
}

impl Machines {
    pub fn new() -> Self {
        let read = |text: &str| parse_machine("changed", text).unwrap();
        Self { sound: read(SOUND), slower: read(&format!("{SOUND}{SLOWER}")) }
    }
}

/// A record of the suite `standard`. The plan's seed is the same for all, as it is for somebody who
/// measures twice; chance is not.
pub fn record(machine: &SimulatedMachine, chance: u64) -> Record {
    let inputs = suite_inputs(Suite::Standard);
    let interrupt = Interrupt::default();
    let mut executor =
        SimulatedExecutor::new(machine.clone(), true, chance, interrupt.clone()).unwrap();
    let mut writer = RecordWriter::nowhere();
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let record = new_record(machine, inputs, true);
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    engine.begin(&[]).unwrap();
    engine.measure().unwrap().record
}

pub fn compare(a: &Record, b: &Record) -> RecordComparison {
    compare_figures(&a.clone().into(), &b.clone().into(), PRACTICAL_FLOOR)
}

/// Findings of any kind.
pub fn alarms(comparison: &RecordComparison) -> usize {
    comparison.count(Verdict::Worse) + comparison.count(Verdict::Better)
}

/// What comparing a sound record with one of the slower machine found.
#[derive(Debug, Default)]
pub struct Found {
    /// Cases of the pairs matrix of the slower pair, and how many of them are worse.
    pub of_pair: usize,
    pub worse_of_pair: usize,
    /// Findings that do not concern the slower pair, or name it better.
    pub others: usize,
}

impl Found {
    pub fn of(record: &Record, comparison: &RecordComparison) -> Self {
        let machine = &record.header.machine;
        let cores = &machine.node(INITIATOR).unwrap().cpus;
        let mut found = Self::default();
        for compared in &comparison.cases {
            let case = record.cases.iter().find(|case| case.id == compared.a_id).unwrap();
            let is_worse = compared.verdict == Verdict::Worse;
            if is_of_pair(case) {
                found.of_pair += 1;
                found.worse_of_pair += usize::from(is_worse);
            }
            let is_finding = is_worse || compared.verdict == Verdict::Better;
            found.others += usize::from(is_finding && !(is_worse && holds_pair(case, cores)));
        }
        let shifts = comparison.groups.iter().filter_map(|group| group.shift.as_ref());
        let named = |verdict| matches!(verdict, Verdict::Worse | Verdict::Better);
        found.others += shifts.filter(|shift| named(shift.verdict)).count();
        found
    }
}

fn is_of_pair(case: &Case) -> bool {
    let is_of_pair = |place: &Coordinates| {
        place.as_pair().is_some_and(|pair| pair.initiator == INITIATOR && pair.memory_node == NODE)
    };
    case.coordinates.iter().any(is_of_pair)
}

/// Whether threads on those cores use the node.
fn holds_pair(case: &Case, cores: &CpuSet) -> bool {
    case.actors.iter().any(|actor: &Actor| {
        let write = actor.as_stream().and_then(|stream| stream.write_memory.as_ref());
        let policies = [actor.memory(), write];
        let uses_node = policies
            .into_iter()
            .flatten()
            .any(|policy| policy.nodes().is_none_or(|nodes| nodes.contains(NODE)));
        uses_node && actor.cpus().iter().any(|cpu| cores.contains(cpu))
    })
}
