//! Tables 1 and 3: instructions that a core completes in a cycle, from the bytes and operations of
//! a cycle that the roofs of L1 and of arithmetic show.

use nearfar_record::Roof;

use crate::error::ReproduceError;
use crate::row::{Comparison, Reason, Row};
use crate::simulated_record::Machines;

use super::facts::{Facts, Instruction, InstructionTable, MachineFacts};
use super::machines::MeasuredRoofs;

/// Table 1 prints 1.99 loads a cycle, table 2 a bandwidth that is 1.996.
const CUT_OFF: &str = "the simulated machine has the bandwidth of L1 that table 2 prints, 760.1 GB/s, which is 1.996 \
     loads a cycle by 7 cores at 1.7 GHz of 32 bytes each; table 1 has the first two decimals of \
     that";

/// Bytes of a number of double precision.
const DOUBLE: f64 = 8.0;

pub(super) fn rows(
    facts: &Facts,
    table: &InstructionTable,
    machines: &Machines<MeasuredRoofs>,
) -> Result<Vec<Row>, ReproduceError> {
    let machine = facts.machine(&table.machine)?;
    let measured = machines.find(&table.machine)?;
    let item = |instruction: Instruction, which: &str| {
        let InstructionTable { table, machine, .. } = table;
        format!("table {table}, {machine}, {instruction}, {which}, instructions a cycle")
    };
    let theoretical = table.theoretical.iter().map(|(&instruction, &printed)| {
        let why = "what the makers say: the peak is computed from it";
        Row::given(item(instruction, "theoretical"), printed, why)
    });
    let of_measured = table.measured.iter().map(|(&instruction, &printed)| {
        let holds = instruction == Instruction::Load && is_cut_off(facts, machine, printed);
        let reason = holds.then_some(Reason { why: CUT_OFF, holds });
        let item = item(instruction, "measured");
        let ours = ours(machine, measured, instruction);
        let of = Comparison::of(item, table.printed(printed), ours);
        Comparison { reason, ..of }.judge().after_round_trip()
    });
    Ok(theoretical.chain(of_measured).collect())
}

/// Instructions of one core in a cycle.
fn ours(machine: &MachineFacts, measured: &MeasuredRoofs, instruction: Instruction) -> Option<f64> {
    let vector = f64::from(machine.vector_bytes);
    let first = Roof::Cache { level: 1 };
    let bytes = |kernel| Some(measured.roof(0, first, kernel)?.bytes_per_cycle? / vector);
    let flops = |kernel, of_element: f64| {
        let of_instruction = vector / DOUBLE * of_element;
        Some(measured.roof(0, Roof::Compute, kernel)?.flops_per_cycle? / of_instruction)
    };
    match instruction {
        Instruction::Load => bytes("load"),
        Instruction::Store => bytes("store"),
        Instruction::Add => flops("add_dp", 1.0),
        Instruction::Mul => flops("mul_dp", 1.0),
        Instruction::Fma => flops("fma_dp", 2.0),
    }
}

/// Whether the first cache's bandwidth, as another table prints it, gives the printed loads a
/// cycle once their further digits are cut off.
fn is_cut_off(facts: &Facts, machine: &MachineFacts, printed: f64) -> bool {
    let table = facts.roofs.iter().find(|table| table.machine == machine.machine);
    let Some(&bandwidth) = table.and_then(|table| table.caches.first()) else { return false };
    let cores = f64::from(machine.cores_per_initiator);
    let loads = bandwidth / cores / machine.core_ghz / f64::from(machine.vector_bytes);
    ((loads * 100.0).floor() - printed * 100.0).abs() < 1e-6
}
