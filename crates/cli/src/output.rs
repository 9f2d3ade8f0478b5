//! Standard output and standard error.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

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
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(OutputError(error).into()),
        _ => Ok(()),
    }
}

/// Prints a view as JSON, one line.
pub fn print_json(view: &impl Serialize) -> anyhow::Result<()> {
    print(&json_line(view)?)
}

/// A view as JSON, one line, that a terminal may be shown.
pub fn json_line(view: &impl Serialize) -> anyhow::Result<String> {
    Ok(escape(&serde_json::to_string(view)?) + "\n")
}

/// Says a view as JSON, one line, on standard error: where standard output is a program's own.
pub fn say_json(view: &impl Serialize) -> anyhow::Result<()> {
    say(&escape(&serde_json::to_string(view)?));
    Ok(())
}

/// JSON with escapes in place of the characters that are dangerous on a terminal: in JSON they
/// stand within texts only, and [`print`] would leave some of them out.
fn escape(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        match nearfar_report::printable(letter.encode_utf8(&mut [0; 4])) {
            Cow::Borrowed(_) => escaped.push(letter),
            // All of them are below U+10000.
            Cow::Owned(_) => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
        }
    }
    escaped
}

/// Says something that is not a result, on standard error.
pub fn say(text: &str) {
    // Nothing is left to do when even standard error is gone.
    anstream::stderr().write_all(format!("{text}\n").as_bytes()).ok();
}

/// Says why the program ends.
pub fn complain(error: &anyhow::Error) {
    let causes: Vec<String> = error
        .chain()
        .map(|cause| nearfar_report::printable(&cause.to_string()).into_owned())
        .collect();
    say(&format!("nearfar: {}", causes.join(": ")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_every_character_and_sends_none_that_a_terminal_obeys() {
        let hostile = "a\u{7f}\u{9b}2J\u{202e}\u{2028}\u{1b}[2J\n\\\"\u{1f600}";
        let escaped = escape(&serde_json::to_string(hostile).unwrap());
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), hostile);
        let sent = nearfar_report::printable(&escaped);
        assert_eq!(sent, escaped.as_str());
    }
}
