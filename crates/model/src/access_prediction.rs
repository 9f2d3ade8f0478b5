//! What programs get whose accesses are shared out over classes, and processes that are mapped to
//! places.
//! Units: fractions of the theoretical maximum, and bytes/s where it or class 0 is known.
//! Source: braithwaite2012, eq. 4.6, 4.17, 4.18.
//! Holds and fails as [`crate::data_access`] and [`crate::mapping`] say.

use nearfar_machine::TheoreticalMaximum;
use nearfar_record::Outcome;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use crate::classes::Class;
use crate::data_access::{DataAccess, DataAccessError, data_access};
use crate::mapping::{Mapping, MappingError, Reach, mappings};

/// The alphas that programs are predicted by.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassAlphas {
    /// Alpha of each class: a record's, the fastest first, or as given.
    pub alphas: Vec<f64>,
    /// What they are relative to.
    pub alphas_are: AlphaKind,
    /// The theoretical maximum.
    pub gamma: Outcome<TheoreticalMaximum>,
    /// What an alpha of 1 stands for, or null.
    #[serde(rename = "unit_gb_per_s")]
    pub unit: Option<BytesPerSecond>,
}

/// What alphas are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AlphaKind {
    /// They were given; what they are relative to is the user's knowledge.
    Given,
    /// To the theoretical maximum.
    Absolute,
    /// To the maximum of class 0.
    Relative,
}

/// What programs get.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessPrediction {
    #[serde(flatten)]
    pub alphas: ClassAlphas,
    #[serde(flatten)]
    pub answer: AccessAnswer,
}

/// The answer to what was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessAnswer {
    /// One program for each list of shares, in the order given.
    Programs(Vec<ProgramAccess>),
    /// Processes that run at the same time. Bounds by time, which are those of one program, say
    /// nothing of them: the slowest process tells the pace.
    Processes(MappedProcesses),
}

/// Shares and what they give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramAccess {
    #[serde(flatten)]
    pub access: DataAccess,
    /// `d` x unit, or null.
    pub d_gb_per_s: Option<BytesPerSecond>,
    /// `d_serial` x unit, or null.
    pub d_serial_gb_per_s: Option<BytesPerSecond>,
    /// `d_overlap` x unit, or null.
    pub d_overlap_gb_per_s: Option<BytesPerSecond>,
}

/// All mappings of processes to places.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MappedProcesses {
    #[serde(flatten)]
    pub reach: Reach,
    /// The mappings by their shares, the best first.
    pub outcomes: Vec<MappingOutcome>,
}

/// The mappings that come to the same shares, and what their processes get.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MappingOutcome {
    #[serde(flatten)]
    pub mapping: Mapping,
    /// What the slowest process gets as if alone, or null.
    pub slowest_lone_gb_per_s: Option<BytesPerSecond>,
    /// Sum over processes of what each gets as if alone, or null.
    pub sum_lone_gb_per_s: Option<BytesPerSecond>,
}

impl ClassAlphas {
    /// Those that somebody gave.
    pub fn given(alphas: Vec<f64>, gamma: Option<TheoreticalMaximum>) -> Self {
        Self {
            alphas,
            alphas_are: AlphaKind::Given,
            unit: gamma.as_ref().map(|gamma| BytesPerSecond(gamma.bytes_per_s)),
            gamma: gamma
                .ok_or_else(|| {
                    "the alphas were given, and what they are relative to was not".into()
                })
                .into(),
        }
    }

    /// Those of classes: relative to the theoretical maximum, where that is not known to class 0.
    pub fn of<Pair>(classes: &[Class<Pair>], gamma: &Outcome<TheoreticalMaximum>) -> Self {
        let (alphas_are, unit) = match gamma {
            Outcome::Found(gamma) => (AlphaKind::Absolute, Some(gamma.bytes_per_s)),
            Outcome::Unknown { .. } => {
                (AlphaKind::Relative, classes.first().map(|fastest| fastest.max))
            }
        };
        let alpha = |class: &Class<Pair>| class.alpha.unwrap_or(class.alpha_relative);
        let alphas = classes.iter().map(alpha).collect();
        Self { alphas, alphas_are, gamma: gamma.clone(), unit: unit.map(BytesPerSecond) }
    }

    /// What programs get that send these shares of their accesses to the classes.
    ///
    /// # Errors
    /// As [`data_access`].
    pub fn programs(self, shares: &[Vec<f64>]) -> Result<AccessPrediction, DataAccessError> {
        let program = |shares: &Vec<f64>| {
            let access = data_access(&self.alphas, shares)?;
            Ok(ProgramAccess {
                d_gb_per_s: self.in_unit(access.d),
                d_serial_gb_per_s: self.in_unit(access.d_serial),
                d_overlap_gb_per_s: self.in_unit(access.d_overlap),
                access,
            })
        };
        let programs = shares.iter().map(program).collect::<Result<_, _>>()?;
        Ok(AccessPrediction { alphas: self, answer: AccessAnswer::Programs(programs) })
    }

    /// What processes get, by how they are mapped to the places that reach their targets so.
    ///
    /// # Errors
    /// As [`mappings`].
    pub fn processes(self, reach: Reach) -> Result<AccessPrediction, MappingError> {
        let outcome = |mapping: Mapping| MappingOutcome {
            slowest_lone_gb_per_s: self.in_unit(mapping.slowest_alpha),
            sum_lone_gb_per_s: self.in_unit(mapping.example.len() as f64 * mapping.d),
            mapping,
        };
        let mappings = mappings(&reach.targets, &self.alphas)?;
        let outcomes = mappings.into_iter().map(outcome).collect();
        let processes = MappedProcesses { reach, outcomes };
        Ok(AccessPrediction { alphas: self, answer: AccessAnswer::Processes(processes) })
    }

    fn in_unit(&self, part: f64) -> Option<BytesPerSecond> {
        self.unit.map(|unit| unit * part)
    }
}
