//! The frame of every generated routine: what comes before the loop, its body, what comes after.

use std::fmt::Display;

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

use super::vectors::Vectors;
use crate::generated::machine_code::Assembled;
use crate::{Unavailable, Variant};

/// Where the routine's first argument is, and so on: the calling convention of x86-64 Linux.
pub(super) const DESTINATION: Register = Register::RDI;
pub(super) const SOURCE: Register = Register::RSI;
const ITERATIONS: Register = Register::RDX;
const PASSES: Register = Register::RCX;
pub(super) const EXCHANGE: Register = Register::R8;

const ITERATIONS_LEFT: Register = Register::RAX;
const DESTINATION_BYTES: Register = Register::R9;
const SOURCE_BYTES: Register = Register::R10;

/// Loops begin on such a boundary, as those of the catalog do.
const ALIGNMENT: usize = 64;

/// One byte that traps.
const INT3: u8 = 0xCC;

/// What a routine does around and in its loop. The loop's pointers and counters are added.
#[derive(Debug, Default)]
pub(super) struct Looped {
    /// Done once, before.
    pub before: Vec<Instruction>,
    /// One iteration. Addresses are pointer plus constant: an index register makes many Intel
    /// cores issue an operation on memory as two.
    pub iteration: Vec<Instruction>,
    /// Bytes that an iteration moves on in the destination.
    pub destination_stride: i32,
    /// Bytes that an iteration moves on in the source.
    pub source_stride: i32,
    /// Done once, after.
    pub after: Vec<Instruction>,
}

/// The routines of `recipe` for the vectors of a variant, or why it has none in that.
pub(super) fn assembled(
    recipe: &impl Display,
    variant: Variant,
    assemble: impl FnOnce(Vectors) -> Result<Result<Assembled, &'static str>, IcedError>,
) -> Result<Assembled, Unavailable> {
    let name = recipe.to_string();
    let made = match Vectors::of(variant) {
        Some(vectors) => assemble(vectors),
        None => Ok(Err("loops are generated for vectors, and walk in order")),
    };
    match made {
        Ok(Ok(assembled)) => Ok(assembled),
        Ok(Err(why)) => Err(Unavailable::NotWritten { name, variant, why }),
        Err(cause) => Err(Unavailable::NotAssembled { name, variant, cause: cause.to_string() }),
    }
}

impl Looped {
    /// Appends the routine to `code`; gives the place where it is entered.
    ///
    /// # Errors
    ///
    /// When the assembler refuses an instruction.
    pub fn assemble(&self, code: &mut Vec<u8>) -> Result<usize, IcedError> {
        let strides = [
            (DESTINATION, DESTINATION_BYTES, self.destination_stride),
            (SOURCE, SOURCE_BYTES, self.source_stride),
        ]
        .into_iter()
        .filter(|&(_, _, stride)| stride != 0);

        let mut before = self.before.clone();
        for (_, bytes, stride) in strides.clone() {
            before.push(Instruction::with3(Code::Imul_r64_rm64_imm32, bytes, ITERATIONS, stride)?);
        }
        let begin_pass = Instruction::with2(Code::Mov_r64_rm64, ITERATIONS_LEFT, ITERATIONS)?;
        before.push(begin_pass);

        // The loop is aligned by what stands before the entry, so that no padding is run.
        let mut scratch = Encoder::new(64);
        append(&mut scratch, &before)?;
        let before_len = scratch.take_buffer().len();
        let entry = (code.len() + before_len).next_multiple_of(ALIGNMENT) - before_len;
        code.resize(entry, INT3);

        let mut encoder = Encoder::new(64);
        encoder.set_buffer(std::mem::take(code));
        let mut place = entry as u64;
        let mut emit = |instruction: &Instruction| -> Result<(), IcedError> {
            place += encoder.encode(instruction, place)? as u64;
            Ok(())
        };
        before.iter().try_for_each(&mut emit)?;
        let head = (entry + before_len) as u64;
        self.iteration.iter().try_for_each(&mut emit)?;
        for (pointer, _, stride) in strides.clone() {
            emit(&Instruction::with2(Code::Add_rm64_imm32, pointer, stride)?)?;
        }
        emit(&Instruction::with1(Code::Dec_rm64, ITERATIONS_LEFT)?)?;
        emit(&Instruction::with_branch(Code::Jne_rel32_64, head)?)?;
        for (pointer, bytes, _) in strides {
            emit(&Instruction::with2(Code::Sub_r64_rm64, pointer, bytes)?)?;
        }
        emit(&begin_pass)?;
        emit(&Instruction::with1(Code::Dec_rm64, PASSES)?)?;
        emit(&Instruction::with_branch(Code::Jne_rel32_64, head)?)?;
        self.after.iter().try_for_each(&mut emit)?;
        emit(&Instruction::with(Code::Retnq))?;
        *code = encoder.take_buffer();
        Ok(entry)
    }
}

fn append(encoder: &mut Encoder, instructions: &[Instruction]) -> Result<(), IcedError> {
    let mut place = 0;
    for instruction in instructions {
        place += encoder.encode(instruction, place)? as u64;
    }
    Ok(())
}

/// The `index`-th vector of 64 bytes of the exchange.
pub(super) fn exchange_vector(index: usize) -> MemoryOperand {
    at(EXCHANGE, index * 64)
}

/// The place `bytes` after a pointer.
pub(super) fn at(pointer: Register, bytes: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(pointer, i64::try_from(bytes).unwrap_or(i64::MAX))
}
