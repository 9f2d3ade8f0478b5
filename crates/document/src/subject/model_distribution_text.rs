//! How runs are distributed in tables and sentences.

use std::collections::HashSet;

use nearfar_model::LEAST_DIP_P;
use nearfar_record::Affinity;
use nearfar_units::format_significant;

use super::figures::{count, rounded, significant};
use super::model_distribution::{
    AffinityEffectView, DistributedRunsView, DistributionView, KernelDistributionView, KneeView,
    MeanVerdict, ModesVerdict, ModesView, RunDistributionView, SpreadVerdict, ThreadAdviceView,
    ThreadSettingsView,
};
use super::show_figure::{Footnotes, kernel_title};
use super::show_grid::groups;
use crate::printable::printable;
use crate::terminal::paragraph::{WIDTH, paragraph};
use crate::terminal::table::table_with_numbers;

impl DistributionView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        let mut text = paragraph(
            "",
            "Distribution of runs, each with fresh threads on pages that these touch first. GB/s (1e9 \
             useful bytes/s), paced: threads x the slowest thread, which a program sees whose loops \
             are divided evenly; sum: all threads together, the mean. unbound: threads run where \
             Linux puts them; compact: core by core; scatter: in turn over packages, nodes and cores.",
        );
        for kernel in &self.kernels {
            text += &kernel.text();
        }
        text += &self.about_modes();
        text + &self.advice()
    }

    /// What the runs can show of modes, and what would show more.
    fn about_modes(&self) -> String {
        let verdicts = || {
            let cases = self.kernels.iter().flat_map(|kernel| &kernel.cases);
            cases.filter_map(|case| Some(case.modes.as_ref()?.verdict))
        };
        let mut text = String::new();
        if verdicts().any(|verdict| verdict == ModesVerdict::TooFewRuns) {
            text += &paragraph(
                " - ",
                "too few runs: fewer than 20 say nothing of modes, and fewer than 100 seldom do",
            );
        }
        if verdicts().any(|verdict| verdict != ModesVerdict::TooFewRuns) {
            text += &paragraph(
                " - ",
                "modes by pace: by a dip test at 1 %, or a valley deeper than in all but 3 % of samples \
                 of the one-mode shapes that were tried. There may be more than are shown, for a mode \
                 of fewer than 15 runs can be missed, and two that overlap; so 1 shown is not one. \
                 Shares hold as far as the modes are parted.",
            );
        }
        let runs = self.kernels.iter().flat_map(|kernel| &kernel.cases);
        let fewest = runs.filter_map(|case| Some(case.paced.as_ref()?.runs)).min();
        let enough = usize::try_from(self.enough_runs).unwrap_or(usize::MAX);
        // Disturbed runs do not count: a few less are as many as were asked for.
        if fewest.is_some_and(|fewest| fewest < enough / 10 * 9) {
            text += &self.more_runs.as_ref().map_or_else(String::new, |command| {
                let what = format!("{} runs of each case show more:", self.enough_runs);
                paragraph("   ", &what) + &paragraph("   -> ", &printable(command))
            });
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// What to do, and below it the settings that do it.
    fn advice(&self) -> String {
        let advised: Vec<(&str, &ThreadAdviceView)> = self
            .kernels
            .iter()
            .filter_map(|kernel| Some((&*kernel.kernel, kernel.advice.as_ref()?)))
            .collect();
        let mut text: String = advised
            .iter()
            .map(|(kernel, advice)| paragraph(" => ", &advice.sentence(kernel)))
            .collect();
        let mut settings: Vec<(&ThreadSettingsView, Vec<&str>)> = Vec::new();
        for (kernel, advice) in &advised {
            let Some(own) = &advice.settings else { continue };
            match settings.iter_mut().find(|(known, _)| *known == own) {
                Some((_, kernels)) => kernels.push(kernel),
                None => settings.push((own, vec![kernel])),
            }
        }
        for (settings, kernels) in settings {
            text += &settings.text(&kernels);
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }
}

impl KernelDistributionView {
    fn text(&self) -> String {
        let title = format!("\n{}, {}\n", kernel_title(&self.kernel), printable(&self.variant));
        let mut footnotes = Footnotes::default();
        let mut text = title + &self.case_table(&mut footnotes) + &self.mode_lines();
        text += &footnotes.lines();
        text += &self.effect_table();
        let knees: Vec<String> = self.knees.iter().map(KneeView::words).collect();
        let counts: HashSet<u32> = self.cases.iter().map(|case| case.threads).collect();
        if counts.len() > 1 {
            let words =
                format!("enough threads (at most 5 % below the best): {}", knees.join("; "));
            text += &paragraph(" ", &words);
        }
        text
    }

    fn case_table(&self, footnotes: &mut Footnotes) -> String {
        let header: Vec<String> = [
            "threads",
            "affinity",
            "runs",
            "mean ± deviation",
            "smallest - largest",
            "5 - 95 %",
            "sum",
            "modes",
        ]
        .map(String::from)
        .into();
        let mut printed = HashSet::new();
        let row = |case: &RunDistributionView| {
            // One case can stand for two affinities; its figures twice would look like two that
            // agree.
            let is_new = printed.insert(case.case.case.clone());
            let cells = match case.paced.as_ref().zip(case.sum.as_ref()) {
                _ if !is_new => ["", "same CPUs", "", "", "", ""].map(String::from),
                None => {
                    let why = footnotes.absence(&case.case);
                    ["-".into(), why, String::new(), String::new(), String::new(), String::new()]
                }
                Some((paced, sum)) => {
                    let disturbed = case.only_disturbed == Some(true);
                    let modes = case.modes.as_ref().map_or("not known".into(), ModesView::number);
                    let [runs, mean, ends, middle, sum] = paced.cells(sum, disturbed, footnotes);
                    [runs, mean, ends, middle, sum, modes]
                }
            };
            let row = [case.threads.to_string(), case.affinity.as_str().into()];
            row.into_iter().chain(cells).collect()
        };
        let rows = self.cases.iter().map(row).collect();
        table_with_numbers(header, rows, 2..7)
    }

    /// The modes of each case that shows several.
    fn mode_lines(&self) -> String {
        let mut printed = HashSet::new();
        let cases = self.cases.iter().filter(|case| printed.insert(&case.case.case));
        let line = |case: &RunDistributionView| {
            let words = case.modes.as_ref()?.words()?;
            let threads = count(case.threads as usize, "thread");
            Some(paragraph(" ", &format!("{threads} {}: {words}", case.affinity.as_str())))
        };
        cases.filter_map(line).collect()
    }

    fn effect_table(&self) -> String {
        let case_of = |effect: &AffinityEffectView| {
            let own = |case: &&RunDistributionView| {
                (case.threads, case.affinity) == (effect.threads, effect.affinity)
            };
            self.cases.iter().find(own).map(|case| case.case.case.as_str())
        };
        // Compact and scattered threads on the same CPUs are one case, with one effect.
        let rows: Vec<Vec<String>> = groups(&self.effects, case_of)
            .into_iter()
            .filter_map(|(_, same)| {
                let names: Vec<&str> = same.iter().map(|effect| effect.affinity.as_str()).collect();
                Some(same.first()?.row(&names.join(", ")))
            })
            .collect();
        if rows.is_empty() {
            return String::new();
        }
        let header = ["threads", "pinned", "mean", "95 %", "spread", "95 %", "against unbound"];
        let header = header.map(String::from).into();
        format!("\n{}", table_with_numbers(header, rows, 2..6))
    }
}

impl ModesView {
    /// How many are shown.
    fn number(&self) -> String {
        match self.verdict {
            ModesVerdict::TooFewRuns => "too few runs".into(),
            ModesVerdict::NoMoreThanOneShown => "1 shown".into(),
            ModesVerdict::Shown => format!("{} or more", self.modes.len()),
        }
    }

    /// Where they are and by what they are shown; `None` unless several are.
    fn words(&self) -> Option<String> {
        let evidence = self.evidence.as_ref().filter(|_| self.modes.len() > 1)?;
        let modes = self.modes.iter().map(|mode| {
            let [low, high] = mode.run_share_interval.map(|end| rounded(end * 100.0, 0));
            let place = format_significant(mode.gb_per_s, 3);
            format!("{place} ({}, {low} to {high} %)", count(mode.runs, "run"))
        });
        let at_most = if evidence.dip_p > LEAST_DIP_P { "=" } else { "<=" };
        Some(format!(
            "modes at {} GB/s; dip {}, p {at_most} {}; valley {} standard errors, threshold {}",
            modes.collect::<Vec<_>>().join(", "),
            format_significant(evidence.dip, 2),
            significant(evidence.dip_p, 2),
            format_significant(evidence.valley, 2),
            format_significant(evidence.valley_threshold, 2),
        ))
    }
}

impl DistributedRunsView {
    /// Runs, mean and deviation, ends, quantiles, and the mean of the sum.
    fn cells(&self, sum: &Self, disturbed: bool, footnotes: &mut Footnotes) -> [String; 5] {
        let three = |value| format_significant(value, 3);
        let [_, mark] = footnotes.marks(1.0, disturbed);
        let deviation = self.deviation_gb_per_s;
        let deviation =
            deviation.map_or_else(String::new, |it| format!(" ± {}", format_significant(it, 2)));
        let [low, .., high] = self.quantiles_gb_per_s;
        [
            self.runs.to_string(),
            format!("{}{deviation}{mark}", three(self.mean_gb_per_s)),
            format!("{} - {}", three(self.min_gb_per_s), three(self.max_gb_per_s)),
            format!("{} - {}", three(low), three(high)),
            three(sum.mean_gb_per_s),
        ]
    }
}

/// `+17.8`, `-0.4`: percent.
fn signed_percent(fraction: f64) -> String {
    let percent = rounded(fraction * 100.0, 1);
    match &*percent {
        "0" | "-0" => "0".into(),
        _ if fraction > 0.0 => format!("+{percent}"),
        _ => percent,
    }
}

/// `+17.1 to +18.3 %`
fn percent_range([low, high]: [f64; 2]) -> String {
    format!("{} to {} %", signed_percent(low), signed_percent(high))
}

impl AffinityEffectView {
    fn row(&self, affinities: &str) -> Vec<String> {
        let ratio = |ratio: f64| format_significant(ratio, 2);
        let mean = match self.mean {
            MeanVerdict::Faster => "faster",
            MeanVerdict::Slower => "slower",
            MeanVerdict::TooSmall => "below 5 %",
            MeanVerdict::NotShown => "not shown",
        };
        let spread = match self.spread {
            SpreadVerdict::Steadier => ", steadier",
            SpreadVerdict::LessSteady => ", less steady",
            SpreadVerdict::NotShown => "",
        };
        let interval = self.spread_ratio_interval;
        vec![
            self.threads.to_string(),
            affinities.into(),
            format!("{} %", signed_percent(self.gain)),
            percent_range(self.gain_interval),
            self.spread_ratio.map_or_else(|| "-".into(), |it| format!("x {}", ratio(it))),
            interval.map_or_else(
                || "-".into(),
                |[low, high]| format!("{} to {}", ratio(low), ratio(high)),
            ),
            format!("{mean}{spread}"),
        ]
    }
}

impl KneeView {
    fn words(&self) -> String {
        let three = |value| format_significant(value, 3);
        let of_best = if self.threads == self.best_threads {
            "the best".into()
        } else {
            format!("of {} by {}", three(self.best_gb_per_s), self.best_threads)
        };
        format!(
            "{} {} ({} GB/s, {of_best})",
            self.affinity.as_str(),
            self.threads,
            three(self.gb_per_s)
        )
    }
}

impl ThreadAdviceView {
    /// What to do and what to expect, behind the kernel's name.
    pub(crate) fn sentence(&self, kernel: &str) -> String {
        let three = |value| format_significant(value, 3);
        let [low, high] = self.range_gb_per_s.map(three);
        let expected = format!(
            "expect {} GB/s ({}: {low} to {high})",
            three(self.expected_gb_per_s),
            count(self.runs, "run")
        );
        let threads = count(self.threads as usize, "thread");
        let gain = self.gain_words();
        let text = match self.affinity {
            Affinity::Unbound => format!(
                "run {threads} and leave them unbound: {expected}. Pinned ones are not shown to be \
                 faster by 5 % or more here, or steadier without being as much slower."
            ),
            Affinity::Compact | Affinity::Scatter => {
                let how = if self.affinity == Affinity::Scatter { "scattered" } else { "compact" };
                format!("run {threads} and pin them {how}: {expected}{gain}")
            }
        };
        format!("{}: {text}", printable(kernel))
    }

    /// What pinning brings, and when it brings nothing.
    fn gain_words(&self) -> String {
        let Some((effect, unbound)) = self.effect.as_ref().zip(self.unbound_gb_per_s) else {
            return "; unbound threads were not measured, so what pinning brings is not known."
                .into();
        };
        let unbound = format_significant(unbound, 3);
        let range = percent_range(effect.gain_interval);
        let gain = match effect.mean {
            MeanVerdict::Faster => format!(
                ", {} % more than unbound ({unbound}; {range})",
                rounded(effect.gain * 100.0, 1)
            ),
            MeanVerdict::TooSmall => {
                format!("; the mean changes by less than 5 % (unbound {unbound}; {range})")
            }
            MeanVerdict::Slower | MeanVerdict::NotShown => {
                format!("; the mean is not shown to change (unbound {unbound}; {range})")
            }
        };
        let spread = match (effect.spread, effect.spread_ratio) {
            (SpreadVerdict::Steadier, Some(ratio)) => {
                format!(", and runs spread {} times as much", format_significant(ratio, 2))
            }
            _ => String::new(),
        };
        format!(
            "{gain}{spread}. If the program pins its threads already, or waits for less memory than \
             this kernel, expect less."
        )
    }
}

impl ThreadSettingsView {
    fn text(&self, kernels: &[&str]) -> String {
        let names = kernels.iter().map(|kernel| printable(kernel)).collect::<Vec<_>>().join(", ");
        let mut text = String::from("\n");
        text += &paragraph(" ", &format!("Before the program is started ({names}):"));
        let threads = printable(&self.omp_num_threads);
        let Self { omp_places, omp_proc_bind, kmp_affinity, .. } = self;
        text += &format!(
            "   export OMP_NUM_THREADS={threads} OMP_PLACES={omp_places} OMP_PROC_BIND={omp_proc_bind}\n"
        );
        let single = kmp_affinity.rsplit(',').next().unwrap_or(kmp_affinity);
        text += &paragraph(
            " ",
            &format!(
                "or by a single command, with the OpenMP libraries of Intel and LLVM \
                 (KMP_AFFINITY={single} is the paper's; add OMP_NUM_THREADS):"
            ),
        );
        text += &format!("   export KMP_AFFINITY={kmp_affinity}\n");
        let of_cpus = [
            self.gomp_cpu_affinity
                .as_ref()
                .map(|cpus| format!("   export GOMP_CPU_AFFINITY='{cpus}'\n")),
            self.omp_places_of_cpus
                .as_ref()
                .map(|cpus| format!("   export OMP_PLACES='{cpus}' OMP_PROC_BIND=close\n")),
        ];
        let lines: Vec<String> = of_cpus.into_iter().flatten().collect();
        if !lines.is_empty() {
            text +=
                " or on the CPUs that were measured, with GCC's library or any of OpenMP 4.0:\n";
        }
        for line in lines {
            // A variable cannot be folded.
            let is_short = line.chars().count() <= WIDTH;
            text +=
                if is_short { &line } else { "   (a list too long for a line; --json has it)\n" };
        }
        text
    }
}
