//! Reads compressed records (Zstandard, RFC 8878): frames one after the other, of which the last
//! may be torn.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use zstd::stream::read::Decoder;

/// What every frame begins with.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Of a frame that is not whole so much text is kept, so that it can be written again. Our own
/// frames hold less.
const MOST_KEPT: usize = 64 << 20;

/// Text that a record may unpack to whatever its size, and beyond that how many times its size: records
/// unpack to about 30 times.
const FREE_TEXT: u64 = 64 << 20;
const MAX_RATIO: u64 = 500;

/// The text of frames.
pub(crate) struct FrameReader<R: Read> {
    state: State<Counted<BufReader<R>>>,
    /// Bytes up to the end of the last whole frame.
    whole: u64,
    /// The text of the frame that is not whole yet; `None` where it is too long.
    text: Option<Vec<u8>>,
    /// The last byte of the text so far.
    last: Option<u8>,
    /// Bytes of the text so far.
    unpacked: u64,
}

enum State<R: BufRead> {
    Between(R),
    Within(Decoder<'static, R>),
    /// The input ended: within a frame, or after a whole one.
    Ended {
        torn: bool,
    },
}

impl<R: Read> FrameReader<R> {
    pub fn new(input: R) -> Self {
        let input = Counted { input: BufReader::new(input), count: 0 };
        Self {
            state: State::Between(input),
            whole: 0,
            text: Some(Vec::new()),
            last: None,
            unpacked: 0,
        }
    }

    /// Whether the input ended within a frame.
    pub fn is_torn(&self) -> bool {
        matches!(self.state, State::Ended { torn: true })
    }

    /// Once all is read: bytes up to the end of the last whole frame, and the whole lines after it,
    /// `None` where a torn line ends a whole frame or the lines were too many to keep.
    pub fn end(self) -> (u64, Option<Vec<u8>>) {
        if !self.is_torn() {
            let is_whole = self.last.is_none_or(|last| last == b'\n');
            return (self.whole, is_whole.then(Vec::new));
        }
        let text = self.text.map(|mut text| {
            let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
            text.truncate(end);
            text
        });
        (self.whole, text)
    }

    fn keep(&mut self, text: &[u8]) {
        self.last = text.last().copied().or(self.last);
        if let Some(kept) = &mut self.text {
            if kept.len() + text.len() > MOST_KEPT {
                self.text = None;
            } else {
                kept.extend_from_slice(text);
            }
        }
    }
}

impl<R: Read> Read for FrameReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let ended = State::Ended { torn: false };
            match std::mem::replace(&mut self.state, ended) {
                State::Ended { torn } => {
                    self.state = State::Ended { torn };
                    return Ok(0);
                }
                State::Between(mut input) => {
                    if input.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    self.state = State::Within(Decoder::with_buffer(input)?.single_frame());
                }
                State::Within(mut decoder) => match decoder.read(out) {
                    Ok(0) => {
                        let input = decoder.finish();
                        self.whole = input.count;
                        self.text = Some(Vec::new());
                        self.state = State::Between(input);
                    }
                    Ok(count) => {
                        self.keep(&out[..count]);
                        self.unpacked += count as u64;
                        let most = FREE_TEXT + decoder.get_ref().count * MAX_RATIO;
                        if self.unpacked > most {
                            let what =
                                format!("they unpack to more than {MAX_RATIO} times their size");
                            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                        }
                        self.state = State::Within(decoder);
                        return Ok(count);
                    }
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        self.state = State::Ended { torn: true };
                        return Ok(0);
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }
}

/// Counts the bytes that were taken.
struct Counted<R> {
    input: R,
    count: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        self.count += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.count += count as u64;
    }
}

/// Where frames begin that make up the last `most` bytes of a file, at least two. Walks over
/// the frames by the sizes of their blocks (RFC 8878, 3.1.1) and unpacks nothing.
pub(crate) fn last_frames(file: &mut (impl Read + Seek), most: u64) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(0))?;
    let mut input = BufReader::with_capacity(64, file);
    let (mut starts, mut at) = (vec![0], 0);
    while let Some(next) = frame_end(&mut input, at)?.filter(|&next| next < end) {
        starts.push(next);
        at = next;
    }
    let near = starts.iter().find(|&&start| end - start <= most).copied();
    // The last frame may hold as little as one line.
    let last_but_one = starts.len().checked_sub(2).map(|position| starts[position]);
    Ok(near.into_iter().chain(last_but_one).min().unwrap_or(0))
}

/// Where the frame ends that begins at `start`; `None` where the input ends before.
fn frame_end(input: &mut (impl Read + Seek), start: u64) -> io::Result<Option<u64>> {
    let mut at = start;
    let magic = read_number(input, &mut at, 4)?;
    if magic != Some(u64::from(u32::from_le_bytes(MAGIC))) {
        return Ok(None);
    }
    let Some(descriptor) = read_number(input, &mut at, 1)? else { return Ok(None) };
    let is_single_segment = descriptor & 0x20 != 0;
    let checksum = if descriptor & 0x04 == 0 { 0 } else { 4 };
    let dictionary = match descriptor & 3 {
        3 => 4,
        bytes => bytes,
    };
    let content = match descriptor >> 6 {
        0 => u64::from(is_single_segment),
        power => 1 << power,
    };
    at += u64::from(!is_single_segment) + dictionary + content;
    loop {
        input.seek(SeekFrom::Start(at))?;
        let Some(block) = read_number(input, &mut at, 3)? else { return Ok(None) };
        let size = block >> 3;
        at += if (block >> 1) & 3 == 1 { 1 } else { size };
        if block & 1 == 1 {
            let end = at + checksum;
            input.seek(SeekFrom::Start(end))?;
            return Ok(Some(end));
        }
    }
}

/// A little-endian number of this many bytes; `None` at the end of the input.
fn read_number(input: &mut impl Read, at: &mut u64, count: u64) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    let read = input.take(count).read_to_end(&mut bytes)?;
    *at += read as u64;
    let number = bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    Ok((read as u64 == count).then_some(number))
}
