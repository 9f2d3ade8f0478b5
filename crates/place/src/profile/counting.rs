//! Counts the events of a program, by counters that were believed before.

use std::thread;

use nearfar_machine::Machine;
use nearfar_record::{Cpu, ProfileCounter};
use nearfar_sys::{CounterSet, PerfCount, PerfTarget, Refusal};

use super::calibration::{Calibrated, calibrate};
use super::events::counter_plans;
use super::known_work::Workplace;

/// The counters of a program.
pub(crate) struct Counting {
    counted: Vec<CountedPlan>,
}

struct CountedPlan {
    of: Calibrated,
    /// One for each thread that was attached to; empty where it is not counted.
    sets: Vec<CounterSet>,
}

impl Counting {
    /// Tries what this CPU can count on work of ours, in a thread that is gone afterwards.
    pub fn try_out(machine: &Machine, cpu: &Cpu) -> Self {
        let plans = counter_plans(cpu);
        let tried = thread::scope(|scope| {
            let trying = scope.spawn(|| {
                let mut workplace = Workplace::new(machine);
                calibrate(&plans, |plan, work| workplace.count(plan, work))
            });
            trying.join().unwrap_or_default()
        });
        let counted = tried.into_iter().map(|of| CountedPlan { of, sets: Vec::new() });
        Self { counted: counted.collect() }
    }

    /// Counts programs that this thread starts from now on.
    pub fn count_started(&mut self) {
        self.open(|plan| {
            Ok(vec![CounterSet::open(&plan.perf_events(), PerfTarget::StartedPrograms)?])
        });
    }

    /// Counts these running threads, and what they start.
    pub fn count_threads(&mut self, threads: &[u32]) {
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
        });
    }

    fn open(
        &mut self,
        open: impl Fn(&super::events::CounterPlan) -> Result<Vec<CounterSet>, Refusal>,
    ) {
        for counted in &mut self.counted {
            if counted.of.unavailable.is_some() {
                continue;
            }
            let Some(plan) = &counted.of.plan else { continue };
            match open(plan) {
                Ok(sets) => counted.sets = sets,
                Err(refusal) => counted.of.unavailable = Some(refusal.to_string()),
            }
        }
    }

    /// What was counted.
    pub fn read(self) -> Vec<ProfileCounter> {
        self.counted.into_iter().map(CountedPlan::read).collect()
    }
}

impl CountedPlan {
    fn read(mut self) -> ProfileCounter {
        let counts = match &self.of.unavailable {
            Some(_) => None,
            None => match sum_of(&mut self.sets) {
                Ok(counts) => Some(counts),
                Err(refusal) => {
                    self.of.unavailable = Some(refusal.to_string());
                    None
                }
            },
        };
        counter(self.of, counts.as_deref())
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
fn counter(of: Calibrated, counts: Option<&[PerfCount]>) -> ProfileCounter {
    let Calibrated { quantity, plan, check, mut unavailable } = of;
    let sum = match (&plan, counts) {
        (Some(plan), Some(counts)) => {
            let weighed = |(event, count): (&super::events::PlannedEvent, &PerfCount)| {
                Some((f64::from(event.weight) * count.scaled()?, count.counted_share()?))
            };
            let parts: Option<Vec<(f64, f64)>> =
                plan.events.iter().zip(counts).map(weighed).collect();
            parts.filter(|parts| parts.len() == plan.events.len())
        }
        _ => None,
    };
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
    use nearfar_record::CountedQuantity;

    use super::*;

    fn flops_of_intel() -> Calibrated {
        let cpu = Cpu {
            vendor: Some("GenuineIntel".into()),
            family: Some(6),
            model: Some(0x55),
            ..Cpu::default()
        };
        let plan = counter_plans(&cpu)
            .into_iter()
            .find(|plan| plan.quantity == CountedQuantity::FlopsDouble)
            .unwrap();
        Calibrated { quantity: plan.quantity, plan: Some(plan), check: None, unavailable: None }
    }

    fn count(events: u64, running_ns: u64) -> PerfCount {
        PerfCount { events, enabled_ns: 1000, running_ns }
    }

    #[test]
    fn events_are_weighed_by_their_lanes_and_scaled_by_their_turns() {
        let counts = [count(1, 1000), count(10, 1000), count(100, 500), count(1000, 1000)];
        let found = counter(flops_of_intel(), Some(&counts));
        // 1 + 2 * 10 + 4 * 100 * 2 + 8 * 1000.
        assert_eq!(found.count, Some(8821.0));
        assert_eq!(found.counted_share, Some(0.5));
        assert_eq!((found.unavailable, found.events.len()), (None, 4));
    }

    #[test]
    fn what_was_never_counted_is_no_zero() {
        for counts in
            [Some(vec![count(0, 0); 4]), Some(vec![count(5, 1000); 3]), Some(Vec::new()), None]
        {
            let found = counter(flops_of_intel(), counts.as_deref());
            assert_eq!((found.count, found.counted_share), (None, None));
            assert!(found.unavailable.is_some_and(|why| why.contains("turn")));
        }
        let refused = Calibrated { unavailable: Some("not believed".into()), ..flops_of_intel() };
        let found = counter(refused, None);
        assert_eq!(found.unavailable.as_deref(), Some("not believed"));
    }
}
