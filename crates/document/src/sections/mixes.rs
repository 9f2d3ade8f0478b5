//! Sets of streams at once.

use nearfar_model::FittedModel;

use crate::subject::flow;

use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let all = &sources.show.mixes;
    if all.is_empty() {
        return None;
    }
    let rows = all.iter().flat_map(|mix| {
        mix.streams.iter().map(|stream| {
            let who = stream.initiator.map_or_else(
                || "several initiators".into(),
                |initiator| format!("initiator {initiator}"),
            );
            vec![
                Cell::text(mix.index.to_string()),
                Cell::text(format!("{who}, {} threads", stream.threads)),
                Cell::text(format!("{} {}", stream.kernel, stream.variant)),
                Cell::text(stream.memory.to_string()),
                Cell::of(
                    &mix.case,
                    stream.bandwidth.as_ref().map(Figure::sum),
                    Counted::ActorBytes(stream.actor),
                ),
            ]
        })
    });
    let model = sources.models.iter().find_map(|model| match model {
        FittedModel::Flow(model) => Some(&**model),
        _ => None,
    });
    let streams = Table {
        caption: "Streams of each set".into(),
        columns: vec![
            Column::words("set"),
            Column::words("who"),
            Column::words("kernel"),
            Column::words("memory"),
            Column::of("bandwidth", Unit::GbPerS),
        ],
        rows: rows.collect(),
        notes: Vec::new(),
    };
    Some(flow::section(Some(streams), model))
}
