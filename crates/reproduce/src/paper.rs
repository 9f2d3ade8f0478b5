//! The papers and their rows.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ReproduceError, contradiction};
use crate::row::{Measure, Row, Status};
use crate::{braithwaite2012, denoyelle2019, ribeiro2010, saad2022, vladimirov2012};

/// A paper's tables, worked out again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Paper {
    /// As in `docs/references.md`.
    pub key: String,
    /// Author, title, place and year.
    pub title: String,
    /// In the order of the paper.
    pub rows: Vec<Row>,
}

impl Paper {
    /// Rows of this status.
    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }

    /// Rows that pass because a simulated machine gave back what it was given.
    pub fn round_trips(&self) -> usize {
        self.rows.iter().filter(|row| row.status == Status::Pass && row.round_trip).count()
    }

    /// Rows that pass because a model predicts them as well as it promises, without round trips.
    pub fn predictions(&self) -> usize {
        let is_predicted = |row: &Row| {
            !row.round_trip && matches!(row.judged_by, Some(Measure::Model | Measure::Sign))
        };
        let passed = self.rows.iter().filter(|row| row.status == Status::Pass);
        passed.filter(|row| is_predicted(row)).count()
    }
}

/// The keys of all papers that can be reproduced.
pub fn papers() -> &'static [&'static str] {
    &[
        braithwaite2012::KEY,
        vladimirov2012::KEY,
        ribeiro2010::KEY,
        denoyelle2019::KEY,
        saad2022::KEY,
    ]
}

/// Works a paper's tables out again.
///
/// # Errors
/// When there is no such paper, its file contradicts itself, or a simulated machine
/// or a model refuses what the paper needs of it.
pub fn reproduce(key: &str) -> Result<Paper, ReproduceError> {
    match key {
        braithwaite2012::KEY => {
            let facts = braithwaite2012::facts()?;
            let machines = braithwaite2012::Machines::measure(&facts)?;
            braithwaite2012::reproduce(&facts, &machines)
        }
        vladimirov2012::KEY => vladimirov2012::reproduce(&vladimirov2012::facts()?),
        ribeiro2010::KEY => ribeiro2010::reproduce(&ribeiro2010::facts()?),
        denoyelle2019::KEY => denoyelle2019::reproduce(&denoyelle2019::facts()?),
        saad2022::KEY => saad2022::reproduce(&saad2022::facts()?),
        _ => Err(ReproduceError::UnknownPaper { key: key.into() }),
    }
}

/// The numbers that the text of a paper's file holds, held against each other.
pub(crate) fn read_facts<Facts: DeserializeOwned>(
    key: &str,
    text: &str,
    check: impl Fn(&Facts) -> Result<(), String>,
) -> Result<Facts, ReproduceError> {
    let of_form = |source| ReproduceError::Facts { key: key.into(), source };
    let file: Value = serde_json::from_str(text).map_err(of_form)?;
    if file["key"] != key {
        return Err(contradiction(key, format!("its key is {}", file["key"])));
    }
    let facts = serde_json::from_value(file).map_err(of_form)?;
    check(&facts).map_err(|what| contradiction(key, what))?;
    Ok(facts)
}
