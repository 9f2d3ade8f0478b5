//! A record in words and tables.

use std::time::Duration;

use nearfar_record::{Executor, Experiment};
use nearfar_units::format_duration;

use super::classes;
use super::figures::{count, percent, simulated_line};
use super::show::ShowView;
use super::show_devices_text::devices_text;
use super::show_figure::{AbsentView, section};
use super::show_grid::{groups, in_order};
use super::show_hybrid::hybrid_text;
use super::show_latency_text::latency_text;
use super::show_links::links_text;
use super::show_mixes::mixes_text;
use super::show_pairs::pairs_text;
use super::show_roofs_text::roofs_text;
use super::show_scaling::scaling_text;
use super::show_sharing::sharing_text;
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;

impl ShowView {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = self.head();
        for experiment in Experiment::ALL {
            text += &self.experiment(experiment);
        }
        text += &self.evidence();
        text += &self.not_measured();
        text + &self.warning_lines()
    }

    /// What the record holds of an experiment, or why it holds nothing; empty for one that was
    /// not asked for.
    fn experiment(&self, experiment: Experiment) -> String {
        let (is_there, text): (bool, &dyn Fn() -> String) = match experiment {
            Experiment::Pairs => (!self.pairs.is_empty(), &|| {
                let classes = self.classes.as_ref().map(classes::summary);
                let classes = classes.map(|classes| format!("\n{classes}"));
                pairs_text(&self.pairs) + &classes.unwrap_or_default()
            }),
            Experiment::Scaling => {
                (!self.scaling.is_empty(), &|| scaling_text(&self.scaling, &self.widest_runs))
            }
            Experiment::Sharing => (!self.sharing.is_empty(), &|| sharing_text(&self.sharing)),
            Experiment::Links => (!self.links.is_empty(), &|| links_text(&self.links)),
            Experiment::Roofs => (!self.roofs.is_empty(), &|| roofs_text(&self.roofs)),
            Experiment::Hybrid => (!self.hybrid.is_empty(), &|| hybrid_text(&self.hybrid)),
            Experiment::Mixes => (!self.mixes.is_empty(), &|| mixes_text(&self.mixes)),
            Experiment::Latency => (!self.latency.is_empty(), &|| latency_text(&self.latency)),
            Experiment::Devices => (!self.devices.is_empty(), &|| devices_text(&self.devices)),
            Experiment::Commands => (self.placed_programs > 0, &|| self.programs()),
        };
        match is_there {
            true => text(),
            false if self.experiments.contains(&experiment) => self.why_nothing(experiment),
            false => String::new(),
        }
    }

    fn programs(&self) -> String {
        let cases = count(self.placed_programs, "placement");
        let words =
            format!("{cases} of programs; `nearfar sensitivity --from RECORD` shows their runs");
        section(Experiment::Commands.as_str(), &words)
    }

    fn why_nothing(&self, experiment: Experiment) -> String {
        let is_of = |absent: &&AbsentView| experiment_of(absent) == experiment.as_str();
        let absences = self.omitted.iter().chain(&self.refused).filter(is_of);
        let reasons = in_order(absences.map(|absent| printable(&absent.reason)));
        let why = if reasons.is_empty() {
            "nothing was measured: the record holds no case of it".into()
        } else {
            format!("nothing was measured: {}", reasons.join("; "))
        };
        section(experiment.as_str(), &why)
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
            text += "unfinished: the program was killed while measuring; go on with --resume\n";
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
        let off = self
            .worst_share_deviation
            .map(|off| format!("dealt out over nodes: shares off by {:.2} % at most", off * 100.0));
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
        for (word, absences) in [("omitted", &self.omitted), ("refused", &self.refused)] {
            let why =
                |absent: &'_ AbsentView| (experiment_of(absent).to_string(), absent.reason.clone());
            for ((_, reason), of) in groups(absences, why) {
                let mut cases: Vec<&str> = of.iter().map(|absent| absent.case.as_str()).collect();
                cases.sort_unstable();
                cases.dedup();
                let more = match cases.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                text += &format!("{word}: {}{more}: {}\n", printable(cases[0]), printable(&reason));
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

/// The experiment of a case or group of cases: the first part of its id.
fn experiment_of(absent: &AbsentView) -> &str {
    absent.case.split_once('/').map_or(absent.case.as_str(), |(experiment, _)| experiment)
}
