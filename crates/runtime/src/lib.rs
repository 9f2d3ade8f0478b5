//! Where to run a task, by where its data lives; where to put data, by who will touch it. A
//! [`Ranking`] is made once from a record and then answers in microseconds.
//! Units: bytes, seconds, useful bytes/s.     Source: braithwaite2012, equation 4.6: where data
//! lives and how much of it a task touches decide where it should run. Time in place of D, as
//! `docs/models/data-access.md` says; beside other threads ours, by the flow law.
//!
//! `docs/runtime-library.md` says what the figures mean and what they cannot know.

mod answer;
mod data_homes;
mod filling;
mod place;
mod question;
mod ranking;
mod shared_parts;
mod task_places;

pub use answer::{NodeAnswer, PlaceAnswer, RankedNode, RankedPlace, UnknownPair};
pub use place::Place;
pub use question::{MOST_THREADS, RankError, Running, Touched, User};
pub use ranking::Ranking;
