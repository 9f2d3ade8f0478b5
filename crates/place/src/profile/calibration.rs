//! A counter is believed only after it has counted work of ours right, here and now: events are
//! renamed, virtualised, broken by errata and shared with others, and a wrong count looks like any
//! other number.

use nearfar_record::{CountedQuantity, CounterCheck};

use super::events::CounterPlan;
use super::known_work::KnownWork;

/// A believed counter counted within this fraction of what there was.
pub(crate) const TOLERANCE: f64 = 0.05;

/// What became of the ways to count a quantity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Calibrated {
    pub quantity: CountedQuantity,
    /// The way that is believed, else the last that was tried; `None` where none is known.
    pub plan: Option<CounterPlan>,
    /// The work whose count was farthest off.
    pub check: Option<CounterCheck>,
    /// Why nothing is believed.
    pub unavailable: Option<String>,
}

pub(crate) type Counted = Result<(f64, f64), String>;

/// Tries the ways to count each of these quantities on work of known size, which `count` does.
pub(crate) fn calibrate(
    plans: &[CounterPlan],
    quantities: &[CountedQuantity],
    mut count: impl FnMut(&CounterPlan, &KnownWork) -> Counted,
) -> Vec<Calibrated> {
    let each = quantities.iter().copied();
    each.map(|quantity| {
        let mut found = Calibrated {
            quantity,
            plan: None,
            check: None,
            unavailable: Some("no event of this CPU is known for it".into()),
        };
        for plan in plans.iter().filter(|plan| plan.quantity == quantity) {
            found = try_plan(plan, &mut count);
            if found.unavailable.is_none() {
                break;
            }
        }
        found
    })
    .collect()
}

fn try_plan(
    plan: &CounterPlan,
    count: &mut impl FnMut(&CounterPlan, &KnownWork) -> Counted,
) -> Calibrated {
    let mut worst: Option<CounterCheck> = None;
    let mut unavailable = None;
    for work in KnownWork::of(plan.quantity) {
        match count(plan, &work) {
            Err(why) => {
                unavailable = Some(why);
                break;
            }
            Ok((expected, counted)) => {
                let check = CounterCheck { work: work.words(), expected, counted };
                let is_worse = worst.as_ref().is_none_or(|worst| off(&check) > off(worst));
                if is_worse {
                    worst = Some(check);
                }
            }
        }
    }
    if unavailable.is_none() {
        unavailable = match &worst {
            None => Some("there is no work here that it could be tried on".into()),
            Some(check) if off(check) > TOLERANCE => Some(format!(
                "not trusted: of {} it counted {:.4e}, expected {:.4e}",
                check.work, check.counted, check.expected
            )),
            Some(_) => None,
        };
    }
    Calibrated { quantity: plan.quantity, plan: Some(plan.clone()), check: worst, unavailable }
}

/// How far off a count is, as a fraction; infinite for what is no count.
fn off(check: &CounterCheck) -> f64 {
    let ratio = check.counted / check.expected;
    if ratio.is_finite() { (ratio - 1.0).abs() } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::super::events::counter_plans;
    use super::super::events::tests::cpu;
    use super::*;

    fn zen4() -> Vec<CounterPlan> {
        counter_plans(&cpu("AuthenticAMD", 0x19, 0x11))
    }

    fn tried(count: impl FnMut(&CounterPlan, &KnownWork) -> Counted) -> Vec<Calibrated> {
        calibrate(&zen4(), &CountedQuantity::ALL, count)
    }

    fn of(found: &[Calibrated], quantity: CountedQuantity) -> &Calibrated {
        found.iter().find(|it| it.quantity == quantity).unwrap()
    }

    #[test]
    fn counters_that_tell_the_truth_are_believed_and_every_quantity_is_told_of() {
        let found = tried(|_, _| Ok((1e6, 1.04e6)));
        assert_eq!(found.len(), CountedQuantity::ALL.len());
        let flops = of(&found, CountedQuantity::Flops);
        assert_eq!(flops.unavailable, None);
        assert_eq!(flops.check.as_ref().unwrap().counted.to_bits(), 1.04e6_f64.to_bits());
        let unknown = of(&found, CountedQuantity::FlopsDouble);
        assert!(unknown.unavailable.as_ref().unwrap().contains("no event"));
    }

    #[test]
    fn a_counter_that_lies_once_is_not_believed_and_its_worst_count_is_told() {
        let mut calls = 0;
        let found = tried(|plan, _| {
            calls += usize::from(plan.quantity == CountedQuantity::Flops);
            Ok(if calls == 2 { (1e6, 0.5e6) } else { (1e6, 1e6) })
        });
        let flops = of(&found, CountedQuantity::Flops);
        let why = flops.unavailable.as_ref().unwrap();
        assert!(why.contains("counted 5.0000e5, expected 1.0000e6"), "{why}");
        assert_eq!(of(&found, CountedQuantity::Cycles).unavailable, None);
    }

    #[test]
    fn a_counter_that_counts_nothing_or_what_it_should_not_is_not_believed() {
        for counted in [0.0, 1.06e6, 0.94e6, 2e6, f64::INFINITY, f64::NAN] {
            let found = tried(|_, _| Ok((1e6, counted)));
            assert!(found.iter().all(|it| it.unavailable.is_some()), "{counted}");
        }
        let found = tried(|_, _| Ok((0.0, 0.0)));
        assert!(found.iter().all(|it| it.unavailable.is_some()));
    }

    #[test]
    fn the_next_way_to_count_is_tried_where_the_first_lies() {
        let found = tried(|plan, _| match plan.events.len() {
            2 => Ok((1e6, 1.01e6)),
            _ => Ok((1e6, 0.6e6)),
        });
        let lines = of(&found, CountedQuantity::LocalDramLines);
        assert_eq!(lines.unavailable, None);
        assert_eq!(lines.plan.as_ref().unwrap().events.len(), 2);
    }

    #[test]
    fn only_what_is_asked_for_is_tried() {
        let mut tried = Vec::new();
        let asked = [CountedQuantity::LlcMisses, CountedQuantity::Cycles];
        let found = calibrate(&zen4(), &asked, |plan, _| {
            tried.push(plan.quantity);
            Ok((1e6, 1e6))
        });
        assert_eq!(tried, asked);
        assert_eq!(found.iter().map(|it| it.quantity).collect::<Vec<_>>(), asked);
    }

    #[test]
    fn what_the_kernel_refuses_is_told_in_its_words() {
        let found = tried(|_, _| Err("perf_event_open failed".into()));
        let cycles = of(&found, CountedQuantity::Cycles);
        assert_eq!(cycles.unavailable.as_deref(), Some("perf_event_open failed"));
        assert!(cycles.plan.is_some() && cycles.check.is_none());
    }
}
