//! A short look at the machine's speed, for the estimate of a plan's time.

use nearfar_kernels::{Pattern, find};
use nearfar_machine::{CpuSet, Machine, MemoryPolicy};
use nearfar_record::{Pages, Reason, ReasonCode};
use nearfar_sys::{monotonic_ns, pin_thread};

use super::memory_loop::MemoryLoop;
use super::pool::{Pool, PoolRequest, denied};
use super::stream::{Source, Stream};
use super::work::Work;
use crate::executor::Rates;

/// First touch and copy by one thread on this CPU.
pub(super) fn look_from(cpu: u32, machine: &Machine, pattern: &Pattern) -> Result<Rates, Reason> {
    const BYTES: usize = 128 << 20;
    const ELEMENTS: usize = BYTES / size_of::<f64>();
    let cpus = CpuSet::single(cpu);
    pin_thread(&cpus).map_err(denied)?;
    let request = PoolRequest {
        policy: &MemoryPolicy::FirstTouch,
        pages: Pages::Transparent,
        bytes: BYTES as u64,
        cpus: &cpus,
        machine,
        node_memory_is_known: false,
        pattern,
    };
    let started = monotonic_ns();
    drop(Pool::map(request)?);
    let first_touched = monotonic_ns();
    let mut pool = Pool::map(request)?;
    let touched = monotonic_ns();
    // The slowest of the usual kernels: a copy with ordinary stores.
    let (b, a) = pool.elements_mut()[..ELEMENTS].split_at_mut(ELEMENTS / 2);
    let copy = find("copy").and_then(|kernel| kernel.in_variant(*kernel.variants().first()?).ok());
    let copy = copy.ok_or_else(|| Reason {
        code: ReasonCode::NoVariant,
        text: "there is no copy kernel".into(),
    })?;
    let sources = vec![Source { elements: b, first_index: 0 }];
    let mut stream = Stream::new(MemoryLoop::Catalog(copy), pattern, Some(a), sources);
    while stream.passes() < 6 {
        stream.step()?;
    }
    let ended = monotonic_ns();
    let rate = |bytes: u64, ns: u64| bytes as f64 / (ns.max(1) as f64 / 1e9);
    Ok(Rates {
        first_touch: rate(BYTES as u64, first_touched.saturating_sub(started)),
        touch: rate(BYTES as u64, touched.saturating_sub(first_touched)),
        stream: rate(stream.done(), ended.saturating_sub(touched)),
    })
}
