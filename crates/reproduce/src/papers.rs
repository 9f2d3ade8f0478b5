//! The papers that can be reproduced.

use crate::error::ReproduceError;
use crate::paper::{Paper, PaperFacts, PaperFile};
use crate::{braithwaite2012, denoyelle2019, ribeiro2010, saad2022, vladimirov2012};

type Reproduction = fn() -> Result<Paper, ReproduceError>;

const PAPERS: [(&str, Reproduction); 5] = [
    (braithwaite2012::KEY, of_file::<braithwaite2012::Facts>),
    (vladimirov2012::KEY, of_file::<vladimirov2012::Facts>),
    (ribeiro2010::KEY, of_file::<ribeiro2010::Facts>),
    (denoyelle2019::KEY, of_file::<denoyelle2019::Facts>),
    (saad2022::KEY, of_file::<saad2022::Facts>),
];

pub fn papers() -> [&'static str; PAPERS.len()] {
    PAPERS.map(|(key, _)| key)
}

/// Works a paper's tables out again.
///
/// # Errors
/// When there is no such paper, its file contradicts itself, or a simulated machine
/// or a model refuses what the paper needs of it.
pub fn reproduce(key: &str) -> Result<Paper, ReproduceError> {
    let known = PAPERS.iter().find(|(known, _)| *known == key);
    let (_, reproduction) = known.ok_or_else(|| ReproduceError::UnknownPaper {
        key: key.into(),
        known: papers().join(", "),
    })?;
    reproduction()
}

fn of_file<Facts: PaperFacts>() -> Result<Paper, ReproduceError> {
    let file = PaperFile::<Facts>::parse(Facts::FILE)?;
    file.reproduce(&file.facts.measure()?)
}
