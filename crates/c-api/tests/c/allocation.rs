//! Questions after a thread's first allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

use nearfar_c::{
    OpenRanking, RankedNode, RankedPlace, Running, Touched, User, nearfar_rank, nearfar_rank_nodes,
};

use crate::border::opened;

/// The system's allocator, which counts what each thread asks of it.
struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    // A thread that is ending is counted no longer.
    let _counted = ASKED.try_with(|asked| asked.set(asked.get() + 1));
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn ask(ranking: *const OpenRanking) {
    let touched = [Touched { bytes: 9, node: 1 }, Touched { bytes: 5, node: 3 }];
    let users =
        [User { place: 1, threads: 3.0, bytes: 9 }, User { place: 0, threads: 1.0, bytes: 2 }];
    let running = [0, 1, 2, 3].map(|place| Running { place, threads: 2.0, node: 1 });
    let mut places = [RankedPlace { place: 0, seconds: 0.0, ratio: 0.0 }; 4];
    let mut nodes = [RankedNode { seconds: 0.0, ratio: 0.0, node: 0 }; 4];
    let mut count = 0;
    // SAFETY: the ranking is open, the pointers are of values that live here, the lengths theirs.
    let code = unsafe {
        let (running, to) = (running.as_ptr(), places.as_mut_ptr());
        nearfar_rank(ranking, touched.as_ptr(), 2, running, 4, to, 4, &raw mut count)
    };
    assert_eq!((code, count), (0, 4));
    // SAFETY: as above.
    let code = unsafe {
        let (running, to) = (running.as_ptr(), nodes.as_mut_ptr());
        nearfar_rank_nodes(ranking, users.as_ptr(), 2, running, 4, to, 4, &raw mut count)
    };
    assert_eq!((code, count), (0, 4));
}

#[test]
fn only_the_first_questions_of_a_thread_allocate() {
    let ranking = opened(1);
    let asked = || ASKED.with(Cell::get);
    let before = asked();
    ask(ranking.0);
    let first = asked();
    assert!(first > before);
    assert_ne!(ranking.0, null_mut());
    for _ in 0..10 {
        ask(ranking.0);
    }
    assert_eq!(asked(), first);
}
