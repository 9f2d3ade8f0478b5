//! A record in words and tables.

use std::collections::BTreeSet;
use std::time::Duration;

use nearfar_record::{Absence, Absent, Executor, Experiment, Record};
use nearfar_units::format_duration;

use super::figures::{count, percent, simulated_line};
use super::show::ShowView;
use crate::document::Sources;
use crate::grid::groups;
use crate::printable::printable;
use crate::sections;
use crate::table::AbsenceKind;
use crate::terminal::paragraph::paragraph;
use crate::terminal::tables_text;
use nearfar_model::{ModelChoices, ModelKind};

/// What was measured and what it rests on, for people.
pub fn show_text(record: &Record) -> String {
    // What these say of a record is as good as measured: classes, factors, how runs spread.
    let kinds = [ModelKind::Classes, ModelKind::Latency, ModelKind::Distribution];
    let sources = Sources::with_models(record, &ModelChoices::default(), &kinds);
    let show = &sources.show;
    let mut text = show.head();
    for experiment in Experiment::ALL {
        text += &experiment_text(&sources, experiment);
    }
    text += &show.evidence();
    text += &show.not_measured();
    text + &show.warning_lines()
}

/// What the record holds of an experiment, or why it holds nothing; empty for one that was
/// not asked for.
fn experiment_text(sources: &Sources<'_>, experiment: Experiment) -> String {
    let show = &sources.show;
    if let Some(section) = sections::of(sources, experiment) {
        return format!("\n== {} =={}", section.title, tables_text(&section));
    }
    if experiment == Experiment::Commands && show.placed_programs > 0 {
        let cases = count(show.placed_programs, "placement");
        return format!(
            "\n{cases} of programs; `nearfar sensitivity --from RECORD` shows their runs\n"
        );
    }
    if show.experiments.contains(&experiment) {
        show.why_nothing(experiment)
    } else {
        String::new()
    }
}

impl ShowView {
    fn why_nothing(&self, experiment: Experiment) -> String {
        let own = self.absent.iter().filter(|absent| absent.experiment() == Some(experiment));
        let reasons: Vec<String> = groups(own, |absent| absent.reason.text.as_str())
            .into_iter()
            .map(|(reason, _)| printable(reason).into_owned())
            .collect();
        let why = if reasons.is_empty() {
            "nothing was measured: the record holds no case of it".into()
        } else {
            format!("nothing was measured: {}", reasons.join("; "))
        };
        format!("\n{}", paragraph(&format!("{experiment}: "), &why))
    }

    fn head(&self) -> String {
        let suite = self.suite.as_str();
        let mut text = format!(
            "{}, {}, {suite} suite: {}",
            printable(&self.measured.host),
            printable(&self.measured.started),
            count(self.samples, "sample")
        );
        if let Some(seconds) = self.seconds {
            text += &format!(" in {}", format_duration(Duration::from_secs_f64(seconds)));
            if self.measured.executor == Executor::Simulated {
                text += " of the simulated machine's own clock";
            }
        }
        text.push('\n');
        let cpu = self.cpu.as_deref().unwrap_or("unknown CPU");
        let release = self.kernel_release.as_deref().unwrap_or("unknown");
        text += &format!("{}, Linux {}\n", printable(cpu), printable(release));
        text += simulated_line(self.measured.executor);
        text += &self.measured.sealing.warning();
        if self.unfinished {
            text += "unfinished: the program was killed while measuring; resume by --resume\n";
        }
        text
    }

    fn evidence(&self) -> String {
        if self.samples == 0 {
            return String::new();
        }
        let mut text = match self.measured.executor {
            Executor::Native => self.proofs(),
            Executor::Simulated => "\nproven pages: none; a simulated machine has no pages, its \
                                    data are where a case asks for them"
                .into(),
        };
        text += &format!(
            "\ndisturbed samples: {} of {} ({})\n",
            self.disturbed,
            self.samples,
            percent(self.disturbed as u64, self.samples as u64)
        );
        text
    }

    fn proofs(&self) -> String {
        let proven: Vec<String> =
            self.proven_by.iter().map(|(method, count)| format!("{count} by {method}")).collect();
        let mut text = format!(
            "\nsamples with proven pages: {} of {} that touch memory",
            self.proven_by.values().sum::<usize>(),
            self.samples_on_memory
        );
        if !proven.is_empty() {
            text += &format!(" ({})", proven.join(", "));
        }
        let least = self
            .least_placed
            .map(|least| format!("at least {:.2} % on the nodes asked for", least * 100.0));
        let off = self.worst_share_deviation.map(|off| {
            format!("interleaved or weighted pages: shares off by {:.2} % at most", off * 100.0)
        });
        let huge = self
            .huge_page_share
            .map(|share| format!("{:.0} % of the memory in huge pages", share * 100.0));
        let known: Vec<String> = [least, off, huge].into_iter().flatten().collect();
        if !known.is_empty() {
            text += &format!("\n{}", paragraph("pages: ", &known.join("; ")).trim_end());
        }
        text
    }

    /// One line for each reason within an experiment, however many cases it holds for.
    fn not_measured(&self) -> String {
        let mut text = String::new();
        for absence in [Absence::Omitted, Absence::Refused] {
            let word = AbsenceKind::from(absence).as_str();
            let own = self.absent.iter().filter(|absent| absent.absence == absence);
            let why = |absent: &Absent| (absent.experiment(), absent.reason.text.clone());
            for ((_, reason), of) in groups(own, why) {
                // Sorted, each once.
                let cases: BTreeSet<&str> = of.iter().map(|absent| absent.case.as_str()).collect();
                let more = match cases.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                let first = cases.first().copied().unwrap_or_default();
                text += &format!("{word}: {}{more}: {}\n", printable(first), printable(&reason));
            }
        }
        if text.is_empty() { text } else { format!("\nnot measured\n{text}") }
    }

    fn warning_lines(&self) -> String {
        if self.warnings.is_empty() {
            return String::new();
        }
        let mut text = String::from("\nwhat to know about these figures\n");
        for warning in &self.warnings {
            text += &format!("- {}\n", printable(&warning.message));
            text += &format!("  -> {}\n", printable(&warning.remedy));
        }
        text
    }
}
