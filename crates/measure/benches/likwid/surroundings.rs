//! The machine that the bench runs on, and what its figures can say.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use nearfar_machine::{CpuSet, Machine};
use nearfar_measure::{before_measuring, read_environment};
use nearfar_record::Environment;
use nearfar_sys::pin_thread;
use nearfar_units::Bytes;

use crate::likwid_bench::{LikwidBench, Workgroup};
use crate::options::{Options, ROUNDS_PER_ROUND_OF_ALL};

/// Does this on a CPU, by a thread of its own: the pin would be inherited by all later processes.
///
/// # Errors
/// When the thread cannot be pinned, and those of the work.
pub fn on_cpu<T: Send>(
    cpu: u32,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    std::thread::scope(|scope| {
        let done = scope.spawn(|| {
            pin_thread(&CpuSet::single(cpu))?;
            work()
        });
        done.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Two sides of a comparison, either of which goes first in its turn.
///
/// # Errors
/// Those of the sides.
pub fn in_turns<T>(
    ours_first: bool,
    sides: [&mut dyn FnMut() -> anyhow::Result<T>; 2],
) -> anyhow::Result<[T; 2]> {
    if ours_first {
        return Ok([sides[0]()?, sides[1]()?]);
    }
    let theirs = sides[1]()?;
    Ok([sides[0]()?, theirs])
}

/// The machine that the bench runs on.
#[derive(Debug)]
pub struct Surroundings {
    pub machine: Machine,
    pub environment: Environment,
    /// The memory node on which the arrays of both tools lie.
    pub node: u32,
    /// One thread.
    pub one: Workgroup,
    /// One thread on every core with that node.
    pub all: Workgroup,
}

impl Surroundings {
    /// Reads the live machine.
    ///
    /// # Errors
    /// When it cannot be read, or likwid's CPUs are not those of a memory node.
    pub fn read(likwid: &LikwidBench) -> anyhow::Result<Self> {
        let root = Path::new("/");
        let machine = nearfar_topology::read_live(root)?;
        let environment = read_environment(root);
        let one = likwid.one_thread()?;
        let all = likwid.thread_per_core(&machine)?;
        let initiators = machine.initiators();
        let home = initiators.iter().find(|c| one.cpus.iter().any(|&cpu| c.cpus.contains(cpu)));
        let node = home.and_then(|initiator| initiator.memory_nodes.first());
        let node = node.context("no memory node is local to the first CPU")?;
        Ok(Self { machine, environment, node, one, all })
    }

    /// Says which machine this is, and what the figures can and cannot show.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn print(
        &self,
        likwid: &LikwidBench,
        options: &Options,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let cpu = &self.environment.cpu;
        let number = |n: Option<u32>| n.map_or_else(|| "unknown".into(), |n| n.to_string());
        let all: CpuSet = self.all.cpus.iter().copied().collect();
        writeln!(out, "nearfar beside likwid-bench {}\n", likwid.version)?;
        writeln!(
            out,
            "CPU      {}, family {} model {}",
            cpu.model_name.as_deref().unwrap_or("of unknown name"),
            number(cpu.family),
            number(cpu.model)
        )?;
        writeln!(
            out,
            "used     CPU {} for one thread, {all} for all; memory node {}",
            self.one.cpus[0], self.node
        )?;
        writeln!(out, "caches   {}", self.caches())?;
        let host = match self.environment.hypervisor.as_deref() {
            None => "whether it is virtual is not known".into(),
            Some("none") => "not virtual".into(),
            Some(name) => format!("virtual, hypervisor {name}"),
        };
        let kernel = self.environment.kernel_release.as_deref().unwrap_or("of unknown version");
        writeln!(out, "machine  {host}; Linux {kernel}")?;
        let (one, all) = (options.rounds, options.rounds.div_ceil(ROUNDS_PER_ROUND_OF_ALL));
        writeln!(out, "rounds   {one} with one thread, {all} with all\n")?;
        writeln!(out, "{EXPLANATION}")?;
        for warning in before_measuring(&self.machine, &self.environment, &[]) {
            writeln!(out, "warning: {}; {}", warning.message, warning.remedy)?;
        }
        Ok(out.flush()?)
    }

    fn caches(&self) -> String {
        let cpu = self.one.cpus[0];
        let mut caches: Vec<_> =
            self.machine.caches.iter().filter(|cache| cache.cpus.contains(cpu)).collect();
        caches.sort_by_key(|cache| cache.level);
        let size = |bytes: Option<u64>| {
            bytes.map_or_else(|| "of unknown size".into(), |bytes| Bytes(bytes).to_string())
        };
        let texts: Vec<String> = caches
            .iter()
            .map(|cache| format!("L{} {} for CPUs {}", cache.level, size(cache.bytes), cache.cpus))
            .collect();
        if texts.is_empty() { "not known".into() } else { texts.join(", ") }
    }
}

const EXPLANATION: &str = "\
Both tools move the same number of bytes over arrays of the same total size, on the same CPUs, with
huge pages where they matter, in runs of the same length, taking turns at going first. A figure is
the mean over one run, threads x the slowest thread, useful bytes (reading a line before it is
written does not count). nearfar checks its results and proves its pages in every run. likwid's
ticks are converted with the median of the clock calibrations of all its runs.
What the ratios can show: whether our loops fall behind likwid's on this machine, as far as the
interval (bootstrap, 95 %, ratio of medians) resolves it. What they cannot show: what the hardware
could do at best, how other machines behave, which of two loops is better when the interval holds 1.
On a virtual or shared machine neighbours move single runs by more than the tools differ; taking
turns spreads that over both sides, and it shows in the spread, (largest - smallest) / median.";
