//! The caches of an initiator with their cores, as the machine is drawn.

use crate::subject::machine::Topology;
use nearfar_machine::{CpuSet, Initiator};
use nearfar_units::Bytes;

use crate::subject::Sources;

/// Height of a line of text, user units of SVG.
pub(super) const LINE: f64 = 16.0;
/// Width of a core.
pub(super) const CORE: f64 = 9.0;
/// Cores in a row.
pub(super) const ROW: usize = 16;
/// Cores of an initiator that are drawn one by one.
pub(super) const MOST_CORES: usize = 64;

/// CPUs that share a last-level cache, as they are drawn; many that are alike as one.
pub(super) struct DrawnDomain {
    pub text: String,
    /// What hovering shows.
    pub title: String,
    pub cores: usize,
}

impl DrawnDomain {
    /// Its height in the drawing.
    pub fn height(&self) -> f64 {
        core_rows(self.cores) * (CORE + 2.0) + LINE + 2.0
    }
}

/// More of one initiator are drawn together.
const MOST_DOMAINS: usize = 4;

pub(super) fn drawn_domains(sources: &Sources<'_>, initiator: &Initiator) -> Vec<DrawnDomain> {
    let all = domains(&sources.topo, initiator);
    let drawn = |domain: &&CpuSet| {
        let cores = cores(sources, domain);
        let caches = sources.topo.machine.caches.iter().filter(|cache| cache.cpus == **domain);
        let cache = caches.max_by_key(|cache| cache.level).map_or_else(
            || "no shared cache known".into(),
            |last| {
                let size = last.bytes.map_or_else(String::new, |it| format!(" {}", Bytes(it)));
                format!("L{}{size}", last.level)
            },
        );
        let text = format!("{cores} core{}, {cache}", if cores == 1 { "" } else { "s" });
        DrawnDomain { title: format!("{text}: CPUs {domain}"), text, cores }
    };
    let each: Vec<DrawnDomain> = all.iter().map(drawn).collect();
    let count = each.len();
    match each.first() {
        Some(first) if count > MOST_DOMAINS => {
            let is_alike = each.iter().all(|domain| domain.text == first.text);
            let of_each = if is_alike { first.text.as_str() } else { "unlike groups of cores" };
            let text = format!("{count} x {of_each}");
            let title = format!("{text}: CPUs {}", initiator.cpus);
            vec![DrawnDomain { text, title, cores: each.iter().map(|domain| domain.cores).sum() }]
        }
        _ => each,
    }
}

/// The cores of a CPU set, by their first CPUs.
fn cores(sources: &Sources<'_>, cpus: &CpuSet) -> usize {
    let cores = &sources.record.header.machine.cores;
    cores.iter().filter(|core| core.cpus.iter().any(|cpu| cpus.contains(cpu))).count()
}

fn domains<'a>(topo: &'a Topology, initiator: &Initiator) -> Vec<&'a CpuSet> {
    let touches = |domain: &&CpuSet| domain.iter().any(|cpu| initiator.cpus.contains(cpu));
    topo.l3_domains.iter().filter(touches).collect()
}

fn core_rows(count: usize) -> f64 {
    count.min(MOST_CORES).div_ceil(ROW) as f64
}
