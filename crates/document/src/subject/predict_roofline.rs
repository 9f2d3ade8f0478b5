//! Where programs lie below the roofs, as `predict` prints it.

use nearfar_model::{
    Chart, Hybrid, HybridRoof, HybridStanding, Placement, ProfiledPoint, ProgramPoint, Roofline,
    Standing,
};
use nearfar_record::{Profile, Record};
use serde::Serialize;

use super::measured::MeasuredView;
use super::predict_roofline_advice::{Place, Remedies, advice};
use super::roofline_place::RoofPlaceView;

/// Where programs lie below the roofs of a record's clusters (denoyelle2019); `predict RECORD
/// --point .. --json` and `--profile FILE --json` print it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictRooflineView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// Share of loads in the programs' bytes, or null where it was not given.
    pub load_share: Option<f64>,
    pub points: Vec<ProgramPointView>,
}

/// A program on every cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramPointView {
    /// The program's name, or null where its point was given.
    pub program: Option<String>,
    /// Which bytes its intensity is of: `arithmetic`, those that cores request, or `operational`,
    /// those that are read from memory.
    pub intensity: &'static str,
    /// Its intensity.
    pub flops_per_byte: f64,
    /// What the threads of one cluster reach, or null where it was not given.
    pub gflop_per_s: Option<f64>,
    /// On each cluster that has roofs.
    pub clusters: Vec<PlacedPointView>,
}

/// A program below the roofs of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedPointView {
    pub cluster: u32,
    pub cpus: String,
    /// The ceiling, or null.
    pub ceiling_gflop_per_s: Option<f64>,
    pub roofs: Vec<UnderRoofView>,
    /// Roofs of the program over two memories; empty where its shares were not given.
    pub hybrid_roofs: Vec<HybridRoofView>,
    /// The lowest roof above the program, or null.
    pub lowest_above: Option<NamedRoofView>,
    /// `at_ceiling`, `at_roofs`, `above_all`, `between`, `below_all`, `refuted`, or null.
    pub standing: Option<&'static str>,
    /// What follows, in sentences.
    pub advice: Vec<String>,
}

/// A roof by its name and what accesses memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedRoofView {
    pub roof: RoofPlaceView,
    pub kernel: String,
}

/// One roof and a program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnderRoofView {
    pub roof: RoofPlaceView,
    /// How memory is accessed.
    pub kernel: String,
    pub gb_per_s: f64,
    /// What the roof and the ceiling allow.
    pub attainable_gflop_per_s: f64,
    /// Whether bandwidth limits there, not arithmetic.
    pub is_memory_bound: bool,
    /// Reached / attainable, or null.
    pub ratio: Option<f64>,
    /// Whether the program reaches what the roof allows.
    pub is_near: bool,
    /// Whether points of known intensity are so far off the roof that it foretells nothing.
    pub is_refuted: bool,
}

/// The roof of a program over two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridRoofView {
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
    /// Share of the bytes in the fast memory.
    pub fast_share: f64,
    /// What the hybrid model gives, or null.
    pub gb_per_s: Option<f64>,
    /// Its interval, or null.
    pub interval_gb_per_s: Option<[f64; 2]>,
    /// The lowest by the kinds of transfer that may take longest, or null.
    pub lowest_gb_per_s: Option<f64>,
    /// The highest, or null.
    pub highest_gb_per_s: Option<f64>,
    /// What that and the ceiling allow, or null.
    pub attainable_gflop_per_s: Option<f64>,
    /// Reached / attainable, or null.
    pub ratio: Option<f64>,
    /// `above`, `at_memories`, `at_ridge`, `at_ceiling`, `below`, or null.
    pub standing: Option<&'static str>,
    /// The hybrid model's relative RMS, or null.
    pub relative_rms: Option<f64>,
}

/// What of its bytes programs load, and have in the fast memory, with the model of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgramShares<'a> {
    /// The record's hybrid model.
    pub hybrid: &'a Hybrid,
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Shares of the bytes in the fast memory.
    pub fast_shares: &'a [f64],
}

impl PredictRooflineView {
    /// The view of the programs on all clusters.
    pub fn new(
        record: &Record,
        model: &Roofline,
        points: &[ProgramPoint],
        shares: Option<ProgramShares<'_>>,
    ) -> Self {
        let remedies = Remedies::new(record);
        let view = |&point: &ProgramPoint| ProgramPointView {
            program: None,
            intensity: "arithmetic",
            flops_per_byte: point.intensity,
            gflop_per_s: point.flops.map(|flops| flops / 1e9),
            clusters: model
                .charts
                .iter()
                .map(|chart| PlacedPointView::new(chart, point, shares, &remedies, false))
                .collect(),
        };
        Self {
            schema: "nearfar.predict-roofline/1",
            measured: MeasuredView::new(record),
            load_share: shares.map(|shares| shares.load_share),
            points: points.iter().map(view).collect(),
        }
    }

    /// The view of a profiled program on the cluster that it used most. `model` holds the roofs of
    /// memory alone ([`Roofline::of_memory`]).
    pub fn of_profile(
        record: &Record,
        model: &Roofline,
        profile: &Profile,
        profiled: &ProfiledPoint,
    ) -> Self {
        let remedies = Remedies::new(record);
        let point = profiled.point;
        let charts = model.charts.iter();
        let clusters =
            charts.map(|chart| PlacedPointView::new(chart, point, None, &remedies, true));
        Self {
            schema: "nearfar.predict-roofline/1",
            measured: MeasuredView::new(record),
            load_share: None,
            points: vec![ProgramPointView {
                program: Some(profile.program.name.clone()),
                intensity: "operational",
                flops_per_byte: point.intensity,
                gflop_per_s: point.flops.map(|flops| flops / 1e9),
                clusters: clusters.collect(),
            }],
        }
    }
}

impl PlacedPointView {
    fn new(
        chart: &Chart,
        point: ProgramPoint,
        shares: Option<ProgramShares<'_>>,
        remedies: &Remedies,
        is_operational: bool,
    ) -> Self {
        let placed = chart.place(point);
        let hybrid_roofs = shares.map_or_else(Vec::new, |shares| {
            let ProgramShares { hybrid, load_share, fast_shares } = shares;
            chart.hybrid_roofs(hybrid, point, load_share, fast_shares)
        });
        Self {
            cluster: chart.cluster,
            cpus: chart.cpus.to_string(),
            ceiling_gflop_per_s: placed.ceiling.map(|flops| flops / 1e9),
            roofs: UnderRoofView::all(&placed),
            lowest_above: placed.lowest_above.and_then(|position| {
                let roof = placed.roofs.get(position)?.roof;
                let kernel = roof.kernel.clone();
                Some(NamedRoofView { roof: RoofPlaceView::new(roof.roof, roof.is_local), kernel })
            }),
            standing: placed.standing.as_ref().map(word),
            advice: advice(&Place {
                chart,
                placed: &placed,
                hybrid_roofs: &hybrid_roofs,
                load_share: shares.map(|shares| shares.load_share),
                remedies,
                is_operational,
            }),
            hybrid_roofs: hybrid_roofs.iter().map(HybridRoofView::new).collect(),
        }
    }
}

fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::AtCeiling => "at_ceiling",
        Standing::AtRoofs(_) => "at_roofs",
        Standing::AboveAll => "above_all",
        Standing::Between { .. } => "between",
        Standing::BelowAll => "below_all",
        Standing::Refuted(_) => "refuted",
    }
}

fn hybrid_word(standing: HybridStanding) -> &'static str {
    match standing {
        HybridStanding::Above => "above",
        HybridStanding::AtMemories => "at_memories",
        HybridStanding::AtRidge => "at_ridge",
        HybridStanding::AtCeiling => "at_ceiling",
        HybridStanding::Below => "below",
    }
}

impl UnderRoofView {
    fn all(placed: &Placement<'_>) -> Vec<Self> {
        let view = |under: &nearfar_model::UnderRoof<'_>| Self {
            roof: RoofPlaceView::new(under.roof.roof, under.roof.is_local),
            kernel: under.roof.kernel.clone(),
            gb_per_s: under.roof.bandwidth.median / 1e9,
            attainable_gflop_per_s: under.attainable / 1e9,
            is_memory_bound: under.is_memory_bound,
            ratio: under.ratio,
            is_near: under.is_near,
            is_refuted: under.is_refuted,
        };
        placed.roofs.iter().map(view).collect()
    }
}

impl HybridRoofView {
    fn new(of: &HybridRoof) -> Self {
        Self {
            fast_node: of.fast_node,
            slow_node: of.slow_node,
            fast_share: of.fast_share,
            gb_per_s: of.bandwidth.map(|bytes| bytes / 1e9),
            interval_gb_per_s: of.interval.map(|(low, high)| [low / 1e9, high / 1e9]),
            lowest_gb_per_s: of.range.map(|(lowest, _)| lowest / 1e9),
            highest_gb_per_s: of.range.map(|(_, highest)| highest / 1e9),
            attainable_gflop_per_s: of.attainable.map(|flops| flops / 1e9),
            ratio: of.ratio,
            standing: of.standing.map(hybrid_word),
            relative_rms: of.relative_rms,
        }
    }
}
