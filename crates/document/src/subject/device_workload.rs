//! A workload that a device computed.

use std::time::Duration;

use nearfar_units::{Bytes, format_duration};
use nearfar_workloads::{DeviceWorkloadReport, PassClock, PlacedDeviceRun};

use super::figures::{count, percent_words, rounded, significant};
use super::workload::{arrays, by_node};
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Rows of tables that the first screen has room for.
const FIRST_ROWS: usize = 10;

/// Its runs, for people: how fast it was with and without copies, then the steps of the pass and where
/// pages were; of several runs one beside the other.
pub fn device_workload_answer(report: &DeviceWorkloadReport) -> Answer {
    let name = &report.workload;
    let head = format!("{name} on {}", report.device.id);
    let is_one = report.refused.is_empty() && report.runs.iter().all(|it| it.of_nearest.is_none());
    let answer = match &report.runs[..] {
        [run] if is_one => one(&head, report, run),
        runs => several(&head, report, runs),
    };
    let device = &report.device.name;
    let answer = answer.and_all(
        Shown::Full,
        [
            Part::Gap,
            Part::words("", format!("the device is {device}, called from CPU {}", report.cpu)),
        ],
    );
    let larger = name.rsplit_once('.').and_then(|(of, size)| {
        let next = size.parse::<u32>().ok().filter(|&size| size < 4)? + 1;
        Some(format!("nearfar workload {of}.{next} --device {}", report.device.id))
    });
    let each = format!("nearfar workload {name} --device {} --each-node", report.device.id);
    let next = is_one.then_some((each.as_str(), "the same with its arrays on each memory node"));
    answer.and_next(next.into_iter().chain(larger.as_deref().map(|it| (it, "a larger size"))))
}

fn rate(report: &DeviceWorkloadReport, rate: f64) -> String {
    format!("{} {}/s", significant(rate, 4), report.unit)
}

fn one(head: &str, report: &DeviceWorkloadReport, run: &PlacedDeviceRun) -> Answer {
    let words = format!(
        "{} by its kernels, {} with copies, which take {} of the time; pages by {}; verified",
        rate(report, run.kernel_rate),
        rate(report, run.rate_with_copies),
        percent_words(run.copy_share),
        run.placement,
    );
    Answer::default()
        .and(
            Shown::Always,
            Part::Words { first: format!("{head}: "), words, emphasis: Emphasis::Good },
        )
        .and_gap()
        .and_table(steps(report, run), FIRST_ROWS)
        .and_says(clock_words(run))
        .and_gap()
        .and_table(arrays(&run.arrays), FIRST_ROWS)
        .and_all(Shown::Full, [Part::Gap, Part::words("", verification(run))])
}

fn clock_words(run: &PlacedDeviceRun) -> String {
    let whose = match run.clock {
        PassClock::Device => "device's clock",
        PassClock::Host => "host's clock, because the device's says nothing",
    };
    format!("Rates are by the {whose}, of the median of {} passes.", run.run.passes.len())
}

fn verification(run: &PlacedDeviceRun) -> String {
    let [error, most] = [run.run.largest_error, run.run.tolerance];
    format!(
        "after each pass {} compared: the largest error is {error:.1e}, of {most:.1e} that it may be",
        count(run.run.compared, "number"),
    )
}

fn steps(report: &DeviceWorkloadReport, run: &PlacedDeviceRun) -> Table {
    let columns = ["step", "bytes", "by the device", "by the host", "GB/s"];
    let pass = run.run.passes[run.median_pass];
    let row = |name: &str, step: nearfar_workloads::StepTime, bytes: Option<u64>| {
        let time = |ns| Cell::text(format_duration(Duration::from_nanos(ns)));
        let ns = match run.clock {
            PassClock::Device => step.device_ns.unwrap_or(step.wall_ns),
            PassClock::Host => step.wall_ns,
        };
        vec![
            Cell::text(name),
            bytes.map_or(Cell::Empty, |bytes| Cell::text(Bytes(bytes))),
            step.device_ns.map_or(Cell::Empty, time),
            time(step.wall_ns),
            bytes.map_or(Cell::Empty, |it| Cell::text(significant(it as f64 / ns as f64, 3))),
        ]
    };
    let rows = [
        row("copies to the device", pass.to_device, Some(report.bytes_to_device)),
        row("kernels", pass.kernels, None),
        row("copies back", pass.to_host, Some(report.bytes_to_host)),
    ];
    Table::new("", columns.map(Column::words), rows)
}

fn several(head: &str, report: &DeviceWorkloadReport, runs: &[PlacedDeviceRun]) -> Answer {
    let columns =
        ["pages", "with copies", "of nearest", "copies' share", "kernels alone", "were on nodes"];
    let row = |run: &PlacedDeviceRun| {
        let largest = run.arrays.iter().max_by_key(|array| array.bytes);
        vec![
            Cell::text(&run.placement),
            Cell::text(rate(report, run.rate_with_copies)),
            run.of_nearest.map_or(Cell::Empty, |it| Cell::text(rounded(it, 3))),
            Cell::text(percent_words(run.copy_share)),
            Cell::text(rate(report, run.kernel_rate)),
            largest.map_or(Cell::Empty, |it| Cell::text(by_node(&it.proof.after))),
        ]
    };
    let table = Table::new("", columns.map(Column::words), runs.iter().map(row));
    let refused = report
        .refused
        .iter()
        .map(|it| Part::words(format!("{}: ", it.placement), it.reason.clone()));
    let alone = (runs.len() + report.refused.len() == 1).then(|| {
        Part::words("", "This machine has one memory node: there is no other to compare.")
    });
    Answer::default()
        .and_says(format!("{head}, its arrays on each memory node, the nearest first; verified."))
        .and_gap()
        .and_table(table, FIRST_ROWS)
        .and_all(Shown::Always, refused)
        .and_all(Shown::Always, alone)
}

#[cfg(test)]
mod tests {
    use nearfar_machine::{Accelerator, Backend, MemoryPolicy, NodeSet};
    use nearfar_record::{ArrayPlacement, PageNodes, Proof, ProofMethod, WorkloadArray};
    use nearfar_workloads::{
        DevicePass, DeviceRun, DeviceWorkload, ProblemSize, RefusedDeviceRun, StepTime,
    };

    use super::*;
    use crate::answer::Room;

    const FIRST: Room = Room { width: 110, full: false };

    fn report(nodes: &[u32]) -> DeviceWorkloadReport {
        let device = Accelerator {
            id: "opencl0".into(),
            backend: Backend::Opencl,
            number: 0,
            name: "a device".into(),
            driver: None,
            bus_id: None,
            memory_bytes: None,
            shares_host_memory: false,
            nodes: NodeSet::single(1),
        };
        let mut report =
            DeviceWorkloadReport::new(DeviceWorkload::Reduction, ProblemSize::ALL[0], device, 3);
        report.runs = nodes.iter().map(|&node| run(node)).collect();
        report
    }

    fn run(node: u32) -> PlacedDeviceRun {
        let step = |ns| StepTime { device_ns: Some(ns), wall_ns: 2 * ns };
        let pass =
            DevicePass { to_device: step(600_000), kernels: step(300_000), to_host: step(100_000) };
        let pages = PageNodes {
            method: ProofMethod::MovePages,
            page_bytes: 4096,
            pages: [(node, 256)].into(),
            unknown: 0,
        };
        PlacedDeviceRun {
            placement: on(node),
            clock: PassClock::Device,
            median_pass: 0,
            kernel_rate: 3.5,
            rate_with_copies: 1.0 + f64::from(node),
            copy_share: 0.7,
            of_nearest: None,
            run: DeviceRun { passes: vec![pass], compared: 1, largest_error: 0.0, tolerance: 0.0 },
            arrays: vec![WorkloadArray {
                name: "values".into(),
                bytes: 1 << 20,
                is_hot: true,
                proof: Proof { before: pages.clone(), after: pages },
            }],
        }
    }

    fn on(node: u32) -> ArrayPlacement {
        ArrayPlacement::Policy(MemoryPolicy::Bind(NodeSet::single(node)))
    }

    fn says(report: &DeviceWorkloadReport, room: Room, all: &[&str]) {
        let text = device_workload_answer(report).text(room);
        all.iter().for_each(|said| assert!(text.contains(said), "'{said}' is not in {text}"));
    }

    #[test]
    fn a_run_is_told_with_and_without_copies() {
        let first = "3.5 GB/s by its kernels, 2 GB/s with copies, which take 70 % of the time";
        let more =
            ["copies back", "1 MiB", "1: 100 %", "--each-node", "reduction.2", "device's clock"];
        let report = report(&[1]);
        says(&report, Room { width: 200, ..FIRST }, &[&[first][..], &more].concat());
        says(
            &report,
            Room { full: true, ..FIRST },
            &["1 number compared", "a device, called from CPU 3"],
        );
    }

    #[test]
    fn runs_are_told_beside_the_nearest_and_the_refused_with_their_reason() {
        let mut both = report(&[1, 0]);
        both.refused = vec![RefusedDeviceRun { placement: on(2), reason: "it is full".into() }];
        both.relate_to(&on(1));
        says(&both, FIRST, &["bind:0", "0.5", "bind:2: it is full", "0: 100 %"]);
        let mut alone = report(&[1]);
        alone.relate_to(&on(1));
        says(&alone, FIRST, &["one memory node"]);
        both.relate_to(&on(7));
        assert!(both.runs.iter().all(|run| run.of_nearest.is_none()));
    }
}
