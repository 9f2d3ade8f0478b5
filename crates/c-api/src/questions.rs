//! The two questions. Answers are computed in room that is kept for each thread, so that only its
//! first questions allocate.

use std::cell::RefCell;
use std::thread::LocalKey;

use nearfar_runtime::{
    NodeAnswer, PlaceAnswer, RankError, RankedNode, RankedPlace, Ranking, Running, Touched, User,
};

use crate::arrays::{elements, put, put_all, reference};
use crate::failure::{Code, Failure, code_of};
use crate::record::OpenRanking;

thread_local! {
    static PLACES: RefCell<PlaceAnswer> = RefCell::default();
    static NODES: RefCell<NodeAnswer> = RefCell::default();
}

/// What C asks with: the ranking, what is to be ranked for, with its name, and the threads that run.
struct Question<T> {
    ranking: *const OpenRanking,
    asked: (*const T, usize, &'static str),
    running: (*const Running, usize),
}

/// Where the answer goes, and what it is called.
struct Target<R> {
    ranked: *mut R,
    room: usize,
    count: *mut usize,
    what: &'static str,
}

/// Asks a question, and writes what is ranked of the answer.
///
/// # Safety
/// As for [`nearfar_rank`].
unsafe fn answer<T, A, R: Copy>(
    question: Question<T>,
    target: Target<R>,
    kept: &'static LocalKey<RefCell<A>>,
    ask: impl FnOnce(&Ranking, &[T], &[Running], &mut A) -> Result<(), RankError>,
    ranked: impl FnOnce(&A) -> &[R],
) -> i32 {
    code_of(|| {
        let (asked, asked_count, what) = question.asked;
        // SAFETY: as the caller promises.
        unsafe { put(target.count, 0, "the count")? };
        // SAFETY: as the caller promises.
        let ranking = unsafe { reference(question.ranking, "the ranking")? };
        // SAFETY: as the caller promises.
        let asked = unsafe { elements(asked, asked_count, what)? };
        // SAFETY: as the caller promises.
        let running = unsafe { elements(question.running.0, question.running.1, "the threads")? };
        let ended = |_| Failure::new(Code::Internal, "the thread is ending");
        kept.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            ask(ranking, asked, running, &mut kept)?;
            let found = ranked(&kept).iter().copied();
            // SAFETY: as the caller promises.
            unsafe { put_all(target.ranked, target.room, target.count, found, target.what) }
        })
        .map_err(ended)?
    })
}

/// Ranks places for a task; see the header.
///
/// # Safety
/// `ranking` is null or from `nearfar_open` and not freed; each array is null or has as many
/// elements as its count or room says; `count` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_rank(
    ranking: *const OpenRanking,
    touched: *const Touched,
    touched_count: usize,
    running: *const Running,
    running_count: usize,
    ranked: *mut RankedPlace,
    room: usize,
    count: *mut usize,
) -> i32 {
    let asked = (touched, touched_count, "the data");
    let question = Question { ranking, asked, running: (running, running_count) };
    let target = Target { ranked, room, count, what: "the ranked places" };
    // SAFETY: as the caller promises.
    unsafe { answer(question, target, &PLACES, Ranking::rank_into, |answer| &answer.ranked) }
}

/// Ranks memory nodes for data; see the header.
///
/// # Safety
/// As for [`nearfar_rank`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_rank_nodes(
    ranking: *const OpenRanking,
    users: *const User,
    user_count: usize,
    running: *const Running,
    running_count: usize,
    ranked: *mut RankedNode,
    room: usize,
    count: *mut usize,
) -> i32 {
    let asked = (users, user_count, "the users");
    let question = Question { ranking, asked, running: (running, running_count) };
    let target = Target { ranked, room, count, what: "the ranked nodes" };
    // SAFETY: as the caller promises.
    unsafe { answer(question, target, &NODES, Ranking::rank_nodes_into, |answer| &answer.ranked) }
}
