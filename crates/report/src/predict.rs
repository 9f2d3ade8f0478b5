//! Data-access performance as `predict` prints it.

use nearfar_machine::TheoreticalMaximum;
use nearfar_model::{DataAccess, Mapping};
use nearfar_record::{Executor, Header};
use serde::Serialize;

use crate::classes::GammaView;

/// What programs get whose accesses are shared out over classes; `predict --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictView {
    /// `nearfar.predict/1`
    pub schema: &'static str,
    /// Host of the record, or null without one.
    pub host: Option<String>,
    /// When its measuring began, or null.
    pub started: Option<String>,
    /// Whether a machine was measured or simulated, or null.
    pub executor: Option<Executor>,
    /// Alpha of each class, the fastest first.
    pub alphas: Vec<f64>,
    /// What they are relative to.
    pub alphas_are: AlphaKind,
    /// The theoretical maximum, or null.
    pub gamma: Option<GammaView>,
    /// Why there is none and what gives one, or null when there is.
    pub gamma_unknown: Option<String>,
    /// What an alpha of 1 stands for, GB/s, or null.
    pub unit_gb_per_s: Option<f64>,
    /// `d` of the first row.
    pub d: f64,
    /// `d_serial` of the first row.
    pub d_serial: f64,
    /// `d_overlap` of the first row.
    pub d_overlap: f64,
    /// The shares in the order given, or the outcomes of all mappings, the best first.
    pub rows: Vec<PredictRow>,
}

/// What alphas are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AlphaKind {
    /// They were given; what they are relative to is the user's knowledge.
    Given,
    /// To the theoretical maximum.
    Absolute,
    /// To the maximum of class 0.
    Relative,
}

/// Shares and what they give.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictRow {
    /// Share of the accesses by class.
    pub shares: Vec<f64>,
    /// Sum of alpha x share.
    pub d: f64,
    /// 1 / sum(share / alpha).
    pub d_serial: f64,
    /// 1 / max(share / alpha).
    pub d_overlap: f64,
    /// `d` x unit, or null.
    pub d_gb_per_s: Option<f64>,
    /// `d_serial` x unit, or null.
    pub d_serial_gb_per_s: Option<f64>,
    /// `d_overlap` x unit, or null.
    pub d_overlap_gb_per_s: Option<f64>,
    /// How many mappings come to these shares, or null where shares were given.
    pub mappings: Option<u64>,
    /// The place of each process in one of them, or null.
    pub example: Option<Vec<u32>>,
}

/// Alphas and where they are from.
#[derive(Debug, Clone, PartialEq)]
pub struct AlphaSource<'a> {
    /// The record's header; `None` when the alphas were given.
    pub header: Option<&'a Header>,
    /// Alpha of each class, the fastest first.
    pub alphas: Vec<f64>,
    /// What they are relative to.
    pub alphas_are: AlphaKind,
    /// The theoretical maximum, or why there is none.
    pub gamma: Result<TheoreticalMaximum, String>,
    /// What an alpha of 1 stands for, bytes/s; `None` when that is not known.
    pub unit: Option<f64>,
}

impl PredictView {
    /// The view of shares and of what they give, in the order given; `None` when there
    /// are none.
    #[must_use]
    pub fn of_shares(source: AlphaSource<'_>, shares: &[(Vec<f64>, DataAccess)]) -> Option<Self> {
        let unit = source.unit;
        let rows = shares
            .iter()
            .map(|(shares, access)| PredictRow::new(shares.clone(), *access, unit))
            .collect();
        Self::new(source, rows)
    }

    /// The view of mappings. `places` are the numbers of the places in the
    /// mappings' examples; `None` when there are none.
    #[must_use]
    pub fn of_mappings(
        source: AlphaSource<'_>,
        mappings: &[Mapping],
        places: &[u32],
    ) -> Option<Self> {
        let unit = source.unit;
        let rows = mappings
            .iter()
            .map(|mapping| {
                let place = |&position: &usize| places.get(position).copied();
                PredictRow {
                    mappings: Some(u64::try_from(mapping.count).unwrap_or(u64::MAX)),
                    example: mapping.example.iter().map(place).collect(),
                    ..PredictRow::new(mapping.shares.clone(), mapping.data_access, unit)
                }
            })
            .collect();
        Self::new(source, rows)
    }

    fn new(source: AlphaSource<'_>, rows: Vec<PredictRow>) -> Option<Self> {
        let first = rows.first()?;
        Some(Self {
            schema: "nearfar.predict/1",
            host: source.header.map(|header| header.host.clone()),
            started: source.header.map(|header| header.started.clone()),
            executor: source.header.map(|header| header.executor),
            alphas: source.alphas,
            alphas_are: source.alphas_are,
            gamma: source.gamma.as_ref().ok().map(GammaView::new),
            gamma_unknown: source.gamma.err(),
            unit_gb_per_s: source.unit.map(|unit| unit / 1e9),
            d: first.d,
            d_serial: first.d_serial,
            d_overlap: first.d_overlap,
            rows,
        })
    }
}

impl PredictRow {
    fn new(shares: Vec<f64>, access: DataAccess, unit: Option<f64>) -> Self {
        let gb_per_s = |d: f64| unit.map(|unit| d * unit / 1e9);
        Self {
            shares,
            d: access.d,
            d_serial: access.d_serial,
            d_overlap: access.d_overlap,
            d_gb_per_s: gb_per_s(access.d),
            d_serial_gb_per_s: gb_per_s(access.d_serial),
            d_overlap_gb_per_s: gb_per_s(access.d_overlap),
            mappings: None,
            example: None,
        }
    }
}
