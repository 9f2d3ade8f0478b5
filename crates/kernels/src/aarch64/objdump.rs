//! Tests: instructions as objdump of GNU binutils reads them.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub mnemonic: String,
    pub operands: String,
}

/// The instructions of this code.
pub(crate) fn disassemble(code: &[u8]) -> Vec<Instruction> {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file = format!("nearfar-code-{}-{number}", std::process::id());
    let file = std::env::temp_dir().join(file);
    fs::write(&file, code).unwrap();
    let objdump = ["aarch64-linux-gnu-objdump", "objdump"].into_iter().find_map(|program| {
        let mut command = Command::new(program);
        command.args(["-D", "-z", "-b", "binary", "-m", "aarch64"]).arg(&file);
        command.output().ok().filter(|output| output.status.success())
    });
    fs::remove_file(&file).unwrap();
    let text = String::from_utf8(objdump.expect("objdump of binutils").stdout).unwrap();
    let read = |line: &str| {
        let mut fields = line.split_once(":\t")?.1.split('\t').map(str::trim).skip(1);
        let mnemonic = fields.next()?.to_owned();
        // After a comment stands what it points to.
        let operands = fields.next().unwrap_or_default();
        let operands = operands.split("//").next().unwrap_or_default().trim().to_owned();
        Some(Instruction { mnemonic, operands })
    };
    let instructions: Vec<_> = text.lines().filter_map(read).collect();
    assert_eq!(4 * instructions.len(), code.len(), "{text}");
    instructions
}

impl Instruction {
    /// What stands between commas and brackets.
    fn words(&self) -> impl Iterator<Item = &str> {
        self.operands.split([',', '[', ']', ' ', '{', '}']).filter(|word| !word.is_empty())
    }

    /// Every register and every number, in their order.
    pub fn registers(&self) -> impl Iterator<Item = &str> {
        self.words().filter(|word| !word.starts_with('#') && !matches!(*word, "mul" | "vl"))
    }

    pub fn number(&self) -> Option<u64> {
        let word = self.words().find_map(|word| word.strip_prefix('#'))?;
        match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        }
    }

    /// The general register whose address it accesses, if it does.
    pub fn base(&self) -> Option<&str> {
        let (_, inside) = self.operands.split_once('[')?;
        inside.split([',', ']']).next()
    }
}
