//! The thesis's machines, simulated and measured.

use std::collections::BTreeMap;

use nearfar_flow::read_machine;
use nearfar_machine::Machine;
use nearfar_model::{ClassRule, ClassSet, Pairs, RecordFigures, classes, pairs};
use nearfar_record::Record;

use crate::error::ReproduceError;
use crate::simulated_record::measure_simulated;

use super::KEY;
use super::facts::Facts;

/// The kernel by which the thesis judges memory.
const TRIAD: &str = "triad";

/// The simulated machines by name, and what their records say.
#[derive(Debug, Clone, PartialEq)]
pub struct Machines(BTreeMap<String, Measured>);

/// A simulated machine and what its record says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub machine: Machine,
    pub matrix: Pairs,
    /// Classes of the best compiler.
    pub best: ClassSet,
    /// Classes by compiler.
    pub by_compiler: BTreeMap<String, ClassSet>,
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
        Ok(Self(machines))
    }

    pub(super) fn find(&self, name: &str) -> Result<&Measured, ReproduceError> {
        self.0.get(name).ok_or_else(|| ReproduceError::Contradiction {
            key: KEY.into(),
            what: format!("no table gives the classes of {name}"),
        })
    }
}

impl Measured {
    fn measure(name: &str) -> Result<Self, ReproduceError> {
        let simulated = read_machine(name).map_err(|source| ReproduceError::Machine {
            machine: name.into(),
            source: Box::new(source),
        })?;
        let record = measure_simulated(&simulated, TRIAD)
            .map_err(|source| ReproduceError::Simulate { machine: name.into(), source })?;
        let mut by_compiler = BTreeMap::new();
        for compiler in simulated.variants(TRIAD) {
            let set = class_set(&record, TRIAD, Some(&compiler))?;
            by_compiler.insert(compiler, set);
        }
        Ok(Self {
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
