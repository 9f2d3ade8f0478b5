//! Two records beside each other: of one machine before and after, or of two machines.
//! Units: useful bytes/s, FLOP/s, ns an access; a ratio is B / A, a gain is above 0 where B is better.
//! Source: ours. Holm, A Simple Sequentially Rejective Multiple Test Procedure (Scand. J. Stat. 6,
//! 1979); the spread beyond the rounds' noise after Efron, Large-Scale Simultaneous Hypothesis
//! Testing (J. Am. Stat. Assoc. 99, 2004).
//! Cases are matched by their coordinates. A case is worse or better where its medians differ by
//! more than a floor that matters in practice, and by more than noise explains at a level that
//! holds for all cases together. What all figures of a kind have in common is one finding.
//! Holds when: most cases of a group scatter alike. Fails when: more than a quarter and less than
//! all of a group's cases changed alike (each is then named by itself), or a case has fewer than
//! [`FEWEST_COMPARED_ROUNDS`] undisturbed rounds (it is not compared).

mod compared_record;
mod environment;
mod figure;
mod matching;
mod noise;
mod parts;
mod roles;
mod shift;
mod significance;

use std::collections::BTreeMap;

use matching::{Matched, match_cases};
use nearfar_units::words;
use noise::{CellNoise, GroupNoise};
use serde::{Deserialize, Serialize};
use shift::common_shift;

pub use compared_record::{ComparedRecord, case_medians};
pub use environment::{EnvironmentDifference, environment_differences, environment_settings};
pub use figure::{CaseStanding, ComparedFigures, FEWEST_COMPARED_ROUNDS, Quantity};
pub use matching::UncomparedCase;
pub use parts::ComparedPart;
pub use roles::{ComparedRole, RoleThreads};
pub use shift::CommonShift;

/// Without another wish, a difference below this fraction does not matter.
pub const PRACTICAL_FLOOR: f64 = 0.02;
/// A loss that does not matter is below this fraction.
pub const LARGEST_FLOOR: f64 = 0.5;

/// Of this many comparisons of equal machines one may name a case by chance, the noise being as
/// it was taken to be: 1 / 0.001.
const FAMILY_ERROR: f64 = 0.001;

/// Fewer cases of a group say nothing of what they have in common.
const FEWEST_OF_GROUP: usize = 8;

/// Two records beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordComparison {
    /// What differs around the measurements.
    pub environment: Vec<EnvironmentDifference>,
    /// Findings by verdict: cases, and groups by what they have in common.
    pub findings: BTreeMap<Verdict, usize>,
    /// The cases that have figures in both, in the order of the first.
    pub cases: Vec<ComparedCase>,
    pub not_compared: Vec<UncomparedCase>,
    /// What the cases of each group have in common, in the order of [`ComparedGroup`].
    pub groups: Vec<GroupComparison>,
    /// Parts of the machine that worse or better cases have in common, worse ones first.
    pub parts: Vec<ComparedPart>,
    /// What both reach where memory lies alike, of machines with other nodes or groups of CPUs, or loops.
    pub roles: Vec<ComparedRole>,
    /// A difference below this fraction does not matter.
    pub floor: f64,
    /// A loss that half of the compared cases would show; at least the floor. `None` where
    /// nothing was compared.
    pub resolution: Option<f64>,
}

/// A case that has figures in both records.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCase {
    /// Its id in the first record.
    #[serde(rename = "case")]
    pub a_id: String,
    /// Its id in the second.
    #[serde(rename = "b_case")]
    pub b_id: String,
    #[serde(flatten)]
    pub figures: ComparedFigures,
    /// With which cases it is compared.
    pub group: ComparedGroup,
    /// Rounds in the first.
    pub a_rounds: usize,
    /// Rounds in the second.
    pub b_rounds: usize,
    /// b / a.
    pub ratio: f64,
    /// Its 95 % interval, of this case by itself.
    pub interval: (f64, f64),
    /// How far from what its group has in common, as standard deviations of a normal number;
    /// above 0 where the second is better.
    pub score: f64,
    /// What that means.
    pub verdict: Verdict,
}

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second is worse, by more than the floor and than noise explains.
    Worse,
    /// The second is better, likewise.
    Better,
    /// They differ by more than the floor, which noise may explain.
    Unclear,
    /// They differ by less than the floor, or as all figures of the group do.
    Same,
}

words!(Verdict);

impl Verdict {
    /// What matters most first.
    pub const ALL: [Self; 4] = [Self::Worse, Self::Better, Self::Unclear, Self::Same];

    /// Of a gain in logarithms that is, or is not, more than noise explains.
    fn of(gain: f64, floor: f64, is_significant: bool) -> Self {
        if gain.abs() <= ln_floor(floor) {
            Self::Same
        } else if !is_significant {
            Self::Unclear
        } else if gain < 0.0 {
            Self::Worse
        } else {
            Self::Better
        }
    }
}

/// Cases whose noise, and whose common causes, are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedGroup {
    /// Bandwidth of memory, threads pinned.
    Memory,
    /// Bandwidth of memory, threads not pinned.
    Unbound,
    /// Bandwidth of caches, and arithmetic.
    Cores,
    /// Times of accesses.
    AccessTimes,
}

impl ComparedGroup {
    pub const ALL: [Self; 4] = [Self::Memory, Self::Unbound, Self::Cores, Self::AccessTimes];
}

/// What the cases of a group show together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupComparison {
    pub group: ComparedGroup,
    /// Cases with figures in both records.
    pub cases: usize,
    /// Relative standard deviation of a round that the cases have in common, of the first record.
    pub a_noise: f64,
    /// Of the second.
    pub b_noise: f64,
    /// How much more the cases' ratios scatter than their rounds explain: 1 where they do not; as
    /// much of it as may be noise.
    pub excess: f64,
    /// What all have in common; `None` where they are too few, or do not agree.
    pub shift: Option<CommonShift>,
}

impl RecordComparison {
    /// Findings with this verdict: cases, and groups by what they have in common.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings.get(&verdict).copied().unwrap_or_default()
    }
}

/// A matched case on its way to a verdict.
struct Cell<'a> {
    matched: Matched<'a>,
    group: usize,
    /// ln(b / a) where more is better, ln(a / b) of times.
    gain: f64,
    noise: CellNoise,
}

/// Compares two records, the first with the second. A difference below `floor`, from 0 to 1, does
/// not matter.
pub fn compare(a: &ComparedRecord, b: &ComparedRecord, floor: f64) -> RecordComparison {
    let (matched, not_compared) = match_cases(a, b);
    let mut by_group: BTreeMap<ComparedGroup, Vec<Matched<'_>>> = BTreeMap::new();
    for one in matched {
        by_group.entry(one.a.group).or_default().push(one);
    }
    let mut groups = Vec::new();
    let mut cells: Vec<Cell<'_>> = Vec::new();
    for (group, members) in by_group {
        let noises = GroupNoise::of(&members);
        let first = cells.len();
        cells.extend(members.into_iter().map(|matched| Cell {
            group: groups.len(),
            gain: matched.a.gain_to(matched.b),
            noise: noises.of_cell(&matched),
            matched,
        }));
        let of_group = &mut cells[first..];
        let shift = common_shift(of_group, floor);
        let middle = shift.as_ref().map_or(0.0, |shift| shift.gain);
        let excess = noise::excess(of_group, middle, floor.max(PRACTICAL_FLOOR));
        of_group.iter_mut().for_each(|cell| cell.noise.error *= excess);
        let [a_noise, b_noise] = noises.deviations;
        groups.push(GroupComparison {
            group,
            cases: of_group.len(),
            a_noise,
            b_noise,
            excess,
            shift,
        });
    }
    cells.sort_by_key(|cell| cell.matched.position);
    let scores: Vec<f64> = cells
        .iter()
        .map(|cell| {
            let common = groups[cell.group].shift.as_ref().map_or(0.0, |shift| shift.gain);
            cell.noise.score(cell.gain - common)
        })
        .collect();
    let significant = significance::by_holm(&scores, FAMILY_ERROR);
    let cases: Vec<ComparedCase> = cells
        .iter()
        .zip(scores.iter().zip(significant))
        .map(|(cell, (&score, is_significant))| {
            let common = groups[cell.group].shift.as_ref().map_or(0.0, |shift| shift.gain);
            compared(cell, common, score, is_significant, floor)
        })
        .collect();
    let resolution = resolution(&cells, floor);
    let parts = parts::parts_in_common(&a.record().header.machine, &cells, &cases);
    let shifts = groups.iter().filter_map(|group| Some(group.shift.as_ref()?.verdict));
    let mut findings = BTreeMap::from(Verdict::ALL.map(|verdict| (verdict, 0)));
    for verdict in cases.iter().map(|case| case.verdict).chain(shifts) {
        *findings.entry(verdict).or_default() += 1;
    }
    let environment = environment_differences(&a.record().header, &b.record().header);
    RecordComparison {
        environment,
        findings,
        cases,
        not_compared,
        groups,
        parts,
        roles: roles::roles(a, b),
        floor,
        resolution,
    }
}

/// A floor as a difference of logarithms, the same in both directions.
fn ln_floor(floor: f64) -> f64 {
    -(-floor).ln_1p()
}

/// The interval of a ratio, from the middle and half of the interval of its logarithm.
fn ratios(middle: f64, half: f64) -> (f64, f64) {
    ((middle - half).exp(), (middle + half).exp().min(f64::MAX))
}

fn compared(
    cell: &Cell<'_>,
    common: f64,
    score: f64,
    is_significant: bool,
    floor: f64,
) -> ComparedCase {
    let [a, b] = cell.matched.figures();
    let apart = cell.gain - common;
    // Beyond the floor by itself and beyond what its group has in common, both to the same side.
    let least = if apart * cell.gain > 0.0 { apart.abs().min(cell.gain.abs()) } else { 0.0 };
    let sign = if a.quantity == figure::Quantity::AccessTime { -1.0 } else { 1.0 };
    let half = cell.noise.half_interval();
    let ln_ratio = sign * cell.gain;
    ComparedCase {
        a_id: cell.matched.a_case.id.clone(),
        b_id: cell.matched.b_case.id.clone(),
        figures: a.quantity.of_both(a.median, b.median),
        group: a.group,
        a_rounds: a.rounds.len(),
        b_rounds: b.rounds.len(),
        ratio: b.median / a.median,
        interval: ratios(ln_ratio, half),
        score,
        verdict: Verdict::of(least.copysign(cell.gain), floor, is_significant),
    }
}

/// The loss that half of the cases would show if each of them were the only one.
fn resolution(cells: &[Cell<'_>], floor: f64) -> Option<f64> {
    let critical = significance::critical_score(cells.len(), FAMILY_ERROR)?;
    let losses: Vec<f64> = cells.iter().map(|cell| cell.noise.gain_at(critical)).collect();
    nearfar_stats::median(&losses).map(|loss| -(-loss).exp_m1()).map(|loss| loss.max(floor))
}
