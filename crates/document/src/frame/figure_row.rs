//! A row of figures: what the samples of a case say of one of its actors.

use nearfar_model::{CaseFigures, RecordFigures};
use nearfar_record::{Actor, CaseSummary, Median, Part};
use serde::Serialize;

use super::{ColumnKind, FrameColumn, column};
use crate::csv::{self, Text, concerns};

/// Medians over rounds of the undisturbed windows, and the bounds within which they lie.
#[derive(Debug, Default, Serialize)]
pub(super) struct FigureRow<'a> {
    case: Text<'a>,
    coordinates_index: usize,
    actor: usize,
    actor_kind: Option<&'static str>,
    kernel: Text<'a>,
    variant: Text<'a>,
    threads: Option<usize>,
    memory: Option<Text<'a>>,
    sum_gb_per_s: Option<f64>,
    sum_gb_per_s_low: Option<f64>,
    sum_gb_per_s_high: Option<f64>,
    paced_gb_per_s: Option<f64>,
    sum_gflop_per_s: Option<f64>,
    sum_gflop_per_s_low: Option<f64>,
    sum_gflop_per_s_high: Option<f64>,
    access_ns: Option<f64>,
    access_ns_low: Option<f64>,
    access_ns_high: Option<f64>,
    confidence: Option<f64>,
    rounds: Option<usize>,
    samples: usize,
    disturbed_samples: usize,
}

pub(super) const COLUMNS: [FrameColumn; 22] = [
    column("case", ColumnKind::Text, ""),
    column("coordinates_index", ColumnKind::Integer, ""),
    column("actor", ColumnKind::Integer, ""),
    column("actor_kind", ColumnKind::Text, ""),
    column("kernel", ColumnKind::Text, ""),
    column("variant", ColumnKind::Text, ""),
    column("threads", ColumnKind::Integer, ""),
    column("memory", ColumnKind::Text, ""),
    column("sum_gb_per_s", ColumnKind::Number, "GB/s"),
    column("sum_gb_per_s_low", ColumnKind::Number, "GB/s"),
    column("sum_gb_per_s_high", ColumnKind::Number, "GB/s"),
    column("paced_gb_per_s", ColumnKind::Number, "GB/s"),
    column("sum_gflop_per_s", ColumnKind::Number, "GFLOP/s"),
    column("sum_gflop_per_s_low", ColumnKind::Number, "GFLOP/s"),
    column("sum_gflop_per_s_high", ColumnKind::Number, "GFLOP/s"),
    column("access_ns", ColumnKind::Number, "ns"),
    column("access_ns_low", ColumnKind::Number, "ns"),
    column("access_ns_high", ColumnKind::Number, "ns"),
    column("confidence", ColumnKind::Number, "1"),
    column("rounds", ColumnKind::Integer, ""),
    column("samples", ColumnKind::Integer, ""),
    column("disturbed_samples", ColumnKind::Integer, ""),
];

/// Hands out the figures of every case that has samples, each with the cells of its place.
pub(super) fn each_figure<E>(
    figures: &RecordFigures<'_>,
    mut take: impl FnMut(&FigureRow<'_>, &[Text<'static>]) -> Result<(), E>,
) -> Result<(), E> {
    for case in &figures.record().cases {
        let of_case = figures.of_case(case);
        let places: Vec<_> =
            case.coordinates.iter().map(|place| (place, csv::cells(Some(place)))).collect();
        for (position, actor) in case.actors.iter().enumerate() {
            let Some(mut row) = FigureRow::new(&case.id, &of_case, position, actor) else {
                continue;
            };
            let mut places =
                places.iter().filter(|(place, _)| concerns(place, position)).peekable();
            if places.peek().is_none() {
                take(&row, &csv::cells(None))?;
            }
            for (index, (_, cells)) in places.enumerate() {
                row.coordinates_index = index;
                take(&row, cells)?;
            }
        }
    }
    Ok(())
}

impl<'a> FigureRow<'a> {
    /// Of an actor that moves data or computes; `None` for others, which have runs and no windows, and
    /// where there is no sample.
    fn new(
        id: &'a str,
        case: &CaseFigures<'a>,
        position: usize,
        planned: &'a Actor,
    ) -> Option<Self> {
        let part = Part::Actor(position);
        let seen = case.samples().first()?.actors.get(position)?;
        let (bytes, flops) = (case.bandwidth(part), case.flops(part));
        // What it is there for: a roof of arithmetic moves nothing.
        let rests_on = if matches!(planned, Actor::Compute(_)) { &flops } else { &bytes };
        let rests_on = rests_on.as_ref()?;
        let mut row = Self {
            case: id.into(),
            actor: position,
            kernel: seen.kernel.as_str().into(),
            variant: seen.variant.as_str().into(),
            threads: Some(seen.threads.len()),
            memory: planned.memory().map(|policy| policy.to_string().into()),
            samples: rests_on.samples,
            disturbed_samples: rests_on.disturbed,
            ..Self::default()
        };
        row.actor_kind = Some(match planned {
            Actor::Stream(_) => "stream",
            Actor::Chase(_) => "chase",
            Actor::Exchange(_) => "exchange",
            Actor::Compute(_) => "compute",
            Actor::Transfer(_) => "transfer",
            Actor::Messages(_) => "messages",
            Actor::Workload(_) | Actor::Command(_) => return None,
        });
        if let Some(bytes) = bytes.as_ref().filter(|it| it.sum.median > 0.0) {
            row.put_bytes(bytes);
        }
        if let Some(flops) = flops.as_ref().filter(|it| it.sum.median > 0.0) {
            row.put_flops(flops);
        }
        let rests_on = &rests_on.sum;
        if matches!(planned, Actor::Chase(_) | Actor::Exchange(_)) {
            // An access of a chase, and a hand-over, is 8 useful bytes; the highest rate is the shortest time.
            let of_rate = |rate: f64| (rate > 0.0).then(|| 8e9 / rate);
            row.access_ns = of_rate(rests_on.median);
            row.access_ns_low = of_rate(rests_on.interval.1);
            row.access_ns_high = of_rate(rests_on.interval.0);
        }
        row.confidence = Some(rests_on.confidence);
        row.rounds = Some(rests_on.count);
        Some(row)
    }

    fn put_bytes(&mut self, bytes: &CaseSummary) {
        let [median, low, high] = giga(&bytes.sum);
        self.sum_gb_per_s = median;
        self.sum_gb_per_s_low = low;
        self.sum_gb_per_s_high = high;
        self.paced_gb_per_s = giga(&bytes.paced)[0];
    }

    fn put_flops(&mut self, flops: &CaseSummary) {
        let [median, low, high] = giga(&flops.sum);
        self.sum_gflop_per_s = median;
        self.sum_gflop_per_s_low = low;
        self.sum_gflop_per_s_high = high;
    }
}

/// A median and its bounds in 1e9 a second.
fn giga(of: &Median) -> [Option<f64>; 3] {
    let rates = [of.median, of.interval.0, of.interval.1];
    rates.map(|rate| Some(rate / 1e9).filter(|rate| rate.is_finite()))
}
