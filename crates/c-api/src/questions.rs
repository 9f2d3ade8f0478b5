//! The two questions. What they need besides the caller's arrays is kept for each thread, so that
//! only its first questions allocate.

use std::cell::RefCell;

use nearfar_runtime::{NodeAnswer, PlaceAnswer, Ranking};

use crate::arrays::{elements, put, put_all, reference};
use crate::failure::{Code, Failure, code_of};
use crate::layout::{RankedNode, RankedPlace, Running, Touched, User};

/// What is used again by the next question.
#[derive(Default)]
struct Kept {
    touched: Vec<nearfar_runtime::Touched>,
    users: Vec<nearfar_runtime::User>,
    running: Vec<nearfar_runtime::Running>,
    places: PlaceAnswer,
    nodes: NodeAnswer,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

fn with_kept(ask: impl FnOnce(&mut Kept) -> Result<(), Failure>) -> Result<(), Failure> {
    let ended = |_| Failure::new(Code::Internal, "the thread is ending");
    KEPT.try_with(|kept| ask(&mut kept.borrow_mut())).map_err(ended)?
}

impl Kept {
    fn take_running(&mut self, running: &[Running]) {
        self.running.clear();
        self.running.extend(running.iter().map(|it| nearfar_runtime::Running {
            place: it.place,
            node: it.node,
            threads: it.threads,
        }));
    }
}

/// What a caller asks with, once the count of answers is set to 0: the ranking, what is to be ranked
/// for, with its name, and the threads that run.
///
/// # Safety
/// As for [`nearfar_rank`].
unsafe fn question<'a, T>(
    ranking: *const Ranking,
    (asked, asked_count, what): (*const T, usize, &str),
    (running, running_count): (*const Running, usize),
    count: *mut usize,
) -> Result<(&'a Ranking, &'a [T], &'a [Running]), Failure> {
    // SAFETY: as the caller promises.
    unsafe { put(count, 0, "the count")? };
    // SAFETY: as the caller promises.
    let ranking = unsafe { reference(ranking, "the ranking")? };
    // SAFETY: as the caller promises.
    let asked = unsafe { elements(asked, asked_count, what)? };
    // SAFETY: as the caller promises.
    let running = unsafe { elements(running, running_count, "the threads")? };
    Ok((ranking, asked, running))
}

/// Ranks places for a task; see the header.
///
/// # Safety
/// `ranking` is null or from `nearfar_open` and not freed; each array is null or has as many
/// elements as its count or room says; `count` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_rank(
    ranking: *const Ranking,
    touched: *const Touched,
    touched_count: usize,
    running: *const Running,
    running_count: usize,
    ranked: *mut RankedPlace,
    room: usize,
    count: *mut usize,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let (ranking, touched, running) = unsafe {
            question(
                ranking,
                (touched, touched_count, "the data"),
                (running, running_count),
                count,
            )?
        };
        with_kept(|kept| {
            kept.take_running(running);
            kept.touched.clear();
            kept.touched.extend(
                touched
                    .iter()
                    .map(|it| nearfar_runtime::Touched { node: it.node, bytes: it.bytes }),
            );
            ranking.rank_into(&kept.touched, &kept.running, &mut kept.places)?;
            let answer = kept.places.ranked.iter().map(|it| RankedPlace {
                place: it.place,
                seconds: it.seconds,
                ratio: it.ratio,
            });
            // SAFETY: as the caller promises.
            unsafe { put_all(ranked, room, count, answer, "the ranked places") }
        })
    })
}

/// Ranks memory nodes for data; see the header.
///
/// # Safety
/// As for [`nearfar_rank`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_rank_nodes(
    ranking: *const Ranking,
    users: *const User,
    user_count: usize,
    running: *const Running,
    running_count: usize,
    ranked: *mut RankedNode,
    room: usize,
    count: *mut usize,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let (ranking, users, running) = unsafe {
            question(ranking, (users, user_count, "the users"), (running, running_count), count)?
        };
        with_kept(|kept| {
            kept.take_running(running);
            kept.users.clear();
            kept.users.extend(users.iter().map(|it| nearfar_runtime::User {
                place: it.place,
                threads: it.threads,
                bytes: it.bytes,
            }));
            ranking.rank_nodes_into(&kept.users, &kept.running, &mut kept.nodes)?;
            let answer = kept.nodes.ranked.iter().map(|it| RankedNode {
                seconds: it.seconds,
                ratio: it.ratio,
                node: it.node,
            });
            // SAFETY: as the caller promises.
            unsafe { put_all(ranked, room, count, answer, "the ranked nodes") }
        })
    })
}
