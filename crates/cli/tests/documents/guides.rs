//! The guides: their commands, run as they stand, by bash(1), on a simulated machine and a small model of random
//! weights; a program of the server's name takes the model and ends.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::python::docs;

/// A tensor's name and its floats.
const TENSORS: [(&str, usize); 5] = [
    ("token_embd.weight", 4096),
    ("blk.0.attn_q.weight", 1024),
    ("blk.0.ffn_up_exps.weight", 8192),
    ("blk.0.ffn_norm.weight", 8),
    ("output.weight", 2048),
];

/// Of 8 experts a token uses 2.
const ACTIVE_BYTES: usize = 4 * (1024 + 8192 / 4 + 8 + 2048);

/// A GGUF file of version 3.
fn model(path: &Path) {
    let mut file = b"GGUF".to_vec();
    let text = |file: &mut Vec<u8>, text: &str| {
        file.extend((text.len() as u64).to_le_bytes());
        file.extend(text.as_bytes());
    };
    let int = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    int(&mut file, 3);
    file.extend((TENSORS.len() as u64).to_le_bytes());
    file.extend(4_u64.to_le_bytes());
    text(&mut file, "general.architecture");
    int(&mut file, 8);
    text(&mut file, "small");
    for (key, count) in [("small.expert_count", 8), ("small.expert_used_count", 2)] {
        text(&mut file, key);
        int(&mut file, 4);
        int(&mut file, count);
    }
    // Of strings, as a vocabulary is.
    text(&mut file, "tokenizer.ggml.tokens");
    int(&mut file, 9);
    int(&mut file, 8);
    file.extend(2_u64.to_le_bytes());
    text(&mut file, "a");
    text(&mut file, "be");
    let mut offset = 0_u64;
    for (name, floats) in TENSORS {
        text(&mut file, name);
        int(&mut file, 1);
        file.extend((floats as u64).to_le_bytes());
        int(&mut file, 0);
        file.extend(offset.to_le_bytes());
        offset += (4 * floats as u64).next_multiple_of(32);
    }
    file.resize(file.len().next_multiple_of(32), 0);
    let mut random: u32 = 1;
    for _ in 0..offset / 4 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        file.extend((f32::from_bits(random >> 9 | 0x3f80_0000) - 1.5).to_le_bytes());
    }
    fs::write(path, file).unwrap();
}

/// What stands in a guide's fences of `sh`.
fn commands(guide: &str) -> String {
    let mut commands = String::new();
    let mut is_in = false;
    for line in guide.lines() {
        match line {
            "```sh" => is_in = true,
            "```" => is_in = false,
            line if is_in => writeln!(commands, "{line}").unwrap(),
            _ => {}
        }
    }
    commands
}

#[test]
fn a_guide_goes_from_measuring_to_started_servers() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    model(&place.join("model.gguf"));
    fs::copy(docs("guides/active_weights.py"), place.join("active_weights.py")).unwrap();
    let server = place.join("llama-server");
    fs::write(&server, "#!/bin/sh\ntest -s \"$2\" && echo \"serving $*\"\n").unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    let guide = fs::read_to_string(docs("guides/language-models.md")).unwrap();
    // Of a machine with several nodes, in no time.
    let begin = format!(
        "set -eu\nPATH={}:$PATH\nnearfar() {{\n  [ \"$1\" != characterize ] || set -- \"$@\" --simulate joe0\n  \
         '{}' \"$@\"\n}}\n",
        place.display(),
        env!("CARGO_BIN_EXE_nearfar")
    );
    let script = begin + &commands(&guide);
    let output = Command::new("bash").args(["-c", &script]).current_dir(place).output().unwrap();
    let [said, error] =
        [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream).into_owned());
    assert!(output.status.success(), "{said}\n{error}");
    let all: usize = TENSORS.iter().map(|(_, floats)| 4 * floats).sum();
    assert!(
        said.contains(&format!("all weights: {all}\na token reads: {ACTIVE_BYTES}\n")),
        "{said}"
    );
    assert!(said.contains("One instance is fastest with a copy per node: "), "{said}");
    assert!(said.contains("are where they were asked for"), "{said}");
    assert!(said.contains("serving -m model.gguf --numa numactl\n"), "{said}");
    // It lives for milliseconds, and a busy machine may look at it too late.
    let is_told = ["own memory by node", "ended before it could"];
    assert!(is_told.iter().any(|words| error.contains(words)), "{error}");
    let log = fs::read_to_string(place.join("server-0.log")).unwrap();
    assert_eq!(log, "serving -m model.gguf --no-mmap --numa numactl --port 8080\n");
}
