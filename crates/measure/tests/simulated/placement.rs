//! Where pages lie, and what becomes of threads that are not pinned.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{CpuSet, MemoryPolicy};
use nearfar_record::{Actor, Case, Pinning, ReasonCode, Stream};

use crate::single_case::{
    GIGA, MIB, as_float, assert_close, machine, machine_with, on_memory, rate, stream, window,
    windows,
};

fn pages(case: &Case) -> BTreeMap<u32, u64> {
    let seen = window(&machine(), case).unwrap().actors.remove(0);
    seen.proof.unwrap().before.pages
}

fn alone(stream: Stream) -> Case {
    on_memory(vec![Actor::Stream(stream)])
}

#[test]
fn threads_have_what_they_touch_first_on_their_own_node() {
    let machine = machine();
    let first_touch = stream("triad", &[0, 1, 2, 4], MemoryPolicy::FirstTouch);
    let local =
        |cpus: &[u32], node| rate(&machine, stream("triad", cpus, MemoryPolicy::Preferred(node)));
    assert_close(rate(&machine, first_touch.clone()), local(&[0, 1, 2], 0) + local(&[4], 1));
    let quarter = 64 * MIB / 4 / 4096;
    assert_eq!(pages(&alone(first_touch)), BTreeMap::from([(0, 3 * quarter), (1, quarter)]));
}

/// The nearest by the firmware's distances is the slow memory of the same package.
#[test]
fn where_the_own_node_is_full_the_nearest_is_taken() {
    let full = machine_with("[[fault]]\nkind = \"full_memory\"\nnode = 0\n");
    let first_touch = alone(stream("triad", &[0], MemoryPolicy::FirstTouch));
    let seen = &window(&full, &first_touch).unwrap().actors[0];
    assert_eq!(seen.proof.as_ref().unwrap().before.fraction_on(2).to_bits(), 1.0_f64.to_bits());
    assert_close(as_float(seen.useful_bytes), 4.0 * GIGA);
    let asked = alone(stream("triad", &[0], MemoryPolicy::Preferred(0)));
    assert_eq!(window(&full, &asked).unwrap_err().code, ReasonCode::NoRoom);
}

#[test]
fn read_and_written_arrays_are_proven_apart() {
    let mut apart = stream("2l1nt", &[0, 1], MemoryPolicy::Preferred(0));
    apart.write_memory = Some(MemoryPolicy::Interleave([1, 2].into_iter().collect()));
    apart.working_set_bytes = 48 * MIB;
    let seen = window(&machine(), &alone(apart)).unwrap().actors.remove(0);
    let of_16_mib = 16 * MIB / 4096;
    let (read, written) = (seen.proof.unwrap(), seen.write_proof.unwrap());
    assert_eq!(read.after.pages, BTreeMap::from([(0, 2 * of_16_mib)]));
    let half = of_16_mib / 2;
    assert_eq!(written.after.pages, BTreeMap::from([(1, half), (2, half)]));
}

fn unbound() -> Case {
    let cpus: CpuSet = (0..8).collect();
    let mut stream = stream("copy", &[], MemoryPolicy::FirstTouch);
    (stream.binding.cpus, stream.threads, stream.pinning) = (cpus, 4, Pinning::Unbound);
    alone(stream)
}

/// Without noise every window of a run is in one mode, and runs are in several.
#[test]
fn runs_of_unpinned_threads_fall_into_the_modes_of_the_file() {
    let machine = machine();
    let scattered = rate(&machine, stream("copy", &[0, 4, 1, 5], MemoryPolicy::FirstTouch));
    let mut runs: BTreeMap<u32, u32> = BTreeMap::new();
    for round in 0..300 {
        let windows = windows(&machine, &unbound(), 2, false, round).unwrap();
        let rates: BTreeSet<u64> =
            windows.iter().map(|window| window.actors[0].useful_bytes).collect();
        assert_eq!(rates.len(), 1);
        let factor = as_float(*rates.first().unwrap()) / scattered;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
        let percent = (factor * 100.0).round() as u32;
        *runs.entry(percent).or_default() += 1;
    }
    let modes: Vec<u32> = runs.keys().copied().collect();
    assert_eq!(modes, [60, 80, 100], "{runs:?}");
    // 120, 90 and 90 expected, with a standard deviation of 8.
    assert!(runs[&60].abs_diff(120) < 35 && runs[&80].abs_diff(90) < 35, "{runs:?}");
}

#[test]
fn pinned_threads_have_no_modes() {
    let machine = machine();
    let pinned = alone(stream("copy", &[0, 4, 1, 5], MemoryPolicy::FirstTouch));
    let bytes =
        |round| windows(&machine, &pinned, 1, false, round).unwrap()[0].actors[0].useful_bytes;
    assert_eq!((0..20).map(bytes).collect::<BTreeSet<u64>>().len(), 1);
}

/// A run that is continued is in the mode that it was in.
#[test]
fn a_mode_is_drawn_from_the_run_and_not_from_what_ran_before() {
    let machine = machine();
    let all: Vec<Vec<u64>> = [false, true]
        .map(|noise| {
            let run = |round| windows(&machine, &unbound(), 3, noise, round).unwrap();
            let bytes = |window: &nearfar_measure::Window| window.actors[0].useful_bytes;
            (0..6)
                .rev()
                .flat_map(|round| run(round).iter().map(bytes).collect::<Vec<_>>())
                .collect()
        })
        .to_vec();
    // Noise lowers each window, by half a normal distribution of 5 %.
    for (clean, noisy) in all[0].iter().zip(&all[1]) {
        let factor = as_float(*noisy) / as_float(*clean);
        assert!(factor <= 1.0 && factor > 0.75, "{factor}");
    }
    assert_ne!(all[0], all[1]);
}
