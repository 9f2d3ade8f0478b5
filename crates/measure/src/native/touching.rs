//! Waits until the threads of a case have touched their memory, so that its pages can be proven.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// How often the one that waits looks whether to give up.
const LOOK: Duration = Duration::from_millis(10);

/// The threads of a case that have not touched their memory yet, and the thread that waits for
/// them. They themselves go on and never sleep: Linux places a thread anew when it wakes, and one
/// that is bound to no CPU could come to run far from what it has just touched.
#[derive(Debug)]
pub(super) struct Touching {
    missing: AtomicU32,
    waiting: Thread,
}

impl Touching {
    /// So many threads are to touch their memory; the one that calls this waits for them.
    pub fn new(threads: u32) -> Self {
        Self { missing: AtomicU32::new(threads), waiting: std::thread::current() }
    }

    /// A thread has touched its memory. It does so once.
    pub fn touched(&self) {
        // Release and acquire order what all threads wrote before the last one's wake.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiting.unpark();
        }
    }

    /// Waits until all threads have touched their memory; whether they have, and not rather
    /// are to end.
    pub fn wait(&self, is_given_up: impl Fn() -> bool) -> bool {
        while self.missing.load(Ordering::Acquire) > 0 {
            if is_given_up() {
                return false;
            }
            std::thread::park_timeout(LOOK);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_ends_when_all_have_touched() {
        const THREADS: u32 = 4;
        let touching = Touching::new(THREADS);
        let touched = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    touched.fetch_add(1, Ordering::SeqCst);
                    touching.touched();
                });
            }
            assert!(touching.wait(|| false));
            assert_eq!(touched.load(Ordering::SeqCst), THREADS);
        });
    }

    #[test]
    fn who_is_to_end_does_not_wait() {
        let touching = Touching::new(2);
        touching.touched();
        assert!(!touching.wait(|| true));
        touching.touched();
        assert!(touching.wait(|| true));
    }
}
