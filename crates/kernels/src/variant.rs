//! The instruction sets a kernel can run in, and the orders in which it walks through its arrays.

use std::fmt;
use std::str::FromStr;

/// An instruction set, as wide as its loads and stores, and how the arrays are walked through: in
/// their order, as a program's plain loop does, or some pages in turn, a line of each. In order they
/// are ordered from the widest.
///
/// A page is 4096 bytes here, wherever it begins and whatever pages Linux gave the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// 64-byte vectors with fused multiply-add; needs AVX-512F.
    Avx512,
    /// 32-byte vectors with fused multiply-add; needs AVX2 and FMA.
    Avx2,
    /// 16-byte vectors, separate multiply and add; every x86-64 CPU.
    Sse2,
    /// Vectors as long as the CPU has them, 16 to 256 bytes, with fused multiply-add; AArch64 with
    /// SVE. Where they are no longer than those of NEON it is still another set.
    Sve,
    /// 16-byte vectors in pairs, with fused multiply-add; every AArch64 CPU.
    Neon,
    /// One `f64` at a time, in plain Rust; every CPU.
    Portable,
    /// As [`Variant::Avx512`], two pages in turn.
    Avx512Pages2,
    /// As [`Variant::Avx512`], four pages in turn.
    Avx512Pages4,
    /// As [`Variant::Avx2`], two pages in turn.
    Avx2Pages2,
    /// As [`Variant::Avx2`], four pages in turn.
    Avx2Pages4,
}

impl Variant {
    /// Every variant that walks in order, those of an architecture widest first: one of each
    /// instruction set.
    pub const ALL: [Variant; 6] = [
        Variant::Avx512,
        Variant::Avx2,
        Variant::Sse2,
        Variant::Sve,
        Variant::Neon,
        Variant::Portable,
    ];

    /// Those that take pages in turn.
    pub const PAGES_IN_TURN: [Variant; 4] =
        [Variant::Avx512Pages2, Variant::Avx512Pages4, Variant::Avx2Pages2, Variant::Avx2Pages4];

    /// All: those in order, widest first, then those that take pages in turn.
    pub fn every() -> impl Iterator<Item = Variant> {
        Self::ALL.into_iter().chain(Self::PAGES_IN_TURN)
    }

    /// The same instruction set in order.
    pub fn in_order(self) -> Variant {
        match self {
            Variant::Avx512 | Variant::Avx512Pages2 | Variant::Avx512Pages4 => Variant::Avx512,
            Variant::Avx2 | Variant::Avx2Pages2 | Variant::Avx2Pages4 => Variant::Avx2,
            Variant::Sse2 | Variant::Sve | Variant::Neon | Variant::Portable => self,
        }
    }

    /// How many pages take turns; 1 in order.
    pub fn pages_in_turn(self) -> usize {
        match self {
            Variant::Avx512Pages2 | Variant::Avx2Pages2 => 2,
            Variant::Avx512Pages4 | Variant::Avx2Pages4 => 4,
            _ => 1,
        }
    }

    /// Whether this CPU and its operating system run it.
    pub fn is_available(self) -> bool {
        match self.in_order() {
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Variant::Sse2 => true,
            #[cfg(target_arch = "aarch64")]
            Variant::Sve => std::arch::is_aarch64_feature_detected!("sve"),
            #[cfg(target_arch = "aarch64")]
            Variant::Neon => true,
            Variant::Portable => true,
            _ => false,
        }
    }

    /// The variants in order that this CPU runs, widest first.
    pub fn available() -> Vec<Variant> {
        Self::ALL.into_iter().filter(|variant| variant.is_available()).collect()
    }

    /// Bytes of a vector: the width of one load or store, but that NEON's are made in pairs. SVE's
    /// are as long as this CPU, and Linux for this thread, have them; where there is no SVE, these
    /// are the 16 which are the least that it can have.
    pub fn vector_bytes(self) -> usize {
        match self.in_order() {
            Variant::Avx512 => 64,
            Variant::Avx2 => 32,
            #[cfg(target_arch = "aarch64")]
            Variant::Sve if self.is_available() => crate::architecture::sve_bytes(),
            Variant::Sse2 | Variant::Sve | Variant::Neon => 16,
            _ => 8,
        }
    }

    /// Whether its non-temporal stores are hints, which a core may take for ordinary stores: those of
    /// AArch64 (Arm Architecture Reference Manual, "Load/store non-temporal pair").
    pub fn non_temporal_is_hint(self) -> bool {
        matches!(self, Variant::Sve | Variant::Neon)
    }

    /// The word for it in arguments and records.
    pub fn word(self) -> &'static str {
        match self {
            Variant::Avx512 => "avx512",
            Variant::Avx2 => "avx2",
            Variant::Sse2 => "sse2",
            Variant::Sve => "sve",
            Variant::Neon => "neon",
            Variant::Portable => "portable",
            Variant::Avx512Pages2 => "avx512-pages2",
            Variant::Avx512Pages4 => "avx512-pages4",
            Variant::Avx2Pages2 => "avx2-pages2",
            Variant::Avx2Pages4 => "avx2-pages4",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Self, UnknownVariant> {
        Self::every()
            .find(|variant| variant.word() == text)
            .ok_or_else(|| UnknownVariant(text.to_owned()))
    }
}

/// A word that names no [`Variant`].
// {:?} escapes control characters that a file may have put there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no instruction set: use one of avx512, avx2, sse2, portable, or on ARM sve, neon, portable; pages \
     in turn are avx512-pages2, avx512-pages4, avx2-pages2, avx2-pages4"
)]
pub struct UnknownVariant(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_read_back_from_its_own_text() {
        for variant in Variant::every() {
            assert_eq!(variant.to_string().parse(), Ok(variant));
        }
    }

    #[test]
    fn pages_in_turn_are_told_by_the_word() {
        for variant in Variant::every() {
            let in_order = variant.in_order().to_string();
            let word = match variant.pages_in_turn() {
                1 => in_order,
                pages => format!("{in_order}-pages{pages}"),
            };
            assert_eq!(variant.to_string(), word);
            assert_eq!(variant.vector_bytes(), variant.in_order().vector_bytes());
            assert_eq!(variant.is_available(), variant.in_order().is_available());
        }
    }

    #[test]
    fn other_words_are_refused_and_quoted_with_what_would_do() {
        for text in ["", "AVX512", "avx512 ", "avx-512", "neon\u{1b}[2J"] {
            let refusal = text.parse::<Variant>().unwrap_err();
            assert_eq!(refusal, UnknownVariant(text.to_owned()));
            let message = refusal.to_string();
            assert!(message.contains("avx512, avx2, sse2, portable"), "{message}");
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
    }

    #[test]
    fn variants_get_narrower_in_the_order_of_all() {
        let (x86, others) = Variant::ALL.split_at(3);
        let widths = |of: &[Variant]| of.iter().map(|it| it.vector_bytes()).collect::<Vec<_>>();
        assert_eq!(widths(x86), [64, 32, 16]);
        assert!(widths(others).is_sorted_by(|one, two| one >= two), "{:?}", widths(others));
        assert!(Variant::ALL.is_sorted());
    }

    #[test]
    fn portable_is_available_everywhere_and_last() {
        assert_eq!(Variant::available().last(), Some(&Variant::Portable));
    }

    #[cfg(target_os = "linux")]
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn availability_agrees_with_the_kernels_list_of_flags() {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let line = text.lines().find(|line| line.starts_with("flags")).unwrap();
        let has = |flag: &str| line.split_whitespace().any(|word| word == flag);
        assert_eq!(Variant::Avx512.is_available(), has("avx512f"));
        assert_eq!(Variant::Avx2.is_available(), has("avx2") && has("fma"));
        assert_eq!(Variant::Sse2.is_available(), has("sse2"));
        assert!(!Variant::Neon.is_available() && !Variant::Sve.is_available());
    }

    /// Linux tells the length of a thread's vectors, and whether there are any.
    #[cfg(target_arch = "aarch64")]
    #[test]
    fn availability_and_length_of_sve_agree_with_linux() {
        // include/uapi/linux/prctl.h
        const PR_SVE_GET_VL: libc::c_int = 51;
        const PR_SVE_VL_LEN_MASK: libc::c_int = 0xffff;
        assert!(Variant::Neon.is_available() && !Variant::Sse2.is_available());
        // SAFETY: this call takes a number alone.
        let told = unsafe { libc::prctl(PR_SVE_GET_VL) };
        assert_eq!(Variant::Sve.is_available(), told >= 0);
        if told >= 0 {
            let bytes = told & PR_SVE_VL_LEN_MASK;
            assert_eq!(Variant::Sve.vector_bytes(), usize::try_from(bytes).unwrap());
        }
    }
}
