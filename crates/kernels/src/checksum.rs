//! What a run leaves beside its destination.

/// What a reduction gives, over all repeats of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Checksum {
    /// The kernel writes its result to memory.
    None,
    /// `load`: the exclusive or of the bits of every element of every repeat, whatever the order.
    /// An odd number of repeats gives that of one pass, an even number gives 0. Where repeats
    /// cancel out, the vector variants load their data like the others but do not fold it.
    Xor(u64),
    /// `ddot`: the sum of the products of every repeat. The order of the additions, and so the
    /// last digits, depends on the variant.
    Sum(f64),
}

impl Checksum {
    /// The checksum of two parts of one run.
    pub(crate) fn with(self, other: Checksum) -> Checksum {
        match (self, other) {
            (Checksum::Xor(one), Checksum::Xor(two)) => Checksum::Xor(one ^ two),
            (Checksum::Sum(one), Checksum::Sum(two)) => Checksum::Sum(one + two),
            (one, Checksum::None) => one,
            (_, two) => two,
        }
    }
}
