//! The thesis's machines, simulated and measured.

use std::collections::BTreeMap;

use nearfar_flow::SimulatedMachine;
use nearfar_machine::{Machine, TransferDirection};
use nearfar_model::{
    Class, ClassRule, ClassSet, DeviceClassRule, DeviceClasses, DevicePair, JudgedDevices, Pairs,
    RecordFigures, classes, device_classes, pairs,
};
use nearfar_record::Record;

use crate::error::{ReproduceError, contradiction, refused};
use crate::printed_table::PrintedTable;
use crate::simulated_record::{Machines, measure_simulated, measure_simulated_devices, simulated};

use super::KEY;
use super::facts::Facts;
use super::programs::{WorstPerformance, worst_performance};

/// The kernel by which the thesis judges memory.
const TRIAD: &str = "triad";

/// What the records of the simulated machines say.
#[derive(Debug, Clone)]
pub struct Measured {
    pub(super) machines: Machines<OfMachine>,
    /// Classes of copies by each device, of the machines that mappings are asked of.
    copies: Machines<Vec<DeviceClasses>>,
    pub(super) programs: WorstPerformance,
}

/// A simulated machine and what its record says.
#[derive(Debug, Clone)]
pub struct OfMachine {
    pub(super) machine: Machine,
    pub(super) matrix: Pairs,
    /// Classes of the best compiler.
    pub(super) best: ClassSet,
    by_compiler: BTreeMap<String, ClassSet>,
    /// Classes of copies by the best device, each way.
    pub(super) copies: Vec<DeviceClasses>,
}

impl Measured {
    /// Measures every machine that a table of classes is of, without noise.
    pub(super) fn of(facts: &Facts) -> Result<Self, ReproduceError> {
        let classed = facts.class_tables.iter().map(|table| &table.machine);
        let mapped = facts.what_if.iter().map(|table| &table.simulated);
        let copies = |name: &str| copies(&simulated(name)?, JudgedDevices::Each);
        Ok(Self {
            machines: Machines::measure(KEY, classed, OfMachine::measure)?,
            copies: Machines::measure(KEY, mapped, copies)?,
            programs: worst_performance(&facts.program_order)?,
        })
    }

    /// The classes of the copies of a machine that mappings are asked of, by each device.
    pub(super) fn copies(
        &self,
        name: &str,
        direction: TransferDirection,
    ) -> Result<&DeviceClasses, ReproduceError> {
        let mut of_machine = self.copies.find(name)?.iter();
        of_machine.find(|classes| classes.direction == direction).ok_or_else(|| {
            contradiction(KEY, format!("{name} has no classes of copies {direction}"))
        })
    }
}

fn copies(
    simulated: &SimulatedMachine,
    devices: JudgedDevices,
) -> Result<Vec<DeviceClasses>, ReproduceError> {
    let record = measure_simulated_devices(simulated)?;
    Ok(device_classes(&RecordFigures::new(&record), &rule(devices)))
}

impl OfMachine {
    fn measure(name: &str) -> Result<Self, ReproduceError> {
        let simulated = simulated(name)?;
        let record = measure_simulated(&simulated, TRIAD)?;
        let mut by_compiler = BTreeMap::new();
        for compiler in simulated.variants(TRIAD) {
            let set = class_set(&record, TRIAD, Some(&compiler))?;
            by_compiler.insert(compiler, set);
        }
        Ok(Self {
            copies: copies(&simulated, JudgedDevices::Best)?,
            machine: simulated.machine,
            matrix: pairs(&RecordFigures::new(&record)),
            best: class_set(&record, TRIAD, None)?,
            by_compiler,
        })
    }

    pub(super) fn classes_of(&self, compiler: &str) -> Result<&ClassSet, ReproduceError> {
        let what = || format!("the simulated machine has no variant {compiler}");
        self.by_compiler.get(compiler).ok_or_else(|| contradiction(KEY, what()))
    }
}

/// The thesis's tables judge pairs of nodes by the best device, its mappings ask for each.
fn rule(devices: JudgedDevices) -> DeviceClassRule {
    DeviceClassRule { devices, ..DeviceClassRule::default() }
}

/// The classes of printed copies, by the best device.
pub(super) fn transfer_set(
    printed: &PrintedTable<'_>,
) -> Result<Vec<Class<DevicePair>>, ReproduceError> {
    let record = printed.record().map_err(|what| contradiction(KEY, what))?;
    let found = device_classes(&RecordFigures::new(&record), &rule(JudgedDevices::Best));
    let first = found.into_iter().next().map(|found| found.classes);
    first.ok_or_else(|| contradiction(KEY, format!("{} has no classes", printed.title)))
}

/// The direction that the thesis calls by SHOC's word.
pub(super) fn direction_of(word: &str) -> Result<TransferDirection, ReproduceError> {
    match word {
        "download" => Ok(TransferDirection::ToDevice),
        "readback" => Ok(TransferDirection::ToHost),
        _ => {
            let what = format!("copies go by {word}, which is neither download nor readback");
            Err(contradiction(KEY, what))
        }
    }
}

/// The classes of a record by one kernel, for the whole machine.
pub(super) fn class_set(
    record: &Record,
    kernel: &str,
    variant: Option<&str>,
) -> Result<ClassSet, ReproduceError> {
    let rule = ClassRule {
        kernels: vec![kernel.into()],
        variant: variant.map(Into::into),
        ..ClassRule::default()
    };
    let host = &record.header.host;
    let found = classes(&RecordFigures::new(record), &rule)
        .map_err(refused(format!("the classes of {host}")))?;
    let first = found.sets.into_iter().next();
    first.ok_or_else(|| contradiction(KEY, format!("{host} has no set of classes")))
}
