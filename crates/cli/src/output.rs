//! Standard output and standard error.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ColorChoice;
use nearfar_document::{Answer, NARROWEST, Room, write_json};
use nearfar_units::excerpt;
use serde::Serialize;
use terminal_size::terminal_size_of;

use crate::exit_status::ExitStatus;

/// Standard output cannot be written.
#[derive(Debug)]
pub struct OutputError(io::Error);

impl fmt::Display for OutputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot write to standard output: {}; send it elsewhere", self.0)
    }
}

impl std::error::Error for OutputError {}

/// Prints figures. A reader that has gone away (`nearfar show | head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    refuse_closed()?;
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(OutputError(error).into()),
        _ => Ok(()),
    }
}

/// A standard output that was closed when the program began takes everything and keeps nothing.
fn refuse_closed() -> Result<(), OutputError> {
    match nearfar_sys::began_without_output() {
        true => Err(OutputError(io::Error::other("it is closed"))),
        false => Ok(()),
    }
}

/// Writes a document that goes to standard output piece by piece. A reader that has gone away is no
/// error.
pub fn print_by(write: impl FnOnce(&mut Printed) -> io::Result<()>) -> anyhow::Result<()> {
    refuse_closed()?;
    let mut out = Printed { out: BufWriter::new(io::stdout().lock()), reader_is_gone: false };
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if !out.reader_is_gone => Err(OutputError(error).into()),
        _ => Ok(()),
    }
}

/// Standard output, and whether somebody still reads it: a format's library may tell of that in an
/// error of its own.
pub struct Printed {
    out: BufWriter<StdoutLock<'static>>,
    reader_is_gone: bool,
}

impl Printed {
    fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        let kind = done.as_ref().err().map(io::Error::kind);
        self.reader_is_gone |= kind == Some(io::ErrorKind::BrokenPipe);
        done
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.note(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.note(done)
    }
}

/// Prints what a command found: as JSON where that is asked for, else for people, the first screen of it
/// or all.
pub fn answer(
    form: AnswerForm,
    view: &impl Serialize,
    answer: impl FnOnce() -> Answer,
) -> anyhow::Result<ExitStatus> {
    let AnswerForm { as_json, full } = form;
    if as_json {
        print(&json_line(view)?)?;
        return Ok(ExitStatus::Done);
    }
    tell(&answer(), full)
}

/// Prints an answer for people, the first screen of it or all.
pub fn tell(answer: &Answer, full: bool) -> anyhow::Result<ExitStatus> {
    print(&shown(answer, full))?;
    Ok(ExitStatus::Done)
}

/// The same on standard error, where standard output is a program's.
pub fn say_answer(answer: &Answer, full: bool) {
    say_laid_out(shown(answer, full).trim_end());
}

fn shown(answer: &Answer, full: bool) -> String {
    let room = Room { width: width(), full };
    if is_quiet() { answer.clone().without_next().text(room) } else { answer.text(room) }
}

/// Characters of a line: the terminal's, or what COLUMNS says where there is none.
pub fn width() -> usize {
    const FEWEST: usize = 40;
    let of_terminal = terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(told).unwrap_or(NARROWEST).max(FEWEST)
}

/// Whether what is printed is coloured, on a terminal or anywhere.
pub fn colour(choice: ColorChoice) {
    let choice = match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// In which form a command answers.
#[derive(Debug, Clone, Copy)]
pub struct AnswerForm {
    pub as_json: bool,
    /// Whether all is shown and not the first screen alone.
    pub full: bool,
}

impl AnswerForm {
    /// Of a command whose first screen is all there is.
    pub fn short(as_json: bool) -> Self {
        Self { as_json, full: false }
    }
}

/// A view as a line of JSON: the one form in which it is printed.
pub fn json_line(view: &impl Serialize) -> anyhow::Result<String> {
    let mut line = Vec::new();
    write_json(&mut line, view)?;
    Ok(String::from_utf8(line)?)
}

/// Says a sentence that is not a result, on standard error, its commands bare.
pub fn say(text: &str) {
    say_laid_out(&nearfar_document::with_bare_commands(text));
}

/// Writes what is laid out already to standard error.
pub fn say_laid_out(text: &str) {
    let text = shortened(text);
    // Nothing is left to do when even standard error is gone.
    anstream::stderr().write_all(format!("{text}\n").as_bytes()).ok();
}

/// No path and no name is longer than this (PATH_MAX): of such a word the beginning says enough.
const MAX_WORD: usize = 4096;

/// A message without words that nobody reads.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.split(char::is_whitespace).all(|word| word.len() <= MAX_WORD) {
        return Cow::Borrowed(text);
    }
    let words = text.split_inclusive(char::is_whitespace);
    words
        .map(|word| if word.len() > MAX_WORD { excerpt(word) + " " } else { word.into() })
        .collect()
}

/// Says something that a quiet program does not.
pub fn note(text: &str) {
    if !is_quiet() {
        say(text);
    }
}

/// Whether the user asked for the answer and nothing else.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether the user asked for more.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Leaves notes and progress out from here on, or says more.
pub fn set_verbosity(quiet: bool, verbose: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// Whether more is said.
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Whether notes and progress are left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Says why the program ends.
pub fn complain(error: &anyhow::Error) {
    let causes: Vec<String> = error
        .chain()
        .map(|cause| nearfar_document::printable(&cause.to_string()).into_owned())
        .collect();
    say(&format!("nearfar: {}", causes.join(": ")));
}
