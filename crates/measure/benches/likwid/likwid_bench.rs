//! likwid-bench: which of its tests does what a kernel does, on which CPUs, and
//! what one run of it says.
//!
//! Source: likwid-bench of LIKWID 5.2, `bench/likwid-bench.c` and `bench/src/bench.c`.

use std::process::Command;

use anyhow::{Context, bail, ensure};
use nearfar_kernels::{Kernel, Variant};
use nearfar_machine::{CpuSet, Machine};

const PROGRAM: &str = "likwid-bench";

/// An installed likwid-bench.
#[derive(Debug)]
pub struct LikwidBench {
    /// As it says itself.
    pub version: String,
    tests: Vec<String>,
    domain: Domain,
}

/// Some of likwid's thread domains: CPUs that it numbers in an order of its own.
#[derive(Debug)]
struct Domain {
    tag: String,
    hwthreads: Vec<u32>,
}

/// CPUs of a run, in likwid's order, and how likwid is told.
#[derive(Debug, Clone)]
pub struct Workgroup {
    domain: String,
    /// One thread on each.
    pub cpus: Vec<u32>,
    stride: usize,
}

/// What one run said.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Passes of each thread over its arrays.
    pub iterations: u64,
    /// Bytes by STREAM's convention, all threads.
    pub bytes: f64,
    /// Floating-point operations of all threads.
    pub flops: f64,
    /// Ticks from the common start until the slowest thread was done.
    pub cycles: f64,
    /// Ticks per second, as this run calibrated them.
    pub clock_hz: f64,
}

impl LikwidBench {
    /// Asks the installed likwid-bench what it has.
    ///
    /// # Errors
    /// When there is none, or its answers are not understood.
    pub fn find() -> anyhow::Result<Self> {
        let help = ask(&["-h"])?;
        let version = help.split("Version").nth(1).and_then(|rest| rest.split_whitespace().next());
        let tests = ask(&["-a"])?;
        let tests = tests.lines().filter_map(|line| line.split(" - ").next());
        let tests = tests.map(|name| name.trim().to_string()).collect();
        let domains = parse_domains(&ask(&["-p"])?);
        // CPUs with the same local memory; a socket where likwid sees no such domain.
        let domain = ["M0", "S0"].iter().find_map(|tag| {
            domains.iter().position(|domain| domain.tag == *tag && !domain.hwthreads.is_empty())
        });
        let position = domain.with_context(|| {
            format!("'{PROGRAM} -p' lists neither a domain M0 nor S0; does it run on this CPU?")
        })?;
        Ok(Self {
            version: version.unwrap_or("of unknown version").to_string(),
            tests,
            domain: domains.into_iter().nth(position).context("the domain that was found")?,
        })
    }

    /// The widest variant of a kernel that likwid has a test for, and that test.
    ///
    /// likwid's `stream` is STREAM's triad, `a = s b + c`, and the counterpart of ours; its
    /// `triad` is Schoenauer's over four arrays. For AVX-512 it has no `stream` with both
    /// fused multiply-add and non-temporal stores.
    pub fn counterpart(&self, kernel: &Kernel) -> Option<(Variant, &str)> {
        let stem = match kernel.name {
            "store_nt" => "store_mem",
            "copy_nt" => "copy_mem",
            "triad" => "stream",
            "triad_nt" => "stream_mem",
            same => same,
        };
        kernel.variants().into_iter().find_map(|variant| {
            let suffix = match variant {
                Variant::Avx512 => "avx512",
                Variant::Avx2 => "avx",
                Variant::Sse2 => "sse",
                _ => return None,
            };
            // Our SSE2 has no fused multiply-add, the wider variants do.
            let fused = (variant != Variant::Sse2).then(|| format!("{stem}_{suffix}_fma"));
            let names = fused.into_iter().chain([format!("{stem}_{suffix}")]);
            let test = names.flat_map(|name| self.tests.iter().find(move |test| **test == name));
            Some((variant, test.into_iter().next()?.as_str()))
        })
    }

    /// The CPU on which likwid's first thread runs.
    ///
    /// # Errors
    /// Never after [`LikwidBench::find`], which refuses an empty domain.
    pub fn first_cpu(&self) -> anyhow::Result<u32> {
        self.domain.hwthreads.first().copied().context("likwid's domain has no CPUs")
    }

    /// Whether it has a test of that name.
    pub fn has(&self, test: &str) -> bool {
        self.tests.iter().any(|name| name == test)
    }

    /// A workgroup of one thread.
    ///
    /// # Errors
    /// As for [`LikwidBench::first_cpu`].
    pub fn one_thread(&self) -> anyhow::Result<Workgroup> {
        Ok(Workgroup { domain: self.domain.tag.clone(), cpus: vec![self.first_cpu()?], stride: 1 })
    }

    /// A workgroup of one thread on every core of the domain.
    ///
    /// # Errors
    /// When no stride over likwid's list gives each core once, or this process may
    /// not use one of these CPUs.
    pub fn thread_per_core(&self, machine: &Machine) -> anyhow::Result<Workgroup> {
        let domain: CpuSet = self.domain.hwthreads.iter().copied().collect();
        let cores: Vec<_> = machine.cores.iter().filter(|c| c.cpus.intersects(&domain)).collect();
        let one_each = |cpus: &[u32]| {
            cores
                .iter()
                .all(|core| cpus.iter().filter(|&&cpu| core.cpus.contains(cpu)).count() == 1)
        };
        for stride in 1..=self.domain.hwthreads.len() {
            let strided = self.domain.hwthreads.iter().copied().step_by(stride);
            let cpus: Vec<u32> = strided.take(cores.len()).collect();
            if cpus.len() == cores.len() && one_each(&cpus) {
                let refused = cpus.iter().find(|&&cpu| !machine.allowed_cpus.contains(cpu));
                if let Some(cpu) = refused {
                    bail!(
                        "this process may not use CPU {cpu} of likwid's domain; widen its cpuset"
                    );
                }
                return Ok(Workgroup { domain: self.domain.tag.clone(), cpus, stride });
            }
        }
        bail!(
            "no stride over likwid's domain {} ({:?}) gives one CPU of each core",
            self.domain.tag,
            self.domain.hwthreads
        )
    }

    /// Runs a test over `kilobytes` (1000 bytes) of arrays in all, this many times.
    ///
    /// # Errors
    /// When it fails, runs on other CPUs than asked, or contradicts itself.
    pub fn run(
        &self,
        test: &str,
        workgroup: &Workgroup,
        kilobytes: u64,
        iterations: u64,
    ) -> anyhow::Result<Run> {
        let group = workgroup.text(kilobytes);
        let iterations = iterations.to_string();
        let text = ask(&["-t", test, "-w", &group, "-i", &iterations])?;
        parse_run(&text, &workgroup.cpus)
            .with_context(|| format!("{PROGRAM} -t {test} -w {group} -i {iterations} said\n{text}"))
    }
}

impl Workgroup {
    /// As the argument of `-w`.
    fn text(&self, kilobytes: u64) -> String {
        let (domain, threads) = (&self.domain, self.cpus.len());
        match self.stride {
            1 => format!("{domain}:{kilobytes}kB:{threads}"),
            stride => format!("{domain}:{kilobytes}kB:{threads}:1:{stride}"),
        }
    }
}

fn ask(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(PROGRAM)
        .args(arguments)
        // Its arrays come from malloc: ask for huge pages there, as ours does by madvise.
        .env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
        .env("LC_ALL", "C")
        .output()
        .with_context(|| format!("cannot start {PROGRAM}; install it (Debian package likwid)"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "{PROGRAM} {}: {}\n{text}{}",
        arguments.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}

fn parse_domains(text: &str) -> Vec<Domain> {
    let tagged = text.lines().filter_map(|line| line.trim().strip_prefix("Tag "));
    tagged
        .filter_map(|line| {
            let (tag, list) = line.split_once(':')?;
            let hwthreads: Result<_, _> = list.split_whitespace().map(str::parse).collect();
            Some(Domain { tag: tag.into(), hwthreads: hwthreads.ok()? })
        })
        .collect()
}

fn parse_run(text: &str, cpus: &[u32]) -> anyhow::Result<Run> {
    let value = |name: &str| -> anyhow::Result<f64> {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let value = lines.next().and_then(|rest| rest.split_whitespace().next());
        value.and_then(|word| word.parse().ok()).with_context(|| format!("no number for '{name}'"))
    };
    let used: Vec<u32> = text
        .lines()
        .filter(|line| line.starts_with("Group:"))
        .filter_map(|line| {
            line.split_once("running on hwthread ")?.1.split(' ').next()?.parse().ok()
        })
        .collect();
    ensure!(
        used.iter().copied().collect::<CpuSet>() == cpus.iter().copied().collect(),
        "it ran on the CPUs {used:?} and not on {cpus:?}"
    );
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count that it printed, far below 2^53"
    )]
    let iterations = value("Iterations per thread")? as u64;
    let run = Run {
        iterations,
        bytes: value("Data volume (Byte)")?,
        flops: value("Number of Flops")?,
        cycles: value("Cycles")?,
        clock_hz: value("Cycle Clock")?,
    };
    let printed = value("MByte/s")? * 1e6;
    ensure!(
        (run.rate(run.clock_hz) / printed - 1.0).abs() < 1e-3,
        "its MByte/s is not its data volume over its cycles"
    );
    Ok(run)
}

impl Run {
    /// Bytes/s of the slowest thread times threads, with this many ticks per second.
    pub fn rate(&self, clock_hz: f64) -> f64 {
        self.bytes * clock_hz / self.cycles
    }

    /// FLOP/s, with this many ticks per second.
    pub fn flop_rate(&self, clock_hz: f64) -> f64 {
        self.flops * clock_hz / self.cycles
    }
}
