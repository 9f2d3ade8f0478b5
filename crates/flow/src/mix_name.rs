//! The names of loops that are generated: `2l1nt_4fma` is two loads and one non-temporal store
//! with four fused multiply-adds.

/// What a generated loop does to memory in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MixCounts {
    pub loads: u16,
    pub stores: u16,
    /// The kernel that its stores are like.
    pub store: &'static str,
}

impl MixCounts {
    /// The counts in a name; `None` for a name of another form.
    pub fn of_name(name: &str) -> Option<Self> {
        let accesses = name.split_once('_').map_or(name, |(accesses, _)| accesses);
        let (accesses, store) = match accesses.strip_suffix("nt") {
            Some(rest) => (rest, "store_nt"),
            None => (accesses.strip_suffix('s').unwrap_or(accesses), "store"),
        };
        let (loads, stores) = match accesses.split_once('l') {
            Some((loads, "")) => (loads.parse().ok()?, 0),
            Some((loads, stores)) => (loads.parse().ok()?, stores.parse().ok()?),
            None => (0, accesses.parse().ok()?),
        };
        (loads > 0 || stores > 0).then_some(Self { loads, stores, store })
    }

    /// The kernels that its loads and its stores are like.
    pub fn parts(self) -> impl Iterator<Item = &'static str> {
        let loads = (self.loads > 0).then_some("load");
        loads.into_iter().chain((self.stores > 0).then_some(self.store))
    }

    /// The kernel that it is like, where it only loads or only stores.
    pub fn like(self) -> Option<&'static str> {
        match (self.loads, self.stores) {
            (_, 0) => Some("load"),
            (0, _) => Some(self.store),
            _ => None,
        }
    }

    /// Rate of the mix when its loads and its stores take their own time one after the other.
    pub fn rate(self, load: f64, store: f64) -> f64 {
        let (loads, stores) = (f64::from(self.loads), f64::from(self.stores));
        (loads + stores) / (loads / load + stores / store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let counts =
            |name| MixCounts::of_name(name).map(|it| (it.loads, it.stores, it.store == "store_nt"));
        assert_eq!(counts("2l1s"), Some((2, 1, false)));
        assert_eq!(counts("2l1nt_4fma"), Some((2, 1, true)));
        assert_eq!(counts("1l"), Some((1, 0, false)));
        assert_eq!(counts("1l_16add"), Some((1, 0, false)));
        assert_eq!(counts("3nt"), Some((0, 3, true)));
        assert_eq!(counts("12s"), Some((0, 12, false)));
        for other in
            ["triad", "load", "copy_nt", "scale", "", "l", "s", "nt", "0l", "-1l", "70000l"]
        {
            assert_eq!(counts(other), None, "{other}");
        }
    }

    #[test]
    fn a_mix_takes_the_time_of_its_parts() {
        let copy = MixCounts { loads: 1, stores: 1, store: "store" };
        assert!((copy.rate(2.0, 1.0) - 4.0 / 3.0).abs() < 1e-12);
        let loads = MixCounts { loads: 3, stores: 0, store: "store" };
        assert!((loads.rate(2.0, 1.0) - 2.0).abs() < 1e-12);
    }
}
