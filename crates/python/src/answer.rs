//! An answer of the program: what `--json` prints, and what people read.

use anstream::adapter::strip_str;
use nearfar_document::{Answer, NARROWEST, Room, write_json};
use serde::Serialize;

/// JSON and text.
pub type Told = (String, String);

/// # Errors
/// Where the view holds what JSON cannot.
pub fn told(view: &impl Serialize, answer: &Answer) -> Result<Told, String> {
    Ok((json(view)?, text(answer)))
}

/// # Errors
/// Where the view holds what JSON cannot.
pub fn json(view: &impl Serialize) -> Result<String, String> {
    let mut line = Vec::new();
    write_json(&mut line, view).map_err(|error| error.to_string())?;
    String::from_utf8(line).map_err(|error| error.to_string())
}

/// Without colours, which a notebook does not know.
pub fn text(answer: &Answer) -> String {
    strip_str(&answer.text(Room { width: NARROWEST, full: true })).to_string()
}
