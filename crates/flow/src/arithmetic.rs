//! What a core computes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::bounds::BadKey;
use crate::machine_file::MachineFile;

/// FLOPs that a core does in a cycle, in each of the machine's variants; `None` where the
/// loop does not exist in one.
#[derive(Debug, Clone, PartialEq)]
pub struct FlopRate {
    /// In the order of the machine's variants.
    pub per_cycle: Vec<Option<f64>>,
}

/// The loops that a file can speak of: operations on registers in double and single
/// precision.
const LOOPS: [&str; 10] = [
    "add_dp",
    "add_sp",
    "fma_add_dp",
    "fma_add_sp",
    "fma_dp",
    "fma_sp",
    "mul_add_dp",
    "mul_add_sp",
    "mul_dp",
    "mul_sp",
];
const PER_CYCLE: RangeInclusive<f64> = 1e-3..=1e5;

/// The loops of a file, by name.
pub(crate) fn flops(
    file: &MachineFile,
    variants: &[String],
) -> Result<BTreeMap<String, FlopRate>, BadKey> {
    let mut rates = BTreeMap::new();
    for (name, entry) in &file.flops {
        let key = format!("flops.{}", name.chars().take(80).collect::<String>());
        if !LOOPS.contains(&name.as_str()) {
            return Err(BadKey::new(key, format!("is no loop; there are {}", LOOPS.join(", "))));
        }
        let per_cycle = entry.of_variants(&key, variants, &PER_CYCLE)?;
        rates.insert(name.clone(), FlopRate { per_cycle });
    }
    if !rates.is_empty() && file.core_ghz.is_none() {
        let why = "is given in FLOPs per cycle, and core_ghz says not how long one is";
        return Err(BadKey::new("flops", why));
    }
    Ok(rates)
}
