//! What the user typed after `model` and `reproduce`.

use std::path::PathBuf;

use clap::Args;
use nearfar_machine::TheoreticalMaximum;
use nearfar_model::{ClassRule, DeviceClassRule, ModelKind, ThreadChoice};
use nearfar_units::parse_share;

use super::choice::{Choice, kernels, one_of, variants};
use crate::output::AnswerForm;

const MODELS: [Choice<ModelKind>; 12] = [
    (ModelKind::Classes, "bandwidth classes and their alphas"),
    (ModelKind::Latency, "NUMA factor, and the time of an access under load"),
    (ModelKind::Exchange, "how long two CPUs take to hand a cache line to each other"),
    (ModelKind::Sharing, "local and remote threads on one memory node"),
    (ModelKind::Roofline, "what limits an initiator at each arithmetic intensity"),
    (ModelKind::Hybrid, "loads and stores over a fast and a slow memory"),
    (ModelKind::Distribution, "how runs spread, and what pinning threads does to that"),
    (ModelKind::Flow, "what streams get that share the machine's parts"),
    (ModelKind::Strategy, "which way to place memory is expected to win"),
    (ModelKind::Devices, "copies to and from devices: classes, time of a copy, contention"),
    (ModelKind::Network, "messages to another machine and from it"),
    (ModelKind::Workloads, "the papers' programs on far memory, and by strategy"),
];

#[derive(Debug, Args)]
pub struct ModelArguments {
    /// The record; - is standard input; without it the newest one of this host
    pub record: Option<PathBuf>,
    /// Only this model
    #[arg(value_parser = one_of(&MODELS, ModelKind::as_str))]
    pub model: Option<ModelKind>,
    #[command(flatten)]
    pub classes: ClassArguments,
    /// Classes of every group of CPUs by itself, for machines that differ by side
    #[arg(long)]
    pub per_group: bool,
    /// Of the hybrid model: overlaps below 0 too, as the paper's own fit gives them
    #[arg(long)]
    pub unbounded: bool,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.model-1.json; of one model the format that it names)
    #[arg(long)]
    pub json: bool,
}

impl ModelArguments {
    /// The first given option that a model does not read, and the model that does.
    pub fn option_of_another(&self, kind: ModelKind) -> Option<(&'static str, &'static str)> {
        use ModelKind::{Classes, Devices, Hybrid};
        let ClassArguments { gamma, phi, kernel, threads, isa, class_span } = &self.classes;
        let default = ClassRule::default();
        let given = [
            ("--gamma", gamma.is_some(), &[Classes][..]),
            ("--phi", phi.is_some(), &[Devices]),
            ("--kernel", !kernel.is_empty(), &[Classes]),
            ("--threads", *threads != default.threads, &[Classes]),
            ("--isa", isa.is_some(), &[Classes]),
            ("--class-span", class_span.to_bits() != default.span.to_bits(), &[Classes, Devices]),
            ("--per-group", self.per_group, &[Classes]),
            ("--unbounded", self.unbounded, &[Hybrid]),
        ];
        let lost = given.into_iter().find(|(_, is_given, of)| *is_given && !of.contains(&kind));
        lost.map(|(option, _, of)| (option, of[0].as_str()))
    }

    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

/// From what classes and alphas are made.
#[derive(Debug, Args)]
pub struct ClassArguments {
    /// Theoretical maximum that alphas are relative to, instead of what the memory
    /// modules give: a standard (DDR4-3200; DDR4-3200x8 for eight channels; HBM3;
    /// braithwaite2012) or a bandwidth (204.8GB/s)
    #[arg(long, value_name = "NAME|GB/s", value_parser = TheoreticalMaximum::memory)]
    pub gamma: Option<TheoreticalMaximum>,
    /// The same of the links of devices, instead of what each link is by its standard: a
    /// standard (PCIe 4.0 x16; braithwaite2012) or a bandwidth (25GB/s)
    #[arg(long, value_name = "NAME|GB/s", value_parser = TheoreticalMaximum::link)]
    pub phi: Option<TheoreticalMaximum>,
    /// Kernels of which a pair's best counts [default: triad,triad_nt]
    #[arg(long, value_delimiter = ',', value_name = "KERNEL", value_parser = kernels(),
          hide_possible_values = true)]
    pub kernel: Vec<String>,
    /// Threads of the cases that are classed
    #[arg(long, value_parser = parse_threads, default_value = "1", value_name = "N|all")]
    pub threads: ThreadChoice,
    /// One variant only, instead of the best of all that walk in order
    #[arg(long, value_name = "ISA", value_parser = variants(), hide_possible_values = true)]
    pub isa: Option<String>,
    /// A class spans at most this share of its maximum (7%, 0.07), and what noise explains
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value_t = ClassRule::default().span)]
    pub class_span: f64,
}

impl ClassArguments {
    /// The rule that the options ask for.
    pub fn rule(&self, per_group: bool) -> ClassRule {
        let default = ClassRule::default();
        ClassRule {
            kernels: if self.kernel.is_empty() { default.kernels } else { self.kernel.clone() },
            threads: self.threads,
            variant: self.isa.clone(),
            span: self.class_span,
            per_group,
            gamma: self.gamma.clone(),
        }
    }

    /// The rule for copies to and from devices.
    pub fn device_rule(&self) -> DeviceClassRule {
        let (span, phi) = (self.class_span, self.phi.clone());
        DeviceClassRule { span, phi, ..DeviceClassRule::default() }
    }
}

#[derive(Debug, Args)]
pub struct ReproduceArguments {
    /// The paper by its key; without it all there are
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(nearfar_reproduce::papers()))]
    pub paper: Option<String>,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.reproduce-1.json)
    #[arg(long)]
    pub json: bool,
}

impl ReproduceArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}

fn parse_threads(text: &str) -> Result<ThreadChoice, String> {
    match text {
        "all" => Ok(ThreadChoice::All),
        _ => match text.parse() {
            Ok(count @ 1..) => Ok(ThreadChoice::Count(count)),
            _ => Err("give a number of threads from 1 on, or all".into()),
        },
    }
}
