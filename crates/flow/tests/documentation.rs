//! docs/simulated-machines.md names every key and every machine, and its example works.

use std::fs;
use std::path::Path;

use nearfar_flow::{Fault, builtin_machines, parse_machine};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulated-machines.md");
    fs::read_to_string(path).unwrap_or_default()
}

/// The keys of a table, as the reader lists them when it meets one that it does not know.
fn keys_of(start: &str) -> Vec<String> {
    let refusal = parse_machine("x", &format!("{start}\nno_such_key = 1")).err();
    let message = refusal.map(|refusal| refusal.to_string()).unwrap_or_default();
    let keys: Vec<String> = message
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|key| *key != "no_such_key")
        .map(String::from)
        .collect();
    assert!(message.contains("no_such_key") && !keys.is_empty(), "{start}: {message}");
    keys
}

#[test]
fn every_key_is_documented() {
    let page = page();
    for (start, prefix) in [
        ("", ""),
        ("[[node]]", ""),
        ("[cache]", ""),
        ("[[bandwidth]]", ""),
        ("[[controller]]", "."),
        ("[[issue]]", "."),
        ("[[link]]", "."),
        ("[[pressure]]", "."),
        ("[[roof]]", "."),
        ("[[latency]]", ""),
        ("[chase]", ""),
        ("[queue]", ""),
        ("[[overlap]]", ""),
        ("[noise]", ""),
        ("[clock]", ""),
        ("[[fault]]\nkind = \"slow_memory\"", ""),
        ("[[fault]]\nkind = \"narrow_link\"", ""),
        ("[[fault]]\nkind = \"narrow_path\"", ""),
        ("[[fault]]\nkind = \"slow_cluster\"", ""),
        ("[[fault]]\nkind = \"full_memory\"", ""),
    ] {
        for key in keys_of(start) {
            let spellings = [format!("`{key}`"), format!("[{key}]"), format!("{prefix}{key}`")];
            let spelt = spellings.iter().any(|spelling| page.contains(spelling));
            assert!(spelt, "docs/simulated-machines.md does not name {key} of {start}");
        }
    }
}

#[test]
fn every_word_for_a_kind_is_documented() {
    let page = page();
    for (before, after) in [
        ("[[fault]]\nkind = \"", "\""),
        ("[[bandwidth]]\nrelation = \"", "\""),
        ("[[node]]\nkind = \"", "\""),
        ("[noise]\ndisturbed = { by = \"", "\" }"),
        ("[noise]\nmodes = [{ per = \"", "\", share = 0, factor = 1 }]"),
    ] {
        let refusal = parse_machine("x", &format!("{before}no_such_word{after}")).err();
        let message = refusal.map(|refusal| refusal.to_string()).unwrap_or_default();
        let words: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
        assert!(words.len() >= 3, "{before}: {message}");
        for word in words {
            assert!(page.contains(&format!("`{word}`")), "the page does not name {word}");
        }
    }
}

/// Loops are no keys of the reader's; the refusal lists them.
#[test]
fn every_loop_is_documented() {
    let page = page();
    let text = "name = \"x\"\ntitle = \"x\"\ncore_ghz = 1\nnode = [{ cores = 1 }]\n\
                [[bandwidth]]\none_thread = 1\n[flops]\nno_such_loop = 1";
    let refusal = parse_machine("x", text).err().map(|refusal| refusal.to_string());
    let message = refusal.unwrap_or_default();
    let loops = message.split("there are ").nth(1).unwrap_or_default();
    assert_eq!(loops.split(", ").count(), 10, "{message}");
    for name in loops.split(", ") {
        assert!(page.contains(&format!("`{name}`")), "the page does not name {name}");
    }
}

#[test]
fn every_machine_is_listed() {
    let page = page();
    let machines = builtin_machines().unwrap_or_default();
    assert_eq!(machines.len(), 16);
    for (name, _) in machines {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}

#[test]
fn the_example_is_a_machine() {
    let page = page();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let machine = parse_machine("example", example.unwrap_or_default());
    let faults = machine.map(|machine| machine.faults);
    assert!(matches!(faults.as_deref(), Ok([Fault::SlowMemory { node: 6, .. }])), "{faults:?}");
}
