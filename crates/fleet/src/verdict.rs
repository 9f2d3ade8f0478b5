//! What `compare` leaves of each machine: a line of a small file, so that a health check reads nothing else.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use nearfar_units::{excerpt, excerpt_of, words};
use serde::{Deserialize, Serialize};

use crate::machine_name::MachineName;
use crate::summary::MOST_OF_ERROR;

/// Name and version of the format.
pub const VERDICT_SCHEMA: &str = "nearfar.verdict/1";

/// Characters of the line: Kubernetes' node-problem-detector cuts what is longer.
const MOST_CHARACTERS: usize = 80;

const MAX_VERDICT_BYTES: u64 = 1 << 20;

/// How a machine stands, the better first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// No part of it falls short of its peers.
    Good,
    /// Nothing can be said: it is missing, failed, has no peers, or too little was measured.
    Unknown,
    /// It fell short, which may be chance: it is to be measured again.
    Again,
    /// It falls short, and did so again.
    Bad,
}

words!(VerdictKind);

/// A machine's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    pub schema: String,
    pub machine: MachineName,
    pub verdict: VerdictKind,
    /// What is wrong, in a few words; empty where nothing is.
    pub why: String,
    /// When its last measurement ended: RFC 3339, UTC; null: it was not measured.
    pub measured: Option<String>,
    /// Whether its figures were computed, and not measured.
    #[serde(default)]
    pub simulated: bool,
    /// When it was compared.
    pub compared: String,
}

/// What a health check is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldVerdict {
    /// One line of at most 80 characters, all of them printable ASCII.
    pub line: String,
    /// `Bad` or `Good` only where it is known and young enough; else `Unknown`, for "again" too.
    pub verdict: VerdictKind,
    /// Whether the machine was in a comparison, whatever came of it.
    pub is_compared: bool,
}

impl Verdict {
    /// Reads one.
    ///
    /// # Errors
    /// Where it is torn or of another version.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let verdict: Self = serde_json::from_slice(bytes)
            .map_err(|error| excerpt_of(&error.to_string(), MOST_OF_ERROR))?;
        if verdict.schema == VERDICT_SCHEMA {
            Ok(verdict)
        } else {
            Err(format!("its format is '{}', not {VERDICT_SCHEMA}", excerpt(&verdict.schema)))
        }
    }

    /// A machine's among lines of them; where it is not there and a line cannot be read, that one may be its own.
    fn find(lines: &[u8], machine: &MachineName) -> Result<Option<Self>, String> {
        let mut unread = None;
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match Self::read(line) {
                Ok(verdict) if verdict.machine == *machine => return Ok(Some(verdict)),
                Ok(_) => {}
                Err(why) => unread = Some(why),
            }
        }
        unread.map_or(Ok(None), Err)
    }

    /// What is told of a machine whose verdict is a line of the file at `path`, at a time (RFC 3339), of no measurement older than
    /// `most_seconds`.
    pub fn tell(path: &Path, machine: &MachineName, now: &str, most_seconds: i64) -> ToldVerdict {
        let unknown = |why: &str| told(machine, VerdictKind::Unknown, why);
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            File::open(path)?.take(MAX_VERDICT_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let found = match read() {
            Ok(bytes) => Self::find(&bytes, machine),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        let verdict = match found {
            Ok(Some(verdict)) => verdict,
            Ok(None) if path.ancestors().nth(2).is_some_and(|folder| !folder.exists()) => {
                return unknown("the folder of the run is not there");
            }
            Ok(None) => {
                let told = unknown("was in no comparison of this folder");
                return ToldVerdict { is_compared: false, ..told };
            }
            Err(why) => return unknown(&format!("its verdict cannot be read: {why}")),
        };
        let day = |time: &str| time.split('T').next().unwrap_or_default().to_string();
        let Some(measured) = &verdict.measured else { return unknown(&verdict.why) };
        let (Some(seconds), Some(now)) = (seconds_of(measured), seconds_of(now)) else {
            return unknown("its time cannot be read");
        };
        if now.saturating_sub(seconds) >= most_seconds {
            return unknown(&format!("was measured on {}, too long ago", day(measured)));
        }
        match verdict.verdict {
            VerdictKind::Good => {
                let how = if verdict.simulated { "simulated" } else { "measured" };
                told(machine, VerdictKind::Good, &format!("{how} {}", day(measured)))
            }
            VerdictKind::Bad => told(machine, VerdictKind::Bad, &verdict.why),
            VerdictKind::Again => unknown(&format!("to be measured again: {}", verdict.why)),
            VerdictKind::Unknown => unknown(&verdict.why),
        }
    }
}

fn told(machine: &MachineName, verdict: VerdictKind, why: &str) -> ToldVerdict {
    let name = machine.as_str();
    let name = if name.len() > 30 { &name[..30] } else { name };
    let line = format!("nearfar {} {name}: {why}", verdict.as_str().to_uppercase());
    let printable = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    let mut line: String = line.chars().map(printable).collect();
    if line.len() > MOST_CHARACTERS {
        line.truncate(MOST_CHARACTERS - 2);
        line.push_str("..");
    }
    ToldVerdict { line, verdict, is_compared: true }
}

/// Seconds since 1970 of a time in RFC 3339.
pub(crate) fn seconds_of(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn line(verdict: VerdictKind, why: &str, now: &str) -> ToldVerdict {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("3f.jsonl");
        let machine: MachineName = "n7".parse().unwrap();
        let verdict = Verdict {
            schema: VERDICT_SCHEMA.into(),
            machine: machine.clone(),
            verdict,
            why: why.into(),
            measured: Some("2026-11-20T10:00:00Z".into()),
            simulated: false,
            compared: "2026-11-20T11:00:00Z".into(),
        };
        let own = serde_json::to_string(&verdict).unwrap();
        let other = own.replace("n7", "n8").replace(verdict.verdict.as_str(), "unknown");
        fs::write(&path, format!("{other}\n{own}\n")).unwrap();
        let found = Verdict::tell(&path, &machine, now, 7 * 86400);
        fs::write(&path, format!("{other}\n{}", &own[..own.len() / 2])).unwrap();
        let torn = Verdict::tell(&path, &machine, now, 7 * 86400);
        assert!(torn.line.contains("cannot be read"), "{}", torn.line);
        fs::write(&path, other).unwrap();
        let absent = Verdict::tell(&path, &machine, now, 7 * 86400);
        assert!(absent.line.contains("was in no comparison"), "{}", absent.line);
        found
    }

    #[test]
    fn a_line_says_it_in_eighty_characters() {
        let good = line(VerdictKind::Good, "", "2026-11-21T00:00:00Z");
        assert_eq!(good.line, "nearfar GOOD n7: measured 2026-11-20");
        let bad = line(
            VerdictKind::Bad,
            &"memory of node 6 \u{1b}[31m ".repeat(9),
            "2026-11-21T00:00:00Z",
        );
        assert_eq!((bad.verdict, bad.line.len()), (VerdictKind::Bad, 80), "{}", bad.line);
        assert!(!bad.line.contains('\u{1b}'));
        let old = line(VerdictKind::Bad, "slow", "2026-12-01T00:00:00Z");
        assert_eq!(old.verdict, VerdictKind::Unknown, "{}", old.line);
        let again = line(VerdictKind::Again, "slow", "2026-11-21T00:00:00Z");
        assert_eq!(
            (again.verdict, again.line.as_str()),
            (VerdictKind::Unknown, "nearfar UNKNOWN n7: to be measured again: slow")
        );
    }
}
