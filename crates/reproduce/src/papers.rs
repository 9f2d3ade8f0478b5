//! The papers that can be reproduced.

use crate::error::ReproduceError;
use crate::paper::Paper;
use crate::{braithwaite2012, denoyelle2019, ribeiro2010, saad2022, vladimirov2012};

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
        _ => {
            let (key, known) = (key.into(), papers().join(", "));
            Err(ReproduceError::UnknownPaper { key, known })
        }
    }
}
