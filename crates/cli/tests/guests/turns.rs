//! How many guests run at a time.

use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;

/// Turns that are free. A guest keeps one CPU busy; two at once leave a large machine to
/// others, and need memory for two.
static FREE: LazyLock<Mutex<usize>> =
    LazyLock::new(|| Mutex::new(available_parallelism().map_or(1, usize::from).clamp(1, 2)));
static GIVEN_BACK: Condvar = Condvar::new();

/// The right to run a guest, until it goes out of scope.
pub struct Turn(());

impl Turn {
    /// Waits for one.
    pub fn take() -> Self {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            GIVEN_BACK.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Self(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        GIVEN_BACK.notify_one();
    }
}
