//! A record as `show` prints it: figures for programs, tables for people.

use std::collections::BTreeMap;
use std::time::Duration;

use nearfar_model::{
    ChaseFigures, HandOverFigures, HybridFigures, LinkFigures, MessageFigures, Mix, ModelChoices,
    ModelKind, PlacedCell, RecordFigures, RoofFigures, ScalingRuns, SharingCell, TransferFigures,
    advising_command, chases, command_on, exchanges, hand_overs, hybrid_points, links, messages,
    mixes, modelling_command, network as network_of, pairs, resuming_command, roofs, scaling,
    sharing_grid, transfers, workloads as workloads_of,
};
use nearfar_record::{Absent, Executor, Experiment, Record, Standing, Suite, Warning};
use nearfar_units::format_duration;
use serde::Serialize;

use super::figures::{capitalised, count};
use super::health::{self, Health};
use super::origin::Origin;
use super::report::{self, of_experiment};
use super::sources::Sources;
use super::tiles::TileKind;
use super::workloads;
use super::{exchange, network};
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::document::{Document, Section};
use crate::table::Table;

/// A record in figures; `show --json` prints it. Each experiment is a list of its cases, empty
/// where the record holds none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownRecord {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    /// How much was measured.
    pub suite: Suite,
    /// The experiments that were asked for, in their order.
    pub experiments: Vec<Experiment>,
    /// The CPU's name, or null.
    pub cpu: Option<String>,
    /// Kernel release, or null.
    pub kernel_release: Option<String>,
    /// Seconds that was measured, by all runs of the program that ended in order; null
    /// when none did.
    pub seconds: Option<f64>,
    /// Runs of the program that were killed, whose time is not in `seconds`.
    pub untimed_runs: usize,
    /// Whether the program was killed while measuring.
    pub unfinished: bool,
    /// Samples in the record.
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
    /// Samples of cases that touch memory.
    pub samples_on_memory: usize,
    /// Of these, the ones whose pages were all proven, by the weakest method that did.
    pub proven_by: BTreeMap<&'static str, usize>,
    /// Smallest share of an actor's pages that were on the node asked for, or null.
    pub least_placed: Option<f64>,
    /// Of pages dealt out over nodes, the most that a node's share was off the one asked for, or
    /// null.
    pub worst_share_deviation: Option<f64>,
    /// Share of the memory that huge pages backed, or null.
    pub huge_page_share: Option<f64>,
    /// The matrix, cell by cell.
    pub pairs: Vec<PlacedCell>,
    /// Runs by thread count and affinity.
    pub scaling: Vec<ScalingRuns>,
    /// Local and remote threads on one node.
    pub sharing: Vec<SharingCell>,
    /// Packages on the memory of others.
    pub links: Vec<LinkFigures>,
    /// Roofs, and points below them.
    pub roofs: Vec<RoofFigures>,
    /// Fast and slow memory.
    pub hybrid: Vec<HybridFigures>,
    /// Random sets of streams.
    pub mixes: Vec<Mix>,
    /// Times of an access.
    pub latency: Vec<ChaseFigures>,
    /// Times of a hand-over between two CPUs.
    pub exchange: Vec<HandOverFigures>,
    /// Copies between memory and devices.
    pub devices: Vec<TransferFigures>,
    /// Messages to another machine and from it.
    pub network: Vec<MessageFigures>,
    /// Cases of programs; `sensitivity --from` shows their runs.
    pub placed_programs: usize,
    /// What was not asked for, does not apply, or was refused by the machine.
    pub absent: Vec<Absent>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

impl ShownRecord {
    pub fn new(record: &Record) -> Self {
        Self::of(&RecordFigures::new(record))
    }

    /// The view of a record whose figures are sorted already.
    pub fn of(figures: &RecordFigures<'_>) -> Self {
        let record = figures.record();
        let evidence = figures.evidence();
        let header = &record.header;
        Self {
            schema: "nearfar.show/3",
            measured: Origin::new(record),
            suite: header.inputs.suite,
            experiments: header.inputs.experiments.clone(),
            cpu: header.environment.cpu.model_name.clone(),
            kernel_release: header.environment.kernel_release.clone(),
            seconds: (record.seconds > 0.0).then_some(record.seconds),
            untimed_runs: record.untimed_runs + usize::from(record.finished.is_none()),
            unfinished: record.finished.is_none(),
            samples: evidence.samples,
            disturbed: evidence.disturbed,
            samples_on_memory: evidence.on_memory,
            proven_by: evidence
                .proven_by
                .iter()
                .map(|(method, &samples)| (method.as_str(), samples))
                .collect(),
            least_placed: evidence.least_placed,
            worst_share_deviation: evidence.worst_share,
            huge_page_share: evidence.huge_page_share,
            pairs: pairs(figures).placed(),
            scaling: scaling(figures),
            sharing: sharing_grid(figures),
            links: links(figures),
            roofs: roofs(figures),
            hybrid: hybrid_points(figures),
            mixes: mixes(figures),
            latency: chases(figures),
            exchange: hand_overs(figures),
            devices: transfers(figures),
            network: messages(figures),
            placed_programs: record.cases.iter().filter(|case| case.command().is_some()).count(),
            absent: record.absent.clone(),
            warnings: record.warnings.clone(),
        }
    }
}

/// What `show` is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShowChoice {
    /// These experiments alone; empty for all.
    pub experiments: Vec<Experiment>,
    /// What to know of the figures, alone.
    pub remarks: bool,
    /// Whether all is asked for, which takes longer.
    pub full: bool,
}

/// A record for people.
pub fn show_answer(record: &Record, choice: &ShowChoice) -> Answer {
    if !choice.full {
        let sources = Sources::with_models(record, &ModelChoices::default(), &[]);
        if choice.remarks {
            return remarks(&sources);
        }
        if let Some(commands) = &record.header.inputs.commands {
            // What runs beside loads say is in the program's own file, which --out names.
            let runs = match commands.pressures.is_empty() {
                true => (command_on(record, "sensitivity --from", ""), "what the runs say"),
                false => (command_on(record, "show", "--full"), "every table"),
            };
            return first_screen(&sources).and_next([(runs.0.as_str(), runs.1)]);
        }
        let full = command_on(record, "show", "--full");
        let (model, advise) = (modelling_command(record), advising_command(record));
        return first_screen(&sources).and_next(
            std::iter::once((full.as_str(), "every table; --experiment for one"))
                .chain(model.as_deref().map(|it| (it, "what the figures mean")))
                .chain(advise.as_deref().map(|it| (it, "where to put a program"))),
        );
    }
    // What these say of a record is as good as measured: classes, factors, how runs spread.
    let kinds = [
        ModelKind::Classes,
        ModelKind::Latency,
        ModelKind::Exchange,
        ModelKind::Network,
        ModelKind::Distribution,
        ModelKind::Workloads,
    ];
    let sources = Sources::with_models(record, &ModelChoices::default(), &kinds);
    let answer = sources.show.measured.answer();
    let sections = choice.experiments.iter().filter_map(|&it| of_experiment(&sources, it));
    let chosen: Vec<Section> = sections.collect();
    if choice.experiments.is_empty() {
        report::sections(&sources).into_iter().fold(answer, Answer::and_full_section)
    } else if chosen.is_empty() {
        answer.and_gap().and_says(nothing_shown(record, &choice.experiments))
    } else {
        chosen.into_iter().fold(answer, Answer::and_full_section)
    }
}

/// Why experiments have no section: they have no case with a sample, or a model makes no figures of
/// these.
fn nothing_shown(record: &Record, experiments: &[Experiment]) -> String {
    let is_sampled = |id: &str| record.samples.iter().any(|sample| sample.case == id);
    let of = |it: &Experiment| {
        let cases = record
            .cases
            .iter()
            .filter(|case| case.coordinates.iter().any(|of| of.experiment() == *it));
        let sampled = cases.filter(|case| is_sampled(&case.id)).count();
        (sampled > 0).then_some((*it, sampled))
    };
    let held: Vec<(Experiment, usize)> = experiments.iter().filter_map(of).collect();
    let Some((experiment, cases)) = held.first() else {
        let whole = command_on(record, "show", "--full");
        return format!("The record holds nothing of it: {whole} says why.");
    };
    let kind = match experiment {
        Experiment::Scaling => ModelKind::Distribution.as_str(),
        other => other.as_str(),
    };
    let model = command_on(record, "model", kind);
    let json = command_on(record, "show", "--json");
    format!(
        "The record holds {} of it without a figure: {model} says why, {json} has them.",
        count(*cases, "case")
    )
}

/// What a measurement answers first: the machine, bandwidth and latency by pair, what remote memory costs, and
/// what is wrong.
pub(super) fn first_screen(sources: &Sources<'_>) -> Answer {
    let document = Document::of(sources);
    let table = |mut table: Table| {
        let notes = std::mem::take(&mut table.notes);
        let notes = notes.into_iter().map(|note| Part::words(" ", note));
        std::iter::once(Part::Table { table, first_rows: FIRST_ROWS }).chain(notes)
    };
    let matrices = document.matrices.into_iter().flat_map(table);
    let tiles = document.tiles.iter().filter(|tile| {
        // The matrices show the others.
        matches!(tile.kind, TileKind::Ratio | TileKind::Devices)
    });
    let tiles = tiles.map(|tile| Part::words(format!("{}: ", tile.label), tile.words()));
    title(sources)
        .and_all(Shown::Always, matrices)
        .and_gap()
        .and_all(Shown::Always, tiles)
        .and_all(Shown::Always, exchange_part(sources))
        .and_all(Shown::Always, network_part(sources))
        .and_answer(programs(sources))
        .and_all(Shown::Always, document.health.as_ref().map(|it| health_part(it, sources.record)))
}

/// How long CPUs take to hand a cache line over, where the record has it.
fn exchange_part(sources: &Sources<'_>) -> Option<Part> {
    let model = exchanges(&sources.figures).ok()?;
    Some(Part::words("", exchange::answer(&model)?))
}

/// What messages to another machine get, where the record has it.
fn network_part(sources: &Sources<'_>) -> Option<Part> {
    let model = network_of(&sources.figures).ok()?;
    Some(Part::words("", network::answer(&model, &sources.show.measured.who)?))
}

/// The papers' programs, where the record has them.
fn programs(sources: &Sources<'_>) -> Answer {
    match workloads_of(&sources.figures) {
        Ok(model) => {
            let mut section = workloads::section(&model, &sources.show.measured.who);
            section.findings.truncate(FIRST_FINDINGS);
            Answer::default().and_gap().and_section(section, FIRST_PROGRAMS).and_gap()
        }
        Err(_) => Answer::default(),
    }
}

/// Programs of the first screen, and what follows from them.
const FIRST_PROGRAMS: usize = 6;
const FIRST_FINDINGS: usize = 2;

/// Rows of each matrix of the first screen.
const FIRST_ROWS: usize = 10;

fn title(sources: &Sources<'_>) -> Answer {
    let Sources { show, topo, .. } = sources;
    let nodes = count(topo.machine.nodes.len(), "memory node");
    let machine = format!("{}, {nodes}", topo.title(show.cpu.as_deref()));
    let seconds = show.seconds.map_or_else(String::new, |seconds| {
        let clock = match show.measured.executor {
            Executor::Native => "",
            Executor::Simulated => " of its own clock",
        };
        let least = if show.untimed_runs > 0 { "at least " } else { "" };
        format!(" in {least}{}{clock}", format_duration(Duration::from_secs_f64(seconds)))
    });
    let Origin { host, started, .. } = &show.measured;
    let (suite, samples) = (show.suite.as_str(), count(show.samples, "sample"));
    let measured = format!("{host}, {started}: {suite} suite, {samples}{seconds}");
    let unfinished = unfinished_words(sources.record);
    let unfinished = unfinished.map(|(first, why)| Part::words(first, why));
    Answer::saying(machine)
        .and_says(measured)
        .and_answer(show.measured.caution())
        .and_all(Shown::Always, unfinished)
}

/// How a record ended before all was measured, why, and what goes on; `None` where it did not.
pub(super) fn unfinished_words(record: &Record) -> Option<(&'static str, String)> {
    let goes_on = match &record.header.inputs.commands {
        Some(_) => "what ran is told".into(),
        None if record.header.is_of_no_host() => "what was measured is told".into(),
        None => format!("`{}` goes on", resuming_command(record)),
    };
    let Some(finished) = &record.finished else {
        let why = format!("the program was killed while measuring, or still measures; {goes_on}");
        return Some(("unfinished: ", why));
    };
    let signal = finished.interrupted_by?;
    Some(("interrupted: ", format!("by signal {signal}, all samples are kept; {goes_on}")))
}

/// What is wrong; how many remarks there are besides.
fn health_part(health: &Health, record: &Record) -> Part {
    let emphasis = match health.standing {
        Standing::Failed => Emphasis::Failed,
        Standing::Warning => Emphasis::Caution,
        Standing::Fine => Emphasis::Good,
        Standing::Unknown => Emphasis::Plain,
    };
    let remarks = command_on(record, "show", "--remarks");
    let words = format!("{} ({remarks})", health.words());
    Part::Words { first: "Health: ".into(), words, emphasis }
}

/// What is wrong and what to know, each with what to do about it.
fn remarks(sources: &Sources<'_>) -> Answer {
    let health = health::health(&sources.figures);
    let told = health.found.iter().zip(1..).flat_map(|(check, number)| {
        let finding = Part::words(format!("{number}. "), &check.finding);
        let remedy = check.remedy.iter().map(|remedy| Part::words("   -> ", remedy));
        std::iter::once(finding).chain(remedy).collect::<Vec<_>>()
    });
    let answer = title(sources).and_gap().and_says(capitalised(&health.answer) + ".");
    answer.and_all(Shown::Always, told)
}
