//! The catalog against itself: what a formula says is what the counts and `expected` say.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use std::collections::HashSet;

use nearfar_kernels::{CATALOG, Constants, Kernel, Unavailable, Variant, find};

/// The two sides of a formula, without spaces.
fn sides(kernel: &Kernel) -> (String, String) {
    let squeezed: String = kernel.formula.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = squeezed.split_once('=').unwrap();
    (left.to_owned(), right.to_owned())
}

fn count(text: &str, what: &str) -> u32 {
    u32::try_from(text.matches(what).count()).unwrap()
}

/// The value of a sum of products of `b[i]`, `c[i]`, `s` and `lane(i%8)`.
fn evaluate(text: &str, constants: &Constants, i: usize, b: f64, c: f64) -> f64 {
    text.split('+')
        .map(|product| {
            product
                .split('*')
                .map(|factor| match factor {
                    "b[i]" => b,
                    "c[i]" => c,
                    "s" => constants.scalar,
                    "lane(i%8)" => constants.lanes[i % 8],
                    _ => panic!("{factor} is not part of the formulas"),
                })
                .reduce(|one, two| one * two)
                .unwrap()
        })
        .reduce(|one, two| one + two)
        .unwrap()
}

#[test]
fn counts_agree_with_the_formula() {
    for kernel in &CATALOG {
        let (left, right) = sides(kernel);
        assert_eq!(kernel.loads(), count(&right, "[i]"), "{}", kernel.name);
        assert_eq!(kernel.stores(), count(&left, "[i]"), "{}", kernel.name);
        // `x += ...` adds once more; `x ^= ...` is no floating-point operation.
        let flops = count(&right, "+") + count(&right, "*") + count(&left, "+");
        assert_eq!(kernel.flops(), flops, "{}", kernel.name);
        let arrays: HashSet<&str> = ["a[i]", "b[i]", "c[i]"]
            .into_iter()
            .filter(|array| left.contains(array) || right.contains(array))
            .collect();
        assert_eq!(kernel.arrays(), arrays.len(), "{}", kernel.name);
        assert_eq!(kernel.arrays(), (kernel.loads() + kernel.stores()) as usize);
    }
}

#[test]
fn expected_agrees_with_the_formula() {
    let mut random = fastrand::Rng::with_seed(1);
    for kernel in &CATALOG {
        let (left, right) = sides(kernel);
        for _ in 0..1000 {
            let (pass, b, c) = (random.u64(..), random.f64() - 0.5, random.f64() * 1e9);
            let (i, constants) = (random.usize(..10_000), Constants::for_pass(pass));
            let expected = kernel.expected(&constants, i as u64, b, c);
            let wanted = (left == "a[i]").then(|| evaluate(&right, &constants, i, b, c));
            assert_eq!(expected.map(f64::to_bits), wanted.map(f64::to_bits), "{}", kernel.name);
        }
    }
}

#[test]
fn names_are_found_and_distinct_and_say_what_is_non_temporal() {
    let names: HashSet<&str> = CATALOG.iter().map(|kernel| kernel.name).collect();
    assert_eq!(names.len(), CATALOG.len());
    for kernel in &CATALOG {
        assert!(std::ptr::eq(find(kernel.name).unwrap(), kernel));
        assert_eq!(kernel.name.ends_with("_nt"), kernel.non_temporal);
        if let Some(ordinary) = kernel.name.strip_suffix("_nt") {
            assert_eq!(find(ordinary).unwrap().operation, kernel.operation);
        }
    }
    for name in ["", "Triad", "triad ", "daxpy"] {
        assert_eq!(find(name), None);
    }
}

#[test]
fn useful_bytes_are_those_of_stream() {
    // STREAM 5.10, stream.c: copy and scale count two arrays, add and triad three.
    for (name, arrays) in [("copy", 2), ("scale", 2), ("add", 3), ("triad", 3)] {
        let elements = 10_000_000;
        assert_eq!(find(name).unwrap().useful_bytes(elements), 8 * arrays * elements);
    }
    assert!(CATALOG.iter().all(|kernel| kernel.useful_bytes(0) == 0));
}

#[test]
fn ordinary_stores_and_only_they_allocate() {
    let allocating: Vec<&str> = CATALOG
        .iter()
        .filter(|kernel| kernel.write_allocates())
        .map(|kernel| kernel.name)
        .collect();
    assert_eq!(allocating, ["store", "copy", "scale", "add", "triad"]);
}

#[test]
fn a_loop_is_given_exactly_for_the_variants_listed() {
    for kernel in &CATALOG {
        let listed = kernel.variants();
        assert!(listed.is_sorted(), "{}: {listed:?}", kernel.name);
        assert_eq!(listed.contains(&Variant::Portable), !kernel.non_temporal);
        for variant in Variant::ALL {
            match kernel.in_variant(variant) {
                Ok(timed_loop) => {
                    assert!(listed.contains(&variant));
                    assert_eq!((timed_loop.kernel(), timed_loop.variant()), (kernel, variant));
                    assert!(timed_loop.unroll() > 0);
                }
                Err(Unavailable::NotWritten { kernel: name, variant: refused }) => {
                    assert_eq!((name, refused), (kernel.name, variant));
                    assert!(kernel.non_temporal && variant == Variant::Portable);
                }
                Err(Unavailable::NotOnThisCpu { kernel: name, variant: refused }) => {
                    assert_eq!((name, refused), (kernel.name, variant));
                    assert!(!variant.is_available() && !listed.contains(&variant));
                }
            }
        }
    }
}

#[test]
fn a_refusal_names_the_kernel_the_variant_and_the_way_out() {
    let refusal = find("copy_nt").unwrap().in_variant(Variant::Portable).unwrap_err().to_string();
    assert!(refusal.contains("copy_nt") && refusal.contains("portable"), "{refusal}");
    let missing =
        Unavailable::NotOnThisCpu { kernel: "triad", variant: Variant::Avx512 }.to_string();
    assert!(missing.contains("avx512 variant of kernel triad"), "{missing}");
    for variant in Variant::available() {
        assert!(missing.contains(&variant.to_string()), "{missing}");
    }
}
