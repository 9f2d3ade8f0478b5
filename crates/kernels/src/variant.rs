//! The instruction sets a kernel can run in.

use std::fmt;
use std::str::FromStr;

/// An instruction set, as wide as its loads and stores. Ordered from the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// 64-byte vectors with fused multiply-add; needs AVX-512F.
    Avx512,
    /// 32-byte vectors with fused multiply-add; needs AVX2 and FMA.
    Avx2,
    /// 16-byte vectors, separate multiply and add; every x86-64 CPU.
    Sse2,
    /// One `f64` at a time, in plain Rust; every CPU.
    Portable,
}

impl Variant {
    /// Every variant, widest first.
    pub const ALL: [Variant; 4] =
        [Variant::Avx512, Variant::Avx2, Variant::Sse2, Variant::Portable];

    /// Whether this CPU and its operating system run it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Variant::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Variant::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Variant::Sse2 => true,
            #[cfg(not(target_arch = "x86_64"))]
            Variant::Avx512 | Variant::Avx2 | Variant::Sse2 => false,
            Variant::Portable => true,
        }
    }

    /// The variants this CPU runs, widest first.
    pub fn available() -> Vec<Variant> {
        Self::ALL.into_iter().filter(|variant| variant.is_available()).collect()
    }

    /// Width of one load or store, in bytes.
    pub fn vector_bytes(self) -> usize {
        match self {
            Variant::Avx512 => 64,
            Variant::Avx2 => 32,
            Variant::Sse2 => 16,
            Variant::Portable => 8,
        }
    }

    /// The word for it in arguments and records.
    fn word(self) -> &'static str {
        match self {
            Variant::Avx512 => "avx512",
            Variant::Avx2 => "avx2",
            Variant::Sse2 => "sse2",
            Variant::Portable => "portable",
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
        Self::ALL
            .into_iter()
            .find(|variant| variant.word() == text)
            .ok_or_else(|| UnknownVariant(text.to_owned()))
    }
}

/// A word that names no [`Variant`].
// {:?} escapes control characters that a file may have put there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no instruction set: use one of avx512, avx2, sse2, portable")]
pub struct UnknownVariant(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_read_back_from_its_own_text() {
        for variant in Variant::ALL {
            assert_eq!(variant.to_string().parse(), Ok(variant));
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
        let widths = Variant::ALL.map(Variant::vector_bytes);
        assert!(widths.windows(2).all(|pair| pair[0] > pair[1]), "{widths:?}");
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
    }
}
