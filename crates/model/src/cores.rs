//! Work on several cores at once. Where the kernel refuses a thread (limits of a container, of
//! address space), the calling thread does it instead.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism, scope};

/// Both side by side.
pub fn beside<One: Send, Two>(
    one: impl Fn() -> One + Sync,
    two: impl FnOnce() -> Two,
) -> (One, Two) {
    let one = &one;
    scope(|scope| {
        let running = start(scope, one);
        let two = two();
        (running.map_or_else(one, joined), two)
    })
}

/// What `look_at` says of each part of the items, one part a core, in their order.
pub(crate) fn by_all_cores<Item: Sync, Seen: Send>(
    items: &[Item],
    look_at: impl Fn(&[Item]) -> Seen + Sync,
) -> Vec<Seen> {
    let workers = available_parallelism().map_or(1, NonZero::get);
    let parts = items.chunks(items.len().div_ceil(workers).max(1));
    let look_at = &look_at;
    scope(|scope| {
        let running: Vec<_> =
            parts.map(|part| (part, start(scope, move || look_at(part)))).collect();
        let seen = running
            .into_iter()
            .map(|(part, running)| running.map_or_else(|| look_at(part), joined));
        seen.collect()
    })
}

fn start<'scope, Seen: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> Seen + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, Seen>> {
    Builder::new().spawn_scoped(scope, work).ok()
}

fn joined<Seen>(running: ScopedJoinHandle<'_, Seen>) -> Seen {
    running.join().unwrap_or_else(|panic| resume_unwind(panic))
}
