//! The thesis's machines, simulated and measured.

use std::collections::BTreeMap;

use nearfar_machine::{Machine, TransferDirection};
use nearfar_model::{
    Class, ClassRule, ClassSet, DeviceClassRule, DeviceClasses, DevicePair, JudgedDevices, Pairs,
    RecordFigures, classes, device_classes, pairs,
};
use nearfar_record::Record;

use crate::error::{ReproduceError, contradiction, refused};
use crate::printed_table::PrintedTable;
use crate::simulated_record::{measure_simulated, measure_simulated_devices, simulated};

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
            let record = measure_simulated_devices(&simulated(name)?)?;
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
            contradiction(KEY, format!("{name} has no classes of copies {direction}"))
        })
    }

    pub(super) fn find(&self, name: &str) -> Result<&Measured, ReproduceError> {
        let found = self.measured.get(name);
        found.ok_or_else(|| contradiction(KEY, format!("no table gives the classes of {name}")))
    }
}

impl Measured {
    fn measure(name: &str) -> Result<Self, ReproduceError> {
        let simulated = simulated(name)?;
        let record = measure_simulated(&simulated, TRIAD)?;
        let mut by_compiler = BTreeMap::new();
        for compiler in simulated.variants(TRIAD) {
            let set = class_set(&record, TRIAD, Some(&compiler))?;
            by_compiler.insert(compiler, set);
        }
        let copies = measure_simulated_devices(&simulated)?;
        Ok(Self {
            copies: device_classes(&RecordFigures::new(&copies), &rule(JudgedDevices::Best)),
            machine: simulated.machine,
            matrix: pairs(&RecordFigures::new(&record)),
            best: class_set(&record, TRIAD, None)?,
            by_compiler,
        })
    }

    pub fn classes_of(&self, compiler: &str) -> Result<&ClassSet, ReproduceError> {
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
