//! Generated code, read back instruction by instruction: also that of CPUs which are not at hand.

use std::collections::BTreeMap;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};

use super::looped::{DESTINATION, EXCHANGE, SOURCE};
use super::{assemble_flops, assemble_mix};
use crate::generated::machine_code::Assembled;
use crate::generated::mix_loop::cycles_of_sum;
use crate::generated::{Arithmetic, FlopOperation, Flops, Mix, Precision};
use crate::{Unavailable, Variant};

const VECTOR_VARIANTS: [Variant; 3] = [Variant::Avx512, Variant::Avx2, Variant::Sse2];

/// The instructions of one routine.
struct Routine {
    before: Vec<Instruction>,
    /// From the target of the first jump to that jump.
    iteration: Vec<Instruction>,
    after: Vec<Instruction>,
}

impl Routine {
    fn read(code: &Assembled, entry: usize) -> Routine {
        let bytes = &code.bytes[entry..];
        let mut decoder = Decoder::with_ip(64, bytes, entry as u64, DecoderOptions::NONE);
        let mut all: Vec<Instruction> = Vec::new();
        while all.last().is_none_or(|last| last.flow_control() != FlowControl::Return) {
            assert!(decoder.can_decode(), "the routine has no end");
            all.push(decoder.decode());
            assert!(!all.last().unwrap().is_invalid());
        }
        let jump = all.iter().position(|i| i.mnemonic() == Mnemonic::Jne).unwrap();
        let head = all.iter().position(|i| i.ip() == all[jump].near_branch_target()).unwrap();
        assert_eq!(all[head].ip() % 64, 0, "the loop is not aligned");
        let after = all.split_off(jump + 1);
        let iteration = all.split_off(head);
        Routine { before: all, iteration, after }
    }

    /// Every access to memory of the iteration: base register, displacement, bytes, and whether
    /// it is a store; with the instruction.
    fn accesses(&self) -> Vec<(Register, usize, usize, bool, Mnemonic)> {
        accesses(&self.iteration)
    }
}

fn accesses(instructions: &[Instruction]) -> Vec<(Register, usize, usize, bool, Mnemonic)> {
    let mut factory = InstructionInfoFactory::new();
    let mut found = Vec::new();
    for instruction in instructions {
        for memory in factory.info(instruction).used_memory() {
            // The return address.
            if memory.base() == Register::RSP {
                continue;
            }
            assert_eq!(memory.index(), Register::None);
            let store = match memory.access() {
                OpAccess::Read => false,
                OpAccess::Write => true,
                access => panic!("{instruction:?}: {access:?}"),
            };
            let displacement = usize::try_from(memory.displacement()).unwrap();
            let bytes = memory.memory_size().size();
            found.push((memory.base(), displacement, bytes, store, instruction.mnemonic()));
        }
    }
    found
}

/// Instructions of each kind that count as FLOPs, with the precision that they have.
fn arithmetic(instructions: &[Instruction]) -> BTreeMap<(Mnemonic, u32), usize> {
    let mut counts = BTreeMap::new();
    for instruction in instructions {
        let (flops, _) = flops_of(instruction);
        if flops > 0 {
            *counts.entry((instruction.mnemonic(), flops)).or_insert(0) += 1;
        }
    }
    counts
}

/// FLOPs per lane, and the bytes of a lane.
fn flops_of(instruction: &Instruction) -> (u32, usize) {
    match instruction.mnemonic() {
        Mnemonic::Addpd | Mnemonic::Vaddpd | Mnemonic::Subpd | Mnemonic::Vsubpd => (1, 8),
        Mnemonic::Mulpd | Mnemonic::Vmulpd => (1, 8),
        Mnemonic::Addps | Mnemonic::Vaddps | Mnemonic::Subps | Mnemonic::Vsubps => (1, 4),
        Mnemonic::Mulps | Mnemonic::Vmulps => (1, 4),
        Mnemonic::Vfmadd231pd | Mnemonic::Vfnmadd213pd => (2, 8),
        Mnemonic::Vfmadd231ps | Mnemonic::Vfnmadd213ps => (2, 4),
        _ => (0, 0),
    }
}

/// FLOPs of the instructions on all their lanes.
fn flops(instructions: &[Instruction]) -> u64 {
    let of = |instruction: &Instruction| match flops_of(instruction) {
        (0, _) => 0,
        (flops, bytes) => u64::from(flops) * (instruction.op0_register().size() / bytes) as u64,
    };
    instructions.iter().map(of).sum()
}

fn mixes() -> Vec<Mix> {
    let mut random = fastrand::Rng::with_seed(77);
    let drawn = (0..20).map(|_| {
        let (loads, stores) = (random.u32(1..=12), random.u32(..=12));
        let non_temporal = random.bool() && stores > 0;
        if random.bool() {
            return Mix::new(loads, stores, non_temporal).unwrap();
        }
        let arithmetic = if random.bool() { Arithmetic::Add } else { Arithmetic::Fma };
        let operations = loads * random.u32(1..=9);
        Mix::with_arithmetic(loads, stores, non_temporal, operations, arithmetic).unwrap()
    });
    let named = ["1l", "1s", "1nt", "64l63s", "16l_1fma", "12l5nt_4add", "1l_256fma"];
    drawn.chain(named.map(|text| text.parse().unwrap())).collect()
}

/// Every operation in both precisions.
fn all_flops() -> impl Iterator<Item = Flops> {
    FlopOperation::ALL.into_iter().flat_map(|operation| {
        Precision::ALL.into_iter().map(move |precision| Flops { operation, precision })
    })
}

/// Every routine of every mix.
fn all_routines() -> impl Iterator<Item = (Mix, Variant, Routine)> {
    mixes().into_iter().flat_map(|mix| {
        VECTOR_VARIANTS.into_iter().flat_map(move |variant| {
            routines(&mix, variant).into_iter().map(move |routine| (mix, variant, routine))
        })
    })
}

/// Every routine of a mix.
fn routines(mix: &Mix, variant: Variant) -> Vec<Routine> {
    let code = assemble_mix(mix, variant).unwrap();
    code.entries.iter().map(|&entry| Routine::read(&code, entry)).collect()
}

#[test]
fn an_iteration_accesses_each_address_of_its_lines_once_and_the_lines_are_those_declared() {
    for (mix, variant, routine) in all_routines() {
        let accesses = routine.accesses();
        let mut bytes = 0;
        for (base, per_step, store) in
            [(SOURCE, mix.loads(), false), (DESTINATION, mix.stores(), true)]
        {
            let mut places: Vec<usize> = accesses
                .iter()
                .filter(|access| access.0 == base)
                .map(|&(_, place, bytes, is_store, _)| {
                    assert_eq!((bytes, is_store), (variant.vector_bytes(), store));
                    place
                })
                .collect();
            places.sort_unstable();
            let steps = super::super::mix_loop::iteration_lines(&mix, variant) * 8;
            let wanted: Vec<usize> =
                (0..8 * steps * per_step as usize).step_by(variant.vector_bytes()).collect();
            assert_eq!(places, wanted, "{mix} in {variant}");
            bytes += places.len() * variant.vector_bytes();
            assert_eq!(
                mix.useful_bytes(steps as u64),
                8 * steps as u64 * u64::from(mix.loads() + mix.stores())
            );
            assert_eq!(flops(&routine.iteration), u64::from(mix.flops()) * steps as u64);
        }
        assert_eq!(bytes, accesses.len() * variant.vector_bytes(), "other accesses");
    }
}

#[test]
fn only_and_all_stores_of_non_temporal_mixes_are_non_temporal() {
    for (mix, variant, routine) in all_routines() {
        for (.., store, mnemonic) in routine.accesses() {
            let non_temporal = matches!(mnemonic, Mnemonic::Movntpd | Mnemonic::Vmovntpd);
            assert_eq!(non_temporal, store && mix.non_temporal(), "{mix} in {variant}");
        }
    }
}

#[test]
fn loads_and_stores_take_turns_evenly() {
    for (mix, variant, routine) in all_routines() {
        let mut loads = 0;
        for (count, (.., store, _)) in (1..).zip(routine.accesses()) {
            loads += u32::from(!store);
            let due =
                f64::from(count) * f64::from(mix.loads()) / f64::from(mix.loads() + mix.stores());
            assert!((f64::from(loads) - due).abs() < 1.0, "{mix} in {variant}: {count}");
        }
    }
}

#[test]
fn what_is_not_the_arrays_is_the_exchange_and_only_around_the_loop() {
    for (mix, _, routine) in all_routines() {
        for (base, place, bytes, store, _) in accesses(&routine.before) {
            assert!(base == EXCHANGE && !store && place + bytes <= 64, "{mix}");
        }
        for (base, place, bytes, store, _) in accesses(&routine.after) {
            assert!(base == EXCHANGE && store && place >= 64, "{mix}");
            assert!(place + bytes <= size_of::<super::super::machine_code::Exchange>());
        }
    }
}

#[test]
fn folded_loads_all_end_in_an_accumulator() {
    for mix in mixes().into_iter().filter(|mix| mix.arithmetic().is_none() && mix.loads() > 0) {
        for variant in VECTOR_VARIANTS {
            let [folded, unfolded] = &routines(&mix, variant)[..] else { panic!("{mix}") };
            let count = |routine: &Routine, wanted: &[Mnemonic]| {
                let all = routine.iteration.iter();
                all.filter(|instruction| wanted.contains(&instruction.mnemonic())).count()
            };
            let loads = folded.accesses().iter().filter(|access| access.0 == SOURCE).count();
            // An exclusive or of three takes two loads.
            let single = count(folded, &[Mnemonic::Pxor, Mnemonic::Vpxor, Mnemonic::Vpxorq]);
            let pairs = count(folded, &[Mnemonic::Vpternlogq]);
            assert_eq!(single + 2 * pairs, loads, "{mix} in {variant}");
            assert_eq!(pairs > 0, variant == Variant::Avx512 && loads > 1);
            let bare = count(unfolded, &[Mnemonic::Movupd, Mnemonic::Vmovupd]);
            let stores = unfolded.accesses().iter().filter(|access| access.3).count();
            assert_eq!(bare, loads + if mix.non_temporal() { 0 } else { stores });
        }
    }
}

#[test]
fn arithmetic_without_memory_has_the_declared_flops_in_the_declared_pipes_and_touches_none() {
    for kind in all_flops() {
        for variant in VECTOR_VARIANTS {
            let Ok(code) = assemble_flops(&kind, variant) else {
                assert_eq!(variant, Variant::Sse2);
                continue;
            };
            let routine = Routine::read(&code, code.entries[0]);
            assert_eq!(routine.accesses(), [], "{kind} in {variant}");
            assert_eq!(flops(&routine.iteration), kind.flops(variant, 1), "{kind} in {variant}");
            let counts = arithmetic(&routine.iteration);
            let all: usize = counts.values().sum();
            assert_eq!(all, kind.operations_per_turn(variant) as usize);
            let fused: usize =
                counts.iter().filter(|((_, flops), _)| *flops == 2).map(|(_, n)| n).sum();
            let wanted = match kind.operation {
                FlopOperation::Fma => all,
                FlopOperation::FmaAdd => all / 2,
                FlopOperation::Add | FlopOperation::Mul | FlopOperation::MulAdd => 0,
            };
            assert_eq!(fused, wanted, "{kind} in {variant}: {counts:?}");
            // Beside them the loop only counts.
            assert_eq!(routine.iteration.len(), all + 2);
        }
    }
}

#[test]
fn chains_are_apart_by_more_operations_than_a_core_has_under_way() {
    // Two operations of a kind begin per cycle; a fused one, or a multiplication, takes at most
    // five cycles where there are no separate adders, four where there are.
    for operation in FlopOperation::ALL {
        let kind = Flops { operation, precision: Precision::Double };
        let code = assemble_flops(&kind, Variant::Avx2).or(assemble_flops(&kind, Variant::Sse2));
        let code = code.unwrap();
        let iteration = Routine::read(&code, code.entries[0]).iteration;
        let mut last = BTreeMap::new();
        // Twice round, so that the loop's end meets its beginning.
        let targets = iteration.iter().cycle().filter(|i| flops_of(i).0 > 0);
        for (place, instruction) in
            targets.take(2 * kind.operations_per_turn(Variant::Avx2) as usize).enumerate()
        {
            if let Some(before) = last.insert(instruction.op0_register(), place) {
                assert!(place - before >= 10, "{kind}: {place} after {before}");
            }
        }
        assert!(last.len() >= 12, "{kind}");
    }
}

#[test]
fn sums_are_apart_by_more_operations_or_loads_than_a_core_has_under_way() {
    for text in [
        "1l_1fma",
        "1l_1add",
        "2l_2fma",
        "4l_1fma",
        "1l1s_1fma",
        "2l1s_2fma",
        "2l1nt_2add",
        "1l_3add",
        "1l_256fma",
        "1l_512fma",
        "1l1s_512add",
    ] {
        let mix: Mix = text.parse().unwrap();
        for variant in VECTOR_VARIANTS {
            let iteration = &routines(&mix, variant)[0].iteration;
            let loads = accesses(iteration).iter().filter(|access| access.0 == SOURCE).count();
            let mut sums = BTreeMap::new();
            // SSE2 has no fused operation, and its multiplications go to a register of their own.
            let multiplies = |i: &Instruction| i.mnemonic() == Mnemonic::Mulpd;
            for instruction in iteration.iter().filter(|i| flops_of(i).0 > 0 && !multiplies(i)) {
                *sums.entry(instruction.op0_register()).or_insert(0) += 1;
            }
            let all: usize = sums.values().sum();
            let chain = cycles_of_sum(variant) * sums.values().max().unwrap();
            // Two operations, or two loads, in each cycle.
            assert!(2 * chain <= usize::max(all, loads), "{mix} in {variant}: {sums:?}, {loads}");
        }
    }
}

#[test]
fn an_iteration_stays_in_the_cache_for_instructions() {
    let named = ["1l_256fma", "1l_512fma", "1l1s_512fma", "1l64nt_512fma", "64l63s_512fma"];
    let largest = named.map(|text| text.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(78);
    let drawn = std::iter::repeat_with(|| {
        let (loads, stores) = (1 << random.u32(..=6), random.u32(..=64));
        let operations = random.u32(1..=512 / loads) * loads;
        let arithmetic = if random.bool() { Arithmetic::Add } else { Arithmetic::Fma };
        Mix::with_arithmetic(loads, stores, false, operations, arithmetic).unwrap()
    });
    for mix in mixes().into_iter().chain(largest).chain(drawn.take(60)) {
        for variant in VECTOR_VARIANTS {
            let code = match assemble_mix(&mix, variant) {
                Err(Unavailable::NotWritten { why, .. }) => {
                    // Three instructions for each operation, and more than a few accesses.
                    assert!(why.contains("cache for instructions"), "{why}");
                    assert_eq!(variant, Variant::Sse2, "{mix}");
                    assert_eq!(mix.arithmetic(), Some(Arithmetic::Fma), "{mix}");
                    assert!(mix.operations() > 400 && mix.loads() + mix.stores() > 8, "{mix}");
                    continue;
                }
                code => code.unwrap(),
            };
            for &entry in &code.entries {
                let iteration = Routine::read(&code, entry).iteration;
                let (first, last) = (iteration[0], iteration.last().unwrap());
                let bytes = last.next_ip() - first.ip();
                assert!(bytes <= 24 << 10, "{mix} in {variant}: {bytes} bytes");
            }
        }
    }
}

#[test]
fn the_caller_keeps_its_registers_and_its_speed() {
    for variant in VECTOR_VARIANTS {
        for routine in mixes().iter().flat_map(|mix| routines(mix, variant)) {
            check_kept(&routine, variant);
        }
        let mut routines = 0;
        for code in all_flops().filter_map(|kind| assemble_flops(&kind, variant).ok()) {
            check_kept(&Routine::read(&code, code.entries[0]), variant);
            routines += 1;
        }
        // Without fused multiply-add there are three operations, in both precisions.
        assert_eq!(routines, if variant == Variant::Sse2 { 6 } else { 10 });
    }
}

/// Holds a routine to the calling convention, and to its end as SSE code wants it.
fn check_kept(routine: &Routine, variant: Variant) {
    let kept = [
        Register::RBX,
        Register::RBP,
        Register::RSP,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    let Routine { before, iteration, after } = routine;
    let mut factory = InstructionInfoFactory::new();
    let all = before.iter().chain(iteration).chain(after);
    for instruction in all.filter(|i| i.flow_control() != FlowControl::Return) {
        for register in factory.info(instruction).used_registers() {
            let full = register.register().full_register();
            assert!(!kept.contains(&full), "{instruction:?}");
        }
    }
    let left = after.iter().any(|i| i.mnemonic() == Mnemonic::Vzeroupper);
    assert_eq!(left, variant != Variant::Sse2);
}
