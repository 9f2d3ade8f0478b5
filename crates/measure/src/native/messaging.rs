//! One thread that sends messages to another machine, or receives them.

use std::net::SocketAddr;

use nearfar_network::{Ask, Connection, MessageWay, PeerError, Token};
use nearfar_record::{MessageDirection, Messages, Reason, ReasonCode, WithoutCopy};

use super::work::Work;

/// Who is sent to: a server that has the same token.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Of which the first that answers is taken.
    pub addresses: Vec<SocketAddr>,
    pub token: Token,
}

/// What a server is asked for at most; more than a case takes.
const MOST_BYTES: u64 = 200 << 30;
const MOST_SECONDS: u32 = 120;

/// Bytes after which a connection sends as in a long run (its window has opened), and messages after which
/// one with small messages does.
const WARM_BYTES: u64 = 32 << 20;
const WARM_MESSAGES: u64 = 10_000;
/// Round trips after which their time is as in a long run.
const WARM_TRIPS: u64 = 200;

/// Opens a thread's connection.
pub(super) type OpenConnection = fn(&Peer, Ask) -> Result<Connection, PeerError>;

/// As it is.
pub(super) fn open_connection(peer: &Peer, ask: Ask) -> Result<Connection, PeerError> {
    Connection::open(&peer.addresses, &peer.token, ask)
}

/// The thread's connection and its buffer, through which it goes message after message.
#[derive(Debug)]
pub(super) struct Messaging<'a> {
    connection: Connection,
    way: MessageDirection,
    message_bytes: usize,
    /// A message, or of a round trip what is sent and where it comes back to, one behind the other.
    step_bytes: usize,
    buffer: &'a mut [u8],
    /// Where the next message lies, and where the last one does.
    next: usize,
    last: usize,
    messages: u64,
    block: u64,
}

impl<'a> Messaging<'a> {
    /// Connects.
    ///
    /// # Errors
    /// Where the peer is not there or refuses, or the kernel has no sends without a copy.
    pub fn new(
        planned: &Messages,
        peer: &Peer,
        pages: &'a mut [f64],
        open: OpenConnection,
    ) -> Result<Self, Reason> {
        let ask = Ask {
            way: match planned.way {
                MessageDirection::Send | MessageDirection::SendWithoutCopy => MessageWay::Send,
                MessageDirection::Receive => MessageWay::Receive,
                MessageDirection::RoundTrip => MessageWay::RoundTrip,
            },
            message_bytes: planned.message_bytes,
            total_bytes: MOST_BYTES,
            seconds: MOST_SECONDS,
        };
        let connection = open(peer, ask).map_err(refused)?;
        if planned.way == MessageDirection::SendWithoutCopy {
            connection.allow_zero_copy().map_err(refused)?;
        }
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let (message_bytes, step_bytes) =
            (bytes(planned.message_bytes), bytes(planned.counted_bytes()));
        let buffer: &mut [u8] = bytemuck::cast_slice_mut(pages);
        if buffer.len() < step_bytes {
            return Err(Reason {
                code: ReasonCode::Contradiction,
                text: "a buffer was laid out that holds no message; please report this".into(),
            });
        }
        Ok(Self {
            connection,
            way: planned.way,
            message_bytes,
            step_bytes,
            buffer,
            next: 0,
            last: 0,
            messages: 0,
            block: 1,
        })
    }

    fn message(&mut self) -> Result<(), PeerError> {
        let message = &mut self.buffer[self.next..self.next + self.step_bytes];
        match self.way {
            MessageDirection::Send => self.connection.send(message)?,
            MessageDirection::SendWithoutCopy => self.connection.send_without_copy(message)?,
            MessageDirection::Receive => self.connection.receive(message)?,
            MessageDirection::RoundTrip => {
                let (sent, back) = message.split_at_mut(self.message_bytes);
                // No two are the same, so that what was not sent back is not what lies there.
                let number = self.messages.wrapping_add(1).to_le_bytes();
                let begin = sent.len().min(number.len());
                sent[..begin].copy_from_slice(&number[..begin]);
                self.connection.round_trip(sent, back)?;
            }
        }
        self.messages += 1;
        self.last = self.next;
        self.next += self.step_bytes;
        if self.next + self.step_bytes > self.buffer.len() {
            self.next = 0;
        }
        Ok(())
    }

    fn last_message(&self) -> &[u8] {
        &self.buffer[self.last..self.last + self.step_bytes]
    }
}

impl Work for Messaging<'_> {
    fn done(&self) -> u64 {
        self.messages * self.step_bytes as u64
    }

    fn passes(&self) -> u64 {
        self.messages
    }

    fn is_warm(&self) -> bool {
        match self.way {
            MessageDirection::RoundTrip => self.messages >= WARM_TRIPS,
            _ => self.done() >= WARM_BYTES || self.messages >= WARM_MESSAGES,
        }
    }

    /// A message at least.
    fn set_block(&mut self, bytes: u64) {
        self.block = (bytes / self.step_bytes as u64).max(1);
    }

    fn halve_block(&mut self) {
        self.block = (self.block / 2).max(1);
    }

    fn step(&mut self) -> Result<(), Reason> {
        for _ in 0..self.block {
            self.message().map_err(refused)?;
        }
        Ok(())
    }

    /// Of a round trip, whether what came back is what was sent; the other ways say so at the end alone.
    fn check_warm_up(&mut self) -> Result<(), Reason> {
        self.check_trip()
    }

    /// Ends the test: the last message arrived as it was sent, and as many as were.
    fn check(&mut self) -> Result<(), Reason> {
        self.check_trip()?;
        let last = &self.buffer[self.last..self.last + self.step_bytes];
        self.connection.finish(last).map_err(refused)
    }

    fn without_copy(&self) -> Option<WithoutCopy> {
        let done = self.connection.done_sends();
        let told = WithoutCopy { sends: done.sends, copied: done.copied };
        (self.way == MessageDirection::SendWithoutCopy).then_some(told)
    }
}

impl Messaging<'_> {
    fn check_trip(&self) -> Result<(), Reason> {
        let (sent, back) = self.last_message().split_at(self.message_bytes);
        if self.way != MessageDirection::RoundTrip || sent == back {
            return Ok(());
        }
        Err(Reason {
            code: ReasonCode::WrongData,
            text: "the peer sent another message back than it was sent".into(),
        })
    }
}

fn refused(error: PeerError) -> Reason {
    let code = match error {
        PeerError::WrongData(_) => ReasonCode::WrongData,
        PeerError::NoZeroCopy(_) => ReasonCode::Denied,
        _ => ReasonCode::PeerFailed,
    };
    Reason { code, text: format!("the peer: {error}") }
}
