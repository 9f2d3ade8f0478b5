//! The CPU's and the kernel's counters of events, by perf_event_open(2).
//!
//! Events that belong together are opened together: the CPU counts them at the same time or not at
//! all, so that their ratio holds even where others take turns with them.

use std::io;

use perf_event::events::{Hardware, Raw, Software};
use perf_event::{Builder, Counter};

use crate::refusal::{Errno, Refusal};

/// What is counted, in user mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerfEvent {
    /// An event by the CPU's own numbers.
    Raw {
        /// Event, mask and flags, as the CPU's event register takes them.
        config: u64,
        /// A second register, which some events need; 0 for the others.
        second: u64,
    },
    Cycles,
    Instructions,
    /// Page faults: an event of the kernel, which needs no counter of the CPU.
    PageFaults,
}

/// Whose events are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerfTarget {
    /// The calling thread's, from [`CounterSet::enable`] on.
    CallingThread,
    /// Those of programs that the calling thread and threads that it begins start from now on,
    /// from their exec(2) on, with their threads and children.
    StartedPrograms,
    /// Those of a running thread of another process, and of the threads and children that it begins
    /// from now on; from [`CounterSet::enable`] on.
    Thread(u32),
}

/// Counters that count at the same time.
#[derive(Debug)]
pub struct CounterSet {
    counters: Vec<Counter>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerfCount {
    pub events: u64,
    /// Nanoseconds for which they were to be counted, summed over threads.
    pub enabled_ns: u64,
    /// Nanoseconds for which they were: less where counters took turns.
    pub running_ns: u64,
}

impl PerfCount {
    /// Both together, as of two threads.
    pub fn and(self, other: Self) -> Self {
        Self {
            events: self.events.saturating_add(other.events),
            enabled_ns: self.enabled_ns.saturating_add(other.enabled_ns),
            running_ns: self.running_ns.saturating_add(other.running_ns),
        }
    }

    /// The share of the time in which it counted; `None` where that was never.
    pub fn counted_share(self) -> Option<f64> {
        let is_known = self.running_ns > 0 && self.running_ns <= self.enabled_ns;
        is_known.then(|| self.running_ns as f64 / self.enabled_ns as f64)
    }

    /// The events of the whole time, taking the time in which it counted for like the rest; `None`
    /// where it never counted.
    pub fn scaled(self) -> Option<f64> {
        Some(self.events as f64 / self.counted_share()?)
    }
}

impl CounterSet {
    /// Opens counters of these events. They count nothing yet.
    ///
    /// # Errors
    /// When the kernel refuses one of them, with what can be done about it.
    pub fn open(events: &[PerfEvent], target: PerfTarget) -> Result<Self, Refusal> {
        let mut counters: Vec<Counter> = Vec::with_capacity(events.len());
        for (position, &event) in events.iter().enumerate() {
            let is_first = position == 0;
            let mut builder = builder(event);
            // The others go with the first, which alone is switched on.
            builder.enabled(!is_first);
            match target {
                PerfTarget::CallingThread => (),
                PerfTarget::StartedPrograms => {
                    builder.inherit(true).enable_on_exec(is_first);
                }
                PerfTarget::Thread(tid) => {
                    let tid = i32::try_from(tid).map_err(|_| Refusal::Argument {
                        what: format!("thread {tid}"),
                        reason: "no thread has such a number",
                    })?;
                    builder.observe_pid(tid).inherit(true);
                }
            }
            let opened = match counters.first_mut() {
                None => builder.build(),
                Some(first) => builder.build_with_group(first),
            };
            counters.push(opened.map_err(|error| refused(event, &error))?);
        }
        Ok(Self { counters })
    }

    /// Begins to count.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn enable(&mut self) -> Result<(), Refusal> {
        self.switch(true)
    }

    /// Counts no more.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn disable(&mut self) -> Result<(), Refusal> {
        self.switch(false)
    }

    fn switch(&mut self, on: bool) -> Result<(), Refusal> {
        let Some(first) = self.counters.first_mut() else { return Ok(()) };
        let done = if on { first.enable_group() } else { first.disable_group() };
        done.map_err(|error| failed("ioctl(PERF_EVENT)", if on { "on" } else { "off" }, &error))
    }

    /// What was counted until now, in the order of the events.
    ///
    /// # Errors
    /// When the kernel has never had room for them.
    pub fn read(&mut self) -> Result<Vec<PerfCount>, Refusal> {
        let read = |counter: &mut Counter| {
            let count = counter
                .read_count_and_time()
                .map_err(|error| failed("read", "of a counter", &error))?;
            Ok(PerfCount {
                events: count.count,
                enabled_ns: count.time_enabled,
                running_ns: count.time_running,
            })
        };
        self.counters.iter_mut().map(read).collect()
    }
}

fn builder(event: PerfEvent) -> Builder<'static> {
    match event {
        PerfEvent::Raw { config, second } => Builder::new(Raw::new(config).config1(second)),
        PerfEvent::Cycles => Builder::new(Hardware::CPU_CYCLES),
        PerfEvent::Instructions => Builder::new(Hardware::INSTRUCTIONS),
        PerfEvent::PageFaults => Builder::new(Software::PAGE_FAULTS),
    }
}

fn refused(event: PerfEvent, error: &io::Error) -> Refusal {
    let what = match event {
        PerfEvent::Raw { config, second: 0 } => format!("event {config:#x}"),
        PerfEvent::Raw { config, second } => format!("event {config:#x}, {second:#x}"),
        PerfEvent::Cycles => "cycles".into(),
        PerfEvent::Instructions => "instructions".into(),
        PerfEvent::PageFaults => "page faults".into(),
    };
    failed("perf_event_open", &what, error)
}

fn failed(call: &'static str, what: &str, error: &io::Error) -> Refusal {
    // The library replaces the number where the kernel knows fewer options than it.
    let number = match error.kind() {
        io::ErrorKind::Unsupported => libc::EOPNOTSUPP,
        _ => libc::EIO,
    };
    Refusal::call(call, what, Errno(error.raw_os_error().unwrap_or(number)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::mapping::{Mapping, PageRequest};

    #[test]
    fn counts_that_took_turns_are_scaled_up_and_none_is_no_zero() {
        let count = PerfCount { events: 100, enabled_ns: 40, running_ns: 10 };
        assert_eq!(count.scaled(), Some(400.0));
        assert_eq!(count.counted_share(), Some(0.25));
        assert_eq!(PerfCount::default().scaled(), None);
        let never = PerfCount { running_ns: 0, ..count };
        assert_eq!(never.scaled(), None);
        let odd = PerfCount { running_ns: 41, ..count };
        assert_eq!(odd.scaled(), None);
        assert_eq!(count.and(count).scaled(), Some(800.0));
    }

    /// What the kernel counts needs no counter of the CPU, but a kernel that lets us.
    fn page_faults(target: PerfTarget) -> Option<CounterSet> {
        match CounterSet::open(&[PerfEvent::PageFaults, PerfEvent::PageFaults], target) {
            Ok(set) => Some(set),
            Err(refusal) => {
                assert!(refusal.remedy().is_some(), "{refusal}");
                None
            }
        }
    }

    #[test]
    fn first_touches_of_this_thread_are_counted_between_on_and_off() {
        let Some(mut set) = page_faults(PerfTarget::CallingThread) else { return };
        let mut memory = Mapping::new(64 * 4096, PageRequest::Small).unwrap();
        assert_eq!(set.read().unwrap()[0].events, 0);
        set.enable().unwrap();
        memory.as_f64_mut().iter_mut().step_by(512).for_each(|it| *it = 1.0);
        set.disable().unwrap();
        let counted = set.read().unwrap();
        assert!((64..128).contains(&counted[0].events), "{counted:?}");
        assert_eq!(counted.len(), 2);
        memory.drop_pages().unwrap();
        memory.as_f64_mut()[0] = 1.0;
        assert_eq!(set.read().unwrap(), counted);
    }

    #[test]
    fn a_started_program_is_counted_with_its_children_and_this_one_is_not() {
        let Some(mut set) = page_faults(PerfTarget::StartedPrograms) else { return };
        let mut memory = Mapping::new(512 * 4096, PageRequest::Small).unwrap();
        memory.as_f64_mut().iter_mut().step_by(512).for_each(|it| *it = 1.0);
        assert_eq!(set.read().unwrap()[0].events, 0);
        assert!(Command::new("true").status().unwrap().success());
        let one = set.read().unwrap()[0].events;
        assert!(one > 10, "{one}");
        let Some(mut set) = page_faults(PerfTarget::StartedPrograms) else { return };
        let started = std::thread::scope(|scope| {
            let start = || Command::new("sh").args(["-c", "/bin/true; /bin/true; exit 3"]).status();
            scope.spawn(start).join().unwrap()
        });
        assert_eq!(started.unwrap().code(), Some(3));
        let three = set.read().unwrap()[0].events;
        assert!(three > 2 * one, "{three} of a shell with two children, {one} of one");
    }

    #[test]
    fn refusals_say_what_to_do() {
        let unknown = CounterSet::open(
            &[PerfEvent::Raw { config: 0xffff_ffff_ffff, second: 0 }],
            PerfTarget::CallingThread,
        );
        let refusal = unknown.err().unwrap();
        assert!(refusal.to_string().contains("perf_event_open(event 0xffffffffffff)"), "{refusal}");
        assert_ne!(refusal.remedy(), Some("see the manual page of the call"));
        let nobody = CounterSet::open(&[PerfEvent::PageFaults], PerfTarget::Thread(u32::MAX));
        assert!(nobody.is_err());
    }
}
