//! A fast and a slow memory in the terminal.

use nearfar_record::TransferKind;

use super::figures::{count, gb_per_s, percent_words, rounded};
use super::model_hybrid::{HybridModelView, HybridPairView, HybridSurfaceView, OverlapView};
use super::model_hybrid_answer::{HybridAnswerView, program_words};
use super::model_hybrid_placement::HybridPlacementView;
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

impl HybridModelView {
    /// For people.
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        let mut text = paragraph(
            "",
            "A cluster's loads (l) and stores (s) over a fast (f) and a slow (s) memory: lf is a load \
             from the fast one, ss a store to the slow one. t = t of the kind that takes longest + \
             the sum of theta t of the others (denoyelle2019, eq. 5).",
        );
        if self.bounds == "none" {
            text += &paragraph("", "Overlap thetas are fitted without bounds.");
        }
        if self.pairs.len() > 1 {
            text += &format!("\n{}", overview(&self.pairs));
        }
        if let Some(first) = self.pairs.first() {
            text += &details(first);
        }
        for left_out in &self.left_out {
            let words = format!(
                "cluster {}, nodes {} and {}: no model: {}",
                left_out.cluster,
                left_out.fast_node,
                left_out.slow_node,
                printable(&left_out.why)
            );
            text += &paragraph(" ", &words);
        }
        text += "\n";
        for note in &self.notes {
            text += &paragraph(" note: ", &printable(note));
        }
        text
    }
}

/// What a program of two reads for a write is best told of each pair.
fn overview(pairs: &[HybridPairView]) -> String {
    let header =
        ["cluster", "fast", "slow", "lf", "sf", "ls", "ss", "error", "2/3 reads: best", "GB/s"];
    let rows = pairs.iter().map(|pair| {
        let answer = pair.answers.iter().find(|it| (it.load_share - 2.0 / 3.0).abs() < 1e-9);
        let best = answer.and_then(|it| Some((it.recommended?, it.placement(it.recommended?)?)));
        let mut row = vec![
            pair.cluster.to_string(),
            format!("{} ({})", pair.fast_node, pair.fast_kind),
            format!("{} ({})", pair.slow_node, pair.slow_kind),
        ];
        row.extend(pair.corners.iter().map(|corner| gb_per_s(corner.gb_per_s * 1e9)));
        row.push(pair.errors.as_ref().map_or("-".into(), |it| percent_words(it.relative_rms)));
        row.push(best.map_or("-".into(), |(name, _)| name.replace('_', " ")));
        row.push(best.map_or("-".into(), |(_, it)| gb_per_s(it.shares.gb_per_s * 1e9)));
        row
    });
    let all = table(header.map(String::from).to_vec(), rows.collect(), 3);
    all + &paragraph(" ", "Below, the first of them; --json has all.")
}

fn details(pair: &HybridPairView) -> String {
    let mut text = format!(
        "\ncluster {}, {}, fast: node {} ({}{}), slow: node {} ({}), {}\n",
        pair.cluster,
        count(pair.threads as usize, "thread"),
        pair.fast_node,
        pair.fast_kind,
        pair.fast_memory_bytes.map_or_else(String::new, |bytes| format!(", {}", gib(bytes))),
        pair.slow_node,
        pair.slow_kind,
        printable(&pair.variant)
    );
    text += &corners(pair);
    text += &overlaps(pair);
    text += &errors(pair);
    text += &surface(pair);
    text += "\n best shares of the fast memory, GB/s\n";
    text += &best_table(&pair.answers);
    text += "\n";
    for answer in &pair.answers {
        for (number, sentence) in answer.advice.iter().enumerate() {
            text += &paragraph(if number == 0 { " " } else { "   " }, sentence);
        }
    }
    text
}

fn gib(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    format!("{} GiB", rounded(gib, 1))
}

fn corners(pair: &HybridPairView) -> String {
    let kinds = pair.corners.iter().map(|corner| corner.of.as_str().to_string());
    let header = std::iter::once(String::new()).chain(kinds).collect();
    let row = |name: &str, cell: &dyn Fn(usize) -> String| {
        let cells = (0..pair.corners.len()).map(cell);
        std::iter::once(name.to_string()).chain(cells).collect::<Vec<String>>()
    };
    let alone = row("one kind alone, GB/s (b)", &|at| gb_per_s(pair.corners[at].gb_per_s * 1e9));
    let intervals = row("95 % interval", &|at| {
        let interval = pair.corners[at].interval_gb_per_s;
        interval.map_or("-".into(), |[low, high]| {
            format!("{} - {}", gb_per_s(low * 1e9), gb_per_s(high * 1e9))
        })
    });
    table(header, vec![alone, intervals], 1)
}

fn overlaps(pair: &HybridPairView) -> String {
    let kinds = TransferKind::ALL;
    let of = |dominating: TransferKind, beside: TransferKind| {
        pair.overlaps.iter().find(|it| it.dominating == dominating && it.beside == beside)
    };
    let header = std::iter::once("longest".to_string())
        .chain(kinds.map(|kind| format!("{} beside", kind.as_str())))
        .collect();
    let rows = kinds.map(|dominating| {
        let cells = kinds.map(|beside| of(dominating, beside).map_or(String::new(), cell));
        std::iter::once(dominating.as_str().to_string()).chain(cells).collect()
    });
    let mut text = String::from(
        "\n overlap theta: of the time of the kind beside, the share that is not hidden\n",
    );
    text += &table(header, rows.into(), 1);
    let pair_words =
        |it: &OverlapView| format!("{} beside {}", it.beside.as_str(), it.dominating.as_str());
    let listed = |chosen: &dyn Fn(&&OverlapView) -> bool| -> Vec<String> {
        pair.overlaps.iter().filter(chosen).map(pair_words).collect()
    };
    let interfering = listed(&|it| it.interference);
    if !interfering.is_empty() {
        let words = format!(
            "{}: above 1, they hinder each other (interference): one after the other would be faster.",
            interfering.join(", ")
        );
        text += &paragraph(" ", &words);
    }
    for it in &pair.overlaps {
        let held = it.unbounded.filter(|free| *free < 0.0 && it.overlap_theta == Some(0.0));
        if let Some(free) = held {
            let words = format!(
                "{}: held at 0; without bounds {} (--unbounded), which would make a case faster than \
                 its longest part.",
                pair_words(it),
                rounded(free, 3)
            );
            text += &paragraph(" ", &words);
        }
        if let Some(unknown) = &it.unknown {
            text += &paragraph(" ", &format!("{}: {}.", pair_words(it), printable(unknown)));
        }
    }
    text
}

fn cell(overlap: &OverlapView) -> String {
    let Some(theta) = overlap.overlap_theta else { return "not known".into() };
    let half = overlap.interval.map(|[low, high]| (high - low) / 2.0);
    let room = half.map_or_else(String::new, |half| format!(" ±{half:.2}"));
    format!("{theta:.3}{room}")
}

fn errors(pair: &HybridPairView) -> String {
    let words = match (&pair.errors, &pair.errors_unknown) {
        (Some(errors), _) => format!(
            "error on {} of the surface that were never fitted: {} true relative RMS, {} by the \
             paper's measure (1/n sqrt of the sum of squares), {} at worst",
            count(errors.points, "point"),
            percent_words(errors.relative_rms),
            percent_words(errors.paper_measure),
            percent_words(errors.worst.abs())
        ),
        (None, Some(why)) => format!("the model's error is not known: {why}"),
        (None, None) => return String::new(),
    };
    format!("\n{}", paragraph(" ", &words))
}

fn surface(pair: &HybridPairView) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut header = vec![String::new()];
    let is_one_row = |one: &HybridSurfaceView, other: &HybridSurfaceView| {
        (one.load_share - other.load_share).abs() < 1e-9
    };
    for of_loads in pair.surface.chunk_by(is_one_row) {
        let Some(first) = of_loads.first() else { continue };
        if header.len() == 1 {
            header.extend(of_loads.iter().map(|it| format!("{} fast", rounded(it.fast_share, 2))));
        }
        let mut row = vec![format!("{} loads", rounded(first.load_share, 2))];
        row.extend(
            of_loads.iter().map(|it| it.gb_per_s.map_or("-".into(), |it| gb_per_s(it * 1e9))),
        );
        rows.push(row);
    }
    let title = "\n predicted GB/s: rows: share of loads in all bytes; columns: share of all buffers in \
                 the fast memory\n";
    format!("{title}{}", table(header, rows, 1))
}

/// Whether nothing validates its different shares.
fn is_open(placement: &HybridPlacementView) -> bool {
    !placement.shares.validated && !placement.shares.is_one_share()
}

/// What the usual placements and the best ones give, by share of loads.
pub(crate) fn best_table(answers: &[HybridAnswerView]) -> String {
    let header = [
        "program",
        "all slow",
        "all fast",
        "even",
        "one share\nbest",
        "",
        "reads, writes\nbest",
        "",
    ];
    let of = |answer: &HybridAnswerView, name: &str| {
        let placement = answer.placement(name);
        placement.map_or("-".into(), |it| gb_per_s(it.shares.gb_per_s * 1e9))
    };
    let share = |share: Option<f64>| share.map_or("-".into(), |share| format!("{share:.2}"));
    let rows = answers.iter().map(|answer| {
        let together = answer.placement("best_together");
        let apart = answer.placement("best_separately");
        vec![
            program_words(answer.load_share),
            of(answer, "all_slow"),
            of(answer, "all_fast"),
            of(answer, "even"),
            together.map_or("-".into(), |it| format!("{:.2}", it.shares.fast_share)),
            of(answer, "best_together"),
            apart.map_or("-".into(), |it| {
                format!(
                    "{}, {}",
                    share(it.shares.load_fast_share),
                    share(it.shares.store_fast_share)
                )
            }),
            apart.map_or("-".into(), |it| {
                let mark = if is_open(it) { " (!)" } else { "" };
                format!("{}{mark}", gb_per_s(it.shares.gb_per_s * 1e9))
            }),
        ]
    });
    let all = table(header.map(String::from).to_vec(), rows.collect(), 1);
    let mut apart = answers.iter().filter_map(|answer| answer.placement("best_separately"));
    if apart.any(is_open) {
        all + &paragraph(
            " ",
            "(!): not validated: no point with different shares for reads and writes was measured; \
             try it on the program itself.",
        )
    } else {
        all
    }
}
