//! The FNV-1a hash (Fowler, Noll and Vo; 64 bit): short, and the same in every version of
//! the compiler, which the standard library's hasher is not. It shows accidents, not forgery.

use std::hash::Hasher;

/// The hash of what was written so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// Goes on from an earlier hash's value.
    pub fn after(hash: u64) -> Self {
        Self(hash)
    }
}

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv1a {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of the hash's authors.
    #[test]
    fn it_is_the_published_hash() {
        let hash = |text: &str| {
            let mut hash = Fnv1a::default();
            hash.write(text.as_bytes());
            hash.finish()
        };
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn going_on_is_as_one_go() {
        let mut whole = Fnv1a::default();
        whole.write(b"foobar");
        let mut start = Fnv1a::default();
        start.write(b"foo");
        let mut rest = Fnv1a::after(start.finish());
        rest.write(b"bar");
        assert_eq!(rest.finish(), whole.finish());
    }
}
