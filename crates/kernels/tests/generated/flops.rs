//! Arithmetic without memory: every bit of every result.

use nearfar_kernels::{FlopOperation, Flops, Precision, Unavailable, Variant};

use crate::mixes::vectors_of_this_cpu;

fn all() -> impl Iterator<Item = Flops> {
    FlopOperation::ALL.into_iter().flat_map(|operation| {
        Precision::ALL.into_iter().map(move |precision| Flops { operation, precision })
    })
}

#[test]
fn every_bit_is_that_of_the_same_arithmetic_done_one_by_one() {
    for flops in all() {
        for variant in vectors_of_this_cpu() {
            let generated = match flops.generate(variant) {
                Err(Unavailable::NotWritten { variant: Variant::Sse2, .. }) => continue,
                generated => generated.unwrap(),
            };
            let mut seen = std::collections::HashSet::new();
            for turns in [0, 1, 2, 3, 10, 997] {
                let result = generated.run(turns);
                assert_eq!(result, flops.expected(variant, turns as u64), "{flops} in {variant}");
                seen.insert(result);
            }
            // Alternating chains come back to where they were; the chaotic ones never do.
            let fused = matches!(flops.operation, FlopOperation::Fma | FlopOperation::FmaAdd);
            let chaotic = fused && cfg!(target_arch = "x86_64");
            assert!(!chaotic || seen.len() == 6, "{flops} in {variant}: {seen:?}");
        }
    }
}

#[test]
fn only_sse2_has_no_fused_multiply_add() {
    for flops in all() {
        let (x86, arm) = Variant::ALL.split_at(3);
        for &variant in if cfg!(target_arch = "aarch64") { &arm[..2] } else { x86 } {
            let fused = matches!(flops.operation, FlopOperation::Fma | FlopOperation::FmaAdd);
            let refused = matches!(flops.generate(variant), Err(Unavailable::NotWritten { .. }));
            assert_eq!(refused, fused && variant == Variant::Sse2, "{flops} in {variant}");
        }
    }
}

#[test]
fn the_flops_of_a_turn_are_its_operations_times_lanes_and_weight() {
    let of = |text: &str| text.parse::<Flops>().unwrap();
    assert_eq!(of("fma_dp").flops(Variant::Avx512, 10), 10 * 96 * 8 * 2);
    assert_eq!(of("fma_sp").flops(Variant::Avx2, 1), 96 * 8 * 2);
    assert_eq!(of("add_dp").flops(Variant::Sse2, 3), 3 * 96 * 2);
    assert_eq!(of("mul_sp").flops(Variant::Sse2, 1), 96 * 4);
    assert_eq!(of("fma_add_dp").flops(Variant::Avx2, 1), 4 * (48 * 2 + 48));
    assert_eq!(of("mul_add_dp").flops(Variant::Avx512, 1), 8 * 96);
    assert_eq!(of("fma_dp").flops(Variant::Neon, 10), 10 * 160 * 2 * 2);
    assert_eq!(of("fma_add_sp").flops(Variant::Neon, 1), 4 * (80 * 2 + 80));
}
