//! The charts of a record's clusters as `model` prints them.

use nearfar_model::{
    BandwidthRoof, Ceiling, Chart, Expected, ProgramExpectation, RoofValidation, Roofline,
    ValidationPoint, measuring_command,
};
use nearfar_record::{Experiment, Record, Suite};
use serde::Serialize;

use super::measured::MeasuredView;
use super::predict_roofline_advice::Remedies;
use super::roofline_place::RoofPlaceView;

/// What limits each cluster at each arithmetic intensity (denoyelle2019); `model RECORD roofline
/// --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RooflineView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// A chart for each cluster that has roofs.
    pub charts: Vec<ChartView>,
}

/// The chart of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChartView {
    pub cluster: u32,
    pub cpus: String,
    /// The cluster whose caches and arithmetic stand here, or null.
    pub within_of: Option<u32>,
    /// The arithmetic that points and corners are held against, or null.
    pub ceiling: Option<String>,
    /// Roofs of arithmetic, the highest first.
    pub ceilings: Vec<CeilingView>,
    /// Roofs of bandwidth.
    pub roofs: Vec<ChartRoofView>,
    /// Points below the roofs that they must foretell.
    pub validations: Vec<RoofValidationView>,
    /// What programs can expect.
    pub programs: Vec<ProgramExpectationView>,
    /// What sentences need besides.
    #[serde(skip)]
    pub(crate) told: Told,
}

/// What sentences need besides the figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    /// What figures of memory must differ by to be told apart, a fraction.
    pub resolution: f64,
    /// The node on which the cluster's first touch places pages.
    pub cpu_node: Option<u32>,
    /// Clusters with roofs.
    pub clusters: usize,
    /// Memory nodes of the machine.
    pub nodes: usize,
    /// The command that measures the roofs again.
    pub again: String,
    /// The command that measures all of them.
    pub full: String,
}

/// A roof of arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CeilingView {
    /// The arithmetic.
    pub kernel: String,
    /// Its best variant.
    pub variant: String,
    pub threads: u32,
    /// All threads together.
    pub gflop_per_s: f64,
    pub interval_gflop_per_s: [f64; 2],
    /// How often such an interval holds the true median, a fraction.
    pub confidence: f64,
}

/// A roof of bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChartRoofView {
    /// What limits.
    pub roof: RoofPlaceView,
    /// How memory is accessed.
    pub kernel: String,
    /// Its best variant.
    pub variant: String,
    pub threads: u32,
    /// All threads together.
    pub gb_per_s: f64,
    pub interval_gb_per_s: [f64; 2],
    /// How often such an interval holds the true median, a fraction.
    pub confidence: f64,
    /// Whether points of known intensity are so far off the roof that it foretells nothing.
    pub is_refuted: bool,
    /// Where it meets each ceiling.
    pub ridges: Vec<RidgeView>,
    /// The roof as a line below the ceiling.
    pub corners: Vec<CornerView>,
}

/// Where a roof meets a ceiling.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RidgeView {
    /// The arithmetic.
    pub ceiling: String,
    /// The intensity.
    pub flops_per_byte: f64,
}

/// A corner of a roof's line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CornerView {
    /// The intensity.
    pub flops_per_byte: f64,
    /// What is attainable there.
    pub gflop_per_s: f64,
}

/// Points below a roof.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofValidationView {
    pub roof: RoofPlaceView,
    /// The variant of the points.
    pub variant: String,
    /// Points that were planned.
    pub planned: usize,
    /// Points with a figure, by intensity.
    pub points: Vec<ValidationPointView>,
    /// What they come to, or null without points.
    pub errors: Option<RoofErrorsView>,
}

/// A point of known intensity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValidationPointView {
    /// The mix.
    pub kernel: String,
    /// Its intensity.
    pub flops_per_byte: f64,
    pub gflop_per_s: f64,
    /// What the lower roof allows.
    pub attainable_gflop_per_s: f64,
    /// Measured / attainable.
    pub ratio: f64,
    /// The interval of what was measured / attainable.
    pub interval_ratio: [f64; 2],
    /// Whether it lies above the roof by more than its rounds explain.
    pub exceeds: bool,
}

/// Errors of the points below a roof, fractions of what is attainable.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoofErrorsView {
    /// The paper's measure: 1/n sqrt(sum r^2).
    pub paper: f64,
    /// The true relative RMS: sqrt(1/n sum r^2).
    pub relative_rms: f64,
    /// The mean of r, with its sign.
    pub mean: f64,
    /// The mix of the point that is farthest off.
    pub worst_kernel: String,
    /// Measured / attainable of that point.
    pub worst_ratio: f64,
    /// Whether the points are so far off that the roof foretells nothing.
    pub refutes: bool,
}

/// What a program can expect of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramExpectationView {
    pub program: &'static str,
    /// Its intensity.
    pub flops_per_byte: f64,
    /// The kernel that accesses memory as it does.
    pub kernel: &'static str,
    /// Its pages on one node, the rest of the machine idle; the best first.
    pub alone: Vec<ExpectedView>,
    /// Best / worst of these, or null.
    pub alone_factor: Option<f64>,
    /// All clusters at work; the best first.
    pub together: Vec<ExpectedView>,
    /// Best / worst of these, or null.
    pub together_factor: Option<f64>,
}

/// What a program can expect of one placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedView {
    /// The placement, by its roof.
    pub roof: RoofPlaceView,
    /// The roof.
    pub gb_per_s: f64,
    /// What the program can attain there.
    pub gflop_per_s: f64,
    pub interval_gflop_per_s: [f64; 2],
    /// Whether the roof is refuted by points, so that nothing can be expected.
    pub is_refuted: bool,
}

impl RooflineView {
    /// The view of a record's model.
    pub fn new(record: &Record, model: &Roofline) -> Self {
        Self {
            schema: "nearfar.roofline/1",
            measured: MeasuredView::new(record),
            charts: model.charts.iter().map(|chart| ChartView::new(record, model, chart)).collect(),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }
}

impl ChartView {
    fn new(record: &Record, model: &Roofline, chart: &Chart) -> Self {
        let own = |of: &&RoofValidation| of.cluster == chart.cluster;
        let local = chart.roofs.iter().find(|roof| roof.is_local == Some(true));
        let local = local.or(chart.roofs.first()).map(|roof| roof.roof);
        Self {
            cluster: chart.cluster,
            cpus: chart.cpus.to_string(),
            within_of: chart.within_of,
            ceiling: chart.ceiling().map(|ceiling| ceiling.kernel.clone()),
            ceilings: chart.ceilings.iter().map(CeilingView::new).collect(),
            roofs: chart.roofs.iter().map(|roof| ChartRoofView::new(chart, roof)).collect(),
            validations: chart
                .validations
                .iter()
                .filter(own)
                .map(RoofValidationView::new)
                .collect(),
            programs: chart.expectations().iter().map(ProgramExpectationView::new).collect(),
            told: Told {
                resolution: local.map_or(0.0, |roof| chart.resolution(roof)),
                cpu_node: chart.cpu_node,
                clusters: model.charts.len(),
                nodes: record.header.machine.nodes.len(),
                again: Remedies::new(record).roofs,
                full: measuring_command(record, &[Experiment::Roofs], Suite::Full),
            },
        }
    }
}

/// Bounds in 1e9 a second.
fn giga((low, high): (f64, f64)) -> [f64; 2] {
    [low / 1e9, high / 1e9]
}

impl CeilingView {
    fn new(ceiling: &Ceiling) -> Self {
        Self {
            kernel: ceiling.kernel.clone(),
            variant: ceiling.variant.clone(),
            threads: ceiling.threads,
            gflop_per_s: ceiling.flops.median / 1e9,
            interval_gflop_per_s: giga(ceiling.flops.interval),
            confidence: ceiling.flops.confidence,
        }
    }
}

impl ChartRoofView {
    fn new(chart: &Chart, roof: &BandwidthRoof) -> Self {
        let corner =
            |(flops_per_byte, flops)| CornerView { flops_per_byte, gflop_per_s: flops / 1e9 };
        let ridges = roof.ridges.iter().map(|ridge| RidgeView {
            ceiling: ridge.ceiling.clone(),
            flops_per_byte: ridge.intensity,
        });
        Self {
            roof: RoofPlaceView::new(roof.roof, roof.is_local),
            kernel: roof.kernel.clone(),
            variant: roof.variant.clone(),
            threads: roof.threads,
            gb_per_s: roof.bandwidth.median / 1e9,
            interval_gb_per_s: giga(roof.bandwidth.interval),
            confidence: roof.bandwidth.confidence,
            is_refuted: chart.is_refuted(roof.roof),
            ridges: ridges.collect(),
            corners: chart.corners(roof).into_iter().map(corner).collect(),
        }
    }
}

impl RoofValidationView {
    fn new(of: &RoofValidation) -> Self {
        let errors = of.errors.and_then(|errors| {
            let worst = of.points.get(errors.worst)?;
            Some(RoofErrorsView {
                paper: errors.paper,
                relative_rms: errors.relative_rms,
                mean: errors.mean,
                worst_kernel: worst.kernel.clone(),
                worst_ratio: worst.ratio,
                refutes: errors.refute(),
            })
        });
        Self {
            roof: RoofPlaceView::new(of.roof, of.is_local),
            variant: of.variant.clone(),
            planned: of.planned,
            points: of.points.iter().map(ValidationPointView::new).collect(),
            errors,
        }
    }
}

impl ValidationPointView {
    fn new(point: &ValidationPoint) -> Self {
        Self {
            kernel: point.kernel.clone(),
            flops_per_byte: point.intensity,
            gflop_per_s: point.flops / 1e9,
            attainable_gflop_per_s: point.attainable / 1e9,
            ratio: point.ratio,
            interval_ratio: [point.interval.0, point.interval.1],
            exceeds: point.exceeds,
        }
    }
}

impl ProgramExpectationView {
    fn new(of: &ProgramExpectation) -> Self {
        let views = |all: &[Expected]| all.iter().map(ExpectedView::new).collect();
        Self {
            program: of.program.name,
            flops_per_byte: of.program.intensity,
            kernel: of.program.kernel,
            alone: views(&of.alone),
            alone_factor: ProgramExpectation::factor(&of.alone),
            together: views(&of.together),
            together_factor: ProgramExpectation::factor(&of.together),
        }
    }
}

impl ExpectedView {
    fn new(of: &Expected) -> Self {
        Self {
            roof: RoofPlaceView::new(of.roof, of.is_local),
            gb_per_s: of.bandwidth / 1e9,
            gflop_per_s: of.flops / 1e9,
            interval_gflop_per_s: giga(of.interval),
            is_refuted: of.is_refuted,
        }
    }
}
