//! Roofs of arithmetic: all cores of an initiator on registers.

use nearfar_kernels::{FlopOperation, Flops, Precision};
use nearfar_record::{Absent, Actor, Case, Compute, Roof, RoofPurpose, Suite};

use super::Loop;
use crate::experiment::omitted::no_variant;
use crate::experiment::setting::Setting;
use crate::experiment::whole_initiator::WholeInitiator;

/// Every operation in both precisions; `full` in every variant, other suites in the widest.
pub(super) fn cases(
    setting: Setting<'_>,
    initiators: &[&WholeInitiator],
) -> Vec<Result<Case, Absent>> {
    let mut cases = Vec::new();
    for operation in FlopOperation::ALL {
        for precision in Precision::ALL {
            let kernel = Flops { operation, precision }.to_string();
            let variants = variants(setting, operation, precision);
            if variants.is_empty() && operation != FlopOperation::MulAdd {
                let name = format!("roofs/compute/{kernel}");
                let forced = setting.inputs.variant.as_deref();
                cases.push(Err(no_variant(name, &kernel, forced)));
            }
            for variant in variants {
                let of = Loop { kernel: kernel.clone(), variant };
                cases.extend(initiators.iter().map(|initiator| Ok(case(initiator, &of))));
            }
        }
    }
    cases
}

/// Multiplications beside additions are the most only where no multiply-add is fused.
fn variants(setting: Setting<'_>, operation: FlopOperation, precision: Precision) -> Vec<String> {
    let offered = |operation| setting.offered(&Flops { operation, precision }.to_string());
    let mut variants = offered(operation);
    let is_full = setting.inputs.suite == Suite::Full;
    if operation == FlopOperation::MulAdd {
        let fused = offered(FlopOperation::Fma);
        variants.retain(|variant| fused.is_empty() || is_full && !fused.contains(variant));
    }
    if !is_full {
        variants.truncate(1);
    }
    variants
}

fn case(initiator: &WholeInitiator, of: &Loop) -> Case {
    Case {
        id: format!("roofs/initiator{}/compute/{}/{}", initiator.index(), of.kernel, of.variant),
        coordinates: vec![initiator.roof(Roof::Compute, 0, of, RoofPurpose::Roof)],
        actors: vec![Actor::Compute(Compute {
            kernel: of.kernel.clone(),
            variant: of.variant.clone(),
            cpus: initiator.cpus.clone(),
            thread_cpus: initiator.thread_cpus.clone(),
        })],
    }
}
