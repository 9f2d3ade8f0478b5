//! Two records beside each other.

use nearfar_model::{
    CommonShift, ComparedCase, ComparedPart, ComparedRecord, ComparisonRule, EnvironmentDifference,
    GroupComparison, Quantity, RecordComparison, UncomparedCase, Verdict, compare,
};
use serde::Serialize;

use super::measured::MeasuredView;
use super::record_doctor::PartView;
use super::record_doctor_text::part_words;

/// Two records beside each other, a the first and b the second (docs/comparing.md); `compare A B
/// --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareView {
    pub schema: &'static str,
    /// The first record.
    pub a: MeasuredView,
    /// The second.
    pub b: MeasuredView,
    /// What differs around the measurements.
    pub environment: Vec<EnvironmentDifferenceView>,
    /// A difference below this fraction does not matter.
    pub floor: f64,
    /// A loss that half of the cases would show, a fraction, or null.
    pub resolution: Option<f64>,
    /// Findings that are worse: cases, and groups by what they have in common.
    pub worse: usize,
    /// Likewise better.
    pub better: usize,
    /// Cases that differ by more than the floor, which noise may explain.
    pub unclear: usize,
    /// Groups of cases and what the cases of each have in common.
    pub groups: Vec<ComparedGroupView>,
    /// Parts of the machine that worse or better cases have in common.
    pub parts: Vec<ComparedPartView>,
    /// Every case that has figures in both records.
    pub cases: Vec<ComparedCaseView>,
    pub not_compared: Vec<UncomparedCaseView>,
}

/// Something around the measurements that is not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnvironmentDifferenceView {
    pub name: &'static str,
    /// In the first record, or null.
    pub a: Option<String>,
    /// In the second, or null.
    pub b: Option<String>,
}

/// What the cases of a group show together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedGroupView {
    /// `memory`, `unbound`, `cores` or `access_times`.
    pub group: &'static str,
    /// Cases with figures in both records.
    pub cases: usize,
    /// Relative standard deviation of a round in the first record.
    pub a_noise: f64,
    /// In the second.
    pub b_noise: f64,
    /// How much more the ratios scatter than rounds explain.
    pub excess: f64,
    /// What all have in common, or null.
    pub shift: Option<CommonShiftView>,
}

/// What all cases of a group have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommonShiftView {
    /// Above 1 where the second is better.
    pub gain_ratio: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// `worse`, `better`, `unclear` or `same`.
    pub verdict: &'static str,
}

/// A part of the machine that cases which differ have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedPartView {
    pub part: PartView,
    /// `worse` or `better`.
    pub verdict: &'static str,
    /// Cases with this verdict that use it.
    pub cases: usize,
    /// Compared cases that use it.
    pub cases_of_part: usize,
    /// Median over them, above 1 where the second is better.
    pub gain_ratio: f64,
    /// For people.
    #[serde(skip)]
    pub(crate) words: String,
}

/// A case that has figures in both records.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCaseView {
    /// Its id in the first record.
    pub case: String,
    /// Its id in the second.
    pub b_case: String,
    pub group: &'static str,
    /// Useful GB/s in the first record, or null.
    pub a_gb_per_s: Option<f64>,
    /// In the second, or null.
    pub b_gb_per_s: Option<f64>,
    /// GFLOP/s in the first record, or null.
    pub a_gflop_per_s: Option<f64>,
    /// In the second, or null.
    pub b_gflop_per_s: Option<f64>,
    /// Time of an access in the first record, or null.
    pub a_ns: Option<f64>,
    /// In the second, or null.
    pub b_ns: Option<f64>,
    /// Undisturbed rounds of the first record.
    pub a_rounds: usize,
    /// Of the second.
    pub b_rounds: usize,
    /// Second / first.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// Standard deviations from what the group has in common.
    pub score: f64,
    /// `worse`, `better`, `unclear` or `same`.
    pub verdict: &'static str,
}

/// A case that is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncomparedCaseView {
    /// Its id.
    pub case: String,
    /// How it stands in the first record.
    pub a: &'static str,
    /// Why, in the record's words, or null.
    pub a_reason: Option<String>,
    /// How it stands in the second.
    pub b: &'static str,
    /// Why, in the record's words, or null.
    pub b_reason: Option<String>,
}

impl CompareView {
    /// Compares two records.
    pub fn new(a: &ComparedRecord, b: &ComparedRecord, rule: ComparisonRule) -> Self {
        let comparison = compare(a, b, rule);
        let (a, b) = (a.record(), b.record());
        let RecordComparison { environment, cases, not_compared, groups, parts, .. } = &comparison;
        let kind = a.header.inputs.initiator;
        let part = |part: &ComparedPart| ComparedPartView {
            part: PartView::new(part.place),
            verdict: part.verdict.as_str(),
            cases: part.cases,
            cases_of_part: part.of,
            gain_ratio: part.ratio,
            words: part_words(part.place, kind),
        };
        Self {
            schema: "nearfar.compare/1",
            a: MeasuredView::new(a),
            b: MeasuredView::new(b),
            environment: environment.iter().map(EnvironmentDifferenceView::new).collect(),
            floor: comparison.floor,
            resolution: comparison.resolution,
            worse: comparison.count(Verdict::Worse),
            better: comparison.count(Verdict::Better),
            unclear: comparison.count(Verdict::Unclear),
            groups: groups.iter().map(ComparedGroupView::new).collect(),
            parts: parts.iter().map(part).collect(),
            cases: cases.iter().map(ComparedCaseView::new).collect(),
            not_compared: not_compared.iter().map(UncomparedCaseView::new).collect(),
        }
    }

    /// Whether something is worse.
    pub fn has_failed(&self) -> bool {
        self.worse > 0
    }
}

impl ComparedPartView {
    pub fn words(&self) -> &str {
        &self.words
    }
}

impl EnvironmentDifferenceView {
    fn new(difference: &EnvironmentDifference) -> Self {
        let EnvironmentDifference { name, a, b } = difference.clone();
        Self { name, a, b }
    }
}

impl ComparedGroupView {
    fn new(group: &GroupComparison) -> Self {
        Self {
            group: group.group.as_str(),
            cases: group.cases,
            a_noise: group.a_noise,
            b_noise: group.b_noise,
            excess: group.excess,
            shift: group.shift.as_ref().map(CommonShiftView::new),
        }
    }
}

impl CommonShiftView {
    fn new(shift: &CommonShift) -> Self {
        Self {
            gain_ratio: shift.ratio,
            interval: shift.interval.into(),
            verdict: shift.verdict.as_str(),
        }
    }
}

impl ComparedCaseView {
    fn new(case: &ComparedCase) -> Self {
        let of = |quantity, unit: f64| {
            let [a, b] = [case.a, case.b].map(|value| value / unit);
            if case.quantity == quantity { [Some(a), Some(b)] } else { [None, None] }
        };
        let [a_gb_per_s, b_gb_per_s] = of(Quantity::Bandwidth, 1e9);
        let [a_gflop_per_s, b_gflop_per_s] = of(Quantity::Arithmetic, 1e9);
        let [a_ns, b_ns] = of(Quantity::AccessTime, 1.0);
        Self {
            case: case.a_id.clone(),
            b_case: case.b_id.clone(),
            group: case.group.as_str(),
            a_gb_per_s,
            b_gb_per_s,
            a_gflop_per_s,
            b_gflop_per_s,
            a_ns,
            b_ns,
            a_rounds: case.a_rounds,
            b_rounds: case.b_rounds,
            ratio: case.ratio,
            interval: case.interval.into(),
            score: case.score,
            verdict: case.verdict.as_str(),
        }
    }
}

impl UncomparedCaseView {
    fn new(case: &UncomparedCase) -> Self {
        Self {
            case: case.id.clone(),
            a: case.a.as_str(),
            a_reason: case.a.reason().map(Into::into),
            b: case.b.as_str(),
            b_reason: case.b.reason().map(Into::into),
        }
    }
}
