//! Mixes without arithmetic: which addresses they touch, and how often.

use nearfar_kernels::{Checksum, Constants, Mix, MixLoop, Pattern, Unavailable, Variant};

use crate::NARROWEST;
use crate::fenced::{Edge, Fenced};

/// No loop stores this.
const UNWRITTEN: f64 = -7.25e300;

pub fn vectors_of_this_cpu() -> impl Iterator<Item = Variant> {
    Variant::available().into_iter().filter(|&variant| variant != Variant::Portable)
}

/// Twenty ratios that were drawn, and those whose parts are missing or largest.
fn mixes() -> Vec<Mix> {
    let mut random = fastrand::Rng::with_seed(20);
    let drawn = (0..20).map(|_| {
        let (loads, stores) = (random.u32(1..=9), random.u32(1..=9));
        Mix::new(loads, stores, random.bool()).unwrap()
    });
    let named = ["1l", "1s", "1nt", "2l1s", "2l1nt", "1l1nt", "64l63s", "1l64nt", "64l1s"];
    drawn.chain(named.map(|text| text.parse().unwrap())).collect()
}

/// Unlike any other, of any bits: also those of numbers that arithmetic would change.
fn unlike_values(random: &mut fastrand::Rng, len: usize) -> Vec<f64> {
    (0..len).map(|_| f64::from_bits(random.u64(..))).collect()
}

fn xor(values: &[f64]) -> u64 {
    values.iter().fold(0, |folded, value| folded ^ value.to_bits())
}

/// Runs a mix on arrays that end, or begin, where memory does, and holds it to one line of
/// arithmetic.
fn check(generated: &MixLoop, steps: usize, edges: [Edge; 2], random: &mut fastrand::Rng) {
    let mix = generated.mix();
    let source = unlike_values(random, steps * mix.loads() as usize);
    let source = Fenced::holding(&source, edges[0]);
    let mut destination = Fenced::new(steps * mix.stores() as usize, edges[1]);
    destination.fill(UNWRITTEN);
    let constants = Constants::for_pass(random.u64(..));
    let repeats = random.u32(1..=4);
    let checksum = generated.run(&mut destination, &source, &constants, repeats);

    let context = format!("{mix} in {}, {steps} steps, {repeats} times", generated.variant());
    let wanted = match (mix.loads(), repeats % 2) {
        (0, _) => Checksum::None,
        (_, 1) => Checksum::Xor(xor(&source)),
        _ => Checksum::Xor(0),
    };
    assert_eq!(checksum, wanted, "{context}");
    for (index, value) in destination.iter().enumerate() {
        assert_eq!(value.to_bits(), constants.lanes[index % 8].to_bits(), "{context}, {index}");
    }
    let declared = mix.useful_bytes(steps as u64);
    assert_eq!(declared, 8 * (source.len() + destination.len()) as u64, "{context}");
}

#[test]
fn a_pass_covers_each_address_and_none_beside_them() {
    let mut random = fastrand::Rng::with_seed(1);
    for mix in mixes() {
        for variant in vectors_of_this_cpu() {
            let generated = mix.generate(variant).unwrap();
            let turn = generated.iteration_steps();
            for steps in [0, 1, 7, 8, turn - 1, turn, turn + 1, 3 * turn, 5 * turn + 3] {
                for edges in [[Edge::First, Edge::Last], [Edge::Last, Edge::First], [Edge::Last; 2]]
                {
                    check(&generated, steps, edges, &mut random);
                }
            }
        }
    }
}

#[test]
fn a_changed_bit_of_any_element_changes_the_result() {
    let mut random = fastrand::Rng::with_seed(2);
    for mix in mixes().into_iter().filter(|mix| (1..=9).contains(&mix.loads())) {
        for variant in vectors_of_this_cpu() {
            let generated = mix.generate(variant).unwrap();
            let steps = generated.iteration_steps() + 5;
            let mut source = unlike_values(&mut random, steps * mix.loads() as usize);
            let mut destination = vec![0.0; steps * mix.stores() as usize];
            let constants = Constants::for_pass(3);
            let before = generated.run(&mut destination, &source, &constants, 1);
            let Checksum::Xor(before) = before else { panic!("{before:?}") };
            for position in 0..source.len() {
                let (kept, bit) = (source[position], 1 << random.u32(..64));
                source[position] = f64::from_bits(kept.to_bits() ^ bit);
                let changed = generated.run(&mut destination, &source, &constants, 1);
                assert_eq!(changed, Checksum::Xor(before ^ bit), "{mix} in {variant}, {position}");
                source[position] = kept;
            }
        }
    }
}

#[test]
fn arrays_at_any_offset_from_a_line_are_stored_whole_and_alone() {
    let mut random = fastrand::Rng::with_seed(3);
    for text in ["1s", "1nt", "2l1nt", "1l2nt", "3l5s", "5l3nt"] {
        let mix: Mix = text.parse().unwrap();
        for variant in vectors_of_this_cpu() {
            let generated = mix.generate(variant).unwrap();
            for offset in 0..16 {
                let steps = random.usize(..3 * generated.iteration_steps());
                let len = steps * mix.stores() as usize;
                let mut storage = vec![UNWRITTEN; len + 32];
                let source = unlike_values(&mut random, steps * mix.loads() as usize);
                let constants = Constants::for_pass(offset as u64);
                generated.run(&mut storage[offset..offset + len], &source, &constants, 1);
                for (index, value) in storage.iter().enumerate() {
                    let wanted = match index.checked_sub(offset).filter(|&index| index < len) {
                        Some(index) => constants.lanes[index % 8],
                        None => UNWRITTEN,
                    };
                    assert_eq!(value.to_bits(), wanted.to_bits(), "{mix} in {variant}, {offset}");
                }
            }
        }
    }
}

#[test]
fn the_result_over_a_pattern_is_known_beforehand() {
    let pattern = Pattern::new(9);
    for text in ["1l", "2l1s", "3l2nt", "1nt"] {
        let mix: Mix = text.parse().unwrap();
        let generated = mix.generate(NARROWEST).unwrap();
        for (first, steps) in [(0, 64), (4090, 1000), (77, 6000)] {
            let mut source = vec![0.0; steps * mix.loads() as usize];
            pattern.fill(&mut source, first);
            let mut destination = vec![0.0; steps * mix.stores() as usize];
            let result = generated.run(&mut destination, &source, &Constants::for_pass(0), 1);
            assert_eq!(result, mix.expected(&pattern, first, steps as u64), "{mix}, {first}");
        }
    }
}

#[test]
fn lengths_out_of_the_ratio_are_refused() {
    let refused = |text: &str, stores: usize, loads: usize| {
        let generated = text.parse::<Mix>().unwrap().generate(NARROWEST).unwrap();
        std::panic::catch_unwind(|| {
            generated.run(&mut vec![0.0; stores], &vec![1.0; loads], &Constants::for_pass(0), 1);
        })
        .is_err()
    };
    assert!(!refused("2l1s", 10, 20));
    for (stores, loads) in [(10, 21), (10, 19), (11, 20), (0, 20), (10, 0)] {
        assert!(refused("2l1s", stores, loads), "{stores}, {loads}");
    }
    assert!(refused("1l", 1, 1));
    assert!(refused("1nt", 8, 8));
    assert!(!refused("1l_1add", 0, 16));
    assert!(refused("1l_1add", 0, 17));
}

#[test]
fn clones_run_in_other_threads_after_the_first_is_gone() {
    let generated = "1l1s".parse::<Mix>().unwrap().generate(NARROWEST).unwrap();
    let clones = [generated.clone(), generated.clone(), generated];
    let threads = clones.map(|generated| {
        std::thread::spawn(move || {
            let (mut destination, source) = (vec![0.0; 4096], vec![1.5; 4096]);
            generated.run(&mut destination, &source, &Constants::for_pass(1), 3)
        })
    });
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Checksum::Xor(0));
    }
}

#[test]
fn there_is_no_portable_form_and_the_refusal_says_so() {
    let mix: Mix = "2l1s".parse().unwrap();
    let refusal = mix.generate(Variant::Portable).unwrap_err();
    assert!(matches!(refusal, Unavailable::NotWritten { variant: Variant::Portable, .. }));
    assert!(refusal.to_string().contains("2l1s"), "{refusal}");
}
