//! One connection of a server: the handshake, then the one test that was asked for.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nearfar_sys::wait_readable;
use sha2::{Digest, Sha256};

use crate::content::{buffer_bytes, content};
use crate::frame::{
    Answer, Frame, FrameError, Greeting, HASH_BYTES, MessageWay, Receipt, Request, Verdict,
};
use crate::limits::Limits;
use crate::nonce::nonce;
use crate::token::Token;

/// Why a client was not served, or not to the end.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("wrong token")]
    WrongToken,
    #[error("it asks for too much: {0}")]
    TooMuch(String),
    #[error("as many clients as may be are served already ({0})")]
    Busy(usize),
    #[error("no request: {0}")]
    NoRequest(FrameError),
    #[error("nothing moved for {0} s")]
    Stalled(u64),
    #[error("the test took longer than the {0} s that it asked for")]
    TooLong(u32),
    #[error("more came than it asked for")]
    TooLarge,
    #[error("it sent where it should receive")]
    OutOfTurn,
    #[error("it went away in the middle of a message")]
    Cut,
    #[error("the server was asked to end")]
    Ended,
    #[error("the connection failed: {0}")]
    Failed(#[source] io::Error),
    #[error("the server has no room for its messages")]
    NoRoom,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        match error.kind() {
            UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => Self::Cut,
            _ => Self::Failed(error),
        }
    }
}

/// A connection whose reads and writes all end by one time.
struct Until<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        // A timeout of 0 would be none.
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        let mut stream = self.stream;
        stream.read(bytes)
    }
}

/// Reads a frame that is whole by then, however slowly its bytes come.
pub(crate) fn read_frame(stream: &TcpStream, end: Instant) -> Result<Frame, FrameError> {
    Frame::read(&mut Until { stream, end })
}

/// Writes one; it fits the socket's own buffer, or the connection is not worth keeping.
pub(crate) fn write_frame(stream: &TcpStream, frame: &Frame) -> io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_secs(1)))?;
    let mut to = stream;
    to.write_all(&frame.bytes())
}

/// What a session needs of its server.
#[derive(Clone, Copy)]
pub(crate) struct Session<'a> {
    pub stream: &'a TcpStream,
    pub token: &'a Token,
    pub limits: &'a Limits,
    pub ends: &'a (dyn Fn() -> bool + Sync),
    /// Whether a client that has proven the token gets a place.
    pub admits: &'a dyn Fn() -> bool,
}

/// What a client was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Served {
    pub way: MessageWay,
    pub message_bytes: u64,
    /// One way.
    pub bytes: u64,
}

impl Session<'_> {
    /// Serves the client to its end.
    pub fn serve(self) -> Result<Served, Refusal> {
        self.stream.set_nodelay(true)?;
        let request = self.shake_hands()?;
        let test = Test {
            stream: self.stream,
            request,
            stall: self.limits.stall,
            end: Instant::now() + Duration::from_secs(u64::from(request.seconds)),
            ends: self.ends,
        };
        let bytes = test.run()?;
        Ok(Served { way: request.way, message_bytes: request.message_bytes, bytes })
    }

    fn shake_hands(&self) -> Result<Request, Refusal> {
        let end = Instant::now() + self.limits.handshake;
        let greeting = Greeting { nonce: nonce()? };
        write_frame(self.stream, &Frame::Greeting(greeting))?;
        let request = match read_frame(self.stream, end) {
            Ok(Frame::Request(request)) => request,
            other => {
                let why = other.err().unwrap_or(FrameError::OutOfTurn);
                self.refuse(Verdict::Malformed, &why.to_string());
                return Err(Refusal::NoRequest(why));
            }
        };
        // Who has no token learns nothing of the limits.
        if !self.token.proves_request(&greeting, &request) {
            self.refuse(Verdict::WrongToken, "wrong token");
            return Err(Refusal::WrongToken);
        }
        if let Some(excess) = self.limits.excess(&request) {
            self.refuse(Verdict::TooMuch, &excess);
            return Err(Refusal::TooMuch(excess));
        }
        if !(self.admits)() {
            self.refuse(Verdict::Busy, "as many clients as may be are served already");
            return Err(Refusal::Busy(self.limits.connections));
        }
        let accepted =
            Answer { verdict: Verdict::Accepted, proof: [0; HASH_BYTES], text: String::new() };
        let answer = self.token.sign_answer(&greeting, &request, accepted);
        write_frame(self.stream, &Frame::Answer(answer))?;
        Ok(request)
    }

    fn refuse(&self, verdict: Verdict, text: &str) {
        refuse(self.stream, verdict, text);
    }
}

/// Tells a client why it is not served, as far as it listens.
fn refuse(stream: &TcpStream, verdict: Verdict, text: &str) {
    let answer = Frame::Answer(Answer::refusal(verdict, text.into()));
    // It may be gone: whoever runs the server is told all the same.
    if write_frame(stream, &answer).is_ok() {
        stream.shutdown(Shutdown::Write).ok();
        // What it sent and nobody read would reset the connection, and the answer with it.
        let mut rest = Until { stream, end: Instant::now() + Duration::from_millis(200) };
        let mut room = [0; 4096];
        let mut left = 1 << 16;
        while let Ok(count @ 1..) = rest.read(&mut room) {
            left -= count.min(left);
            if left == 0 {
                break;
            }
        }
    }
}

/// A test that was accepted.
struct Test<'a> {
    stream: &'a TcpStream,
    request: Request,
    stall: Duration,
    end: Instant,
    ends: &'a (dyn Fn() -> bool + Sync),
}

impl Test<'_> {
    /// Bytes that went one way.
    fn run(&self) -> Result<u64, Refusal> {
        self.stream.set_read_timeout(Some(self.stall))?;
        self.stream.set_write_timeout(Some(self.stall))?;
        match self.request.way {
            MessageWay::Send => self.take(),
            MessageWay::Receive => self.give(),
            MessageWay::RoundTrip => self.give_back(),
        }
    }

    fn room(&self, bytes: usize) -> Result<Vec<u8>, Refusal> {
        let mut room = Vec::new();
        room.try_reserve_exact(bytes).map_err(|_| Refusal::NoRoom)?;
        room.resize(bytes, 0);
        Ok(room)
    }

    /// Whether a test that has moved this much may go on.
    fn check(&self, bytes: u64) -> Result<(), Refusal> {
        if bytes > self.request.total_bytes {
            return Err(Refusal::TooLarge);
        }
        if Instant::now() > self.end {
            return Err(Refusal::TooLong(self.request.seconds));
        }
        if (self.ends)() { Err(Refusal::Ended) } else { Ok(()) }
    }

    /// A read or a write: nothing moved, or how much.
    fn moved(&self, moved: io::Result<usize>) -> Result<usize, Refusal> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        match moved {
            Err(error) if matches!(error.kind(), WouldBlock | TimedOut) => {
                // At the server's end its connections are shut down, which is no stall.
                self.check(0)?;
                Err(Refusal::Stalled(self.stall.as_secs()))
            }
            Err(error) if error.kind() == Interrupted => Ok(0),
            Err(_) if (self.ends)() => Err(Refusal::Ended),
            moved => Ok(moved?),
        }
    }

    fn take(&self) -> Result<u64, Refusal> {
        let message = self.request.message_bytes;
        let mut room = self.room(buffer_bytes(message))?;
        let (mut at, mut taken) = (0, 0_u64);
        let mut from = self.stream;
        loop {
            let count = match from.read(&mut room[at..]) {
                Ok(0) => break,
                moved => self.moved(moved)?,
            };
            at = (at + count) % room.len();
            taken += count as u64;
            self.check(taken)?;
        }
        // A server that ends shuts its connections down.
        self.check(0)?;
        if !taken.is_multiple_of(message) {
            return Err(Refusal::Cut);
        }
        let messages = taken / message;
        let last = usize::try_from(message).unwrap_or(usize::MAX);
        let digest = match messages {
            0 => [0; HASH_BYTES],
            // The room holds whole messages; the last one ends where the next would begin.
            _ => {
                let end = if at == 0 { room.len() } else { at };
                Sha256::digest(&room[end - last..end]).into()
            }
        };
        write_frame(self.stream, &Frame::Receipt(Receipt { messages, digest }))?;
        Ok(taken)
    }

    fn give(&self) -> Result<u64, Refusal> {
        let message = self.request.message_bytes;
        let mut room = self.room(0)?;
        room.extend(content(&self.request.nonce, buffer_bytes(message)));
        let (mut at, mut given) = (0, 0_u64);
        let mut to = self.stream;
        let mut is_wanted = true;
        // The client says that it has enough by the end of its own writing; it gets whole messages.
        while is_wanted || !given.is_multiple_of(message) {
            let mut next = room.len() - at;
            if !is_wanted {
                let rest = message - given % message;
                next = next.min(usize::try_from(rest).unwrap_or(usize::MAX));
            }
            let count = self.moved(to.write(&room[at..at + next]))?;
            at = (at + count) % room.len();
            given += count as u64;
            self.check(given.min(self.request.total_bytes))?;
            if is_wanted && wait_readable(self.stream.as_fd(), Duration::ZERO)? {
                match self.moved(to.read(&mut [0]))? {
                    0 => is_wanted = false,
                    _ => return Err(Refusal::OutOfTurn),
                }
            }
            is_wanted &= given < self.request.total_bytes;
        }
        self.stream.shutdown(Shutdown::Write)?;
        Ok(given)
    }

    fn give_back(&self) -> Result<u64, Refusal> {
        let mut room =
            self.room(usize::try_from(self.request.message_bytes).unwrap_or(usize::MAX))?;
        let mut bytes = 0_u64;
        let mut both = self.stream;
        loop {
            let mut at = 0;
            while at < room.len() {
                match both.read(&mut room[at..]) {
                    Ok(0) => {
                        self.check(0)?;
                        return if at == 0 { Ok(bytes) } else { Err(Refusal::Cut) };
                    }
                    moved => at += self.moved(moved)?,
                }
            }
            bytes += room.len() as u64;
            self.check(bytes)?;
            let mut at = 0;
            while at < room.len() {
                at += self.moved(both.write(&room[at..]))?;
            }
        }
    }
}
