//! Every kind of actor on this machine, in small sets and short windows: what is counted, that a
//! record takes it, and where its pages are.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod actors;
mod exchange;
mod network;
mod together;
mod workbench;
