//! Searches that know nothing of each other, each on a thread of its own.

use std::thread;

/// What is found of each, in their order. Where the system refuses a thread this one does its work.
pub(crate) fn side_by_side<T: Sync, R: Send>(all: &[T], find: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let Some((last, others)) = all.split_last() else { return Vec::new() };
    let find = &find;
    thread::scope(|scope| {
        let start = |it| thread::Builder::new().spawn_scoped(scope, move || find(it)).ok();
        let started: Vec<_> = others.iter().map(|it| (it, start(it))).collect();
        let last = find(last);
        let found = started.into_iter().map(|(it, thread)| match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => find(it),
        });
        let mut found: Vec<R> = found.collect();
        found.push(last);
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_stands_in_the_order_of_what_was_asked() {
        for count in 0..20_u64 {
            let all: Vec<u64> = (0..count).collect();
            let squares: Vec<u64> = all.iter().map(|it| it * it).collect();
            assert_eq!(side_by_side(&all, |it| it * it), squares);
        }
    }
}
