//! What the README, the guides and the pages of commands and models show is what the program prints. In their
//! indented blocks a line that begins with `$ ` is run by bash(1), and what stands below it is held against what
//! it prints; `[..]` stands for any lines. `UPDATE_EXPECT=1` writes what a command prints below it, where no `[..]` stands.

use std::fs;
use std::path::Path;

use crate::contract::docs;
use crate::golden::without_what_varies;
use crate::records::line;
use crate::support::{run, text};

const INDENT: &str = "    ";

/// When everything is measured there.
const WHEN: &str = "2026-11-24T12:00:00Z";

/// A command, and what a document shows below it.
struct Shown {
    command: String,
    lines: Vec<String>,
}

/// Lines of a document, and commands of its blocks with what they print.
enum Piece {
    Text(String),
    Session(Shown),
}

fn pieces(readme: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for line in readme.lines() {
        let block = line.strip_prefix(INDENT);
        match (block, pieces.last_mut()) {
            (Some(command), _) if command.starts_with("$ ") => {
                let command = command[2..].to_string();
                pieces.push(Piece::Session(Shown { command, lines: Vec::new() }));
            }
            (Some(said), Some(Piece::Session(shown))) => shown.lines.push(said.to_string()),
            // An empty line within a block is not indented.
            (None, Some(Piece::Session(shown))) if line.is_empty() => {
                shown.lines.push(String::new());
            }
            _ => pieces.push(Piece::Text(line.to_string())),
        }
    }
    pieces
}

/// Whether lines are those that are shown, of which `[..]` stands for any number.
fn is_shown(shown: &[String], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((any, rest)) if any == "[..]" => {
            (0..=said.len()).any(|skipped| is_shown(rest, &said[skipped..]))
        }
        Some((first, rest)) => said.first() == Some(&first.as_str()) && is_shown(rest, &said[1..]),
    }
}

/// What the document at `path` shows, held against what its commands print; how many there are.
fn hold(path: &Path) -> usize {
    let document = fs::read_to_string(path).unwrap();
    let updates = std::env::var_os("UPDATE_EXPECT").is_some();
    let folder = path.file_stem().unwrap().to_str().unwrap().to_lowercase();
    let (mut written, mut commands, mut wrong) = (String::new(), 0, Vec::new());
    for piece in pieces(&document) {
        let shown = match piece {
            Piece::Text(line) => {
                written += &format!("{line}\n");
                continue;
            }
            Piece::Session(shown) => shown,
        };
        commands += 1;
        let command = format!("mkdir -p {folder} && cd {folder} && {}", shown.command);
        let output = run(&mut line(&command));
        let said = without_what_varies(&(text(&output.stdout) + &text(&output.stderr)));
        let said = said.replace("TIME", WHEN);
        let said: Vec<&str> = said.trim_end().lines().collect();
        // Behind the last command of a block empty lines are the document's.
        let own = shown.lines.iter().rev().take_while(|line| line.is_empty()).count();
        let (lines, after) = shown.lines.split_at(shown.lines.len() - own);
        written += &format!("{INDENT}$ {}\n", shown.command);
        let is_whole = !lines.iter().any(|line| line == "[..]");
        let is_rewritten = updates && is_whole;
        if !is_rewritten && !is_shown(lines, &said) {
            wrong.push(format!("$ {}\n{}", shown.command, said.join("\n")));
        }
        let now: Vec<&str> = match updates && is_whole {
            true => said,
            false => lines.iter().map(String::as_str).collect(),
        };
        for line in now.into_iter().chain(after.iter().map(String::as_str)) {
            written += format!("{INDENT}{line}").trim_end();
            written += "\n";
        }
    }
    assert!(wrong.is_empty(), "{folder} shows other lines than:\n{}", wrong.join("\n\n"));
    if updates {
        fs::write(path, written).unwrap();
    } else {
        assert_eq!(written, document, "a block of {folder} is not as it is read");
    }
    commands
}

#[test]
fn the_readme_shows_what_commands_print() {
    assert_eq!(hold(&docs().join("../README.md")), 5);
}

#[test]
fn pages_show_what_commands_print() {
    for (page, commands) in [("commands.md", 1), ("models.md", 3)] {
        assert_eq!(hold(&docs().join(page)), commands, "{page}");
    }
}

#[test]
fn every_command_has_its_row() {
    let page = fs::read_to_string(docs().join("commands.md")).unwrap();
    let help = text(&run(&mut line("nearfar --help")).stdout);
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let listed = listed.lines().take_while(|line| !line.is_empty());
    // What goes on from the line before begins farther right.
    let names: Vec<&str> = listed
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .map(|line| line.split(' ').next().unwrap())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("| `nearfar {name}")), "{name} has no row");
    }
}

/// Each is worked on a simulated machine.
#[test]
fn guides_show_what_commands_print() {
    let mut held = 0;
    for file in fs::read_dir(docs().join("guides")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            assert!(hold(&path) > 0, "{} shows nothing that is run", path.display());
            held += 1;
        }
    }
    assert!(held >= 6, "{held} guides");
}
