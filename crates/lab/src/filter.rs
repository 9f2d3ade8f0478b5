//! What a container does to system calls: some fail, some do nothing and say they
//! did, by a filter that the kernel keeps (seccomp(2)).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use anyhow::{Context, bail};
use seccompiler::TargetArch;

/// System calls and how each is answered instead of being made. Everything else
/// passes.
///
/// Its text form is `mbind=EPERM,move_pages=OK`: names of system calls as in their
/// manual pages; names of some errors as in errno(3), or `OK` for a call that returns 0
/// and does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyscallFilter {
    answers: BTreeMap<String, i32>,
}

/// What a refused call returns; 0 is `OK`.
const ANSWERS: [(&str, i32); 7] = [
    ("OK", 0),
    ("EPERM", libc::EPERM),
    ("ENOSYS", libc::ENOSYS),
    ("EACCES", libc::EACCES),
    ("EAGAIN", libc::EAGAIN),
    ("EINVAL", libc::EINVAL),
    ("EIO", libc::EIO),
];

/// Calls by which a filter is installed: once one of them is answered, no further
/// filter gets in.
const INSTALLING: [&str; 2] = ["prctl", "seccomp"];

impl FromStr for SyscallFilter {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let wrong = || {
            format!("the filter '{text}' is not one; write for instance mbind=EPERM,move_pages=OK")
        };
        Self::read(text).with_context(wrong)
    }
}

impl SyscallFilter {
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut answers = BTreeMap::new();
        for part in text.split(',') {
            let (call, answer) =
                part.split_once('=').with_context(|| format!("'{part}' is not CALL=ERROR"))?;
            let known = ANSWERS.iter().find(|(name, _)| *name == answer);
            let (_, number) = known.with_context(|| {
                let names = ANSWERS.map(|(name, _)| name);
                format!("'{answer}' is none of {}", names.join(", "))
            })?;
            if answers.insert(call.to_string(), *number).is_some() {
                bail!("{call} is answered twice");
            }
        }
        let filter = Self { answers };
        // Names that are none, or that this machine's kernel does not have, are found here.
        filter.programs()?;
        Ok(filter)
    }

    /// Puts the filter on the calling thread and on every process it starts from now
    /// on; it cannot be taken off. Needs no privilege: the thread gives up gaining any
    /// (`PR_SET_NO_NEW_PRIVS`).
    ///
    /// # Errors
    /// When the kernel has no filters or takes no more.
    pub fn install(&self) -> anyhow::Result<()> {
        for program in self.programs()? {
            seccompiler::apply_filter(&program).context("a seccomp filter is not taken")?;
        }
        Ok(())
    }

    /// One program for each answer, because a program has one for all its calls.
    fn programs(&self) -> Result<Vec<seccompiler::BpfProgram>, seccompiler::Error> {
        let mut by_answer: BTreeMap<i32, Vec<&str>> = BTreeMap::new();
        for (call, answer) in &self.answers {
            by_answer.entry(*answer).or_default().push(call);
        }
        let mut groups: Vec<(i32, Vec<&str>)> = by_answer.into_iter().collect();
        groups.sort_by_key(|(_, calls)| calls.iter().any(|call| INSTALLING.contains(call)));
        let arch: TargetArch = std::env::consts::ARCH.try_into()?;
        groups
            .iter()
            .map(|(answer, calls)| {
                let mut rules = String::new();
                for call in calls {
                    let comma = if rules.is_empty() { "" } else { "," };
                    // Writing to a String does not fail.
                    write!(rules, r#"{comma}{{"syscall":"{call}"}}"#).ok();
                }
                let text = format!(
                    r#"{{"all":{{"mismatch_action":"allow","match_action":{{"errno":{answer}}},"filter":[{rules}]}}}}"#
                );
                let mut compiled = seccompiler::compile_from_json(text.as_bytes(), arch)?;
                Ok(compiled.remove("all").unwrap_or_default())
            })
            .collect()
    }
}
