//! Generated code, read back instruction by instruction by another program: also for vectors which
//! this CPU does not have.

use std::collections::BTreeMap;

use super::{assemble_flops, assemble_mix};
use crate::Variant;
use crate::aarch64::objdump::{Instruction, disassemble};
use crate::generated::machine_code::Assembled;
use crate::generated::mix_loop::iteration_lines;
use crate::generated::{Arithmetic, FlopOperation, Flops, Mix, Precision};

const VARIANTS: [Variant; 2] = [Variant::Sve, Variant::Neon];

const SOURCE: &str = "x1";
const DESTINATION: &str = "x0";
const EXCHANGE: &str = "x4";

/// The instructions of one routine.
struct Routine {
    before: Vec<Instruction>,
    /// From the target of the first jump to that jump.
    iteration: Vec<Instruction>,
    after: Vec<Instruction>,
}

/// An access to memory of an iteration.
#[derive(Debug)]
struct Access {
    place: u64,
    bytes: u64,
    is_store: bool,
    is_non_temporal: bool,
}

impl Routine {
    fn read(code: &Assembled, entry: usize) -> Routine {
        let mut all = disassemble(&code.bytes[entry..]);
        let end = all.iter().position(|it| it.mnemonic == "ret").unwrap();
        all.truncate(end + 1);
        let jump = all.iter().position(|it| it.mnemonic == "b.ne").unwrap();
        let target = all[jump].operands.split(' ').next().unwrap().trim_start_matches("0x");
        let target = usize::from_str_radix(target, 16).unwrap();
        assert_eq!((entry + target) % 64, 0, "the loop is not aligned");
        let after = all.split_off(jump + 1);
        let iteration = all.split_off(target / 4);
        Routine { before: all, iteration, after }
    }

    /// The accesses of an iteration by the pointer's register, which may move on in between; and
    /// how far it has moved at the end.
    fn accesses(&self, pointer: &str, variant: Variant) -> (Vec<Access>, u64) {
        let vector = variant.vector_bytes() as u64;
        let mut at = 0;
        let mut found = Vec::new();
        for it in &self.iteration {
            if it.mnemonic == "add" && it.registers().eq([pointer, pointer]) {
                at += it.number().unwrap();
            }
            if it.base() != Some(pointer) {
                continue;
            }
            let bytes = if it.mnemonic.ends_with('p') { 2 * vector } else { vector };
            let unit = if it.operands.contains("mul vl") { vector } else { 1 };
            found.push(Access {
                place: at + unit * it.number().unwrap_or(0),
                bytes,
                is_store: it.mnemonic.starts_with("st"),
                is_non_temporal: it.mnemonic.starts_with("stn"),
            });
        }
        (found, at)
    }

    fn all(&self) -> impl Iterator<Item = &Instruction> {
        self.before.iter().chain(&self.iteration).chain(&self.after)
    }
}

/// FLOPs per lane, and the bytes of a lane.
fn flops_of(instruction: &Instruction) -> (u64, u64) {
    let is_single = instruction.registers().next().is_some_and(|first| first.ends_with('s'));
    let bytes = if is_single { 4 } else { 8 };
    match instruction.mnemonic.as_str() {
        "fadd" | "fsub" | "fmul" => (1, bytes),
        "fmla" | "fmls" => (2, bytes),
        _ => (0, bytes),
    }
}

fn flops(instructions: &[Instruction], variant: Variant) -> u64 {
    let of = |instruction| {
        let (flops, bytes) = flops_of(instruction);
        flops * variant.vector_bytes() as u64 / bytes
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
    let named = [
        "1l",
        "1s",
        "1nt",
        "64l63s",
        "63l64nt",
        "16l_1fma",
        "12l5nt_4add",
        "1l_256fma",
        "1l1nt_512add",
    ];
    drawn.chain(named.map(|text| text.parse().unwrap())).collect()
}

/// Every routine of every mix.
fn all_routines() -> impl Iterator<Item = (Mix, Variant, Routine)> {
    mixes().into_iter().flat_map(|mix| {
        VARIANTS.into_iter().flat_map(move |variant| {
            let code = assemble_mix(&mix, variant).unwrap();
            let read = |&entry: &usize| (mix, variant, Routine::read(&code, entry));
            code.entries.iter().map(read).collect::<Vec<_>>()
        })
    })
}

#[test]
fn an_iteration_accesses_each_address_of_its_lines_once_and_the_lines_are_those_declared() {
    for (mix, variant, routine) in all_routines() {
        let steps = 8 * iteration_lines(&mix, variant) as u64;
        let mut bytes = 0;
        let mut accesses = 0;
        for (pointer, per_step, is_store) in
            [(SOURCE, mix.loads(), false), (DESTINATION, mix.stores(), true)]
        {
            let (found, moved) = routine.accesses(pointer, variant);
            let mut next = 0;
            for access in &found {
                // One after the other.
                assert_eq!(access.place, next, "{mix} in {variant}");
                assert_eq!(access.is_store, is_store, "{mix} in {variant}");
                assert_eq!(access.is_non_temporal, is_store && mix.non_temporal());
                next += access.bytes;
            }
            assert_eq!(next, 8 * steps * u64::from(per_step), "{mix} in {variant}");
            assert_eq!(moved, next, "{mix} in {variant}");
            bytes += next;
            accesses += found.len();
        }
        assert_eq!(bytes, mix.useful_bytes(steps), "{mix} in {variant}");
        assert_eq!(flops(&routine.iteration, variant), u64::from(mix.flops()) * steps);
        let all = routine.iteration.iter().filter(|it| it.base().is_some()).count();
        assert_eq!(all, accesses, "{mix} in {variant}: other accesses");
    }
}

#[test]
fn loads_and_stores_take_turns_evenly() {
    for (mix, variant, routine) in all_routines() {
        let mut loads = 0;
        let accesses = routine.iteration.iter().filter(|it| it.base().is_some());
        for (count, access) in (1..).zip(accesses) {
            loads += u32::from(access.base() == Some(SOURCE));
            let due =
                f64::from(count) * f64::from(mix.loads()) / f64::from(mix.loads() + mix.stores());
            assert!((f64::from(loads) - due).abs() < 1.0, "{mix} in {variant}: {count}");
        }
    }
}

#[test]
fn folded_loads_all_end_in_an_accumulator() {
    for mix in mixes().into_iter().filter(|mix| mix.arithmetic().is_none() && mix.loads() > 0) {
        for variant in VARIANTS {
            let code = assemble_mix(&mix, variant).unwrap();
            let folds = |entry| {
                let iteration = Routine::read(&code, entry).iteration;
                iteration.iter().filter(|it| it.mnemonic == "eor").count()
            };
            let vectors = 64 * iteration_lines(&mix, variant) / variant.vector_bytes();
            assert_eq!(folds(code.entries[0]), vectors * mix.loads() as usize, "{mix}");
            assert_eq!(folds(code.entries[1]), 0, "{mix}");
        }
    }
}

fn all_flops() -> impl Iterator<Item = (Flops, Variant, Routine)> {
    let all = FlopOperation::ALL.into_iter().flat_map(|operation| {
        Precision::ALL.into_iter().map(move |precision| Flops { operation, precision })
    });
    all.flat_map(|kind| {
        VARIANTS.map(|variant| {
            let code = assemble_flops(&kind, variant).unwrap();
            (kind, variant, Routine::read(&code, code.entries[0]))
        })
    })
}

#[test]
fn arithmetic_without_memory_has_the_declared_flops_and_touches_none() {
    for (kind, variant, routine) in all_flops() {
        assert!(routine.iteration.iter().all(|it| it.base().is_none()), "{kind} in {variant}");
        assert_eq!(flops(&routine.iteration, variant), kind.flops(variant, 1), "{kind}");
        let operations: Vec<_> =
            routine.iteration.iter().map(flops_of).filter(|of| of.0 > 0).collect();
        assert_eq!(operations.len(), kind.operations_per_turn(variant) as usize);
        assert!(operations.iter().all(|of| of.1 == kind.precision.bytes() as u64), "{kind}");
        let fused = operations.iter().filter(|of| of.0 == 2).count();
        let wanted = match kind.operation {
            FlopOperation::Fma => operations.len(),
            FlopOperation::FmaAdd => operations.len() / 2,
            FlopOperation::Add | FlopOperation::Mul | FlopOperation::MulAdd => 0,
        };
        assert_eq!(fused, wanted, "{kind} in {variant}");
        // Beside them the loop only counts.
        assert_eq!(routine.iteration.len(), operations.len() + 2);
    }
}

/// An A64FX begins two operations a cycle, which take nine.
#[test]
fn chains_are_apart_by_more_operations_than_a_core_has_under_way() {
    for (kind, variant, routine) in all_flops() {
        let targets: Vec<&str> = routine
            .iteration
            .iter()
            .filter(|it| flops_of(it).0 > 0)
            .map(|it| it.registers().next().unwrap())
            .collect();
        let mut last = BTreeMap::new();
        // Twice round, so that the loop's end meets its beginning.
        for (place, target) in targets.iter().cycle().take(2 * targets.len()).enumerate() {
            if let Some(before) = last.insert(target, place) {
                assert!(place - before >= 18, "{kind} in {variant}: {place} after {before}");
            }
        }
        assert_eq!(last.len(), 20, "{kind} in {variant}");
    }
}

#[test]
fn the_caller_keeps_its_registers_and_only_the_exchange_is_used_around_the_loop() {
    let mixes = all_routines().map(|(mix, variant, it)| (mix.to_string(), variant, it));
    let flops = all_flops().map(|(kind, variant, it)| (kind.to_string(), variant, it));
    for (name, variant, routine) in mixes.chain(flops) {
        for instruction in routine.all().filter(|it| !it.mnemonic.starts_with("b.")) {
            for register in instruction.registers() {
                let digits: String =
                    register.chars().skip(1).take_while(char::is_ascii_digit).collect();
                let Ok(number) = digits.parse::<u32>() else { continue };
                let is_kept = match register.chars().next() {
                    // Also what the platform has for itself, in x18.
                    Some('x' | 'w') => number >= 16,
                    Some('p') => number > 0,
                    _ => (8..16).contains(&number),
                };
                assert!(!is_kept, "{name} in {variant}: {instruction:?}");
            }
        }
        let around = routine.before.iter().chain(&routine.after);
        for instruction in around.filter(|it| it.base().is_some()) {
            assert_eq!(instruction.base(), Some(EXCHANGE), "{name} in {variant}");
        }
        assert!(routine.before.iter().all(|it| !it.mnemonic.starts_with("st")));
        assert!(routine.after.iter().all(|it| !it.mnemonic.starts_with("ld")));
    }
}

#[test]
fn an_iteration_stays_in_the_cache_for_instructions() {
    for text in ["1l_256fma", "1l_512fma", "1l1s_512fma", "1l64nt_512fma", "64l63s_512fma"] {
        let Ok(mix) = text.parse::<Mix>() else { continue };
        for variant in VARIANTS {
            let code = assemble_mix(&mix, variant).unwrap();
            assert!(code.bytes.len() <= 24 << 10, "{mix} in {variant}: {}", code.bytes.len());
        }
    }
}
