//! Data-access performance as `predict` prints it.

use nearfar_machine::{InitiatorKind, TheoreticalMaximum};
use nearfar_model::{DataAccess, Mapping, Reach};
use nearfar_record::{Executor, Record};
use serde::Serialize;

use super::classes::GAMMA_REMEDY;
use super::devices::PHI_REMEDY;
use super::sealing::SealingView;

/// What programs get whose accesses are shared out over classes; `predict --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictView {
    pub schema: &'static str,
    /// Host of the record, or null without one.
    pub host: Option<String>,
    /// When its measuring began, or null.
    pub started: Option<String>,
    /// Whether a machine was measured or simulated, or null.
    pub executor: Option<Executor>,
    /// Whether the record is as it was written, or null without one.
    pub sealing: Option<SealingView>,
    /// Alpha of each class: a record's, the fastest first, or as given.
    pub alphas: Vec<f64>,
    /// What they are relative to.
    pub alphas_are: AlphaKind,
    /// The theoretical maximum, or null.
    pub gamma: Option<TheoreticalMaximum>,
    /// Why there is none, or null when there is.
    pub gamma_unknown: Option<String>,
    /// What gives one, or null when there is.
    pub gamma_remedy: Option<String>,
    /// What an alpha of 1 stands for, GB/s, or null.
    pub unit_gb_per_s: Option<f64>,
    /// What the places of mappings are, or null where shares were given.
    pub places_are: Option<PlaceKind>,
    /// What the initiators among places are, or null where they are none.
    pub initiator: Option<InitiatorKind>,
    /// The places of mappings, or null where shares were given.
    pub places: Option<Vec<PlaceView>>,
    /// `d` of the first row.
    pub d: f64,
    /// `d_serial` of the first row.
    pub d_serial: Option<f64>,
    /// `d_overlap` of the first row.
    pub d_overlap: Option<f64>,
    /// Why those two are null, or null.
    pub bounds_unknown: Option<&'static str>,
    /// The shares in the order given, or the outcomes of all mappings, the best first.
    pub rows: Vec<PredictRow>,
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

/// What the places of mappings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// They were only counted.
    Positions,
    /// Initiators, from which processes access memory.
    Initiators,
    /// Memory nodes, with the data that devices copy.
    MemoryNodes,
}

/// Where a process may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceView {
    /// The number of the initiator or memory node, or the position of a place that was only
    /// counted.
    pub index: u32,
    /// The lowest node with CPUs of its cluster, or null.
    pub cpu_node: Option<u32>,
}

/// Shares and what they give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictRow {
    /// Share of the accesses by class; their sum is 1.
    pub shares: Vec<f64>,
    /// Sum of alpha x share.
    pub d: f64,
    /// 1 / sum(share / alpha), or null for mappings.
    pub d_serial: Option<f64>,
    /// 1 / max(share / alpha), or null for mappings.
    pub d_overlap: Option<f64>,
    /// Alpha of the slowest process, or null where shares were given.
    pub slowest_alpha: Option<f64>,
    /// `d` x unit, or null.
    pub d_gb_per_s: Option<f64>,
    /// `d_serial` x unit, or null.
    pub d_serial_gb_per_s: Option<f64>,
    /// `d_overlap` x unit, or null.
    pub d_overlap_gb_per_s: Option<f64>,
    /// What the slowest process gets as if alone, or null.
    pub slowest_lone_gb_per_s: Option<f64>,
    /// Sum over processes of what each gets as if alone, or null.
    pub sum_lone_gb_per_s: Option<f64>,
    /// How many mappings come to these shares, or null where shares were given.
    pub mappings: Option<u64>,
    /// The place of each process in one of them, by its index, or null.
    pub example: Option<Vec<u32>>,
}

/// Alphas and where they are from.
#[derive(Debug, Clone, PartialEq)]
pub struct AlphaSource<'a> {
    /// Their record; `None` when the alphas were given.
    pub record: Option<&'a Record>,
    /// Alpha of each class.
    pub alphas: Vec<f64>,
    /// What they are relative to.
    pub alphas_are: AlphaKind,
    /// The theoretical maximum, or why there is none.
    pub gamma: Result<TheoreticalMaximum, String>,
    /// What an alpha of 1 stands for, bytes/s; `None` when that is not known.
    pub unit: Option<f64>,
}

/// Why mappings have no bounds by time.
const NO_BOUNDS: &str = "the processes of a mapping run at the same time: accesses one after the \
                         other, or all at once, are those of one program; the slowest process \
                         tells the pace";

impl PredictView {
    /// The view of shares and of what they give, in the order given; `None` when there
    /// are none.
    pub fn of_shares(source: AlphaSource<'_>, accesses: &[DataAccess]) -> Option<Self> {
        let unit = source.unit_gb_per_s();
        let rows = accesses.iter().map(|access| PredictRow::of_shares(access, unit)).collect();
        Self::new(source, rows)
    }

    /// The view of mappings to the places of `reach`, which are initiators of this kind, or
    /// only counted; `None` when there are no mappings.
    pub fn of_mappings(
        source: AlphaSource<'_>,
        mappings: &[Mapping],
        reach: &Reach,
        initiator: Option<InitiatorKind>,
    ) -> Option<Self> {
        let unit = source.unit_gb_per_s();
        let places: Vec<PlaceView> = reach
            .places
            .iter()
            .map(|place| PlaceView { index: place.index, cpu_node: place.cpu_node })
            .collect();
        let rows =
            mappings.iter().map(|mapping| PredictRow::of_mapping(mapping, &places, unit)).collect();
        let view = Self::new(source, rows)?;
        let kind = initiator.map_or(PlaceKind::Positions, |_| PlaceKind::Initiators);
        Some(Self {
            places_are: Some(kind),
            initiator,
            places: Some(places),
            bounds_unknown: Some(NO_BOUNDS),
            ..view
        })
    }

    /// The view of mappings of processes that copy to or from devices to the memory nodes of
    /// `reach`; `None` when there are no mappings.
    pub fn of_copies(source: AlphaSource<'_>, mappings: &[Mapping], reach: &Reach) -> Option<Self> {
        let view = Self::of_mappings(source, mappings, reach, None)?;
        let gamma_remedy = view.gamma_remedy.as_ref().map(|_| PHI_REMEDY.into());
        Some(Self { places_are: Some(PlaceKind::MemoryNodes), gamma_remedy, ..view })
    }

    fn new(source: AlphaSource<'_>, rows: Vec<PredictRow>) -> Option<Self> {
        let first = rows.first()?;
        let header = || source.record.map(|record| &record.header);
        Some(Self {
            schema: "nearfar.predict/1",
            host: header().map(|header| header.host.clone()),
            started: header().map(|header| header.started.clone()),
            executor: header().map(|header| header.executor),
            sealing: source.record.map(|record| SealingView::new(&record.sealing)),
            unit_gb_per_s: source.unit_gb_per_s(),
            alphas: source.alphas,
            alphas_are: source.alphas_are,
            gamma: source.gamma.as_ref().ok().cloned(),
            gamma_remedy: source.gamma.as_ref().err().map(|_| GAMMA_REMEDY.into()),
            gamma_unknown: source.gamma.err(),
            places_are: None,
            initiator: None,
            places: None,
            d: first.d,
            d_serial: first.d_serial,
            d_overlap: first.d_overlap,
            bounds_unknown: None,
            rows,
        })
    }
}

impl AlphaSource<'_> {
    fn unit_gb_per_s(&self) -> Option<f64> {
        self.unit.map(|unit| unit / 1e9)
    }
}

impl PredictRow {
    fn of_shares(access: &DataAccess, unit_gb_per_s: Option<f64>) -> Self {
        let in_unit = |d: f64| unit_gb_per_s.map(|unit| d * unit);
        Self {
            shares: access.shares.clone(),
            d: access.d,
            d_serial: Some(access.d_serial),
            d_overlap: Some(access.d_overlap),
            slowest_alpha: None,
            d_gb_per_s: in_unit(access.d),
            d_serial_gb_per_s: in_unit(access.d_serial),
            d_overlap_gb_per_s: in_unit(access.d_overlap),
            slowest_lone_gb_per_s: None,
            sum_lone_gb_per_s: None,
            mappings: None,
            example: None,
        }
    }

    fn of_mapping(mapping: &Mapping, places: &[PlaceView], unit_gb_per_s: Option<f64>) -> Self {
        let processes = mapping.example.len() as f64;
        let index = |&position: &usize| places.get(position).map(|place| place.index);
        Self {
            shares: mapping.shares.clone(),
            d: mapping.d,
            d_serial: None,
            d_overlap: None,
            slowest_alpha: Some(mapping.slowest_alpha),
            d_gb_per_s: None,
            d_serial_gb_per_s: None,
            d_overlap_gb_per_s: None,
            slowest_lone_gb_per_s: unit_gb_per_s.map(|unit| mapping.slowest_alpha * unit),
            sum_lone_gb_per_s: unit_gb_per_s.map(|unit| processes * mapping.d * unit),
            mappings: Some(u64::try_from(mapping.count).unwrap_or(u64::MAX)),
            example: mapping.example.iter().map(index).collect(),
        }
    }
}
