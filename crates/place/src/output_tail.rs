//! The end of what a program prints.

use std::io::Read;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes that are kept of each stream. What a metric's pattern is to find stands near the end.
const KEPT: usize = 1 << 20;

/// After a program's end its pipe is waited for so long: a child of it may hold it open for ever.
const PATIENCE: Duration = Duration::from_millis(200);

/// The end of a stream, which a thread reads so that its writer never waits.
#[derive(Debug)]
pub(crate) struct OutputTail {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl OutputTail {
    /// Reads a stream to its end.
    pub fn of(mut stream: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = channel();
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            let mut part = vec![0; 64 << 10];
            while let Ok(count @ 1..) = stream.read(&mut part) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&part[..count]);
                // Now and then, not for every part.
                if kept.len() > 2 * KEPT {
                    let surplus = kept.len() - KEPT;
                    kept.drain(..surplus);
                }
            }
            // Nobody waits when the program was given up.
            end.send(()).ok();
        });
        Self { kept, ended }
    }

    /// What it printed last, after the program has ended.
    pub fn text(&self) -> String {
        // Either it has ended, or what is there must do.
        self.ended.recv_timeout(PATIENCE).ok();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept[kept.len().saturating_sub(KEPT)..]).into_owned()
    }
}

/// The last lines of an output that hold something, in one line for a sentence.
pub(crate) fn last_lines(output: &str) -> String {
    const LINES: usize = 3;
    const LETTERS: usize = 300;
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].join(" / ");
    match last.chars().count() {
        0 => "it printed nothing".into(),
        count => {
            let end: String = last.chars().skip(count.saturating_sub(LETTERS)).collect();
            format!("its last lines: {end}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_output_is_kept() {
        let mut long = vec![b'a'; 5 * KEPT];
        long.extend_from_slice(b"\nlast line\n");
        let text = OutputTail::of(std::io::Cursor::new(long)).text();
        assert_eq!(text.len(), KEPT);
        assert!(text.ends_with("a\nlast line\n"));
    }

    #[test]
    fn the_last_lines_are_in_one() {
        assert_eq!(last_lines("\n \n"), "it printed nothing");
        assert_eq!(last_lines("a\nb\n\nc\nd\n"), "its last lines: b / c / d");
        assert!(last_lines(&"x".repeat(5000)).len() < 400);
    }
}
