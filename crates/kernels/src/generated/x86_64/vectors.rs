//! The vector instructions of each instruction set, under one name each.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};

use crate::Variant;
use crate::generated::Precision;

/// What two operands become. The codes of all are of f64 and of f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    /// `one + two`
    Add,
    /// `one - two`
    Subtract,
    /// `one * two`
    Multiply,
    /// Exclusive or of the bits.
    Xor,
}

/// The vector instructions of one instruction set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vectors {
    first: Register,
    pub bytes: usize,
    /// How many vector registers there are.
    pub registers: u32,
    load: Code,
    /// From register to register, in the fewest bytes.
    copy: Code,
    store: Code,
    store_non_temporal: Code,
    /// Whether `one = one op two` is all that it has, and operands in memory must be aligned.
    two_operands: bool,
    /// f64 and f32 of add, subtract, multiply; and exclusive or.
    combine: [[Code; 2]; 3],
    xor: Code,
    /// `one = one + two*three`, and `one = three - one*two`, of f64 and f32.
    fused: Option<[[Code; 2]; 2]>,
    /// Exclusive or of three.
    ternary: Option<Code>,
    /// What spares later SSE code a penalty.
    leave: Option<Code>,
}

const SSE2: Vectors = Vectors {
    first: Register::XMM0,
    bytes: 16,
    registers: 16,
    load: Code::Movupd_xmm_xmmm128,
    copy: Code::Movaps_xmm_xmmm128,
    store: Code::Movupd_xmmm128_xmm,
    store_non_temporal: Code::Movntpd_m128_xmm,
    two_operands: true,
    combine: [
        [Code::Addpd_xmm_xmmm128, Code::Addps_xmm_xmmm128],
        [Code::Subpd_xmm_xmmm128, Code::Subps_xmm_xmmm128],
        [Code::Mulpd_xmm_xmmm128, Code::Mulps_xmm_xmmm128],
    ],
    xor: Code::Pxor_xmm_xmmm128,
    fused: None,
    ternary: None,
    leave: None,
};

const AVX2: Vectors = Vectors {
    first: Register::YMM0,
    bytes: 32,
    registers: 16,
    load: Code::VEX_Vmovupd_ymm_ymmm256,
    copy: Code::VEX_Vmovaps_ymm_ymmm256,
    store: Code::VEX_Vmovupd_ymmm256_ymm,
    store_non_temporal: Code::VEX_Vmovntpd_m256_ymm,
    two_operands: false,
    combine: [
        [Code::VEX_Vaddpd_ymm_ymm_ymmm256, Code::VEX_Vaddps_ymm_ymm_ymmm256],
        [Code::VEX_Vsubpd_ymm_ymm_ymmm256, Code::VEX_Vsubps_ymm_ymm_ymmm256],
        [Code::VEX_Vmulpd_ymm_ymm_ymmm256, Code::VEX_Vmulps_ymm_ymm_ymmm256],
    ],
    xor: Code::VEX_Vpxor_ymm_ymm_ymmm256,
    fused: Some([
        [Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256, Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256],
        [Code::VEX_Vfnmadd213pd_ymm_ymm_ymmm256, Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256],
    ]),
    ternary: None,
    leave: Some(Code::VEX_Vzeroupper),
};

const AVX512: Vectors = Vectors {
    first: Register::ZMM0,
    bytes: 64,
    registers: 32,
    load: Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
    copy: Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
    store: Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
    store_non_temporal: Code::EVEX_Vmovntpd_m512_zmm,
    two_operands: false,
    combine: [
        [Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er, Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er],
        [Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er, Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er],
        [Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er, Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er],
    ],
    xor: Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
    fused: Some([
        [
            Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
            Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
        [
            Code::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
    ]),
    ternary: Some(Code::EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8),
    leave: Some(Code::VEX_Vzeroupper),
};

type Assembled = Result<Instruction, IcedError>;

impl Vectors {
    /// Those of a variant; `None` if it has no vectors, or does not walk in order.
    pub fn of(variant: Variant) -> Option<Vectors> {
        match variant {
            Variant::Avx512 => Some(AVX512),
            Variant::Avx2 => Some(AVX2),
            Variant::Sse2 => Some(SSE2),
            _ => None,
        }
    }

    pub fn has_fused(&self) -> bool {
        self.fused.is_some()
    }

    /// Whether [`Vectors::xor_of_three`] gives an instruction.
    pub fn has_ternary(&self) -> bool {
        self.ternary.is_some()
    }

    fn register(&self, index: u32) -> Register {
        debug_assert!(index < self.registers);
        self.first + index
    }

    pub fn load(&self, register: u32, from: MemoryOperand) -> Assembled {
        Instruction::with2(self.load, self.register(register), from)
    }

    pub fn store(&self, to: MemoryOperand, register: u32) -> Assembled {
        Instruction::with2(self.store, to, self.register(register))
    }

    pub fn store_non_temporal(&self, to: MemoryOperand, register: u32) -> Assembled {
        Instruction::with2(self.store_non_temporal, to, self.register(register))
    }

    pub fn copy(&self, to: u32, from: u32) -> Assembled {
        Instruction::with2(self.copy, self.register(to), self.register(from))
    }

    /// `one = one op two`
    pub fn combine(&self, op: Combine, precision: Precision, one: u32, two: u32) -> Assembled {
        let (one, two) = (self.register(one), self.register(two));
        let code = self.code_of(op, precision);
        if self.two_operands {
            Instruction::with2(code, one, two)
        } else {
            Instruction::with3(code, one, one, two)
        }
    }

    /// `one = one op [memory]`, where memory need not be aligned: two instructions and the register
    /// `scratch` if there is no other way.
    pub fn combine_memory(
        &self,
        op: Combine,
        one: u32,
        memory: MemoryOperand,
        scratch: u32,
    ) -> Result<Vec<Instruction>, IcedError> {
        if self.two_operands {
            let load = self.load(scratch, memory)?;
            return Ok(vec![load, self.combine(op, Precision::Double, one, scratch)?]);
        }
        let register = self.register(one);
        let code = self.code_of(op, Precision::Double);
        Ok(vec![Instruction::with3(code, register, register, memory)?])
    }

    fn code_of(&self, op: Combine, precision: Precision) -> Code {
        match op {
            Combine::Add => self.combine[0][precision as usize],
            Combine::Subtract => self.combine[1][precision as usize],
            Combine::Multiply => self.combine[2][precision as usize],
            Combine::Xor => self.xor,
        }
    }

    /// `register = 0`
    pub fn clear(&self, register: u32) -> Assembled {
        self.combine(Combine::Xor, Precision::Double, register, register)
    }

    /// `one = one + two*two`; `None` without fused multiply-add.
    pub fn add_square(&self, one: u32, two: u32) -> Option<Assembled> {
        let code = self.fused?[0][Precision::Double as usize];
        let (one, two) = (self.register(one), self.register(two));
        Some(Instruction::with3(code, one, two, two))
    }

    /// `one = two - one*one`; `None` without fused multiply-add.
    pub fn subtract_square(&self, precision: Precision, one: u32, two: u32) -> Option<Assembled> {
        let code = self.fused?[1][precision as usize];
        let (one, two) = (self.register(one), self.register(two));
        Some(Instruction::with3(code, one, one, two))
    }

    /// `one = one ^ two ^ [memory]`; `None` where that takes more than one instruction.
    pub fn xor_of_three(&self, one: u32, two: u32, memory: MemoryOperand) -> Option<Assembled> {
        // The truth table of the exclusive or of three.
        const XOR: u32 = 0x96;
        let (one, two) = (self.register(one), self.register(two));
        Some(Instruction::with4(self.ternary?, one, two, memory, XOR))
    }

    /// What stands before the return.
    pub fn leave(&self) -> Option<Instruction> {
        self.leave.map(Instruction::with)
    }
}
