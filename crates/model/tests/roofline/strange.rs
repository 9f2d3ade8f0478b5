//! Records come from strangers: whatever figures and coordinates they hold, no number that is
//! none comes out.

use nearfar_model::{IntensityKind, ProgramPoint, RecordFigures, roofline};
use nearfar_record::{Roof, RoofPurpose};
use nearfar_units::FlopsPerSecond;
use proptest::prelude::*;

use crate::roofline::roof_record::{Made, point, record};

fn roof() -> impl Strategy<Value = Roof> {
    prop_oneof![
        Just(Roof::Compute),
        (0..3_u8).prop_map(|level| Roof::Cache { level }),
        (0..3_u32).prop_map(|node| Roof::Memory { node }),
        (0..2_u32, 0..4_u32).prop_map(|(node, initiators)| Roof::Contended { node, initiators }),
        (0..2_u32).prop_map(|node| Roof::AllLocal { node }),
        Just(Roof::Congested { kind: nearfar_machine::MemoryKind::Unknown }),
    ]
}

fn made() -> impl Strategy<Value = Made> {
    const KERNELS: [&str; 7] = ["load", "2l1s", "fma_dp", "add_sp", "1l_1fma", "", "x_y_z"];
    let rate = prop_oneof![Just(0.0), Just(1.0), 1.0..1e13_f64];
    (roof(), 0..KERNELS.len(), 0..3_u32, 0..3_u32, any::<bool>(), rate.clone(), rate).prop_map(
        |(roof, kernel, initiator, threads, is_roof, bytes, flops)| {
            let mut made = point(roof, KERNELS[kernel], bytes, flops);
            (made.place.initiator, made.place.threads) = (initiator, threads);
            made.place.purpose = if is_roof { RoofPurpose::Roof } else { RoofPurpose::Validation };
            made
        },
    )
}

proptest! {
    #[test]
    fn no_figure_is_infinite_or_none(
        made in proptest::collection::vec(made(), 0..24),
        intensity in 1e-6..1e6_f64,
        flops in proptest::option::of(1e-3..1e15_f64),
    ) {
        let record = record(&made);
        let Ok(model) = roofline(&RecordFigures::new(&record)) else { return Ok(()) };
        for chart in &model.charts {
            for roof in &chart.roofs {
                prop_assert!(roof.bandwidth.is_positive());
                prop_assert!(roof.ridges.iter().all(|ridge| ridge.intensity.is_normal()));
                let mut corners = roof.corners.iter();
                prop_assert!(corners.all(|it| it.intensity.is_finite() && it.flops.0.is_finite()));
            }
            for validation in &chart.validations {
                prop_assert!(validation.points.len() <= validation.planned);
                if let Some(errors) = validation.errors {
                    prop_assert!(errors.paper <= errors.relative_rms * (1.0 + 1e-12));
                    prop_assert!(errors.mean.abs() <= errors.relative_rms * (1.0 + 1e-12));
                    prop_assert!(errors.worst < validation.points.len());
                }
            }
            let kind = IntensityKind::Arithmetic;
            let point = ProgramPoint { kind, intensity, flops: flops.map(FlopsPerSecond) };
            let placement = chart.place(point, None);
            prop_assert!(!placement.advice.is_empty());
            for under in &placement.roofs {
                prop_assert!(under.attainable.0 > 0.0 && under.attainable.0.is_finite());
                prop_assert!(under.ratio.is_none_or(f64::is_finite));
                prop_assert!(!(under.is_near && under.is_refuted));
            }
            prop_assert!(placement.standing.is_none() || flops.is_some());
            for program in &chart.programs {
                for of in program.alone.iter().chain(&program.together) {
                    let [low, high] = of.flops.ends();
                    prop_assert!(low <= of.flops.value && of.flops.value <= high);
                }
            }
        }
    }
}
