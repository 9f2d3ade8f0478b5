//! What the two sides say to each other before and after a test: frames of fixed layout, bounded in size.
//!
//! ```text
//! 0   8 bytes   "nearfar" and a zero byte
//! 8   u32       version of the protocol, 1
//! 12  u32       kind: 1 greeting, 2 request, 3 answer, 4 receipt
//! 16  u32       bytes of the body that follow
//! 20            the body
//! ```
//!
//! Numbers are little-endian. A body has the length of its kind; that of an answer ends with a text of at
//! most [`MOST_TEXT`] bytes.

use std::io::{self, Read};

/// What every frame begins with.
const MAGIC: [u8; 8] = *b"nearfar\0";
/// Of the protocol; both sides have the same.
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 20;
/// Bytes of an answer's text.
pub(crate) const MOST_TEXT: usize = 512;
/// Bytes of a nonce, a proof, a digest.
pub(crate) const HASH_BYTES: usize = 32;
/// Of the longest body.
const MOST_BODY: usize = 4 + HASH_BYTES + MOST_TEXT;

/// A nonce, a proof or a digest.
pub(crate) type Hash = [u8; HASH_BYTES];

/// Which way messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageWay {
    /// From the client to the server, which answers with a receipt.
    Send,
    /// From the server to the client.
    Receive,
    /// Each to the server, and the same back before the next.
    RoundTrip,
}

impl MessageWay {
    fn number(self) -> u32 {
        match self {
            Self::Send => 0,
            Self::Receive => 1,
            Self::RoundTrip => 2,
        }
    }
}

/// The server's first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting {
    /// Random; what a client proves holds for this connection alone.
    pub nonce: Hash,
}

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Random; what the server proves holds for this connection alone.
    pub nonce: Hash,
    pub way: MessageWay,
    /// Of one message.
    pub message_bytes: u64,
    /// Of all messages one way, at most.
    pub total_bytes: u64,
    /// From the answer to the end, at most.
    pub seconds: u32,
    /// That the client has the token.
    pub proof: Hash,
}

/// What the server says to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// The proof is not by the server's token.
    WrongToken,
    /// More is asked than the server gives; the text says of what.
    TooMuch,
    /// As many clients are served as may be at a time.
    Busy,
    /// The request is none.
    Malformed,
}

impl Verdict {
    const ALL: [Self; 5] =
        [Self::Accepted, Self::WrongToken, Self::TooMuch, Self::Busy, Self::Malformed];

    fn number(self) -> u32 {
        match self {
            Self::Accepted => 0,
            Self::WrongToken => 1,
            Self::TooMuch => 2,
            Self::Busy => 3,
            Self::Malformed => 4,
        }
    }
}

/// What the server says to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    /// That the server has the token; zeros where it refuses.
    pub proof: Hash,
    /// Why it refuses, in words; empty where it does not.
    pub text: String,
}

/// What arrived at the server, by its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    pub messages: u64,
    /// SHA-256 of the last one; zeros where there was none.
    pub digest: Hash,
}

/// Any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    Greeting(Greeting),
    Request(Request),
    Answer(Answer),
    Receipt(Receipt),
}

/// Why bytes are no frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("it does not begin as nearfar's do")]
    NotOurs,
    #[error("it is of version {0} of the protocol, and this program speaks version {VERSION}")]
    OtherVersion(u32),
    #[error("it is of an unknown kind, {0}")]
    UnknownKind(u32),
    #[error("a body of {bytes} bytes, where its kind has {expected}")]
    WrongLength { bytes: u32, expected: &'static str },
    #[error("an unknown {what}, {number}")]
    UnknownWord { what: &'static str, number: u32 },
    #[error("its text is no UTF-8")]
    NotText,
    #[error("another frame came than was due")]
    OutOfTurn,
    #[error("the other side closed the connection")]
    Closed,
    #[error("nothing came in time")]
    Late,
    #[error("the connection failed: {0}")]
    Failed(#[source] io::Error),
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock,
        };
        match error.kind() {
            UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => Self::Closed,
            WouldBlock | TimedOut => Self::Late,
            _ => Self::Failed(error),
        }
    }
}

impl Frame {
    /// Reads one, and no byte more.
    ///
    /// # Errors
    /// Where the bytes are none, and as the reader.
    pub fn read(from: &mut impl Read) -> Result<Self, FrameError> {
        let mut header = [0; HEADER_BYTES];
        from.read_exact(&mut header)?;
        let mut fields = Fields(&header);
        if fields.take::<8>()? != MAGIC {
            return Err(FrameError::NotOurs);
        }
        match fields.u32()? {
            VERSION => {}
            other => return Err(FrameError::OtherVersion(other)),
        }
        let (kind, length) = (fields.u32()?, fields.u32()?);
        let (least, most, expected) = match kind {
            1 => (32, 32, "32"),
            2 => (88, 88, "88"),
            3 => (4 + HASH_BYTES, MOST_BODY, "36 to 548"),
            4 => (40, 40, "40"),
            other => return Err(FrameError::UnknownKind(other)),
        };
        let wrong = FrameError::WrongLength { bytes: length, expected };
        let bytes = usize::try_from(length).ok().filter(|it| (least..=most).contains(it));
        let mut body = [0; MOST_BODY];
        let body = &mut body[..bytes.ok_or(wrong)?];
        from.read_exact(body)?;
        Self::of_body(kind, Fields(body))
    }

    fn of_body(kind: u32, mut fields: Fields<'_>) -> Result<Self, FrameError> {
        Ok(match kind {
            1 => Self::Greeting(Greeting { nonce: fields.take()? }),
            2 => Self::Request(Request {
                nonce: fields.take()?,
                way: match fields.u32()? {
                    0 => MessageWay::Send,
                    1 => MessageWay::Receive,
                    2 => MessageWay::RoundTrip,
                    number => return Err(FrameError::UnknownWord { what: "way", number }),
                },
                message_bytes: fields.u64()?,
                total_bytes: fields.u64()?,
                seconds: fields.u32()?,
                proof: fields.take()?,
            }),
            3 => {
                let number = fields.u32()?;
                let verdict = Verdict::ALL.into_iter().find(|it| it.number() == number);
                let unknown = FrameError::UnknownWord { what: "answer", number };
                let proof = fields.take()?;
                let text = std::str::from_utf8(fields.0).map_err(|_| FrameError::NotText)?;
                Self::Answer(Answer { verdict: verdict.ok_or(unknown)?, proof, text: text.into() })
            }
            _ => Self::Receipt(Receipt { messages: fields.u64()?, digest: fields.take()? }),
        })
    }

    /// As it crosses the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let (kind, body): (u32, Vec<u8>) = match self {
            Self::Greeting(it) => (1, it.nonce.to_vec()),
            Self::Request(it) => (2, [&it.asked()[..], &it.proof].concat()),
            Self::Answer(it) => {
                let verdict = it.verdict.number().to_le_bytes();
                (3, [&verdict[..], &it.proof, it.text.as_bytes()].concat())
            }
            Self::Receipt(it) => (4, [&it.messages.to_le_bytes()[..], &it.digest].concat()),
        };
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let numbers = [VERSION, kind, length].map(u32::to_le_bytes).concat();
        [&MAGIC[..], &numbers, &body].concat()
    }
}

impl Request {
    /// All of it that is proven.
    pub(crate) fn asked(&self) -> Vec<u8> {
        [
            &self.nonce[..],
            &self.way.number().to_le_bytes(),
            &self.message_bytes.to_le_bytes(),
            &self.total_bytes.to_le_bytes(),
            &self.seconds.to_le_bytes(),
        ]
        .concat()
    }
}

impl Answer {
    /// One that refuses.
    pub(crate) fn refusal(verdict: Verdict, text: String) -> Self {
        let mut text = text;
        while text.len() > MOST_TEXT {
            text.pop();
        }
        Self { verdict, proof: [0; HASH_BYTES], text }
    }
}

/// What of a body is not read yet.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(FrameError::Closed)?;
        self.0 = rest;
        Ok(*field)
    }

    fn u32(&mut self) -> Result<u32, FrameError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, FrameError> {
        self.take().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Frame> {
        vec![
            Frame::Greeting(Greeting { nonce: [7; 32] }),
            Frame::Request(Request {
                nonce: [1; 32],
                way: MessageWay::RoundTrip,
                message_bytes: 64,
                total_bytes: 1 << 40,
                seconds: 3,
                proof: [2; 32],
            }),
            Frame::Answer(Answer::refusal(Verdict::TooMuch, "größer".into())),
            Frame::Receipt(Receipt { messages: 9, digest: [3; 32] }),
        ]
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        for frame in all() {
            let bytes = [frame.bytes(), vec![0xff; 3]].concat();
            let mut rest = bytes.as_slice();
            assert_eq!(Frame::read(&mut rest).unwrap(), frame);
            assert_eq!(rest, [0xff; 3], "no byte more is read");
        }
    }

    /// What the layout says, byte by byte.
    #[test]
    fn a_greeting_has_the_layout_that_is_written_down() {
        let bytes = all()[0].bytes();
        assert_eq!(bytes[..8], *b"nearfar\0");
        assert_eq!(bytes[8..20], [1, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0]);
        assert_eq!((bytes.len(), bytes[20]), (52, 7));
    }

    #[test]
    fn what_is_no_frame_is_refused_by_name() {
        let good = all()[1].bytes();
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            Frame::read(&mut bytes.as_slice()).unwrap_err().to_string()
        };
        assert!(changed(0, b'x').contains("does not begin"), "{}", changed(0, b'x'));
        assert!(changed(8, 2).contains("version 2"), "{}", changed(8, 2));
        assert!(changed(12, 9).contains("kind, 9"), "{}", changed(12, 9));
        // A body of 4 GiB is not waited for.
        assert!(changed(19, 0xff).contains("where its kind has 88"), "{}", changed(19, 0xff));
        assert!(changed(52, 9).contains("unknown way, 9"), "{}", changed(52, 9));
        for length in 0..good.len() {
            let error = Frame::read(&mut &good[..length]).unwrap_err();
            assert!(matches!(error, FrameError::Closed), "{error}");
        }
    }
}
