//! Arithmetic without memory: what a generated loop over registers does.

use std::fmt;
use std::str::FromStr;

use super::machine_code::MachineCode;
use super::quotation::quotation;
use super::{FlopLoop, architecture};
use crate::{Constants, Unavailable, Variant};

/// Which floating-point operations are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlopOperation {
    /// Additions and subtractions.
    Add,
    /// Multiplications.
    Mul,
    /// Fused multiply-adds; each is two FLOPs.
    Fma,
    /// As many fused multiply-adds as additions: the most that AMD Zen and its successors do,
    /// which have pipes for each (AMD, Software Optimization Guide for the Zen 4
    /// Microarchitecture, section 2.11).
    FmaAdd,
    /// As many multiplications as additions: the most that CPUs without fused multiply-add do.
    MulAdd,
}

/// The width of a floating-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `f64`
    Double,
    /// `f32`
    Single,
}

impl Precision {
    /// Both.
    pub const ALL: [Precision; 2] = [Precision::Double, Precision::Single];

    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::Double => 8,
            Precision::Single => 4,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Precision::Double => "dp",
            Precision::Single => "sp",
        }
    }
}

/// Floating-point operations on registers alone.
///
/// There are this many independent chains that none waits for another, and the numbers in them are
/// never infinite, denormal or constant: a fused multiply-add is a step of the chaotic map
/// `x = C - x*x` (on AArch64 it alternates between `x + G*H` and `x - G*H`), an addition alternates between `x + A` and `x - A`, a multiplication between
/// `x*G` and `x*H`, where `G*H` is nearly 1.
///
/// The text is `fma_dp`, `add_sp`, `fma_add_dp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flops {
    pub operation: FlopOperation,
    /// On which numbers.
    pub precision: Precision,
}

impl FlopOperation {
    pub const ALL: [FlopOperation; 5] = [
        FlopOperation::Add,
        FlopOperation::Mul,
        FlopOperation::Fma,
        FlopOperation::FmaAdd,
        FlopOperation::MulAdd,
    ];

    fn word(self) -> &'static str {
        match self {
            FlopOperation::Add => "add",
            FlopOperation::Mul => "mul",
            FlopOperation::Fma => "fma",
            FlopOperation::FmaAdd => "fma_add",
            FlopOperation::MulAdd => "mul_add",
        }
    }

    /// The chains of a turn. Cores begin at most two operations of a kind per cycle, which take
    /// four or five cycles, six on Knights Landing: twelve chains. On Zen, which begins two of each
    /// of both kinds, a fused one takes four and an addition three: eight and six. With their
    /// constants they fill the sixteen registers of AVX2.
    ///
    /// On AArch64 an A64FX begins two a cycle, which take nine: twenty chains. A Neoverse V2 begins
    /// four, which take four. No core has pipes of their own for additions. NEON has no
    /// instruction for a step of the chaotic map.
    pub(super) fn chains(self, variant: Variant) -> &'static [Chains] {
        const fn chains(map: Map, count: u32, rounds: u32) -> Chains {
            Chains { map, count, rounds }
        }
        if let Variant::Neon | Variant::Sve = variant {
            return match self {
                FlopOperation::Add => const { &[chains(Map::Addition, 20, 8)] },
                FlopOperation::Mul => const { &[chains(Map::Multiplication, 20, 8)] },
                FlopOperation::Fma => const { &[chains(Map::Product, 20, 8)] },
                FlopOperation::FmaAdd => {
                    const { &[chains(Map::Product, 10, 8), chains(Map::Addition, 10, 8)] }
                }
                FlopOperation::MulAdd => {
                    const { &[chains(Map::Multiplication, 10, 8), chains(Map::Addition, 10, 8)] }
                }
            };
        }
        match self {
            FlopOperation::Add => const { &[chains(Map::Addition, 12, 8)] },
            FlopOperation::Mul => const { &[chains(Map::Multiplication, 12, 8)] },
            FlopOperation::Fma => const { &[chains(Map::Quadratic, 12, 8)] },
            FlopOperation::FmaAdd => {
                const { &[chains(Map::Quadratic, 8, 6), chains(Map::Addition, 6, 8)] }
            }
            FlopOperation::MulAdd => {
                const { &[chains(Map::Multiplication, 6, 8), chains(Map::Addition, 6, 8)] }
            }
        }
    }
}

/// Independent chains of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chains {
    pub map: Map,
    pub count: u32,
    /// Operations on each chain in one turn; even, so that every turn begins alike.
    pub rounds: u32,
}

/// What happens to a number again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Map {
    /// `x = C - x*x`, rounded once. From [0.5, 1) it stays in [C - C*C, C].
    Quadratic,
    /// `x + G*H` in even rounds, `x - G*H` in odd ones, each rounded once.
    Product,
    /// `x + A` in even rounds, `x - A` in odd ones.
    Addition,
    /// `x*G` in even rounds, `x*H` in odd ones.
    Multiplication,
}

impl Map {
    /// C; A; G and H.
    ///
    /// C is where the map is chaotic. A, and G and H, are irrational: their mantissas are full.
    pub(super) fn constants(self) -> &'static [f64] {
        match self {
            Map::Quadratic => &[1.9],
            Map::Addition => &[std::f64::consts::FRAC_1_SQRT_2],
            Map::Multiplication => &[1.272_019_649_514_069, 0.786_151_377_757_423_3],
            Map::Product => &[std::f64::consts::FRAC_1_SQRT_2, 0.786_151_377_757_423_3],
        }
    }

    pub(super) fn flops(self) -> u32 {
        match self {
            Map::Quadratic | Map::Product => 2,
            Map::Addition | Map::Multiplication => 1,
        }
    }
}

/// Where a chain begins: another normal number in [0.5, 1) for each chain and lane.
pub(super) fn first_value(chain: u32, lane: usize) -> f64 {
    let lanes = Constants::for_pass(u64::from(chain) * 2 + lane as u64 / 8).lanes;
    lanes[lane % 8] / 2.0
}

impl Flops {
    /// Lanes of a vector.
    fn lanes(&self, variant: Variant) -> usize {
        variant.vector_bytes() / self.precision.bytes()
    }

    /// Operations on vectors in one turn, of whatever kind.
    pub fn operations_per_turn(&self, variant: Variant) -> u32 {
        self.operation.chains(variant).iter().map(|chains| chains.count * chains.rounds).sum()
    }

    /// Floating-point operations of this many turns; a fused multiply-add is two.
    pub fn flops(&self, variant: Variant, turns: u64) -> u64 {
        let of_lane = |chains: &Chains| chains.count * chains.rounds * chains.map.flops();
        let of_lane: u32 = self.operation.chains(variant).iter().map(of_lane).sum();
        u64::from(of_lane) * self.lanes(variant) as u64 * turns
    }

    /// Its loop in one instruction set. Takes some tens of microseconds.
    ///
    /// # Errors
    ///
    /// If there is no such form, this CPU does not run it, or Linux gives no executable memory.
    pub fn generate(&self, variant: Variant) -> Result<FlopLoop, Unavailable> {
        let assembled = architecture::assemble_flops(self, variant)?;
        let code = MachineCode::of(self, variant, assembled)?;
        Ok(FlopLoop::new(*self, variant, code))
    }

    /// What [`FlopLoop::run`] must give for this many turns, computed one number after the other:
    /// the exclusive or of the bits of all chains' numbers. Takes thousands of times as long.
    pub fn expected(&self, variant: Variant, turns: u64) -> u64 {
        let mut folded = 0;
        let mut chain = 0;
        for chains in self.operation.chains(variant) {
            let rounds = turns * u64::from(chains.rounds);
            for _ in 0..chains.count {
                for lane in 0..self.lanes(variant) {
                    let first = first_value(chain, lane);
                    let map = chains.map;
                    let evens = (0..rounds).map(|round| round.is_multiple_of(2));
                    folded ^= match self.precision {
                        Precision::Double => {
                            evens.fold(first, |x, even| next(map, x, even)).to_bits()
                        }
                        Precision::Single => {
                            #[expect(
                                clippy::cast_possible_truncation,
                                reason = "rounding is meant"
                            )]
                            let first = first as f32;
                            let bits = evens.fold(first, |x, even| next_single(map, x, even));
                            // Two lanes make a word.
                            u64::from(bits.to_bits()) << (32 * (lane % 2))
                        }
                    };
                }
                chain += 1;
            }
        }
        folded
    }
}

/// One operation on a number.
fn next(map: Map, x: f64, even: bool) -> f64 {
    let constants = map.constants();
    match map {
        Map::Quadratic => (-x).mul_add(x, constants[0]),
        Map::Product if even => constants[0].mul_add(constants[1], x),
        Map::Product => (-constants[0]).mul_add(constants[1], x),
        Map::Addition if even => x + constants[0],
        Map::Addition => x - constants[0],
        Map::Multiplication => x * constants[usize::from(!even)],
    }
}

/// The same in single precision.
fn next_single(map: Map, x: f32, even: bool) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    let constant = |index: usize| map.constants()[index] as f32;
    match map {
        Map::Quadratic => (-x).mul_add(x, constant(0)),
        Map::Product if even => constant(0).mul_add(constant(1), x),
        Map::Product => (-constant(0)).mul_add(constant(1), x),
        Map::Addition if even => x + constant(0),
        Map::Addition => x - constant(0),
        Map::Multiplication => x * constant(usize::from(!even)),
    }
}

impl fmt::Display for Flops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}_{}", self.operation.word(), self.precision.word()))
    }
}

impl FromStr for Flops {
    type Err = UnknownFlops;

    fn from_str(text: &str) -> Result<Flops, UnknownFlops> {
        let all = FlopOperation::ALL.into_iter().flat_map(|operation| {
            Precision::ALL.into_iter().map(move |precision| Flops { operation, precision })
        });
        all.into_iter()
            .find(|flops| flops.to_string() == text)
            .ok_or_else(|| UnknownFlops(text.to_owned()))
    }
}

/// A word that names no [`Flops`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is no arithmetic: use add, mul, fma, fma_add or mul_add, with _dp for double or _sp for \
     single precision",
    quotation(.0)
)]
pub struct UnknownFlops(pub String);

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    /// Chains and lanes of the widest form.
    fn first_values(map: Map, lanes: usize) -> Vec<f64> {
        let chains = if map == Map::Quadratic { 12 } else { 20 };
        (0..chains).flat_map(|chain| (0..lanes).map(move |lane| first_value(chain, lane))).collect()
    }

    #[test]
    fn chains_begin_with_unlike_normal_numbers() {
        let firsts = first_values(Map::Addition, 16);
        assert!(firsts.iter().all(|first| (0.5..1.0).contains(first)));
        let distinct: HashSet<u64> = firsts.iter().map(|first| first.to_bits()).collect();
        assert_eq!(distinct.len(), firsts.len());
    }

    /// What a map may give, so that nothing is infinite, and nothing denormal: a number that is
    /// so near to 0 would show that it can be.
    fn fits(map: Map, x: f64) -> bool {
        let range = match map {
            Map::Quadratic => -1.72..=1.91,
            Map::Addition | Map::Product => 0.4..=1.8,
            Map::Multiplication => 0.4..=1.4,
        };
        range.contains(&x) && (x.to_bits() << 1 == 0 || x.abs() > 1e-30)
    }

    #[test]
    fn in_single_precision_chains_stay_normal_for_ever() {
        // A chain that is again where it was after as many rounds stays on that cycle.
        for map in [Map::Quadratic, Map::Product, Map::Addition, Map::Multiplication] {
            for first in first_values(map, 16) {
                #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
                let mut x = first as f32;
                let mut seen = HashMap::new();
                let length = loop {
                    if let Some(before) = seen.insert(x.to_bits(), seen.len()) {
                        break seen.len() - before;
                    }
                    let between = next_single(map, x, true);
                    x = next_single(map, between, false);
                    assert!(
                        fits(map, f64::from(x)) && fits(map, f64::from(between)),
                        "{map:?} {x}"
                    );
                    assert_ne!(x.to_bits(), between.to_bits(), "{map:?}: {x} stands still");
                };
                assert!(map != Map::Quadratic || length >= 16, "{first}: {length} turns");
            }
        }
    }

    #[test]
    fn in_double_precision_alternating_chains_return_and_chaotic_ones_do_not() {
        for map in [Map::Product, Map::Addition, Map::Multiplication] {
            for first in first_values(map, 8) {
                let mut x = first;
                let mut seen = HashSet::new();
                while seen.insert(x.to_bits()) {
                    let between = next(map, x, true);
                    x = next(map, between, false);
                    assert!(fits(map, x) && fits(map, between), "{map:?} from {first}: {x}");
                }
            }
        }
        let mut seen = HashSet::new();
        for first in first_values(Map::Quadratic, 8) {
            let chain =
                std::iter::successors(Some(first), |&x| Some(next(Map::Quadratic, x, true)));
            for x in chain.take(5000) {
                assert!(fits(Map::Quadratic, x), "from {first}: {x}");
                assert!(seen.insert(x.to_bits()), "from {first}: {x} came back");
            }
        }
    }

    #[test]
    fn all_kinds_of_an_operation_do_as_many_in_a_turn_and_end_as_they_began() {
        // What a routine may change: of sixteen or more on x86-64, of all but eight on AArch64.
        let kinds =
            [(Variant::Sse2, 16), (Variant::Avx512, 16), (Variant::Sve, 24), (Variant::Neon, 24)];
        let all = kinds.into_iter().flat_map(|kind| FlopOperation::ALL.map(|it| (it, kind)));
        for (operation, (variant, most)) in all {
            let chains = operation.chains(variant);
            let counts: HashSet<u32> = chains.iter().map(|one| one.count * one.rounds).collect();
            assert_eq!(counts.len(), 1, "{operation:?}");
            assert!(chains.iter().all(|one| one.rounds.is_multiple_of(2)));
            let registers: usize =
                chains.iter().map(|one| one.count as usize + one.map.constants().len()).sum();
            assert!(registers <= most, "{operation:?} takes {registers} registers");
        }
    }
}
