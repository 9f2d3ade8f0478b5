//! Section 6.3, in words: which programs of NPB lose most on far memory. Ours are simulated by the traffic
//! that they declare.

use std::collections::BTreeMap;

use nearfar_model::{RecordFigures, workloads};
use nearfar_record::{Experiment, Inputs, Suite};

use crate::error::{ReproduceError, contradiction, refused};
use crate::printed::Printed;
use crate::row::{Comparison, Room, Row};
use crate::simulated_record::{measure, rounds, simulated};

use super::KEY;
use super::facts::{Facts, ProgramOrder};
use super::machines::Measured;

/// What stands for an order that the thesis states; the other way round is minus this.
const SO: f64 = 1.0;

/// The least performance of any far node relative to the own one, by program: one thread, class B,
/// the first of which no cache of the machine holds a plane of LU's blocks.
pub(super) type WorstPerformance = BTreeMap<String, f64>;

pub(super) fn worst_performance(order: &ProgramOrder) -> Result<WorstPerformance, ReproduceError> {
    let names = order.most.iter().chain(&order.others).chain([&order.least]);
    let kernels = Some(names.map(|name| format!("{name}.B")).collect());
    let inputs = Inputs { kernels, ..rounds(vec![Experiment::Workloads], 1, Suite::Full) };
    let record = measure(&simulated(&order.machine)?, inputs, false)?;
    let model = workloads(&RecordFigures::new(&record))
        .map_err(refused(format!("the programs on {}", order.machine)))?;
    let of_one = model.placed.iter().filter(|it| it.threads == 1);
    let name = |workload: &str| workload.split('.').next().unwrap_or_default().to_string();
    Ok(of_one.map(|it| (name(&it.workload), it.worst())).collect())
}

/// Each program loses more than the one that loses least; which lose most is an input.
pub(super) fn rows(facts: &Facts, measured: &Measured) -> Result<Vec<Row>, ReproduceError> {
    let ProgramOrder { section, machine, most, others, least } = &facts.program_order;
    let worst = |name: &String| {
        let what = || format!("{name} was not simulated on {machine}");
        measured.programs.get(name).copied().ok_or_else(|| contradiction(KEY, what()))
    };
    let mut rows = Vec::new();
    for name in most.iter().chain(others) {
        let item = format!(
            "section {section}, {machine}, {name} loses more on far memory than {least}, 1 = so"
        );
        let ours = (worst(least)? - worst(name)?).signum();
        let printed = Printed { value: SO, decimals: 0 };
        let of = Comparison::of(item, printed, Some(ours));
        rows.push(Comparison { room: Room::Sign, ..of }.judge());
    }
    let why = "an order of hardware: simulated programs take as long as their declared traffic and \
               arithmetic, without what threads wait for single lines and for each other";
    rows.extend(most.iter().map(|name| {
        let item = format!(
            "section {section}, {machine}, {name} is among the three that lose most, 1 = so"
        );
        Row::given(item, SO, why)
    }));
    Ok(rows)
}
