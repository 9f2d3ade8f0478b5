//! Random sets of streams: what each gets when all run at once.
//! Units: useful bytes/s.          Source: ours; the flow model is held against them.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Actor, CaseSummary, Coordinates, Part};
use serde::Serialize;

use crate::record_figures::{PlannedCase, RecordFigures};

/// One set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mix {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Its number, from 0.
    pub index: u32,
    /// All streams together; null without samples.
    #[serde(rename = "total_gb_per_s")]
    pub total: Option<CaseSummary>,
    /// Its streams, in the order of the case.
    pub streams: Vec<MixStream>,
}

/// One stream of a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MixStream {
    /// The actor of the case that it is, by its position.
    pub actor: usize,
    /// The initiator that its threads are of; null where they are of several.
    pub initiator: Option<u32>,
    pub threads: u32,
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    /// Where its pages are.
    pub memory: MemoryPolicy,
    /// What it got; null without samples.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub bandwidth: Option<CaseSummary>,
}

/// The sets of a record, by their numbers.
pub fn mixes(figures: &RecordFigures<'_>) -> Vec<Mix> {
    let initiators = figures.record().header.machine.initiators();
    let initiator_of = |actor: &Actor| {
        let of = initiators.iter().find(|initiator| actor.cpus().is_subset(&initiator.cpus));
        of.map(|initiator| initiator.index)
    };
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Mixes(place) => Some(place),
        _ => None,
    });
    let mut all: Vec<Mix> = places
        .map(|(place, case)| {
            let streams = case.actors().iter().enumerate().filter_map(|(position, actor)| {
                Some(MixStream {
                    initiator: initiator_of(actor),
                    actor: position,
                    threads: actor.threads(),
                    kernel: actor.kernel().into(),
                    variant: actor.variant().into(),
                    memory: actor.memory()?.clone(),
                    bandwidth: case.bandwidth(Part::Actor(position)),
                })
            });
            Mix {
                case: case.planned(),
                index: place.index,
                total: case.bandwidth(Part::Case),
                streams: streams.collect(),
            }
        })
        .collect();
    all.sort_by_key(|mix| mix.index);
    all
}
