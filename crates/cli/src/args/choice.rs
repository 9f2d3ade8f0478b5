//! Options whose values are those of a type below: by its own words, each with what help says of it.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use nearfar_machine::PlacementStrategy;
use nearfar_place::Placement;
use nearfar_units::words_of;
use nearfar_workloads::{DeviceWorkload, WorkloadName};

use super::{PlacementChoice, WorkloadChoice};

/// A value and what help says of it.
pub type Choice<T> = (T, &'static str);

/// Reads one of these.
pub fn one_of<T: Copy + Send + Sync>(
    choices: &'static [Choice<T>],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let named = choices.iter().map(|&(value, help)| PossibleValue::new(word(value)).help(help));
    PossibleValuesParser::new(named).try_map(move |name| {
        let found = choices.iter().find(|(value, _)| word(*value) == name);
        found.map(|(value, _)| *value).ok_or_else(|| format!("'{name}' is not one of them"))
    })
}

/// Any word, of which completions offer these.
#[derive(Debug, Clone, Copy)]
pub struct Offered(pub fn() -> Vec<&'static str>);

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// Placements that need no nodes.
fn placement_words() -> impl Iterator<Item = &'static str> {
    let strategies = PlacementStrategy::ALL.map(PlacementStrategy::as_str);
    ["local", "spread", "compact", "scatter", "interleave"].into_iter().chain(strategies)
}

/// Placements.
pub fn placements() -> impl TypedValueParser<Value = Placement> {
    Offered(|| placement_words().collect()).try_map(|text| text.parse::<Placement>())
}

/// Placements, and the advised one.
pub fn placements_or_auto() -> impl TypedValueParser<Value = PlacementChoice> {
    let words = Offered(|| ["auto"].into_iter().chain(placement_words()).collect());
    words.try_map(|text| text.parse::<PlacementChoice>())
}

/// Workloads, and the word that lists them.
pub fn workloads_or_list() -> impl TypedValueParser<Value = WorkloadChoice> {
    let all = || {
        let names = words_of::<WorkloadName>().iter().chain(words_of::<DeviceWorkload>());
        names.copied().chain(["list"]).collect()
    };
    Offered(all).try_map(|text| text.parse::<WorkloadChoice>())
}

/// Simulated machines that are built in, and the word that lists them.
pub fn machines() -> Offered {
    Offered(|| nearfar_flow::builtin_names().into_iter().chain(["list"]).collect())
}

/// Kernels of the catalog, and the word that lists them.
pub fn kernels_or_list() -> Offered {
    Offered(|| nearfar_kernels::CATALOG.iter().map(|it| it.name).chain(["list"]).collect())
}

/// Kernels of the catalog.
pub fn kernels() -> Offered {
    Offered(|| nearfar_kernels::CATALOG.iter().map(|it| it.name).collect())
}

/// Variants that this program has loops for.
pub fn variants() -> Offered {
    Offered(|| nearfar_kernels::Variant::every().map(nearfar_kernels::Variant::word).collect())
}
