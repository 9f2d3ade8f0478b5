//! Writes compressed records (Zstandard, RFC 8878). Within a frame what was written so far is pushed
//! out now and then, so that a reader has it even where the frame never ends.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use zstd::stream::write::Encoder;

/// A frame that holds this many bytes of text is ended: what is kept of a torn one is little.
const MOST: usize = 1 << 20;

/// At the end of a round frames from this many bytes on are ended; shorter ones compress badly.
const ENOUGH: usize = 256 << 10;

/// Text waits so long at most until the next line pushes it out.
const WAIT: Duration = Duration::from_secs(1);

/// Of the library's 1 to 22: higher ones take many times as long for a tenth less.
const LEVEL: i32 = 3;

/// Packs text into frames.
pub(crate) struct FrameWriter {
    encoder: Option<Encoder<'static, Vec<u8>>>,
    /// Bytes of text in the frame.
    filled: usize,
    pushed: Instant,
}

impl FrameWriter {
    pub fn new() -> Self {
        Self { encoder: None, filled: 0, pushed: Instant::now() }
    }

    /// Takes in text; gives the bytes that are to be written now, mostly none.
    pub fn take(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            None => self.encoder.insert(new_encoder()?),
        };
        encoder.write_all(text)?;
        self.filled += text.len();
        if self.filled >= MOST {
            self.end()
        } else if self.pushed.elapsed() >= WAIT {
            self.push()
        } else {
            Ok(Vec::new())
        }
    }

    /// The bytes after which a reader has all that was taken in. Ends the frame where it holds enough.
    pub fn settle(&mut self) -> io::Result<Vec<u8>> {
        if self.filled >= ENOUGH { self.end() } else { self.push() }
    }

    /// The bytes that end the frame.
    pub fn end(&mut self) -> io::Result<Vec<u8>> {
        self.filled = 0;
        self.pushed = Instant::now();
        self.encoder.take().map_or(Ok(Vec::new()), Encoder::finish)
    }

    fn push(&mut self) -> io::Result<Vec<u8>> {
        self.pushed = Instant::now();
        let Some(encoder) = &mut self.encoder else { return Ok(Vec::new()) };
        encoder.flush()?;
        Ok(std::mem::take(encoder.get_mut()))
    }
}

fn new_encoder() -> io::Result<Encoder<'static, Vec<u8>>> {
    let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}
