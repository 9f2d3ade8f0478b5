//! Help behind the options, as wide as the terminal is: its paragraphs are written in lines.

use clap::{Command, CommandFactory, FromArgMatches};
use nearfar_document::{Answer, NARROWEST, Part, Room, Shown};

use super::Arguments;

impl Arguments {
    /// As [`clap::Parser::try_parse`], with help whose paragraphs follow the terminal's width.
    ///
    /// # Errors
    /// What was asked for wrongly, and help.
    pub fn parse_flowing() -> Result<Self, clap::Error> {
        let matches = flowing(Self::command()).try_get_matches()?;
        Self::from_arg_matches(&matches)
    }
}

fn flowing(command: Command) -> Command {
    let after = command.get_after_help().map(|text| joined(&text.to_string()));
    let command = match after {
        Some(text) => command.after_help(text),
        None => command,
    };
    // Where it is asked for: the help of all commands was a tenth of the time of a start.
    command.mut_subcommands(|subcommand| subcommand.defer(flowing))
}

/// Where what an example does begins at the farthest, to be wrapped there.
const FARTHEST: usize = 50;

/// Lines of a paragraph joined; what is indented, as examples are, and empty lines stay. What an example
/// does is wrapped under itself.
fn joined(text: &str) -> String {
    let mut all = String::new();
    let mut is_open = false;
    for line in text.lines() {
        let is_indented = line.starts_with(' ');
        let is_next = is_open && !line.is_empty() && !is_indented;
        if !all.is_empty() {
            all.push(if is_next { ' ' } else { '\n' });
        }
        match is_indented && line.len() > NARROWEST {
            true => all += &hanging(line),
            false => all += line,
        }
        // A command of one line is no beginning of a paragraph.
        let is_example = line.starts_with("Example: ");
        is_open = !(line.is_empty() || is_indented || is_example || line.ends_with(':'));
    }
    all
}

/// A line of two columns whose second one is wrapped under itself.
fn hanging(line: &str) -> String {
    let Some((first, second)) = line.trim_start().split_once("  ") else { return line.into() };
    let second = second.trim_start();
    let place = line.len() - second.len();
    let (before, label) = match place <= FARTHEST {
        true => (String::new(), line[..place].to_string()),
        false => (format!("  {first}\n"), " ".repeat(8)),
    };
    let lines = Answer::default().and(Shown::Always, Part::words(label, second));
    before + lines.text(Room { width: NARROWEST, full: true }).trim_end()
}

#[cfg(test)]
mod tests {
    use super::{NARROWEST, joined};

    #[test]
    fn paragraphs_are_one_line_and_examples_stay() {
        let does = ["who"; 20].join(" ");
        let text = format!("Examples:\n  nearfar ps --all      {does}");
        let under = format!("\n{}who", " ".repeat(24));
        assert!(joined(&text).contains(&under), "{}", joined(&text));
        assert!(joined(&text).lines().all(|line| line.len() <= NARROWEST), "{}", joined(&text));
        let text = format!("  nearfar {}  {does}", "a".repeat(60));
        assert!(joined(&text).starts_with("  nearfar aa"), "{}", joined(&text));
        assert!(joined(&text).contains("a\n        who"), "{}", joined(&text));
        let text = "Examples:\n  nearfar ps   who\n  nearfar ps --all\n\nFar is\nfar.\nAnd:\nnear\n\nEnd.\n\n\
             Example: nearfar ps\nStatus 1\nor 2.";
        let flowing = "Examples:\n  nearfar ps   who\n  nearfar ps --all\n\nFar is far. And:\nnear\n\nEnd.\n\n\
             Example: nearfar ps\nStatus 1 or 2.";
        assert_eq!(joined(text), flowing);
    }
}
