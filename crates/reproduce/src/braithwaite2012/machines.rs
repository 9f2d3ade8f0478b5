//! The thesis's machines, simulated and measured.

use std::collections::BTreeMap;

use nearfar_flow::{SimulatedMachine, read_machine};
use nearfar_machine::{Machine, TransferDirection};
use nearfar_model::{
    Class, ClassRule, ClassSet, DeviceClassRule, DeviceClasses, DevicePair, JudgedDevices, Pairs,
    RecordFigures, classes, device_classes, pairs,
};
use nearfar_record::Record;

use crate::error::ReproduceError;
use crate::printed_transfers::PrintedTransfers;
use crate::simulated_record::{measure_simulated, measure_simulated_devices};

use super::KEY;
use super::facts::Facts;

/// The kernel by which the thesis judges memory.
const TRIAD: &str = "triad";

/// The simulated machines by name, and what their records say.
#[derive(Debug, Clone, PartialEq)]
pub struct Machines {
    measured: BTreeMap<String, Measured>,
    /// Classes of copies by each device, of the machines that mappings are asked of.
    copies: BTreeMap<String, Vec<DeviceClasses>>,
}

/// A simulated machine and what its record says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub machine: Machine,
    pub matrix: Pairs,
    /// Classes of the best compiler.
    pub best: ClassSet,
    /// Classes by compiler.
    pub by_compiler: BTreeMap<String, ClassSet>,
    /// Classes of copies by the best device, each way.
    pub copies: Vec<DeviceClasses>,
}

impl Machines {
    /// Measures every machine that a table of classes is of, without noise.
    ///
    /// # Errors
    /// When there is no such simulated machine, or it cannot be measured.
    pub fn measure(facts: &Facts) -> Result<Self, ReproduceError> {
        let mut machines = BTreeMap::new();
        for name in facts.class_tables.iter().map(|table| &table.machine) {
            machines.insert(name.clone(), Measured::measure(name)?);
        }
        let mut copies = BTreeMap::new();
        for name in facts.what_if.iter().map(|table| &table.simulated) {
            let record = copies_of(&simulated(name)?)?;
            copies.insert(
                name.clone(),
                device_classes(&RecordFigures::new(&record), &rule(JudgedDevices::Each)),
            );
        }
        Ok(Self { measured: machines, copies })
    }

    /// The classes of the copies of a machine that mappings are asked of, by each device.
    pub(super) fn copies(
        &self,
        name: &str,
        direction: TransferDirection,
    ) -> Result<&DeviceClasses, ReproduceError> {
        let mut of_machine = self.copies.get(name).into_iter().flatten();
        of_machine.find(|classes| classes.direction == direction).ok_or_else(|| {
            ReproduceError::Contradiction {
                key: KEY.into(),
                what: format!("{name} has no classes of copies {direction}"),
            }
        })
    }

    pub(super) fn find(&self, name: &str) -> Result<&Measured, ReproduceError> {
        self.measured.get(name).ok_or_else(|| ReproduceError::Contradiction {
            key: KEY.into(),
            what: format!("no table gives the classes of {name}"),
        })
    }
}

impl Measured {
    fn measure(name: &str) -> Result<Self, ReproduceError> {
        let simulated = simulated(name)?;
        let record = measure_simulated(&simulated, TRIAD)
            .map_err(|source| ReproduceError::Simulate { machine: name.into(), source })?;
        let mut by_compiler = BTreeMap::new();
        for compiler in simulated.variants(TRIAD) {
            let set = class_set(&record, TRIAD, Some(&compiler))?;
            by_compiler.insert(compiler, set);
        }
        let copies = copies_of(&simulated)?;
        Ok(Self {
            copies: device_classes(&RecordFigures::new(&copies), &rule(JudgedDevices::Best)),
            machine: simulated.machine,
            matrix: pairs(&RecordFigures::new(&record)),
            best: class_set(&record, TRIAD, None)?,
            by_compiler,
        })
    }

    pub fn classes_of(&self, compiler: &str) -> Result<&ClassSet, ReproduceError> {
        self.by_compiler.get(compiler).ok_or_else(|| ReproduceError::Contradiction {
            key: KEY.into(),
            what: format!("the simulated machine has no variant {compiler}"),
        })
    }
}

/// The thesis's tables judge pairs of nodes by the best device, its mappings ask for each.
fn rule(devices: JudgedDevices) -> DeviceClassRule {
    DeviceClassRule { devices, ..DeviceClassRule::default() }
}

fn simulated(name: &str) -> Result<SimulatedMachine, ReproduceError> {
    read_machine(name).map_err(|source| ReproduceError::Machine {
        machine: name.into(),
        source: Box::new(source),
    })
}

fn copies_of(simulated: &SimulatedMachine) -> Result<Record, ReproduceError> {
    measure_simulated_devices(simulated)
        .map_err(|source| ReproduceError::Simulate { machine: simulated.name.clone(), source })
}

/// The classes of printed copies, by the best device.
pub(super) fn transfer_set(
    printed: &PrintedTransfers<'_>,
) -> Result<Vec<Class<DevicePair>>, ReproduceError> {
    let contradiction = |what| ReproduceError::Contradiction { key: KEY.into(), what };
    let record = printed.record().map_err(contradiction)?;
    let found = device_classes(&RecordFigures::new(&record), &rule(JudgedDevices::Best));
    let first = found.into_iter().next().map(|found| found.classes);
    first.ok_or_else(|| contradiction(format!("{} has no classes", printed.title)))
}

/// The direction that the thesis calls by SHOC's word.
pub(super) fn direction_of(word: &str) -> Result<TransferDirection, ReproduceError> {
    match word {
        "download" => Ok(TransferDirection::ToDevice),
        "readback" => Ok(TransferDirection::ToHost),
        _ => Err(ReproduceError::Contradiction {
            key: KEY.into(),
            what: format!("copies go by {word}, which is neither download nor readback"),
        }),
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
    let what = || record.header.host.clone();
    let found = classes(&RecordFigures::new(record), &rule)
        .map_err(|source| ReproduceError::Classes { what: what(), source })?;
    found.sets.into_iter().next().ok_or_else(|| ReproduceError::Contradiction {
        key: KEY.into(),
        what: format!("{} has no set of classes", what()),
    })
}
