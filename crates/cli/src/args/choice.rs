//! Options whose values are those of a type below: by its own words, each with what help says of it.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value and what help says of it.
pub type Choice<T> = (T, &'static str);

/// Reads one of these.
pub fn one_of<T: Copy + Send + Sync>(
    choices: &'static [Choice<T>],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let named = choices.iter().map(|&(value, help)| PossibleValue::new(word(value)).help(help));
    PossibleValuesParser::new(named).try_map(move |name| {
        let found = choices.iter().find(|(value, _)| word(*value) == name);
        found.map(|(value, _)| *value).ok_or_else(|| format!("'{name}' is not one of them"))
    })
}
