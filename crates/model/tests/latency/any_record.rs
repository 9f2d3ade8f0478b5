//! Whatever a record says, figures are numbers or absent with a reason.

use nearfar_model::{RecordFigures, latency};
use nearfar_specimen::{IN_MEMORY, add_chase, latency as at, machine, record_of};
use proptest::prelude::*;

/// Times and rates from nothing to beyond all machines.
fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(1e-3), Just(1e12), 1.0..1000.0, 1e6..1e12]
}

fn rounds() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(figure(), 0..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_figure_is_infinite_or_no_number(
        idle in proptest::collection::vec((0_u32..4, 0_u32..5, 1_u64..IN_MEMORY * 2, rounds()), 0..8),
        loaded in proptest::collection::vec((0_u32..2, rounds(), rounds()), 0..9),
    ) {
        let mut record = record_of(machine(1, 3, 2), &[]);
        for (initiator, node, bytes, ns) in &idle {
            add_chase(&mut record, at(*initiator, *node, *bytes, None), ns, &[]);
        }
        add_chase(&mut record, at(0, 0, IN_MEMORY, None), &[80.0; 6], &[]);
        for (number, (node, ns, rates)) in (0..).zip(&loaded) {
            add_chase(&mut record, at(0, *node, IN_MEMORY, Some(number)), ns, rates);
        }
        let model = latency(&RecordFigures::new(&record)).unwrap();
        let mut figures: Vec<f64> = Vec::new();
        for factor in model.factors.iter().filter_map(|pair| pair.factor.found()) {
            figures.push(factor.value.0);
            figures.extend(factor.ends().map(|end| end.0));
        }
        figures.extend(model.span.found().map(|span| span.least.0));
        figures.extend(model.levels.iter().map(|level| level.time.value.0));
        for curve in &model.curves {
            figures.extend(curve.most_rise());
            if let Some(knee) = curve.knee.found() {
                let [low, high] = knee.traffic.ends();
                figures.extend([knee.traffic.value.0, low.0, high.0, knee.time.0]);
                prop_assert!(knee.distance <= 1.0 && low <= high);
            }
            if let Some(usable) = curve.usable.found() {
                let [low, high] = usable.ends();
                figures.extend([usable.value.0, low.0, high.0]);
                prop_assert!(low <= usable.value && usable.value <= high);
            }
        }
        for law in model.families.iter().filter_map(|family| family.law.found()) {
            figures.extend([law.idle.value.0, law.exponent.value.0, law.error, law.worst_error]);
            for share in &law.shares {
                figures.extend([share.capacity.value.0, share.wait.value.0]);
                prop_assert!(share.capacity.value > share.most_traffic);
            }
        }
        prop_assert!(figures.iter().all(|it| it.is_finite() && *it >= 0.0), "{figures:?}");
    }
}
