//! Points below the roofs: loads and fused multiply-adds in some ratio (denoyelle2019,
//! section 4.3).

use nearfar_kernels::{Arithmetic, InvalidMix, Mix};
use nearfar_record::{Absent, Case, ReasonCode, Roof, RoofPurpose, Suite};

use super::Site;
use super::memory::MemorySites;
use crate::experiment::omitted::omitted;
use crate::experiment::setting::Setting;
use crate::experiment::whole_initiator::WholeInitiator;

/// Loads and fused multiply-adds of 1/16 to 64 FLOPs a byte, each point twice the one before.
/// Where a core loads 64 bytes and computes 16 FLOPs a cycle its first cache's ridge is at 1/4;
/// that of the local memory of Knights Landing (denoyelle2019) is at 18, of remote memory on
/// servers of 2026 at about 40. More loads for each operation would not fit a small first
/// cache, of which each takes a page.
const POINTS: [(u32, u32); 11] =
    [(4, 1), (2, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 16), (1, 32), (1, 64), (1, 128), (1, 256)];

/// Positions of those that other suites than `full` have: 1/16, 1/4, 1, 8 and 32 FLOPs a byte.
const FEW: [usize; 5] = [0, 2, 4, 7, 9];

/// The points of these initiators, below their caches and their own nodes; `full` also below their
/// nearest remote node, below one node that all initiators contend for, and below each initiator's
/// own.
pub(super) fn cases(
    setting: Setting<'_>,
    initiators: &[&WholeInitiator],
    caches: &[Site<'_>],
    memory: &MemorySites<'_>,
) -> Vec<Result<Case, Absent>> {
    let is_full = setting.inputs.suite == Suite::Full;
    let points: Vec<(u32, u32)> =
        if is_full { POINTS.to_vec() } else { FEW.map(|position| POINTS[position]).to_vec() };
    let mut sites: Vec<&Site<'_>> = caches.iter().collect();
    for initiator in initiators {
        let is_its = |site: &&Site<'_>| site.users[0].initiator.index() == initiator.index();
        sites.extend(memory.local.iter().filter(is_its));
        if is_full {
            sites.extend(memory.remote.iter().find(is_its));
        }
    }
    if is_full {
        sites.extend(most_contended(memory));
        sites.extend(memory.all_local.first());
    }
    let mut cases = Vec::new();
    for (loads, operations) in points {
        let mix = Mix::with_arithmetic(loads, 0, false, operations, Arithmetic::Fma);
        let invalid = |error: InvalidMix| {
            let name = format!("roofs/{loads}l_{operations}fma");
            omitted(name, ReasonCode::NoVariant, error.to_string())
        };
        let of = mix.map_err(invalid).and_then(|mix| {
            let kernel = mix.to_string();
            setting.preferred(format!("roofs/{kernel}"), &kernel)
        });
        match of {
            Ok(of) => {
                let below = |site: &&Site<'_>| site.case(setting, &of, RoofPurpose::Validation);
                cases.extend(sites.iter().map(below));
            }
            Err(absent) => cases.push(Err(absent)),
        }
    }
    cases
}

/// All initiators on the first node that is some initiator's own.
fn most_contended<'s, 'a>(memory: &'s MemorySites<'a>) -> Option<&'s Site<'a>> {
    let all = memory.contended.iter().map(|site| site.users.len()).max()?;
    memory.contended.iter().filter(|site| site.users.len() == all).find(|site| {
        let nearest = &site.users[0];
        matches!(nearest.roof, Roof::Contended { node, .. } if nearest.initiator.owns(node))
    })
}
