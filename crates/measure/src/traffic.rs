//! How many bytes must, and can, have crossed between the last cache and memory.
//!
//! An ordinary store usually reads the line before it writes it ("write
//! allocate"). Intel servers since Ice Lake can leave that out for whole lines
//! under load (SpecI2M), and ARM cores switch to write streaming; there the two
//! bounds differ. On AMD Zen the read was counted in full by the CPU's counters.
//!
//! A non-temporal store of AArch64 is a hint, so that the line may be read all the same.

use nearfar_kernels::Variant;
use nearfar_record::{Cpu, TrafficMethod};

use crate::kernel_name::MemoryKernel;

/// Least and most traffic of this many useful bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// At least this many bytes.
    pub min: u64,
    /// At most this many.
    pub max: u64,
    /// Why the two differ, or do not.
    pub method: TrafficMethod,
}

/// What ordinary stores do on a CPU, as far as it is known.
pub fn store_method(cpu: &Cpu) -> TrafficMethod {
    /// First model of family 6 with SpecI2M: Ice Lake server.
    const ICE_LAKE_SERVER: u32 = 0x6a;
    match (cpu.vendor.as_deref(), cpu.family, cpu.model) {
        (Some("AuthenticAMD"), Some(family), _) if family >= 0x17 => TrafficMethod::Allocate,
        (Some("GenuineIntel"), Some(6), Some(model)) if model < ICE_LAKE_SERVER => {
            TrafficMethod::Allocate
        }
        _ => TrafficMethod::EvasionPossible,
    }
}

/// Traffic of a kernel that moved `useful_bytes` in a variant, on a working set that is far
/// larger than the caches. `stores` says what ordinary stores do.
pub fn traffic(
    kernel: MemoryKernel,
    variant: &str,
    useful_bytes: u64,
    stores: TrafficMethod,
) -> Traffic {
    let is_hint = variant.parse().is_ok_and(Variant::non_temporal_is_hint);
    if kernel.stores() == 0 || (!kernel.write_allocates() && !is_hint) {
        return Traffic { min: useful_bytes, max: useful_bytes, method: TrafficMethod::Nt };
    }
    let stores = if kernel.write_allocates() { stores } else { TrafficMethod::EvasionPossible };
    let streams = u64::from(kernel.loads() + kernel.stores());
    let read_first = useful_bytes / streams * u64::from(kernel.stores());
    let max = useful_bytes + read_first;
    let min = if stores == TrafficMethod::Allocate { max } else { useful_bytes };
    Traffic { min, max, method: stores }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factors of STREAM's kernels when stores read first: 3/2 for copy and
    /// scale, 4/3 for add and triad, 2 for a pure store.
    #[test]
    fn write_allocate_factors() {
        for (kernel, useful, with_reads) in [
            ("store", 8, 16),
            ("copy", 16, 24),
            ("triad", 24, 32),
            ("load", 8, 8),
            ("copy_nt", 16, 16),
            ("2l1s", 24, 32),
            ("2l1nt", 24, 24),
        ] {
            let kernel = MemoryKernel::named(kernel).unwrap();
            let bytes = traffic(kernel, "avx2", useful * 1000, TrafficMethod::Allocate);
            assert_eq!((bytes.min, bytes.max), (with_reads * 1000, with_reads * 1000));
            let bytes = traffic(kernel, "avx2", useful * 1000, TrafficMethod::EvasionPossible);
            assert_eq!((bytes.min, bytes.max), (useful * 1000, with_reads * 1000));
        }
    }

    #[test]
    fn a_hint_promises_nothing() {
        let of = |kernel: &str, variant: &str| {
            let kernel = MemoryKernel::named(kernel).unwrap();
            let bytes = traffic(kernel, variant, 24_000, TrafficMethod::Allocate);
            (bytes.min, bytes.max, bytes.method)
        };
        for variant in ["neon", "sve"] {
            let hinted = (24_000, 32_000, TrafficMethod::EvasionPossible);
            assert_eq!(of("triad_nt", variant), hinted);
            assert_eq!(of("2l1nt", variant), hinted);
            assert_eq!(of("triad", variant), (32_000, 32_000, TrafficMethod::Allocate));
            assert_eq!(of("load", variant), (24_000, 24_000, TrafficMethod::Nt));
        }
        assert_eq!(of("triad_nt", "avx512-pages4"), (24_000, 24_000, TrafficMethod::Nt));
    }

    #[test]
    fn unknown_cpus_are_not_trusted_to_allocate() {
        let cpu = |vendor: &str, family, model| Cpu {
            vendor: Some(vendor.into()),
            family: Some(family),
            model: Some(model),
            ..Cpu::default()
        };
        assert_eq!(store_method(&cpu("AuthenticAMD", 0x1a, 2)), TrafficMethod::Allocate);
        assert_eq!(store_method(&cpu("GenuineIntel", 6, 0x55)), TrafficMethod::Allocate);
        assert_eq!(store_method(&cpu("GenuineIntel", 6, 0xcf)), TrafficMethod::EvasionPossible);
        assert_eq!(store_method(&Cpu::default()), TrafficMethod::EvasionPossible);
    }
}
