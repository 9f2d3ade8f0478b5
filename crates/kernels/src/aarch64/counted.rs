//! Tests: bytes and operations as counted from the instructions that an emulator runs, one by one,
//! against what the catalog declares.
//!
//! QEMU writes down the address of each instruction that it runs; objdump says what stands there. So
//! neither the source of a loop nor its results are asked.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Command;

use super::bodies;
use super::objdump::{Instruction, disassemble};
use crate::body::Body;
use crate::{CATALOG, Constants, Kernel, Operands, Operation, Variant};

/// Set for the process that is watched.
const WATCHED: &str = "NEARFAR_TEST_WATCHED";

const NAME: &str = "aarch64::counted::what_is_executed_is_what_the_catalog_declares";

/// Bytes of vectors that the tier has told the emulator to have.
const SVE_BYTES: &str = "NEARFAR_TEST_SVE_BYTES";

const ITERATIONS: usize = 3;

/// The last two are run by other code than those before, of `load`.
const REPEATS: u32 = 4;

/// What was executed of one routine, by its instructions.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    loaded: u64,
    stored: u64,
    stored_non_temporally: u64,
    flops: u64,
}

fn loops() -> Vec<(&'static Kernel, Variant, Body)> {
    let of = |kernel: &'static Kernel| {
        let body = |variant| Some(bodies(variant)?.of(kernel.operation, kernel.non_temporal));
        kernel.variants().into_iter().filter_map(move |it| Some((kernel, it, body(it)?)))
    };
    CATALOG.iter().flat_map(of).collect()
}

/// The instructions of a routine up to its end, as they lie in memory.
fn code_of(start: usize) -> Vec<u8> {
    const RET: u32 = 0xd65f_03c0;
    let first = std::ptr::with_exposed_provenance::<u32>(start);
    // SAFETY: instructions of this program, of four bytes each, up to the return of the routine.
    let words = (0..).map(|index| unsafe { first.wrapping_add(index).read() });
    let mut is_over = false;
    let words = words.take_while(|&word| !std::mem::replace(&mut is_over, word == RET));
    words.flat_map(u32::to_le_bytes).collect()
}

/// Adds what an instruction does that was executed this many times.
fn count(counts: &mut Counts, instruction: &Instruction, times: u64) {
    let Instruction { mnemonic, operands } = instruction;
    let vector = Variant::Sve.vector_bytes() as u64;
    let is_sve = operands.starts_with('z') || operands.starts_with("{z");
    let is_array = instruction.base().is_some_and(|base| ["x0", "x1", "x2"].contains(&base));
    let bytes = match mnemonic.as_str() {
        "ldp" | "stp" | "stnp" if is_array && operands.starts_with('q') => 32 * times,
        "ldr" | "str" | "stnt1d" if is_array && is_sve => vector * times,
        _ => 0,
    };
    match mnemonic.as_str() {
        "stp" | "str" => counts.stored += bytes,
        "stnp" | "stnt1d" => counts.stored_non_temporally += bytes,
        "ldp" | "ldr" => counts.loaded += bytes,
        // Of reductions what comes after the loop is no operation of an element.
        "fadd" | "fmul" | "fmla" if times > 1 => {
            let lanes = if is_sve { vector / 8 } else { 2 };
            counts.flops += times * lanes * if mnemonic == "fmla" { 2 } else { 1 };
        }
        _ => {}
    }
    assert!(!is_array || bytes > 0 || times == 0, "{mnemonic} {operands} accesses an array unseen");
}

/// Runs every loop over whole iterations, and says where its code is.
fn run_watched() {
    for (kernel, variant, body) in loops() {
        let len = ITERATIONS * body.iteration_bytes / 8;
        let mut memory = vec![1.0; 3 * len + 8];
        let first = crate::line::elements_to_next_line(&memory);
        let (a, rest) = memory[first..].split_at_mut(len);
        let (b, c) = (&rest[..len], &rest[len..2 * len]);
        let operands = match kernel.operation {
            Operation::Load => Operands::load(b),
            Operation::Store => Operands::store(a),
            Operation::Copy | Operation::Scale => Operands::map(a, b),
            Operation::Add | Operation::Triad => Operands::zip(a, b, c),
            Operation::Ddot => Operands::dot(b, c),
        };
        let constants = Constants::for_pass(1);
        kernel.in_variant(variant).unwrap().run(operands, &constants, REPEATS);
        let unfolded = body.unfolded.map_or(0, |code| code as usize);
        println!("LOOP {} {variant} {:#x} {unfolded:#x}", kernel.name, body.code as usize);
    }
}

#[test]
#[ignore = "needs QEMU's program for AArch64, which counts: run by `make arm64`"]
fn what_is_executed_is_what_the_catalog_declares() {
    if std::env::var_os(WATCHED).is_some() {
        return run_watched();
    }
    if let Some(told) = std::env::var_os(SVE_BYTES) {
        assert_eq!(told.to_str().unwrap(), Variant::Sve.vector_bytes().to_string());
    }
    let folder = std::env::temp_dir().join(format!("nearfar-counted-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("executed");
    let output = Command::new("qemu-aarch64")
        .args(["-singlestep", "-d", "exec,nochain", "-D"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--ignored", "--nocapture", "--test-threads", "1"])
        .env(WATCHED, "1")
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && told.contains("1 passed"), "{told}");

    // Trace 0: HOST [BASE/ADDRESS/FLAGS/FLAGS]
    let mut executed: BTreeMap<usize, u64> = BTreeMap::new();
    for line in BufReader::new(File::open(&log).unwrap()).lines() {
        let line = line.unwrap();
        let Some(address) = line.split('/').nth(1) else { continue };
        *executed.entry(usize::from_str_radix(address, 16).unwrap()).or_default() += 1;
    }
    let told: Vec<Vec<&str>> = told
        .lines()
        .filter_map(|line| line.split_once("LOOP "))
        .map(|(_, line)| line.split(' ').collect())
        .collect();
    let loops = loops();
    assert_eq!(told.len(), loops.len(), "{told:?}");
    let sets = 1 + usize::from(Variant::Sve.is_available());
    assert_eq!(loops.len(), CATALOG.len() * sets);

    for ((kernel, variant, body), told) in loops.into_iter().zip(told) {
        assert_eq!(told[..2], [kernel.name, variant.word()]);
        let mut counts = Counts::default();
        for (code, told) in [Some(body.code), body.unfolded].into_iter().flatten().zip(&told[2..]) {
            let there = usize::from_str_radix(&told[2..], 16).unwrap();
            let instructions = disassemble(&code_of(code as usize));
            for (index, instruction) in instructions.iter().enumerate() {
                let times = executed.get(&(there + 4 * index)).copied().unwrap_or(0);
                count(&mut counts, instruction, times);
            }
        }
        let elements = (ITERATIONS * body.iteration_bytes / 8) as u64 * u64::from(REPEATS);
        let stored = 8 * u64::from(kernel.stores()) * elements;
        let (stored, past) = if kernel.non_temporal { (0, stored) } else { (stored, 0) };
        let declared = Counts {
            loaded: 8 * u64::from(kernel.loads()) * elements,
            stored,
            stored_non_temporally: past,
            flops: u64::from(kernel.flops()) * elements,
        };
        assert_eq!(counts, declared, "{} in {variant}", kernel.name);
        let bytes = counts.loaded + counts.stored + counts.stored_non_temporally;
        assert_eq!(bytes, kernel.useful_bytes(elements), "{} in {variant}", kernel.name);
    }
    fs::remove_dir_all(&folder).unwrap();
}
