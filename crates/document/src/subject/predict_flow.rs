//! The view of what streams get that run at the same time.

use nearfar_model::{Flow, FlowPart, FlowPrediction, PredictedStream};
use nearfar_record::{Experiment, Record};
use serde::Serialize;

use super::figures::significant;
use super::measured::MeasuredView;
use super::model_flow::give_or_take;
use super::model_flow_part::FlowPartView;
use super::model_flow_text::percents;
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

/// What streams get that run at the same time, by the flow model; `predict RECORD --stream ..
/// --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictFlowView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// The kernel that the streams run.
    pub kernel: String,
    /// Its instruction-set variant.
    pub variant: String,
    /// The model's error, a fraction: of the mean errors of a stream, on cases that all others
    /// foretold and on those of each experiment, the largest.
    pub model_error: f64,
    /// The experiment of these cases.
    pub judged_by: Experiment,
    /// Predictions are give or take this, a fraction: 95 % of the streams that all others foretold
    /// are off by no more, and it is at least twice the model's error.
    pub interval_error: f64,
    /// A difference is told from this on, a fraction.
    pub least_difference_share: f64,
    /// Cores of the machine without a stream.
    pub free_cores: usize,
    /// The streams, in the order in which they were asked.
    pub streams: Vec<PredictedStreamView>,
    /// The parts that they use, the fullest first.
    pub parts: Vec<FilledPartView>,
    /// What to know of it and to do about it, in sentences.
    pub advice: Vec<String>,
}

/// What a stream gets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictedStreamView {
    pub binding: String,
    /// Its threads, one on each core, by cluster.
    pub threads: Vec<ClusterThreadsView>,
    /// What it gets with the machine to itself.
    pub alone_gb_per_s: f64,
    /// That, give or take `interval_error`.
    pub alone_interval_gb_per_s: (f64, f64),
    /// What it gets beside the others.
    pub together_gb_per_s: f64,
    /// That, give or take `interval_error`.
    pub together_interval_gb_per_s: (f64, f64),
    /// Together / alone.
    pub kept_share: f64,
    /// The part that slows it most; null where its own threads are what it waits for.
    pub limit: Option<FlowPartView>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClusterThreadsView {
    pub cluster: u32,
    pub threads: u32,
}

/// How full a part is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilledPartView {
    pub part: FlowPartView,
    /// What it carries / its capacity.
    pub filled_share: f64,
}

/// So many parts are shown.
const SHOWN_PARTS: usize = 8;

impl PredictFlowView {
    /// The view of the answers.
    pub fn new(record: &Record, model: &Flow, prediction: &FlowPrediction) -> Self {
        let machine = &record.header.machine;
        let cores = machine.allowed_cores(&machine.allowed_cpus).len();
        let of_stream = |it: &PredictedStream| it.threads.values().sum::<u32>() as usize;
        let busy: usize = prediction.streams.iter().map(of_stream).sum();
        let filled = |&(part, filled_share): &(FlowPart, f64)| {
            Some(FilledPartView { part: FlowPartView::new(&model.layout, part)?, filled_share })
        };
        let mut view = Self {
            schema: "nearfar.predict-flow/1",
            measured: MeasuredView::new(record),
            kernel: model.layout.kernels.first().cloned().unwrap_or_default(),
            variant: model.variants.first().cloned().unwrap_or_default(),
            model_error: model.judged_by().mean,
            judged_by: model.judged_by().experiment,
            interval_error: model.reach(),
            least_difference_share: model.least_difference(),
            free_cores: cores.saturating_sub(busy),
            streams: prediction.streams.iter().map(|it| stream_view(model, it)).collect(),
            parts: prediction.parts.iter().filter_map(filled).collect(),
            advice: Vec::new(),
        };
        view.advice = view.sentences();
        view.advice.extend(prediction.notes.iter().cloned());
        view
    }

    /// For people.
    pub fn text(&self) -> String {
        let first = format!(
            "Streams of {} ({}), useful GB/s, by the flow model; give or take {} (its error is {}, \
             on {}).",
            printable(&self.kernel),
            printable(&self.variant),
            percents(self.interval_error),
            percents(self.model_error),
            self.judged_by
        );
        let mut text = self.measured.heading() + &paragraph("", &first) + "\n";
        let header =
            ["", "threads", "alone", "together", "", "kept", "slowed most by"].map(String::from);
        let row = |(index, it): (usize, &PredictedStreamView)| {
            let (low, high) = it.together_interval_gb_per_s;
            let threads: u32 = it.threads.iter().map(|own| own.threads).sum();
            vec![
                format!("stream {index}"),
                threads.to_string(),
                significant(it.alone_gb_per_s, 3),
                significant(it.together_gb_per_s, 3),
                format!("{} to {}", significant(low, 3), significant(high, 3)),
                percents(it.kept_share),
                it.limit.as_ref().map_or_else(|| "its own threads".into(), FlowPartView::words),
            ]
        };
        text += &table(header.into(), self.streams.iter().enumerate().map(row).collect(), 1);
        for (index, stream) in self.streams.iter().enumerate() {
            text += &paragraph(" ", &format!("stream {index}: {}", printable(&stream.binding)));
        }
        let row = |it: &FilledPartView| vec![it.part.words(), percents(it.filled_share)];
        let shown = self.parts.iter().take(SHOWN_PARTS).map(row).collect();
        text += &format!("\n{}\n", table(["part", "filled"].map(String::from).into(), shown, 1));
        for sentence in &self.advice {
            text += &paragraph("- ", sentence);
        }
        text
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let sum: f64 = self.streams.iter().map(|it| it.together_gb_per_s).sum();
        let (low, high) = give_or_take(sum, self.interval_error);
        if self.streams.len() > 1 {
            sentences.push(format!(
                "Together expect {} GB/s ({} to {}).",
                significant(sum, 3),
                significant(low, 3),
                significant(high, 3)
            ));
        }
        let is_limit =
            |part: &FlowPartView| self.streams.iter().any(|it| it.limit.as_ref() == Some(part));
        // The fullest stand first.
        if let Some(fullest) = self.parts.iter().find(|it| is_limit(&it.part)) {
            sentences.push(format!(
                "Of what slows streams {} is the fullest ({}): more threads there gain little; if \
                 other parts are less full, move data or threads off it.",
                fullest.part.words(),
                percents(fullest.filled_share)
            ));
        } else if self.free_cores > 0 {
            sentences.push(format!(
                "The threads themselves are the limit (latency): more threads would move more, and \
                 {} free.",
                if self.free_cores == 1 {
                    "1 core is".into()
                } else {
                    format!("{} cores are", self.free_cores)
                }
            ));
        } else {
            sentences.push(
                "The threads themselves are the limit (latency), and no core is free: these streams \
                 move no more."
                    .into(),
            );
        }
        let slowed = |it: &&PredictedStreamView| 1.0 - it.kept_share >= self.least_difference_share;
        if self.streams.len() > 1 && self.streams.iter().filter(slowed).count() == 0 {
            sentences.push(
                "The streams hardly slow each other: no loss is above what the model can tell."
                    .into(),
            );
        }
        sentences
    }
}

fn stream_view(model: &Flow, stream: &PredictedStream) -> PredictedStreamView {
    let reach = model.reach();
    let (alone, together) = (stream.alone / 1e9, stream.together / 1e9);
    let own = |(&cluster, &threads): (&u32, &u32)| ClusterThreadsView { cluster, threads };
    PredictedStreamView {
        binding: stream.binding.to_string(),
        threads: stream.threads.iter().map(own).collect(),
        alone_gb_per_s: alone,
        alone_interval_gb_per_s: give_or_take(alone, reach),
        together_gb_per_s: together,
        together_interval_gb_per_s: give_or_take(together, reach),
        kept_share: together / alone,
        limit: stream.limit.and_then(|part| FlowPartView::new(&model.layout, part)),
    }
}
