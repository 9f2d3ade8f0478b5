//! Counts the events of a program, by counters that were believed before.

use std::thread;

use nearfar_machine::Machine;
use nearfar_record::{CountedQuantity, Cpu, ProfileCounter, RunCount, TriedCounter};
use nearfar_sys::{CounterSet, PerfCount, PerfTarget, Refusal};

use super::calibration::{Calibrated, calibrate};
use super::events::{CounterPlan, PlannedEvent, counter_plans};
use super::known_work::Workplace;

/// Counters that were tried out: those that are believed can count programs, again and again.
#[derive(Debug, Clone)]
pub struct ProgramCounters(Vec<Calibrated>);

/// Each with a set of counters for each thread that was attached to; without any where it is not
/// counted.
pub(crate) struct Counting(Vec<(Calibrated, Vec<CounterSet>)>);

impl ProgramCounters {
    /// Tries what this CPU can count of these quantities on work of ours, in a thread that is gone
    /// afterwards.
    pub fn try_out(machine: &Machine, cpu: &Cpu, quantities: &[CountedQuantity]) -> Self {
        let plans = counter_plans(cpu);
        Self(thread::scope(|scope| {
            let trying = scope.spawn(|| {
                let mut workplace = Workplace::new(machine);
                calibrate(&plans, quantities, |plan, work| workplace.count(plan, work))
            });
            trying.join().unwrap_or_default()
        }))
    }

    pub fn tried(&self) -> Vec<TriedCounter> {
        let tried = |of: &Calibrated| {
            let plan = of.plan.as_ref();
            let events = plan.into_iter().flat_map(|plan| &plan.events);
            TriedCounter {
                quantity: of.quantity,
                events: events.map(|event| event.name.clone()).collect(),
                meaning: plan.map(|plan| plan.meaning.clone()),
                source: plan.map(|plan| plan.source.clone()),
                check: of.check.clone(),
                unavailable: of.unavailable.clone(),
            }
        };
        self.0.iter().map(tried).collect()
    }

    /// Counts programs that this thread, and threads that it begins, start from now on.
    pub(crate) fn count_started(&self) -> Counting {
        self.open(|plan| {
            Ok(vec![CounterSet::open(&plan.perf_events(), PerfTarget::StartedPrograms)?])
        })
    }

    /// Counts these running threads, and what they start.
    pub(crate) fn count_threads(&self, threads: &[u32]) -> Counting {
        self.open(|plan| {
            let mut sets = Vec::new();
            for &thread in threads {
                match CounterSet::open(&plan.perf_events(), PerfTarget::Thread(thread)) {
                    Ok(mut set) => {
                        set.enable()?;
                        sets.push(set);
                    }
                    // It ended meanwhile.
                    Err(refusal)
                        if refusal.errno().is_some_and(|it| it.name() == Some("ESRCH")) => {}
                    Err(refusal) => return Err(refusal),
                }
            }
            Ok(sets)
        })
    }

    /// Opens counters for those that are believed.
    fn open(&self, open: impl Fn(&CounterPlan) -> Result<Vec<CounterSet>, Refusal>) -> Counting {
        let of_each = |of: &Calibrated| {
            let mut of = of.clone();
            let opened = match (&of.unavailable, &of.plan) {
                (None, Some(plan)) => open(plan),
                _ => Ok(Vec::new()),
            };
            let sets = opened.unwrap_or_else(|refusal| {
                of.unavailable = Some(refusal.to_string());
                Vec::new()
            });
            (of, sets)
        };
        Counting(self.0.iter().map(of_each).collect())
    }

    /// What was counted of a run, by the counters that are believed.
    pub(crate) fn counts(&self, counting: Counting) -> Vec<RunCount> {
        let believed = self.0.iter().map(|of| of.unavailable.is_none());
        let counted = believed.zip(counting.read()).filter(|(is_believed, _)| *is_believed);
        let count = |(_, counter): (bool, ProfileCounter)| RunCount {
            quantity: counter.quantity,
            count: counter.count,
            counted_share: counter.counted_share,
            unavailable: counter.unavailable,
        };
        counted.map(count).collect()
    }
}

impl Counting {
    /// What was counted, and why of the others nothing was.
    pub fn read(self) -> Vec<ProfileCounter> {
        let read = |(mut of, mut sets): (Calibrated, Vec<CounterSet>)| {
            let counts = match sum_of(&mut sets) {
                Ok(counts) => counts,
                Err(refusal) => {
                    of.unavailable = Some(refusal.to_string());
                    Vec::new()
                }
            };
            counter(of, &counts)
        };
        self.0.into_iter().map(read).collect()
    }
}

/// The counts of each event, over all threads.
fn sum_of(sets: &mut [CounterSet]) -> Result<Vec<PerfCount>, Refusal> {
    let mut sums: Vec<PerfCount> = Vec::new();
    for set in sets {
        for (position, count) in set.read()?.into_iter().enumerate() {
            match sums.get_mut(position) {
                Some(sum) => *sum = sum.and(count),
                None => sums.push(count),
            }
        }
    }
    Ok(sums)
}

/// A counter with the counts of its events; without them, why there are none.
fn counter(of: Calibrated, counts: &[PerfCount]) -> ProfileCounter {
    let Calibrated { quantity, plan, check, mut unavailable } = of;
    let weighed = |(event, count): (&PlannedEvent, &PerfCount)| {
        Some((f64::from(event.weight) * count.scaled()?, count.counted_share()?))
    };
    let sum: Option<Vec<(f64, f64)>> = plan
        .as_ref()
        .filter(|plan| plan.events.len() == counts.len())
        .and_then(|plan| plan.events.iter().zip(counts).map(weighed).collect());
    if sum.is_none() {
        unavailable.get_or_insert_with(|| "it was never its turn to be counted".into());
    }
    let events = plan.iter().flat_map(|plan| &plan.events).map(|event| event.name.clone());
    ProfileCounter {
        quantity,
        events: events.collect(),
        count: sum.as_ref().map(|parts| parts.iter().map(|part| part.0).sum()),
        counted_share: sum.map(|parts| parts.iter().map(|part| part.1).fold(1.0, f64::min)),
        check,
        unavailable,
        meaning: plan.as_ref().map(|plan| plan.meaning.clone()),
        source: plan.map(|plan| plan.source),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use nearfar_sys::PerfEvent;

    use super::super::events::tests::cpu;
    use super::*;
    use crate::launch::launch;

    fn flops_of_intel() -> Calibrated {
        let mut plans = counter_plans(&cpu("GenuineIntel", 6, 0x55)).into_iter();
        let plan = plans.find(|plan| plan.quantity == CountedQuantity::FlopsDouble).unwrap();
        Calibrated { quantity: plan.quantity, plan: Some(plan), check: None, unavailable: None }
    }

    fn count(events: u64, running_ns: u64) -> PerfCount {
        PerfCount { events, enabled_ns: 1000, running_ns }
    }

    #[test]
    fn events_are_weighed_by_their_lanes_and_scaled_by_their_turns() {
        let counts = [count(1, 1000), count(10, 1000), count(100, 500), count(1000, 1000)];
        let found = counter(flops_of_intel(), &counts);
        // 1 + 2 * 10 + 4 * 100 * 2 + 8 * 1000.
        assert_eq!(found.count, Some(8821.0));
        assert_eq!(found.counted_share, Some(0.5));
        assert_eq!((found.unavailable, found.events.len()), (None, 4));
    }

    #[test]
    fn what_was_never_counted_is_no_zero() {
        for counts in [vec![count(0, 0); 4], vec![count(5, 1000); 3], Vec::new()] {
            let found = counter(flops_of_intel(), &counts);
            assert_eq!((found.count, found.counted_share), (None, None));
            assert!(found.unavailable.is_some_and(|why| why.contains("turn")));
        }
        let refused = Calibrated { unavailable: Some("not believed".into()), ..flops_of_intel() };
        let found = counter(refused, &[]);
        assert_eq!(found.unavailable.as_deref(), Some("not believed"));
    }

    /// Page faults stand in for an event of the CPU: the kernel counts them everywhere where it
    /// lets us.
    fn page_faults(tried: &ProgramCounters) -> Option<Counting> {
        let counting = tried.open(|plan| {
            let events = vec![PerfEvent::PageFaults; plan.events.len()];
            Ok(vec![CounterSet::open(&events, PerfTarget::StartedPrograms)?])
        });
        let is_refused = counting.0.iter().any(|(of, _)| of.unavailable.is_some());
        (!is_refused).then_some(counting)
    }

    /// Every run has counts of its own, with those of its children, and none of this process.
    #[test]
    fn each_run_of_a_program_is_counted_by_itself() {
        let quantity = CountedQuantity::Cycles;
        let plan = counter_plans(&Cpu::default()).into_iter().find(|it| it.quantity == quantity);
        let tried =
            ProgramCounters(vec![Calibrated { quantity, plan, check: None, unavailable: None }]);
        let faults = |script: &str| -> Option<f64> {
            let counting = page_faults(&tried)?;
            let touched = vec![1_u8; 4 << 20];
            let mut command = Command::new("sh");
            let (child, _) = launch(command.args(["-c", script]), None, false, None).unwrap();
            assert!(child.wait_with_output().unwrap().status.success());
            let counts = tried.counts(counting);
            assert_eq!(std::hint::black_box(touched).len(), 4 << 20);
            let [counted] = &counts[..] else { panic!("{counts:?}") };
            assert_eq!((counted.quantity, &counted.unavailable), (quantity, &None));
            assert!(counted.counted_share.is_some_and(|share| share > 0.99), "{counted:?}");
            counted.count
        };
        let Some(alone) = faults("true") else { return };
        let again = faults("true").unwrap();
        // Far fewer than the 1024 pages that this thread touched meanwhile.
        assert!(alone > 10.0 && alone < 900.0, "{alone}");
        assert!((again / alone - 1.0).abs() < 0.2, "{alone}, then {again}");
        let with_children = faults("/bin/true; /bin/true; true").unwrap();
        assert!(with_children > 2.0 * alone, "{with_children} with two children, {alone} alone");
    }

    /// What was not believed is told of once, and no run has a count of it; what is believed and
    /// cannot be opened for a run has the reason in that run.
    #[test]
    fn runs_are_counted_by_believed_counters_alone() {
        let refused = Calibrated { unavailable: Some("not believed".into()), ..flops_of_intel() };
        let tried = ProgramCounters(vec![refused, flops_of_intel()]);
        let told = tried.tried();
        assert_eq!(told[0].unavailable.as_deref(), Some("not believed"));
        assert_eq!((told[1].unavailable.as_ref(), told[1].events.len()), (None, 4));
        let counting = tried.open(|_| {
            let nobody = PerfTarget::Thread(u32::MAX);
            Ok(vec![CounterSet::open(&[PerfEvent::PageFaults], nobody)?])
        });
        let counts = tried.counts(counting);
        let [of_run] = &counts[..] else { panic!("{counts:?}") };
        assert_eq!((of_run.count, of_run.counted_share), (None, None));
        assert!(of_run.unavailable.as_ref().is_some_and(|why| why.contains("no thread")));
    }
}
