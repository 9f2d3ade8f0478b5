//! The lines of a record.

use serde::{Deserialize, Deserializer, Serialize};

use crate::absent::Absent;
use crate::case::Case;
use crate::header::{Header, Inputs};
use crate::sample::Sample;
use crate::seal::Seal;

/// One line of a record: a field named for what it holds, for example `{"sample":{..}}`, and in
/// the file the line's seal as a second field (docs/record-format.md).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(!try_from))]
#[serde(rename_all = "snake_case", try_from = "LineFields")]
pub enum Line {
    /// The first line.
    Header(Box<Header>),
    /// A case of the plan.
    Case(Case),
    /// A window.
    Sample(Box<Sample>),
    /// Something that was not measured.
    Absent(Absent),
    /// Something that the reader of the figures should know.
    Warning(Warning),
    /// Measuring went on in a later run of the program.
    Resumed(Resumed),
    /// What other inputs ask for is measured as well from here on.
    Appended(Box<Appended>),
    /// Measuring ended in order.
    Finished(Finished),
}

/// The fields of a line: one of those that name its kind, and the seal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineFields {
    #[serde(default, deserialize_with = "given")]
    header: Option<Box<Header>>,
    #[serde(default, deserialize_with = "given")]
    case: Option<Case>,
    #[serde(default, deserialize_with = "given")]
    sample: Option<Sample>,
    #[serde(default, deserialize_with = "given")]
    absent: Option<Absent>,
    #[serde(default, deserialize_with = "given")]
    warning: Option<Warning>,
    #[serde(default, deserialize_with = "given")]
    resumed: Option<Resumed>,
    #[serde(default, deserialize_with = "given")]
    appended: Option<Box<Appended>>,
    #[serde(default, deserialize_with = "given")]
    finished: Option<Finished>,
    #[serde(default, deserialize_with = "given")]
    pub seal: Option<Seal>,
}

/// A field that is there is not null.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl TryFrom<LineFields> for Line {
    type Error = &'static str;

    fn try_from(fields: LineFields) -> Result<Self, Self::Error> {
        let kinds = [
            fields.header.map(Self::Header),
            fields.case.map(Self::Case),
            fields.sample.map(|it| Self::Sample(Box::new(it))),
            fields.absent.map(Self::Absent),
            fields.warning.map(Self::Warning),
            fields.resumed.map(Self::Resumed),
            fields.appended.map(Self::Appended),
            fields.finished.map(Self::Finished),
        ];
        let mut kinds = kinds.into_iter().flatten();
        match (kinds.next(), kinds.next()) {
            (Some(line), None) => Ok(line),
            (None, _) => Err("a line without content"),
            (Some(_), Some(_)) => Err("two lines in one"),
        }
    }
}

/// Something that the reader of the figures should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// For programs: docs/record-format.md lists them, and a later version may add some.
    pub code: String,
    /// For people: what it is and what it means for the figures.
    pub message: String,
    /// For people: what can be done about it.
    pub remedy: String,
    /// Whether it was found in the samples after measuring; a later run that goes on finds anew.
    pub of_samples: bool,
}

impl Warning {
    /// The code of many or all samples disturbed.
    pub const DISTURBED: &str = "disturbed";
    /// The code of working sets that may be small enough for caches to serve a part.
    pub const MAY_CONTAIN_CACHE: &str = "may_contain_cache";
}

/// Measuring went on in a later run of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// When: RFC 3339, UTC, to the second.
    pub at: String,
    /// Samples that were there.
    pub samples: u64,
    /// Whether a torn last line was dropped.
    pub torn_line_dropped: bool,
    /// The budget of this run; null for none.
    pub budget_ns: Option<u64>,
}

/// What other inputs ask for is measured as well: all lines that follow are of these inputs. What
/// was asked for before is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Appended {
    /// When: RFC 3339, UTC, to the second.
    pub at: String,
    /// As in the header: of the same machine, seed, pages and grouping of CPUs.
    pub inputs: Inputs,
}

/// Measuring ended in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// When: RFC 3339, UTC, to the second.
    pub at: String,
    /// Time that this run of the program measured.
    pub seconds: f64,
    /// Rounds that this run began, those that screen variants included.
    pub rounds: u32,
    /// Number of the signal that ended it (1 SIGHUP, 2 SIGINT, 15 SIGTERM); null when it ended by
    /// itself.
    pub interrupted_by: Option<i32>,
    /// Most memory that the process held; null when not known.
    pub peak_resident_bytes: Option<u64>,
    /// Cases that the record holds; null where an older program wrote it.
    #[serde(default)]
    pub cases: Option<u64>,
}
