//! Roofs of the caches: each thread on its own set.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Absent, ReasonCode, Roof};

use super::{Site, User};
use crate::experiment::cache_window::{cache_levels, cache_window};
use crate::experiment::omitted::omitted;
use crate::experiment::setting::Setting;
use crate::experiment::whole_initiator::WholeInitiator;

/// The cache levels of these initiators, all cores of one at once. The sets are in its nearest
/// memory. What was forced for memory is not for them.
pub(super) fn sites<'a>(
    setting: Setting<'_>,
    initiators: &[&'a WholeInitiator],
    absent: &mut Vec<Absent>,
) -> Vec<Site<'a>> {
    let mut sites = Vec::new();
    for &initiator in initiators {
        let Some(node) = initiator.targets(setting).first().copied() else {
            continue;
        };
        let levels = cache_levels(setting.machine, &initiator.thread_cpus);
        if levels.is_empty() {
            let text = "no cache of its CPUs is known";
            let name = format!("roofs/initiator{}/caches", initiator.index());
            absent.push(omitted(name, ReasonCode::UnknownCache, text));
        }
        for level in levels {
            let label = format!("initiator{}/l{level}", initiator.index());
            match cache_window(setting.machine, &initiator.thread_cpus, level) {
                Ok(window) => sites.push(Site {
                    label,
                    users: vec![User {
                        initiator,
                        roof: Roof::Cache { level },
                        memory: MemoryPolicy::Preferred(node),
                        window: Some(window),
                    }],
                }),
                Err(reason) => {
                    absent.push(omitted(format!("roofs/{label}"), reason.code, reason.text));
                }
            }
        }
    }
    sites
}
