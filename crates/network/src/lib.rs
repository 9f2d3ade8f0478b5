//! Messages to another machine over TCP, for measuring: `nearfar serve` there ([`Server`]), a
//! [`Connection`] here for each test.
//!
//! ```text
//! client                                server
//!   |  <- Greeting: a nonce                |
//!   |  Request, proven by the token   ->   |
//!   |  <- Answer, proven by the token      |
//!   |  messages, one way or both      <->  |
//!   |  end of writing                 ->   |
//!   |  <- Receipt, after Send              |
//! ```
//!
//! A connection is one test. The token never crosses the wire: each side proves that it has it by an HMAC over
//! the other's nonce and what was asked ([`Token`]). The messages themselves are neither secret nor
//! signed. Every read and write has a deadline, and [`Limits`] bound what a client may ask.

mod adapter;
mod client;
mod content;
mod frame;
mod limits;
mod nonce;
mod peer;
mod server;
mod session;
mod token;

pub use adapter::adapter_of;
pub use client::{Ask, Connection, PeerError};
pub use frame::{Answer, Frame, FrameError, Greeting, MessageWay, Receipt, Request, Verdict};
pub use limits::Limits;
pub use peer::{DEFAULT_PORT, PeerName, PeerNameError};
pub use server::{Server, Told};
pub use session::Refusal;
pub use token::{Token, TokenError};
