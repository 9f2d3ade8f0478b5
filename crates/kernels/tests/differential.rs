//! Every loop against the portable one and against a line of plain arithmetic.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use nearfar_kernels::{CATALOG, Checksum, Constants, Kernel, Operands, Operation, Variant};

/// Elements per cache line; offsets are counted from such a boundary.
const LINE: usize = 8;

/// What lies around a destination. No kernel can produce it from the sources used here.
const GUARD: f64 = -7.25e300;

/// An array of `len` elements that starts `offset` elements after a 64-byte boundary, with at
/// least one line of guards on either side.
struct Guarded {
    storage: Vec<f64>,
    start: usize,
    len: usize,
}

impl Guarded {
    fn new(len: usize, offset: usize) -> Guarded {
        let storage = vec![GUARD; len + offset + 4 * LINE];
        let to_boundary = (64 - storage.as_ptr().addr() % 64) % 64 / 8;
        Guarded { storage, start: to_boundary + LINE + offset, len }
    }

    fn holding(values: &[f64], offset: usize) -> Guarded {
        let mut array = Guarded::new(values.len(), offset);
        array.values_mut().copy_from_slice(values);
        array
    }

    fn values(&self) -> &[f64] {
        &self.storage[self.start..self.start + self.len]
    }

    fn values_mut(&mut self) -> &mut [f64] {
        &mut self.storage[self.start..self.start + self.len]
    }

    fn guards_are_intact(&self) -> bool {
        let after = &self.storage[self.start + self.len..];
        let before = &self.storage[..self.start];
        before.iter().chain(after).all(|value| value.to_bits() == GUARD.to_bits())
    }
}

/// What one run left.
struct Outcome {
    destination: Vec<f64>,
    checksum: Checksum,
}

/// Runs a kernel on sources laid out at offsets from a 64-byte boundary (of a, b and c).
fn run(
    kernel: &'static Kernel,
    variant: Variant,
    (b, c): (&[f64], &[f64]),
    offsets: [usize; 3],
    constants: &Constants,
    repeats: u32,
) -> Outcome {
    let timed_loop = kernel.in_variant(variant).unwrap();
    let mut a = Guarded::new(b.len(), offsets[0]);
    let b = Guarded::holding(b, offsets[1]);
    let c = Guarded::holding(c, offsets[2]);
    let operands = match kernel.operation {
        Operation::Load => Operands::load(b.values()),
        Operation::Store => Operands::store(a.values_mut()),
        Operation::Copy | Operation::Scale => Operands::map(a.values_mut(), b.values()),
        Operation::Add | Operation::Triad => Operands::zip(a.values_mut(), b.values(), c.values()),
        Operation::Ddot => Operands::dot(b.values(), c.values()),
    };
    let checksum = timed_loop.run(operands, constants, repeats);
    assert!(a.guards_are_intact(), "{} in {variant} wrote outside its array", kernel.name);
    Outcome { destination: a.values().to_vec(), checksum }
}

/// What the kernel means, in one line each. `None` leaves the destination alone.
fn oracle(operation: Operation, constants: &Constants, i: usize, b: f64, c: f64) -> Option<f64> {
    match operation {
        Operation::Load | Operation::Ddot => None,
        Operation::Store => Some(constants.lanes[i & 7]),
        Operation::Copy => Some(b),
        Operation::Scale => Some(b + b),
        Operation::Add => Some(b + c),
        Operation::Triad => Some(b + (c + c)),
    }
}

fn xor(values: &[f64], repeats: u32) -> u64 {
    let once = values.iter().map(|value| value.to_bits()).fold(0, |one, two| one ^ two);
    if repeats % 2 == 1 { once } else { 0 }
}

/// The sum of products, and that of their absolute values, both compensated (Neumaier).
fn dot(b: &[f64], c: &[f64], repeats: u32) -> (f64, f64) {
    let sum = |products: &mut dyn Iterator<Item = f64>| {
        let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
        for product in products {
            let next = sum + product;
            lost += if sum.abs() >= product.abs() {
                (sum - next) + product
            } else {
                (product - next) + sum
            };
            sum = next;
        }
        f64::from(repeats) * (sum + lost)
    };
    let products = || b.iter().zip(c).map(|(b, c)| b * c);
    (sum(&mut products()), sum(&mut products().map(f64::abs)))
}

/// Bits, with one pattern for all results that are not a number.
fn bits(values: &[f64]) -> Vec<u64> {
    values
        .iter()
        .map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
        .collect()
}

/// Runs one configuration in a variant and in portable, and holds both to the oracle.
fn check(
    kernel: &'static Kernel,
    variant: Variant,
    sources: (&[f64], &[f64]),
    offsets: [usize; 3],
    repeats: u32,
    pass: u64,
) {
    let constants = Constants::for_pass(pass);
    let (b, c) = sources;
    let context = format!(
        "{} in {variant}, {} elements, offsets {offsets:?}, {repeats} repeats",
        kernel.name,
        b.len()
    );
    let outcome = run(kernel, variant, sources, offsets, &constants, repeats);

    let wanted: Vec<f64> = (0..b.len())
        .map(|i| oracle(kernel.operation, &constants, i, b[i], c[i]).unwrap_or(GUARD))
        .collect();
    assert_eq!(bits(&outcome.destination), bits(&wanted), "{context}");

    // The catalog has no portable form of the non-temporal kernels; the ordinary one must do.
    let ordinary = nearfar_kernels::find(kernel.name.trim_end_matches("_nt")).unwrap();
    let portable = run(ordinary, Variant::Portable, sources, [0; 3], &constants, repeats);
    assert_eq!(bits(&outcome.destination), bits(&portable.destination), "{context}");

    match kernel.operation {
        Operation::Load => {
            assert_eq!(outcome.checksum, Checksum::Xor(xor(b, repeats)), "{context}");
            assert_eq!(outcome.checksum, portable.checksum, "{context}");
        }
        Operation::Ddot => {
            let (Checksum::Sum(sum), Checksum::Sum(portable)) =
                (outcome.checksum, portable.checksum)
            else {
                panic!("{context}: {:?}, {:?}", outcome.checksum, portable.checksum);
            };
            let (wanted, magnitude) = dot(b, c, repeats);
            assert!((sum - wanted).abs() <= 1e-12 * magnitude, "{context}: {sum}, not {wanted}");
            assert!((sum - portable).abs() <= 1e-12 * magnitude, "{context}: {sum}, {portable}");
        }
        _ => assert_eq!(outcome.checksum, Checksum::None, "{context}"),
    }
}

/// Both signs, full mantissas, exponents over six decades.
fn random_values(random: &mut fastrand::Rng, len: usize) -> Vec<f64> {
    (0..len)
        .map(|_| {
            let mantissa = f64::from_bits(1.0_f64.to_bits() | random.u64(..1 << 52));
            let sign = if random.bool() { 1.0 } else { -1.0 };
            sign * mantissa * 2.0_f64.powi(random.i32(-10..=10))
        })
        .collect()
}

fn every_loop() -> impl Iterator<Item = (&'static Kernel, Variant)> {
    CATALOG
        .iter()
        .flat_map(|kernel| kernel.variants().into_iter().map(move |variant| (kernel, variant)))
}

#[test]
fn every_short_length_at_every_offset_of_the_destination() {
    let mut random = fastrand::Rng::with_seed(1);
    for (kernel, variant) in every_loop() {
        for len in 0..=300 {
            let (b, c) = (random_values(&mut random, len), random_values(&mut random, len));
            for offset in 0..LINE {
                let offsets = [offset, random.usize(..LINE), random.usize(..LINE)];
                check(kernel, variant, (&b, &c), offsets, random.u32(1..=3), random.u64(..));
            }
        }
    }
}

#[test]
fn every_combination_of_offsets_and_repeats() {
    let mut random = fastrand::Rng::with_seed(2);
    for (kernel, variant) in every_loop() {
        for len in [63, 64, 65, 143] {
            let (b, c) = (random_values(&mut random, len), random_values(&mut random, len));
            for code in 0..LINE.pow(3) {
                let offsets = [code % LINE, code / LINE % LINE, code / LINE / LINE];
                let repeats = 1 + u32::try_from(code).unwrap() % 3;
                check(kernel, variant, (&b, &c), offsets, repeats, random.u64(..));
            }
        }
    }
}

#[test]
fn lengths_of_many_iterations() {
    let mut random = fastrand::Rng::with_seed(3);
    for (kernel, variant) in every_loop() {
        for len in [4095, 4096, 4097, 65_537, 100_003] {
            let (b, c) = (random_values(&mut random, len), random_values(&mut random, len));
            let offsets = std::array::from_fn(|_| random.usize(..LINE));
            check(kernel, variant, (&b, &c), offsets, random.u32(1..=3), random.u64(..));
        }
    }
}

/// Where pages take turns: too short for all of them, just long enough, several times, and each with
/// a rest that is done in order and one by one.
#[test]
fn lengths_around_whole_turns_of_pages() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut loops = 0;
    for (kernel, variant) in every_loop().filter(|(_, variant)| variant.pages_in_turn() > 1) {
        loops += 1;
        let turn = variant.pages_in_turn() * 4096 / 8;
        let mut lens = vec![turn - 1, turn, turn + 1, turn + 7, 2 * turn - 1, 2 * turn, 3 * turn];
        lens.extend((0..12).map(|_| random.usize(turn / 2..5 * turn)));
        for len in lens {
            let (b, c) = (random_values(&mut random, len), random_values(&mut random, len));
            let destination = random.usize(..LINE);
            for offset in [0, destination] {
                let offsets = [offset, random.usize(..LINE), random.usize(..LINE)];
                check(kernel, variant, (&b, &c), offsets, random.u32(1..=4), random.u64(..));
            }
        }
    }
    let sets =
        usize::from(Variant::Avx512.is_available()) + usize::from(Variant::Avx2.is_available());
    assert_eq!(loops, 5 * 2 * sets);
}

#[test]
fn special_values_come_through_like_any_other() {
    let special = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        -f64::from_bits(0xF_FFFF_FFFF_FFFF),
        // Twice this is finite: a fused multiply-add does not overflow half-way, a separate one
        // does.
        f64::MAX / 2.0,
        f64::EPSILON,
    ];
    let mut random = fastrand::Rng::with_seed(4);
    for (kernel, variant) in every_loop() {
        // The scalar product of infinities has no value to compare.
        if kernel.operation == Operation::Ddot {
            continue;
        }
        for len in [8, 77, 300] {
            let mut pick = || -> Vec<f64> {
                (0..len).map(|_| special[random.usize(..special.len())]).collect()
            };
            let (b, c) = (pick(), pick());
            check(kernel, variant, (&b, &c), [1, 2, 3], 1, 5);
        }
    }
}

#[test]
fn load_and_copy_keep_every_bit_of_what_is_not_a_number() {
    let mut random = fastrand::Rng::with_seed(5);
    // Quiet and signalling, of both signs, with all payloads.
    let b: Vec<f64> = (0..301).map(|_| f64::from_bits(random.u64(..) | 0x7FF << 52)).collect();
    let constants = Constants::for_pass(0);
    for (kernel, variant) in every_loop() {
        let outcome = || run(kernel, variant, (&b, &b), [3, 5, 7], &constants, 1);
        match kernel.operation {
            Operation::Load => assert_eq!(outcome().checksum, Checksum::Xor(xor(&b, 1))),
            Operation::Copy => {
                let copied = outcome().destination;
                assert!(copied.iter().zip(&b).all(|(one, two)| one.to_bits() == two.to_bits()));
            }
            _ => {}
        }
    }
}

#[test]
fn no_repeats_and_no_elements_leave_everything_as_it_was() {
    let b = vec![1.5; 130];
    let constants = Constants::for_pass(9);
    for (kernel, variant) in every_loop() {
        for (values, repeats) in [(&b[..], 0), (&b[..0], 3)] {
            let outcome = run(kernel, variant, (values, values), [1, 0, 0], &constants, repeats);
            assert_eq!(bits(&outcome.destination), bits(&vec![GUARD; values.len()]));
            match kernel.operation {
                Operation::Load => assert_eq!(outcome.checksum, Checksum::Xor(0)),
                Operation::Ddot => assert_eq!(outcome.checksum, Checksum::Sum(0.0)),
                _ => assert_eq!(outcome.checksum, Checksum::None),
            }
        }
    }
}

#[test]
fn a_changed_bit_anywhere_changes_the_checksum_of_a_load() {
    let mut random = fastrand::Rng::with_seed(6);
    let constants = Constants::for_pass(0);
    for (kernel, variant) in every_loop().filter(|(kernel, _)| kernel.name == "load") {
        let values = random_values(&mut random, 203);
        let whole = run(kernel, variant, (&values, &values), [0, 3, 0], &constants, 1).checksum;
        for position in 0..values.len() {
            let mut changed = values.clone();
            let bit = 1 << random.u32(..64);
            changed[position] = f64::from_bits(changed[position].to_bits() ^ bit);
            let checksum = run(kernel, variant, (&changed, &values), [0, 3, 0], &constants, 1);
            let Checksum::Xor(before) = whole else { panic!("{whole:?}") };
            assert_eq!(checksum.checksum, Checksum::Xor(before ^ bit));
        }
    }
}

#[test]
fn operands_of_another_shape_are_refused() {
    for (kernel, variant) in every_loop() {
        let timed_loop = kernel.in_variant(variant).unwrap();
        let mut accepted = 0;
        // How many arrays each constructor reads and writes.
        for (index, shape) in [(1, 0), (0, 1), (1, 1), (2, 1), (2, 0)].into_iter().enumerate() {
            let fits = shape == (kernel.loads(), kernel.stores());
            let run = std::panic::catch_unwind(|| {
                let (mut a, b, c) = ([0.0; 8], [1.0; 8], [1.0; 8]);
                let operands = match index {
                    0 => Operands::load(&b),
                    1 => Operands::store(&mut a),
                    2 => Operands::map(&mut a, &b),
                    3 => Operands::zip(&mut a, &b, &c),
                    _ => Operands::dot(&b, &c),
                };
                timed_loop.run(operands, &Constants::for_pass(0), 1);
            });
            assert_eq!(run.is_ok(), fits, "{} given shape {index}", kernel.name);
            accepted += usize::from(run.is_ok());
        }
        assert_eq!(accepted, 1, "{}", kernel.name);
    }
}

#[test]
fn arrays_of_different_lengths_are_refused() {
    let refused = |attempt: fn() -> usize| std::panic::catch_unwind(attempt).is_err();
    assert!(refused(|| Operands::map(&mut [0.0; 2], &[0.0; 3]).len()));
    assert!(refused(|| Operands::zip(&mut [0.0; 2], &[0.0; 2], &[0.0; 3]).len()));
    assert!(refused(|| Operands::zip(&mut [0.0; 2], &[0.0; 3], &[0.0; 2]).len()));
    assert!(refused(|| Operands::dot(&[0.0; 2], &[0.0; 3]).len()));
}
