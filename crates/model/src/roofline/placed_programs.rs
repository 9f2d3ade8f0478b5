//! Programs below the roofs of every initiator.

use nearfar_record::{Experiment, Profile, Record, Roof, Suite};
use serde::Serialize;

use super::Roofline;
use super::chart::Chart;
use super::conclusions::ProgramPoint;
use super::hybrid_roof::ProgramShares;
use super::program_point::Placement;
use crate::inapplicable::measuring_command;
use crate::profiled_program::ProfiledPoint;

/// Where programs lie below the roofs of a record's initiators (denoyelle2019); `predict RECORD
/// --point .. --json` and `--profile FILE --json` print it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedPrograms {
    /// Share of loads in the programs' bytes; null where it was not given.
    pub load_share: Option<f64>,
    pub points: Vec<PlacedProgram>,
    /// What would tell more.
    pub commands: RoofCommands,
}

/// A program on every initiator.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedProgram {
    /// The program's name; null where its point was given.
    pub program: Option<String>,
    #[serde(flatten)]
    pub point: ProgramPoint,
    /// On each initiator that has roofs.
    pub initiators: Vec<Placement>,
}

/// Commands that would tell more of the record's machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofCommands {
    /// Measures the roofs again.
    pub again: String,
    /// Measures all of them.
    pub all: String,
    /// Measures the points of the hybrid model.
    pub hybrid: String,
}

impl RoofCommands {
    pub(super) fn of(record: &Record) -> Self {
        let suite = match record.header.inputs.suite {
            Suite::Quick | Suite::Standard => Suite::Standard,
            Suite::Full => Suite::Full,
        };
        let of = |experiment, suite| measuring_command(record, &[experiment], suite);
        Self {
            again: of(Experiment::Roofs, suite),
            all: of(Experiment::Roofs, Suite::Full),
            hybrid: of(Experiment::Hybrid, suite),
        }
    }
}

impl Roofline {
    pub fn place(
        &self,
        points: &[ProgramPoint],
        shares: Option<ProgramShares<'_>>,
    ) -> PlacedPrograms {
        let placed = |&point| PlacedProgram::new(None, point, &self.charts, shares);
        PlacedPrograms {
            load_share: shares.map(|shares| shares.load_share),
            points: points.iter().map(placed).collect(),
            commands: self.commands.clone(),
        }
    }

    /// Where a profiled program lies on the initiator that it used most, below the roofs of memory alone;
    /// `None` where the record has none of them.
    pub fn place_profiled(
        &self,
        profile: &Profile,
        profiled: &ProfiledPoint,
    ) -> Option<PlacedPrograms> {
        let chart = self.charts.iter().find(|chart| chart.initiator == profiled.initiator)?;
        let name = Some(profile.program.name.clone());
        let placed = PlacedProgram::new(name, profiled.point, &[chart.of_memory()?], None);
        let commands = self.commands.clone();
        Some(PlacedPrograms { load_share: None, points: vec![placed], commands })
    }
}

impl PlacedProgram {
    fn new(
        program: Option<String>,
        point: ProgramPoint,
        charts: &[Chart],
        shares: Option<ProgramShares<'_>>,
    ) -> Self {
        let mut initiators: Vec<Placement> =
            charts.iter().map(|chart| chart.place(point, shares)).collect();
        if let Some((first, others)) = initiators.split_first_mut() {
            for other in others {
                other.is_like_first = other.stands_like(first);
            }
        }
        Self { program, point, initiators }
    }
}

impl Chart {
    /// Without the roofs of caches: what an operational intensity can be held against.
    fn of_memory(&self) -> Option<Self> {
        let mut chart = self.clone();
        chart.roofs.retain(|roof| !matches!(roof.roof, Roof::Cache { .. } | Roof::Compute));
        chart.validations.retain(|of| !matches!(of.roof, Roof::Cache { .. }));
        (!chart.roofs.is_empty()).then_some(chart)
    }
}
