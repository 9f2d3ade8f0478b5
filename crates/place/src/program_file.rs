//! A file of programs to be run at every placement: suites of benchmarks, each with what counts of
//! it.
//!
//! ```toml
//! [[program]]
//! name = "cg.A"
//! command = "./bin/cg.A.x"
//! metric = "Mop/s total += +([0-9.]+)"
//! unit = "Mop/s"
//! must_print = "Verification += +SUCCESSFUL"
//! environment = { OMP_NUM_THREADS = "8" }
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use nearfar_record::{Better, CommandProgram, Metric};
use nearfar_units::{excerpt, excerpt_of};
use serde::Deserialize;

use crate::metric_pattern::MetricPattern;

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    program: Vec<Program>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    command: Words,
    metric: Option<String>,
    unit: Option<String>,
    #[serde(default = "higher")]
    better: Better,
    must_print: Option<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

fn higher() -> Better {
    Better::Higher
}

/// Words with blanks between them, or one by one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    Line(String),
    List(Vec<String>),
}

/// Of such a file; no list of programs is longer.
const MAX_BYTES: u64 = 1 << 20;

/// Of what a parser says of a text, characters.
const LONGEST_REASON: usize = 400;

/// Why a file of programs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramFileError {
    #[error("cannot read {path}: {error}")]
    Unreadable { path: String, error: io::Error },
    #[error("{path}:{line}: {}", excerpt_of(.what, LONGEST_REASON))]
    Syntax { path: String, line: usize, what: String },
    #[error("{path}: program '{}': {}", excerpt(.name), excerpt_of(.what, LONGEST_REASON))]
    Program { path: String, name: String, what: String },
    #[error("{path} names no program; docs/sensitivity.md shows such a file")]
    Empty { path: String },
}

/// Reads a file of programs, in its order.
///
/// # Errors
/// When it cannot be read, or a program lacks its command or has a pattern that is none.
pub fn read_programs(path: &Path) -> Result<Vec<CommandProgram>, ProgramFileError> {
    let shown = path.display().to_string();
    let unreadable = |error| ProgramFileError::Unreadable { path: shown.clone(), error };
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(unreadable(io::Error::other("it is larger than 1 MiB")));
    }
    parse_programs(&shown, &text)
}

/// Reads the text of a file of programs, in its order; `path` names it in what is refused.
///
/// # Errors
/// When a program lacks its command or has a pattern that is none.
pub fn parse_programs(path: &str, text: &str) -> Result<Vec<CommandProgram>, ProgramFileError> {
    let syntax = |error: toml::de::Error| {
        let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
        ProgramFileError::Syntax {
            path: path.into(),
            line: 1 + before.matches('\n').count(),
            what: error.message().trim_end().to_string(),
        }
    };
    let file: Programs = toml::from_str(text).map_err(syntax)?;
    if file.program.is_empty() {
        return Err(ProgramFileError::Empty { path: path.into() });
    }
    let read = |program: Program| {
        let name = program.name.clone();
        program_of(program).map_err(|what| ProgramFileError::Program {
            path: path.into(),
            name,
            what,
        })
    };
    file.program.into_iter().map(read).collect()
}

fn program_of(program: Program) -> Result<CommandProgram, String> {
    let Program { name, command, metric, unit, better, must_print, environment } = program;
    let words = match command {
        Words::Line(line) => line.split_ascii_whitespace().map(String::from).collect(),
        Words::List(words) => words,
    };
    let mut words = words.into_iter();
    let first = words.next().filter(|word| !word.is_empty());
    let first = first.ok_or("its command is empty")?;
    if let Some(pattern) = &metric {
        MetricPattern::new(pattern).map_err(|error| error.to_string())?;
    } else if unit.is_some() {
        return Err("it has a unit and no metric".into());
    }
    if let Some(pattern) = &must_print {
        MetricPattern::syntax(pattern).map_err(|error| error.to_string())?;
    }
    Ok(CommandProgram {
        environment,
        metric: metric.map(|pattern| Metric { pattern, unit, better }),
        must_print,
        ..CommandProgram::new(name, first, words.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_what_counts_of_them() {
        let text = r#"
            [[program]]
            name = "cg.A"
            command = "./bin/cg.A.x --fast"
            metric = "Mop/s total += +([0-9.]+)"
            unit = "Mop/s"
            must_print = "SUCCESSFUL"
            environment = { OMP_NUM_THREADS = "8" }
            [[program]]
            name = "a name"
            command = ["./a program", "x y"]
        "#;
        let [cg, other] = &parse_programs("f", text).unwrap()[..] else { panic!() };
        assert_eq!((&*cg.program, &cg.arguments[..]), ("./bin/cg.A.x", &["--fast".into()][..]));
        let metric = cg.metric.as_ref().unwrap();
        assert_eq!((metric.better, metric.unit.as_deref()), (Better::Higher, Some("Mop/s")));
        assert_eq!(cg.environment["OMP_NUM_THREADS"], "8");
        assert_eq!((&*other.program, &other.arguments[..]), ("./a program", &["x y".into()][..]));
        assert!(other.metric.is_none() && other.must_print.is_none());
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let error = read_programs(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("/dev/zero: it is larger than 1 MiB"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_program() {
        for (text, said) in [
            ("", "program"),
            ("program = []", "names no program"),
            ("[[program]]\nname = 'x'", "command"),
            ("[[program]]\nname = 'x'\ncommand = ' '", "'x': its command is empty"),
            ("[[program]]\nname = 'x'\ncommand = 'y'\nmetric = '1'", "has no group"),
            ("[[program]]\nname = 'x'\ncommand = 'y'\nmust_print = '('", "regular expression"),
            ("[[program]]\nname = 'x'\ncommand = 'y'\nunit = 's'", "no metric"),
            ("[[program]]\nname = 'x'\ncommand = 'y'\ncolour = 's'", "colour"),
        ] {
            let error = parse_programs("file.toml", text).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains("file.toml"), "{text}: {error}");
        }
    }
}
