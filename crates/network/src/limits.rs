//! What a client may ask of a server.

use std::time::Duration;

use nearfar_units::Bytes;

use crate::frame::Request;

/// What a client may ask of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Clients that are served at a time.
    pub connections: usize,
    /// Connections at a time that have not proven the token yet.
    pub waiting: usize,
    /// Of one message.
    pub message_bytes: u64,
    /// Of all messages of a connection, one way.
    pub total_bytes: u64,
    /// Of a test.
    pub seconds: u32,
    /// From the connection to the end of the request.
    pub handshake: Duration,
    /// In which nothing moves.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            waiting: 64,
            message_bytes: 16 << 20,
            total_bytes: 256 << 30,
            seconds: 120,
            handshake: Duration::from_secs(5),
            stall: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// What of a request is more than may be, in words; none where it is not.
    pub(crate) fn excess(&self, request: &Request) -> Option<String> {
        let bytes = |what: &str, asked: u64, most: u64| {
            (asked > most).then(|| format!("{what} of {}, at most {}", Bytes(asked), Bytes(most)))
        };
        if request.message_bytes == 0 {
            return Some("messages of 0 bytes".into());
        }
        bytes("messages", request.message_bytes, self.message_bytes)
            .or_else(|| bytes("a test", request.total_bytes, self.total_bytes))
            .or_else(|| {
                let (asked, most) = (request.seconds, self.seconds);
                (asked > most).then(|| format!("a test of {asked} s, at most {most} s"))
            })
    }
}
