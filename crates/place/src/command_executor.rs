//! Answers cases by running the user's programs.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use nearfar_measure::native::{NativeExecutor, with_distance};
use nearfar_measure::{
    Executor, Failure, Interrupt, OfferedVariants, Rates, Window, WindowRequest,
};
use nearfar_record::{
    Case, Command, CommandInputs, CommandProgram, CommandRun, Executor as ExecutorKind, Reason,
    ReasonCode, StreamsAlone,
};
use nearfar_units::nanoseconds;
use regex::Regex;

use crate::command_run::{Ended, run_command, run_once};
use crate::metric_pattern::{MetricPattern, PatternError};
use crate::output_tail::last_lines;
use crate::profile::ProgramCounters;

/// Runs programs: one run is one window.
#[derive(Debug)]
pub struct CommandExecutor {
    /// By the programs' labels.
    judged: HashMap<String, Judged>,
    timeout: Option<Duration>,
    interrupt: Interrupt,
    made: Instant,
    /// Programs that have had a run that does not count, by their labels.
    warm: HashSet<String>,
    /// Counters that are read of every run.
    counters: Option<ProgramCounters>,
    /// Runs the streams beside programs.
    streams: Option<NativeExecutor>,
}

/// How long streams run by themselves before the program beside them starts: as long as a window of the
/// suite `quick`.
const ALONE: Duration = Duration::from_millis(100);

/// What counts of a program's output.
#[derive(Debug)]
struct Judged {
    metric: Option<MetricPattern>,
    must_print: Option<Regex>,
}

impl Judged {
    /// The metric, where there is one; what is wrong with the output.
    fn figure(&self, output: &str) -> Result<Option<f64>, String> {
        if let Some(pattern) = self.must_print.as_ref().filter(|it| !it.is_match(output)) {
            return Err(format!(
                "nothing in its output matches '{pattern}', so the run does not count"
            ));
        }
        self.metric.as_ref().map(|pattern| pattern.figure(output)).transpose()
    }
}

impl CommandExecutor {
    /// Runs programs as their inputs say.
    ///
    /// # Errors
    /// When a pattern of theirs is none.
    pub fn new(commands: &CommandInputs, interrupt: Interrupt) -> Result<Self, PatternError> {
        let judged = |program: &CommandProgram| {
            let metric = commands.metric_of(&program.label);
            let metric = metric.map(|metric| MetricPattern::new(&metric.pattern)).transpose()?;
            let must_print =
                program.must_print.as_deref().map(MetricPattern::syntax).transpose()?;
            Ok((program.label.clone(), Judged { metric, must_print }))
        };
        Ok(Self {
            judged: commands.programs.iter().map(judged).collect::<Result<_, _>>()?,
            timeout: commands.timeout_ns.map(Duration::from_nanos),
            interrupt,
            made: Instant::now(),
            warm: HashSet::new(),
            counters: None,
            streams: None,
        })
    }

    /// Runs the streams of cases by this.
    pub fn with_streams(self, streams: NativeExecutor) -> Self {
        Self { streams: Some(streams), ..self }
    }

    /// Reads these counters of every run.
    pub fn with_counters(self, counters: ProgramCounters) -> Self {
        Self { counters: Some(counters), ..self }
    }

    fn window(&self, command: &Command) -> Result<Window, Failure> {
        let start = self.made.elapsed();
        let counting = self.counters.as_ref().map(|counters| (counters, counters.count_started()));
        let Ended { took, output, pages, shared, cpus } =
            run_command(command, self.timeout, &self.interrupt)?;
        let counts = counting.map_or_else(Vec::new, |(counters, it)| counters.counts(it));
        let judged = self.judged.get(&command.label);
        let metric = judged.map_or(Ok(None), |judged| judged.figure(&output)).map_err(|what| {
            let text = format!("{}: {what}; {}", command.label, last_lines(&output));
            Failure::Refused(Reason { code: ReasonCode::NoMetric, text })
        })?;
        let (pages, pages_unknown) = match pages {
            Ok(pages) => (Some(pages), None),
            Err(why) => (None, Some(why)),
        };
        let run = CommandRun {
            metric,
            pages,
            pages_unknown,
            shared_bytes_by_node: shared,
            cpus_seen: cpus,
            counts,
            before: None,
        };
        Ok(Window {
            start,
            length: took,
            actors: Vec::new(),
            disturbances: Vec::new(),
            run: Some(run),
            workload: None,
            cpu_distance: None,
        })
    }
}

impl CommandExecutor {
    /// A run beside the other actors of its case.
    fn window_beside(
        &mut self,
        command: &Command,
        streams: &Case,
        round: u32,
    ) -> Result<Window, Failure> {
        let start = self.made.elapsed();
        let Some(mut executor) = self.streams.take() else {
            let text = "nothing here runs streams beside a program; please report this".into();
            return Err(Failure::Refused(Reason { code: ReasonCode::NoVariant, text }));
        };
        let mut seen = None;
        let both = executor.run_beside(streams, (round, ALONE), || {
            let window = self.window(command)?;
            let length = window.length;
            seen = Some(window);
            Ok(length)
        });
        self.streams = Some(executor);
        let [before, during] = both?;
        let Some(window) = seen else { return Err(Failure::Interrupted) };
        let before = StreamsAlone { window_ns: nanoseconds(before.length), actors: before.actors };
        let run = window.run.map(|run| CommandRun { before: Some(before), ..run });
        let disturbances = during.disturbances;
        Ok(Window { start, run, actors: during.actors, disturbances, ..window })
    }
}

/// What runs beside a case's program; `None` where nothing does.
fn streams_of(case: &Case) -> Option<Case> {
    let (_, streams) = case.actors.split_last().filter(|(_, streams)| !streams.is_empty())?;
    Some(Case { actors: streams.to_vec(), ..case.clone() })
}

impl Executor for CommandExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Native
    }

    fn variants(&self) -> OfferedVariants {
        self.streams.as_ref().map_or_else(OfferedVariants::default, Executor::variants)
    }

    fn look(&mut self) -> Result<Rates, Reason> {
        Err(Reason {
            code: ReasonCode::UnmeasuredInput,
            text: "how long a program takes is not known before it has run".into(),
        })
    }

    fn now(&self) -> Duration {
        self.made.elapsed()
    }

    fn begin_round(&mut self, cases: &[&Case]) {
        if let Some(streams) = &mut self.streams {
            let beside: Vec<Case> = cases.iter().filter_map(|case| streams_of(case)).collect();
            streams.begin_round(&beside.iter().collect::<Vec<_>>());
        }
    }

    fn run(&mut self, case: &Case, request: WindowRequest) -> Result<Vec<Window>, Failure> {
        let Some(command) = case.command() else {
            return Err(Failure::Refused(Reason {
                code: ReasonCode::NoVariant,
                text: "it runs no program; `nearfar characterize` measures it".into(),
            }));
        };
        // What a program reads from disk is in memory after its first run.
        if !self.warm.contains(&command.label) {
            run_once(command, self.timeout, &self.interrupt)?;
            self.warm.insert(command.label.clone());
        }
        let streams = streams_of(case);
        let windows = (0..request.count).map(|_| {
            let (window, cpu_distance) = with_distance(case, || match &streams {
                Some(streams) => self.window_beside(command, streams, request.round),
                None => self.window(command),
            });
            window.map(|window| Window { cpu_distance, ..window })
        });
        windows.collect()
    }

    fn peak_resident_bytes(&self) -> Option<u64> {
        nearfar_sys::peak_resident_bytes(std::path::Path::new("/"))
    }
}

#[cfg(test)]
mod tests {
    use nearfar_machine::{Binding, MemoryPolicy};
    use nearfar_record::{
        Actor, Better, CommandCoordinates, Coordinates, CountedQuantity, Metric, TriedCounter,
    };

    use super::*;
    use crate::command_run::NotRun;

    fn case(program: &str, arguments: &[&str]) -> Case {
        let node = nearfar_sys::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        let cpus = nearfar_sys::thread_cpus().unwrap();
        Case {
            id: "commands/it/initiator0/node0".into(),
            coordinates: vec![Coordinates::Commands(CommandCoordinates {
                command: "it".into(),
                initiator: 0,
                cpu_node: Some(node),
                memory_node: Some(node),
                load: None,
            })],
            actors: vec![Actor::Command(Command {
                label: "it".into(),
                program: program.into(),
                arguments: arguments.iter().map(ToString::to_string).collect(),
                environment: [("NEARFAR_TEST".to_string(), "here".to_string())].into(),
                binding: Binding { cpus, memory: MemoryPolicy::Preferred(node) },
            })],
        }
    }

    fn executor(
        metric: Option<&str>,
        must_print: Option<&str>,
        timeout: Option<Duration>,
        interrupt: Interrupt,
    ) -> CommandExecutor {
        let metric = metric.map(|pattern| Metric {
            pattern: pattern.into(),
            unit: None,
            better: Better::Higher,
        });
        let must_print = must_print.map(Into::into);
        let program = CommandProgram { must_print, ..CommandProgram::new("it", "sh", Vec::new()) };
        let commands = CommandInputs {
            programs: vec![program],
            placements: Vec::new(),
            metric,
            timeout_ns: timeout.map(nearfar_units::nanoseconds),
            counters: None,
            pressures: Vec::new(),
        };
        CommandExecutor::new(&commands, interrupt).unwrap()
    }

    fn run(
        metric: Option<&str>,
        timeout: Option<Duration>,
        case: &Case,
    ) -> Result<Vec<Window>, Failure> {
        let mut executor = executor(metric, None, timeout, Interrupt::default());
        let request =
            WindowRequest { round: 0, first: 0, count: 2, shortest: Duration::from_nanos(1) };
        executor.run(case, request)
    }

    fn refusal(ran: Result<Vec<Window>, Failure>) -> (ReasonCode, String) {
        match ran {
            Err(Failure::Refused(reason)) => (reason.code, reason.text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_metric_is_read_and_windows_follow_each_other() {
        let script = "echo rate: 1; echo rate: 2.5 >&2";
        let windows = run(Some("rate: ([0-9.]+)"), None, &case("sh", &["-c", script])).unwrap();
        let metrics: Vec<Option<f64>> =
            windows.iter().map(|window| window.run.as_ref().unwrap().metric).collect();
        assert_eq!(metrics, [Some(2.5), Some(2.5)]);
        assert!(windows[1].start >= windows[0].start + windows[0].length);
        assert!(windows.iter().all(|window| !window.length.is_zero() && window.actors.is_empty()));
    }

    /// Where no counter is believed the runs have their times all the same.
    #[test]
    fn runs_are_timed_whether_they_can_be_counted_or_not() {
        let machine = nearfar_topology::read_live("/".as_ref()).unwrap();
        let cpu = nearfar_measure::read_environment("/".as_ref()).cpu;
        let counters = ProgramCounters::try_out(&machine, &cpu, &TriedCounter::QUANTITIES);
        let tried = counters.tried();
        let told: Vec<CountedQuantity> = tried.iter().map(|it| it.quantity).collect();
        assert_eq!(told, TriedCounter::QUANTITIES);
        let mut executor = executor(None, None, None, Interrupt::default()).with_counters(counters);
        let request =
            WindowRequest { round: 0, first: 0, count: 2, shortest: Duration::from_nanos(1) };
        let windows = executor.run(&case("true", &[]), request).unwrap();
        let believed = tried.iter().filter(|it| it.unavailable.is_none());
        let believed: Vec<CountedQuantity> = believed.map(|it| it.quantity).collect();
        for window in windows {
            assert!(!window.length.is_zero());
            let counts = window.run.unwrap().counts;
            assert_eq!(counts.iter().map(|it| it.quantity).collect::<Vec<_>>(), believed);
            for count in counts {
                assert_ne!(count.count.is_some(), count.unavailable.is_some(), "{count:?}");
            }
        }
        for counter in tried.iter().filter(|it| it.unavailable.is_some()) {
            assert!(counter.unavailable.as_ref().is_some_and(|why| why.len() > 10), "{counter:?}");
        }
    }

    #[test]
    fn a_run_counts_that_prints_what_it_must_under_its_variables() {
        let request =
            WindowRequest { round: 0, first: 0, count: 1, shortest: Duration::from_nanos(1) };
        let it = case("sh", &["-c", "echo ok $NEARFAR_TEST; echo rate 3"]);
        let run = |must_print| {
            executor(Some("rate (.)"), Some(must_print), None, Interrupt::default())
                .run(&it, request)
        };
        assert_eq!(run("^ok here$").unwrap()[0].run.as_ref().unwrap().metric, Some(3.0));
        let (code, text) = refusal(run("^ok there$"));
        assert_eq!(code, ReasonCode::NoMetric);
        assert!(text.contains("^ok there$") && text.contains("does not count"), "{text}");
    }

    /// A child of the shell holds 64 MiB, and only they are looked at who are of the family. On a busy
    /// machine it takes longer to write them.
    #[test]
    fn pages_and_cpus_of_children_are_seen() {
        let seen_bytes = |seconds| {
            // Its memory is written when it waits for somebody to read what it sends.
            let script =
                format!("dd if=/dev/zero bs=64M count=1 2>&- | (sleep {seconds}; cat >/dev/null)");
            let windows = run(None, None, &case("sh", &["-c", &script])).unwrap();
            let run = windows[0].run.clone().unwrap();
            let pages = run.pages.unwrap_or_else(|| panic!("{:?}", run.pages_unknown));
            assert!(run.cpus_seen.is_subset(&nearfar_sys::thread_cpus().unwrap()));
            assert!(!run.cpus_seen.is_empty() && run.metric.is_none());
            pages.pages.values().sum::<u64>() * pages.page_bytes
        };
        assert!([1, 5, 20].into_iter().any(|seconds| seen_bytes(seconds) >= 64 << 20));
    }

    /// On a busy machine a program is looked at before it has its memory: it lives for longer then.
    #[test]
    fn shared_memory_is_told_beside_own_pages() {
        let folder = tempfile::tempdir().unwrap();
        nearfar_lab::build_load(folder.path()).unwrap();
        let program = folder.path().join("load");
        let shared_bytes = |ms| {
            let case = case(program.to_str().unwrap(), &["1", "shared", "32", ms]);
            let windows = run(None, None, &case).unwrap();
            let run = windows[0].run.as_ref().unwrap();
            let own = run
                .pages
                .as_ref()
                .map_or(0, |own| own.pages.values().sum::<u64>() * own.page_bytes);
            assert!(own < 8 << 20, "{run:?}");
            run.shared_bytes_by_node.iter().flat_map(|by_node| by_node.values()).sum::<u64>()
        };
        assert!(["400", "3000", "20000"].into_iter().any(|ms| shared_bytes(ms) >= 32 << 20));
    }

    #[test]
    fn what_fails_says_what_it_said() {
        let (code, text) = refusal(run(None, None, &case("sh", &["-c", "echo no disk; exit 7"])));
        assert_eq!(code, ReasonCode::CommandFailed);
        assert!(text.contains("status 7") && text.contains("no disk"), "{text}");
        let (code, text) = refusal(run(None, None, &case("sh", &["-c", "kill -9 $$"])));
        assert_eq!(code, ReasonCode::CommandFailed);
        assert!(text.contains("signal 9") && text.contains("printed nothing"), "{text}");
        let (code, text) = refusal(run(None, None, &case("/no/such/program", &[])));
        assert_eq!(code, ReasonCode::CommandFailed);
        assert!(text.contains("/no/such/program"), "{text}");
        let (code, text) = refusal(run(Some("t=(.*)"), None, &case("echo", &["u=1"])));
        assert_eq!(code, ReasonCode::NoMetric);
        assert!(text.contains("u=1"), "{text}");
    }

    /// A process that outlives the one that started it makes a time that is not that of its work.
    #[test]
    fn a_first_run_is_timed_or_says_why_it_does_not_count() {
        let of = |script: &str| {
            let case = case("sh", &["-c", script]);
            run_once(case.command().unwrap(), None, &Interrupt::default())
        };
        assert!(of("true").is_ok());
        let failed = of("echo no disk; exit 7").unwrap_err();
        let words = failed.to_string();
        assert!(words.contains("status 7") && words.contains("no disk"), "{words}");
        assert!(matches!(failed, NotRun::Failed { status, .. } if status.code() == Some(7)));
        let forked = of("sleep 5 >&- 2>&- &").unwrap_err().to_string();
        assert!(forked.contains("go on"), "{forked}");
        let missing =
            run_once(case("/no/such", &[]).command().unwrap(), None, &Interrupt::default());
        assert!(matches!(missing, Err(NotRun::NotStarted { .. })), "{missing:?}");
    }

    /// The streams of a case run before its program and beside it, counted each time.
    #[test]
    fn streams_run_before_a_program_and_beside_it() {
        let cpus: Vec<u32> = nearfar_sys::thread_cpus().unwrap().iter().collect();
        let [first, .., last] = cpus[..] else { return };
        let machine = nearfar_topology::read_live("/".as_ref()).unwrap();
        let streams = NativeExecutor::new(
            machine,
            nearfar_record::TrafficMethod::Allocate,
            None,
            7,
            Interrupt::default(),
        );
        let mut executor = executor(None, None, None, Interrupt::default()).with_streams(streams);
        let mut planned = case("sleep", &["0.05"]);
        let memory = planned.actors[0].memory().unwrap().clone();
        if let Actor::Command(command) = &mut planned.actors[0] {
            command.binding.cpus = nearfar_machine::CpuSet::single(first);
        }
        let stream = nearfar_record::Stream {
            kernel: "load".into(),
            variant: "portable".into(),
            binding: Binding { cpus: nearfar_machine::CpuSet::single(last), memory },
            write_memory: None,
            threads: 1,
            pinning: nearfar_record::Pinning::OnePerCore,
            thread_cpus: vec![last],
            working_set_bytes: 1 << 20,
            llc_multiple: None,
            pages: nearfar_record::Pages::Small,
            pause_cycles: 0,
        };
        planned.actors.insert(0, Actor::Stream(stream));
        executor.begin_round(&[&planned]);
        let request =
            WindowRequest { round: 0, first: 0, count: 1, shortest: Duration::from_nanos(1) };
        let windows = executor.run(&planned, request).unwrap();
        let [window] = &windows[..] else { panic!("{windows:?}") };
        let before = window.run.as_ref().unwrap().before.as_ref().unwrap();
        assert!(window.length >= Duration::from_millis(50), "{window:?}");
        assert!(before.window_ns >= 100_000_000);
        // On a busy machine the two CPUs may not meet.
        let is_far = |it: nearfar_record::CpuDistance| {
            it.cpus == [first, last] && it.before_ns > 0.0 && it.after_ns > 0.0
        };
        assert!(window.cpu_distance.is_none_or(is_far), "{window:?}");
        for actor in [&window.actors[0], &before.actors[0]] {
            assert!(actor.useful_bytes > 0 && actor.proof.is_some(), "{actor:?}");
        }
    }

    /// Without an end of it and of its child the test would not end either.
    #[test]
    fn what_runs_too_long_is_ended_with_its_children() {
        let timeout = Some(Duration::from_millis(30));
        let (code, text) = refusal(run(None, timeout, &case("sh", &["-c", "sleep 900 & wait"])));
        assert_eq!(code, ReasonCode::TimedOut);
        assert!(text.contains("0.03 s") && text.contains("--timeout"), "{text}");
    }

    #[test]
    fn a_placement_that_the_kernel_refuses_is_no_run() {
        let mut planned = case("echo", &["ran"]);
        let Actor::Command(command) = &mut planned.actors[0] else { panic!() };
        command.binding.cpus = nearfar_machine::CpuSet::single(65_535);
        let (code, text) = refusal(run(None, None, &planned));
        assert_eq!(code, ReasonCode::Denied);
        assert!(text.contains("cpus=65535"), "{text}");
    }

    #[test]
    fn a_signal_ends_the_program() {
        let interrupt = Interrupt::default();
        interrupt.cell().store(2, std::sync::atomic::Ordering::Relaxed);
        let mut executor = executor(None, None, None, interrupt);
        let request =
            WindowRequest { round: 0, first: 0, count: 1, shortest: Duration::from_nanos(1) };
        let ran = executor.run(&case("sleep", &["900"]), request);
        assert_eq!(ran, Err(Failure::Interrupted));
    }
}
