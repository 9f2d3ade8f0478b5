//! Tests: which parts of the slices a pass hands to its loop, with mixes and with pauses.

use std::cell::{Cell, RefCell};

use nearfar_kernels::{Checksum, Constants};

use super::BLOCK_GRAIN;
use super::tests::{Memory, loop_of, pattern, run_blocks, with_stream};
use crate::kernel_name::MemoryKernel;
use crate::native::memory_loop::{Arrays, MemoryLoop};
use crate::native::work::Work;

thread_local! {
    /// Addresses of the first and the last byte that loops of this thread got.
    static GOT: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
}

fn noting(l: &MemoryLoop, arrays: Arrays<'_>, c: &Constants, repeats: u32) -> Checksum {
    let [b, c_source] = arrays.sources;
    let slices = [arrays.destination.as_deref(), b, c_source];
    let places = slices.into_iter().flatten().filter(|slice| !slice.is_empty());
    for place in places {
        let bytes = place.as_ptr_range();
        GOT.with_borrow_mut(|got| got.push((bytes.start.addr(), bytes.end.addr())));
    }
    l.run(arrays, c, repeats)
}

/// Twenty mixes: loads, stores of both kinds, arithmetic of both kinds or none.
fn random_mixes() -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(11);
    let mut names = Vec::new();
    while names.len() < 20 {
        let (loads, stores) = (random.u32(0..=9), random.u32(0..=5));
        let stored = match (stores, random.bool()) {
            (0, _) => String::new(),
            (_, true) => format!("{stores}nt"),
            (_, false) => format!("{stores}s"),
        };
        let loaded = if loads > 0 { format!("{loads}l") } else { String::new() };
        let work = match random.u32(0..3) {
            0 => String::new(),
            1 => format!("_{}fma", loads * random.u32(1..=4)),
            _ => format!("_{}add", loads * random.u32(1..=4)),
        };
        let name = loaded + &stored + &work;
        if MemoryKernel::named(&name).is_ok() {
            names.push(name);
        }
    }
    names
}

/// A pass hands each address of all slices to the loop once, and its bytes are those that
/// are declared.
#[test]
fn a_pass_covers_each_address_once() {
    for (number, name) in random_mixes().into_iter().enumerate() {
        for pause_cycles in [0, 5] {
            let memory_loop = loop_of(&name);
            let kernel = memory_loop.kernel();
            let mut memory = Memory::of(&memory_loop, 4096);
            let slices = memory.sources.iter().map(Vec::len).sum::<usize>();
            let bytes = (slices + memory.destination.len()) as u64 * 8;
            let pattern = pattern();
            let mut stream = memory.stream(memory_loop, &pattern);
            stream.run_by(noting);
            stream.pause_for(pause_cycles);
            stream.begin_pauses();
            stream.set_block(kernel.step_bytes() * (200 + 150 * number as u64));
            while stream.passes() == 0 {
                stream.step().unwrap_or_else(|reason| panic!("{name}: {}", reason.text));
            }
            stream.check_results().unwrap();
            assert_eq!(stream.done(), stream.passes() * bytes, "{name}");
            assert_eq!(stream.done(), stream.passes() * 4096 * kernel.step_bytes());
            let mut got = GOT.take();
            got.sort_unstable();
            assert!(got.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{name}: twice");
            let covered: usize = got.iter().map(|(start, end)| end - start).sum();
            assert_eq!(covered as u64, bytes, "{name}");
        }
    }
}

#[test]
fn every_mix_passes_its_own_check() {
    for name in random_mixes() {
        for (steps, block_bytes, blocks) in
            [(4096, 1 << 16, 200), (1024, 1 << 22, 3), (512, 100, 10)]
        {
            run_blocks(&name, steps, block_bytes, blocks);
        }
    }
}

/// In the unit of samples, vectors of all accesses.
#[test]
fn the_unroll_is_that_of_an_iteration() {
    for name in ["1l", "2l1s", "1nt", "3l_3fma"] {
        let memory_loop = loop_of(name);
        let MemoryLoop::Mix(mix_loop) = &memory_loop else { panic!("{name} is no mix") };
        let bytes = mix_loop.mix().useful_bytes(mix_loop.iteration_steps() as u64);
        let vector = mix_loop.variant().vector_bytes() as u64;
        assert_eq!(u64::from(memory_loop.unroll()) * vector, bytes, "{name}");
    }
}

/// Pauses change when blocks run and nothing else.
#[test]
fn pauses_leave_counts_and_results_as_they_are() {
    thread_local! {
        static CALLS: Cell<usize> = const { Cell::new(0) };
    }
    for name in ["load", "store", "triad_nt", "ddot", "2l1s", "1l_1fma"] {
        // Blocks of several pieces; a slice that is shorter than its block.
        for (steps, block_steps) in [(4176, 1000), (1024, 10_000)] {
            let runs = [0, 100].map(|pause_cycles| {
                with_stream(name, steps, |stream, bytes| {
                    stream.run_by(|honest, arrays, constants, repeats| {
                        CALLS.set(CALLS.get() + 1);
                        honest.run(arrays, constants, repeats)
                    });
                    stream.pause_for(pause_cycles);
                    stream.begin_pauses();
                    stream.set_block(bytes * block_steps);
                    CALLS.set(0);
                    for _ in 0..7 {
                        stream.step().unwrap_or_else(|reason| panic!("{name}: {}", reason.text));
                    }
                    stream.check_results().unwrap();
                    (stream.done(), stream.passes(), CALLS.get())
                })
            });
            let [(bytes, passes, calls), (paused_bytes, paused_passes, pieces)] = runs;
            assert_eq!((bytes, passes), (paused_bytes, paused_passes), "{name}");
            assert_eq!(calls, 7);
            let step_bytes = loop_of(name).kernel().step_bytes();
            let least = bytes / step_bytes / BLOCK_GRAIN as u64;
            assert!(pieces as u64 >= least, "{name}: {pieces} pieces of {bytes} bytes");
        }
    }
}
