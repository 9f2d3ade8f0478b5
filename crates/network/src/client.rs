//! Whoever measures: a connection to `nearfar serve` for one test.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nearfar_sys::{
    DoneSends, allow_zero_copy, done_sends, has_too_many_sends, send_without_copy,
    wait_for_done_sends,
};
use sha2::{Digest, Sha256};

use crate::content::{buffer_bytes, content};
use crate::frame::{Frame, FrameError, HASH_BYTES, Hash, MessageWay, Request, Verdict};
use crate::nonce::nonce;
use crate::session::{read_frame, write_frame};
use crate::token::Token;

/// For the connection and for each frame.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends without a copy that may be under way.
const MOST_UNDER_WAY: u64 = 64;

/// What a test is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    pub way: MessageWay,
    pub message_bytes: u64,
    /// One way, at most.
    pub total_bytes: u64,
    pub seconds: u32,
}

/// Why there is no connection, or none any more.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("it cannot be reached: {0}")]
    Unreachable(#[source] io::Error),
    #[error("it refuses the token")]
    WrongToken,
    #[error("it refuses: {0}")]
    Refused(String),
    #[error("it does not prove that it has the same token")]
    NotProven,
    #[error("what it says is not of `nearfar serve`: {0}")]
    NotOurs(#[source] FrameError),
    #[error("the connection was cut: {0}")]
    Cut(#[source] io::Error),
    #[error("the peer ended the test")]
    Ended,
    #[error("{0}")]
    WrongData(String),
    #[error("the kernel sends nothing without a copy here: {0}")]
    NoZeroCopy(#[source] io::Error),
}

/// A connection for one test. Messages are of the size that was asked for.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    ask: Ask,
    /// What the server sends is made from it.
    nonce: Hash,
    messages: u64,
    /// Sends without a copy, and those of them that the kernel has told of.
    sends: u64,
    done: DoneSends,
}

impl Connection {
    /// Connects to the first address that answers, proves the token both ways, and asks.
    ///
    /// # Errors
    /// Where no address answers, or the peer refuses or is none.
    pub fn open(addresses: &[SocketAddr], token: &Token, ask: Ask) -> Result<Self, PeerError> {
        let stream = connect(addresses).map_err(PeerError::Unreachable)?;
        stream.set_nodelay(true).map_err(PeerError::Cut)?;
        let end = Instant::now() + PATIENCE;
        let greeting = match read_frame(&stream, end).map_err(PeerError::NotOurs)? {
            Frame::Greeting(greeting) => greeting,
            Frame::Answer(answer) if answer.verdict != Verdict::Accepted => {
                return Err(PeerError::Refused(answer.text));
            }
            _ => return Err(PeerError::NotOurs(FrameError::OutOfTurn)),
        };
        let unsigned = Request {
            nonce: nonce().map_err(PeerError::Cut)?,
            way: ask.way,
            message_bytes: ask.message_bytes,
            total_bytes: ask.total_bytes,
            seconds: ask.seconds,
            proof: [0; HASH_BYTES],
        };
        let request = token.sign_request(&greeting, unsigned);
        write_frame(&stream, &Frame::Request(request)).map_err(PeerError::Cut)?;
        let answer = match read_frame(&stream, end).map_err(PeerError::NotOurs)? {
            Frame::Answer(answer) => answer,
            _ => return Err(PeerError::NotOurs(FrameError::OutOfTurn)),
        };
        match answer.verdict {
            Verdict::Accepted if !token.proves_answer(&greeting, &request, &answer) => {
                return Err(PeerError::NotProven);
            }
            Verdict::Accepted => {}
            Verdict::WrongToken => return Err(PeerError::WrongToken),
            Verdict::TooMuch | Verdict::Busy | Verdict::Malformed => {
                return Err(PeerError::Refused(answer.text));
            }
        }
        let timeout = Some(PATIENCE);
        stream.set_read_timeout(timeout).map_err(PeerError::Cut)?;
        stream.set_write_timeout(timeout).map_err(PeerError::Cut)?;
        let done = DoneSends::default();
        Ok(Self { stream, ask, nonce: request.nonce, messages: 0, sends: 0, done })
    }

    /// The address here that it goes from, and the peer's.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn ends(&self) -> Result<[IpAddr; 2], PeerError> {
        let ends = [self.stream.local_addr(), self.stream.peer_addr()];
        let [here, there] = ends.map(|end| end.map_err(PeerError::Cut));
        Ok([here?.ip(), there?.ip()])
    }

    /// Messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Sends a message, which the kernel copies.
    ///
    /// # Errors
    /// Where the connection is cut.
    pub fn send(&mut self, message: &[u8]) -> Result<(), PeerError> {
        self.stream.write_all(message).map_err(cut)?;
        self.messages += 1;
        Ok(())
    }

    /// Lets [`Self::send_without_copy`] be used.
    ///
    /// # Errors
    /// Where the kernel does not have it.
    pub fn allow_zero_copy(&self) -> Result<(), PeerError> {
        allow_zero_copy(self.stream.as_fd()).map_err(PeerError::NoZeroCopy)
    }

    /// Sends a message from where it is. It must stay as it is for as long as the connection lasts.
    ///
    /// # Errors
    /// Where the connection is cut, or the kernel does not take it.
    pub fn send_without_copy(&mut self, message: &[u8]) -> Result<(), PeerError> {
        let mut rest = message;
        while !rest.is_empty() {
            if self.sends - self.done.sends >= MOST_UNDER_WAY {
                self.wait_for_sends(MOST_UNDER_WAY / 2)?;
            }
            match send_without_copy(self.stream.as_fd(), rest) {
                Ok(sent) => {
                    self.sends += 1;
                    rest = &rest[sent..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The limit on what may be locked (RLIMIT_MEMLOCK, net.core.optmem_max) is reached.
                Err(error) if has_too_many_sends(&error) => match self.sends - self.done.sends {
                    0 => return Err(PeerError::NoZeroCopy(error)),
                    under_way => self.wait_for_sends(under_way / 2)?,
                },
                Err(error) => return Err(cut(error)),
            }
        }
        self.messages += 1;
        Ok(())
    }

    /// Waits until no more than this many sends are under way.
    fn wait_for_sends(&mut self, most: u64) -> Result<(), PeerError> {
        let end = Instant::now() + PATIENCE;
        loop {
            let told = done_sends(self.stream.as_fd()).map_err(cut)?;
            self.done.sends += told.sends;
            self.done.copied += told.copied;
            if self.sends.saturating_sub(self.done.sends) <= most {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(cut(io::ErrorKind::TimedOut.into()));
            }
            wait_for_done_sends(self.stream.as_fd(), Duration::from_millis(100)).map_err(cut)?;
        }
    }

    /// Sends without a copy that the kernel is done with, and those of them that it copied.
    pub fn done_sends(&self) -> DoneSends {
        self.done
    }

    /// Receives a message.
    ///
    /// # Errors
    /// Where the connection is cut.
    pub fn receive(&mut self, message: &mut [u8]) -> Result<(), PeerError> {
        self.stream.read_exact(message).map_err(cut)?;
        self.messages += 1;
        Ok(())
    }

    /// Sends a message and receives it back.
    ///
    /// # Errors
    /// Where the connection is cut.
    pub fn round_trip(&mut self, message: &[u8], back: &mut [u8]) -> Result<(), PeerError> {
        self.stream.write_all(message).map_err(cut)?;
        self.stream.read_exact(back).map_err(cut)?;
        self.messages += 1;
        Ok(())
    }

    /// Ends the test. `last` is the last message, as it lies here; what the peer got, or sent, is held
    /// against it. Nothing can be sent or received any more.
    ///
    /// # Errors
    /// Where the connection is cut, or something else arrived than was sent.
    pub fn finish(&mut self, last: &[u8]) -> Result<(), PeerError> {
        self.wait_for_sends(0)?;
        self.stream.shutdown(Shutdown::Write).map_err(cut)?;
        match self.ask.way {
            MessageWay::Send => self.check_receipt(last),
            MessageWay::Receive => self.check_last(last),
            // Who sends it back does so before it sees the end.
            MessageWay::RoundTrip => Ok(()),
        }
    }

    fn check_receipt(&self, last: &[u8]) -> Result<(), PeerError> {
        let end = Instant::now() + PATIENCE;
        let receipt = match read_frame(&self.stream, end) {
            Ok(Frame::Receipt(receipt)) => receipt,
            Ok(_) => return Err(PeerError::NotOurs(FrameError::OutOfTurn)),
            Err(FrameError::Closed) => return Err(PeerError::Ended),
            Err(error) => return Err(PeerError::NotOurs(error)),
        };
        if receipt.messages != self.messages {
            return Err(PeerError::WrongData(format!(
                "{} messages were sent and {} arrived",
                self.messages, receipt.messages
            )));
        }
        let digest: Hash = Sha256::digest(last).into();
        if self.messages > 0 && receipt.digest != digest {
            return Err(PeerError::WrongData(
                "the last message arrived otherwise than it was sent".into(),
            ));
        }
        Ok(())
    }

    fn check_last(&mut self, last: &[u8]) -> Result<(), PeerError> {
        // What the peer sends until it sees the end: whole messages.
        let mut room = [0; 64 << 10];
        let (mut rest, end) = (0, Instant::now() + PATIENCE);
        loop {
            match self.stream.read(&mut room).map_err(cut)? {
                0 if rest % self.ask.message_bytes == 0 => break,
                0 => return Err(PeerError::Ended),
                count => rest += count as u64,
            }
            if Instant::now() > end {
                return Err(cut(io::ErrorKind::TimedOut.into()));
            }
        }
        let Some(before) = self.messages.checked_sub(1) else { return Ok(()) };
        let room = buffer_bytes(self.ask.message_bytes);
        let at = before.wrapping_mul(self.ask.message_bytes) % room.max(1) as u64;
        let at = usize::try_from(at).unwrap_or(0);
        match content(&self.nonce, room).get(at..at + last.len()) {
            Some(sent) if sent == last => Ok(()),
            _ => Err(PeerError::WrongData(
                "the last message that arrived is not what was sent".into(),
            )),
        }
    }
}

fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "its name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

fn cut(error: io::Error) -> PeerError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => PeerError::Ended,
        _ => PeerError::Cut(error),
    }
}
