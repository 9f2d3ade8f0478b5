//! Near and far threads on one memory node.

use nearfar_report::{FittedView, SharedCellView, SharingModelView, SharingView};

use super::heat_map::{Content, HeatMap, Place};
use super::{Chart, Plot};
use crate::document::Sources;
use crate::figure::{Figure, Unit};
use crate::table::Cell;

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    let gb = Unit::GbPerS.as_str();
    let mut map = HeatMap::new(
        ["near threads", "far threads"],
        &["Grid"],
        &[
            ("both groups", gb, false),
            ("near group", gb, false),
            ("far group", gb, false),
            ("beta: far / both", "", false),
            ("both by the model", gb, false),
        ],
    );
    let model = sources.models.iter().find_map(|model| match model {
        FittedView::Sharing(view) => Some(&**view),
        _ => None,
    });
    let mut cells: Vec<&SharingView> = sources.show.sharing.iter().collect();
    cells.sort_by_key(|cell| (cell.local_threads, cell.remote_threads));
    let mut far: Vec<u32> = cells.iter().map(|cell| cell.remote_threads).collect();
    far.sort_unstable();
    far.dedup();
    map.set_columns(far.iter().map(u32::to_string).collect());
    for cell in cells {
        let place = Place {
            choice: vec![format!(
                "node {}, cluster {} near, cluster {} far, {} {}",
                cell.memory_node,
                cell.local_cluster,
                cell.remote_cluster,
                cell.kernel,
                cell.variant
            )],
            row: cell.local_threads.to_string(),
            column: cell.remote_threads.to_string(),
        };
        let sum = |view: &Option<_>| view.as_ref().map(Figure::sum);
        let modelled = model.and_then(|model| of_model(model, cell));
        let beta = modelled.and_then(|cell| cell.measured.as_ref()?.beta);
        let predicted = modelled.and_then(|cell| cell.predicted.as_ref()).map(|shares| {
            Figure::new(shares.total_gb_per_s, shares.total_interval_gb_per_s, Unit::GbPerS)
        });
        let others = vec![
            sum(&cell.local),
            sum(&cell.remote),
            beta.map(|beta| Figure::new(beta, None, Unit::One)),
            predicted,
        ];
        if let Some(content) = Content::of(Cell::of(&cell.case, sum(&cell.total)), others) {
            map.add(&place, content);
        }
    }
    if map.is_empty() {
        return Vec::new();
    }
    vec![Chart {
        id: "sharing-map",
        section: "sharing",
        title: "Near and far threads at once, and the sharing factor beta",
        alternative: "A heat map: near threads in rows, far threads in columns, the bandwidth of \
                      both groups written in each cell. beta is the far group's part."
            .into(),
        plot: Plot::HeatMap(map),
    }]
}

fn of_model<'a>(model: &'a SharingModelView, cell: &SharingView) -> Option<&'a SharedCellView> {
    let grid = model.grids.iter().find(|grid| {
        let place = &grid.place;
        (place.memory_node, place.local_cluster, place.remote_cluster)
            == (cell.memory_node, cell.local_cluster, cell.remote_cluster)
            && (&place.kernel, &place.variant) == (&cell.kernel, &cell.variant)
    })?;
    grid.cells.iter().find(|known| {
        (known.local_threads, known.remote_threads) == (cell.local_threads, cell.remote_threads)
    })
}
