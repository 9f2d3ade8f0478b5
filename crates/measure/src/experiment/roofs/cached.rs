//! Roofs of the caches: each thread on its own set.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Absent, ReasonCode, Roof};

use super::{Site, User};
use crate::experiment::cache_window::{cache_levels, cache_window};
use crate::experiment::omitted::omitted;
use crate::experiment::setting::Setting;
use crate::experiment::whole_cluster::WholeCluster;

/// The cache levels of these clusters, all cores of one at once. The sets are in its nearest
/// memory. What was forced for memory is not for them.
pub(super) fn sites<'a>(
    setting: Setting<'_>,
    clusters: &[&'a WholeCluster],
    absent: &mut Vec<Absent>,
) -> Vec<Site<'a>> {
    let mut sites = Vec::new();
    for &cluster in clusters {
        let Some(node) = cluster.targets(setting).first().copied() else {
            continue;
        };
        let levels = cache_levels(setting.machine, &cluster.thread_cpus);
        if levels.is_empty() {
            let text = "no cache of its CPUs is known";
            let name = format!("roofs/cluster{}/caches", cluster.index());
            absent.push(omitted(name, ReasonCode::UnknownCache, text));
        }
        for level in levels {
            let label = format!("cluster{}/l{level}", cluster.index());
            match cache_window(setting.machine, &cluster.thread_cpus, level) {
                Ok(window) => sites.push(Site {
                    label,
                    users: vec![User {
                        cluster,
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
