//! What figures are made of: the bytes and operations of a kernel, by its formula and by STREAM.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use std::collections::HashSet;

use nearfar_kernels::{CATALOG, Kernel, Variant, find};

/// The two sides of a formula, without spaces.
fn sides(kernel: &Kernel) -> (String, String) {
    let squeezed: String = kernel.formula.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = squeezed.split_once('=').unwrap();
    (left.to_owned(), right.to_owned())
}

fn count(text: &str, what: &str) -> u32 {
    u32::try_from(text.matches(what).count()).unwrap()
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
fn pages_take_turns_in_loads_and_in_non_temporal_stores_of_what_was_read() {
    for variant in Variant::PAGES_IN_TURN {
        let kernels: Vec<&str> = CATALOG
            .iter()
            .filter(|kernel| kernel.is_written_for(variant))
            .map(|kernel| kernel.name)
            .collect();
        assert_eq!(kernels, ["load", "copy_nt", "scale_nt", "add_nt", "triad_nt"], "{variant}");
        let refusal = find("copy").unwrap().in_variant(variant).unwrap_err().to_string();
        assert!(refusal.contains("pages in turn are for load"), "{refusal}");
    }
}

/// What is measured where nothing else is asked for is what a program's plain loop does.
#[test]
fn the_preferred_variant_of_every_kernel_walks_in_order() {
    for kernel in &CATALOG {
        let variants = kernel.variants();
        assert!(variants.is_empty() || variants[0].pages_in_turn() == 1, "{variants:?}");
        assert!(variants.is_sorted_by_key(|variant| variant.pages_in_turn() > 1), "{variants:?}");
    }
}
