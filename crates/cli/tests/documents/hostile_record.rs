//! A record full of markup: what any stranger's record may hold, in every text of it.

use std::fs;
use std::path::{Path, PathBuf};

use nearfar_machine::Machine;
use serde_json::Value;

use crate::reports::{sealed, simulate};

/// Begins as a formula; leaves the quotation marks of HTML, TeX, CSV, Markdown, JSON and labels,
/// and ends their lines; turns the line around, clears the screen, ends C's texts.
const MARKUP: &str = concat!(
    "=cmd|' /C calc'!A1\"><script>alert(1)</script>--><img src=x onerror=alert(2)>",
    "]]></style></title>&lt;&#60;%3C{{7*7}}${7*7}<%= 7 %>",
    "\\input{/etc/passwd}\\write18{id}\\end{document}%#$&_^~{}",
    "`code` ```\n\n# heading\r\n| a | b |\n- [x](javascript:alert(3)) ![y](//evil.test/z) **b**\t",
    "\"} 1\n# EOF\n\u{202e}desrever\u{2066}\u{1b}[2J\u{0}\u{7f}\u{9b}\u{2028}\u{feff}'\",;\\",
);

/// Short marks of the kinds of spreadsheet formulas, for texts of which there are many.
const FORMULAS: [&str; 4] = ["+1|", "-2<b>", "@x\"", "\t=3\\"];

/// This kernel's name is a text as any: the others keep theirs, so that models find them.
const RENAMED_KERNEL: &str = "copy";

/// What the renamed kernel is called: short enough for tables, and still none of a catalog.
const HOSTILE_KERNEL: &str = "=2+3|<i>\\`\"$_{}&%#\n\u{202e}k";

/// What its variants end in.
const HOSTILE_VARIANT: &str = "</td>|\"\\x{}$\u{1b}[1m";

/// A whole record of a simulated machine with markup in every text that the reader takes as
/// it comes, sealed; its file's name is markup as well.
pub fn hostile_record(folder: &Path) -> PathBuf {
    let plain = fs::read_to_string(simulate(folder, "two-socket-8-nodes")).unwrap();
    let path = folder.join("=cmd <script>|$(id)`\"'&%#\\\u{202e}_{}.jsonl");
    let mut lines = Vec::new();
    for line in plain.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let kinds = line.as_object_mut().unwrap();
        kinds.remove("seal").unwrap();
        let (kind, content) = kinds.iter_mut().next().unwrap();
        match kind.as_str() {
            "header" => spoil_header(content),
            "warning" => spoil_texts(content),
            "absent" => spoil_texts(&mut content["reason"]["text"]),
            _ => {}
        }
        spoil_names(content);
        lines.push(line);
    }
    fs::write(&path, sealed(&lines)).unwrap();
    path
}

/// Texts of the header that no check holds against anything.
fn spoil_header(header: &mut Value) {
    for pointer in [
        "/host",
        "/versions",
        "/simulation/name",
        "/simulation/title",
        "/environment",
        "/machine/notes",
    ] {
        spoil_texts(header.pointer_mut(pointer).unwrap());
    }
    for package in header["machine"]["packages"].as_array_mut().unwrap() {
        package["model"] = MARKUP.into();
    }
    header["environment"]["cpu"]["model_name"] = MARKUP.into();
    header["environment"]["kernel_release"] = MARKUP.into();
    header["environment"]["unknown"][MARKUP] = MARKUP.into();
    header["machine"]["notes"] = [MARKUP].as_slice().into();
    let machine: Machine = serde_json::from_value(header["machine"].clone()).unwrap();
    header["fingerprint"] = machine.fingerprint().into();
}

/// Puts markup before every text below.
fn spoil_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = format!("{MARKUP}{text}"),
        Value::Array(values) => values.iter_mut().for_each(spoil_texts),
        Value::Object(fields) => fields.values_mut().for_each(spoil_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Renames cases, and one kernel with its variants, everywhere alike.
fn spoil_names(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(spoil_names),
        Value::Object(fields) => {
            for name in ["case", "id"] {
                if let Some(Value::String(id)) = fields.get_mut(name) {
                    *id = format!("{}{id}", FORMULAS[id.len() % FORMULAS.len()]);
                }
            }
            if fields.get("kernel").is_some_and(|kernel| kernel == RENAMED_KERNEL) {
                fields.insert("kernel".into(), HOSTILE_KERNEL.into());
                if let Some(Value::String(variant)) = fields.get_mut("variant") {
                    variant.push_str(HOSTILE_VARIANT);
                }
            }
            fields.values_mut().for_each(spoil_names);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
