//! Sets of streams at once.

use crate::subject::{FittedView, ModelKind};

use super::without_colours;
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
            let who = stream
                .cluster
                .map_or_else(|| "several clusters".into(), |cluster| format!("cluster {cluster}"));
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
    let flow = sources.models.iter().find(|model| model.kind() == ModelKind::Flow);
    Some(Section {
        id: "mixes",
        title: "Several streams at once",
        about: "Random sets of streams over the whole machine: what each gets beside the others."
            .into(),
        tables: vec![Table {
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
        }],
        findings: flow.map(FittedView::advice).unwrap_or_default(),
        model_text: flow.map(|model| without_colours(model.body().trim_start_matches('\n'))),
    })
}
