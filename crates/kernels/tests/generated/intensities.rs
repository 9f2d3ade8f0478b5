//! Mixes with arithmetic: what they compute, and on which elements.

use nearfar_kernels::{Arithmetic, Checksum, Constants, Mix, Pattern};

use crate::fenced::{Edge, Fenced};
use crate::mixes::vectors_of_this_cpu;

const TEXTS: [&str; 12] = [
    "4l_1fma",
    "1l_1fma",
    "1l_1add",
    "2l1s_2fma",
    "2l1nt_4fma",
    "1l_3fma",
    "6l_2add",
    "3l2s_3add",
    "1l1nt_16fma",
    "16l_1fma",
    "1l_256fma",
    "2l1nt_512add",
];

/// The sum that the text promises, over elements that are counted one by one.
fn sum(mix: &Mix, source: &[f64]) -> f64 {
    let (loads, operations) = (mix.loads() as usize, mix.operations() as usize);
    let mut sum = 0.0;
    for (index, value) in source.iter().enumerate() {
        let times = match operations / loads {
            0 => usize::from((index / 8) % (loads / operations) == 0),
            times => times,
        };
        let term = match mix.arithmetic().unwrap() {
            Arithmetic::Add => *value,
            Arithmetic::Fma => value * value,
        };
        sum += times as f64 * term;
    }
    sum
}

/// Whole numbers of few bits: their sums and squares have no rounding, in whatever order.
fn whole_numbers(random: &mut fastrand::Rng, len: usize) -> Vec<f64> {
    (0..len).map(|_| f64::from(random.u32(1..1000))).collect()
}

#[test]
fn the_sum_is_exact_on_whole_numbers() {
    let mut random = fastrand::Rng::with_seed(1);
    for text in TEXTS {
        let mix: Mix = text.parse().unwrap();
        for variant in vectors_of_this_cpu() {
            let generated = mix.generate(variant).unwrap();
            let turn = generated.iteration_steps();
            for steps in [0, 8, 24, turn, 3 * turn, 3 * turn + 8] {
                let source = whole_numbers(&mut random, steps * mix.loads() as usize);
                let source = Fenced::holding(&source, Edge::Last);
                let mut destination = Fenced::new(steps * mix.stores() as usize, Edge::Last);
                let constants = Constants::for_pass(5);
                let repeats = random.u32(1..=3);
                let result = generated.run(&mut destination, &source, &constants, repeats);
                let wanted = f64::from(repeats) * sum(&mix, &source);
                assert_eq!(result, Checksum::Sum(wanted), "{mix} in {variant}, {steps} steps");
                let lanes = constants.lanes.iter().cycle();
                assert!(destination.iter().zip(lanes).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }
}

#[test]
fn a_changed_element_changes_the_sum_where_it_is_computed_with() {
    let mut random = fastrand::Rng::with_seed(2);
    for text in ["1l_1fma", "4l_1add", "2l1s_4fma"] {
        let mix: Mix = text.parse().unwrap();
        for variant in vectors_of_this_cpu() {
            let generated = mix.generate(variant).unwrap();
            let steps = 2 * generated.iteration_steps() + 8;
            let mut source = whole_numbers(&mut random, steps * mix.loads() as usize);
            let mut destination = vec![0.0; steps * mix.stores() as usize];
            for position in 0..source.len() {
                source[position] += 1.0;
                let result = generated.run(&mut destination, &source, &Constants::for_pass(0), 1);
                assert_eq!(result, Checksum::Sum(sum(&mix, &source)), "{mix} in {variant}");
            }
        }
    }
}

#[test]
fn the_sum_over_a_pattern_is_known_beforehand() {
    let pattern = Pattern::new(12);
    for text in TEXTS {
        let mix: Mix = text.parse().unwrap();
        for (first, steps) in [(0, 64), (4090, 1000), (77, 40_000)] {
            let mut source = vec![0.0; steps * mix.loads() as usize];
            pattern.fill(&mut source, first);
            let wanted = sum(&mix, &source);
            let Checksum::Sum(expected) = mix.expected(&pattern, first, steps as u64) else {
                panic!("{mix} has arithmetic");
            };
            assert!((expected - wanted).abs() <= 1e-11 * wanted, "{mix}: {expected}, {wanted}");
        }
    }
}

#[test]
fn intensities_from_a_sixteenth_to_sixty_four_are_exact() {
    for exponent in -4..=6 {
        let wanted = 2.0_f64.powi(exponent);
        // Two FLOPs for eight bytes are a quarter.
        let (loads, operations) = match exponent + 2 {
            power @ ..0 => (1 << -power, 1),
            power => (1, 1 << power),
        };
        let mix = Mix::with_arithmetic(loads, 0, false, operations, Arithmetic::Fma).unwrap();
        let exact = f64::from(mix.flops()) / mix.useful_bytes(1) as f64;
        assert_eq!(mix.intensity().to_bits(), wanted.to_bits(), "{mix}");
        assert_eq!(exact.to_bits(), wanted.to_bits(), "{mix}");
    }
}
