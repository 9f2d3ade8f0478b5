//! Local and remote threads on one node.

use crate::subject::{ModelKind, SharingView};

use super::meaning;
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let all = &sources.show.sharing;
    if all.is_empty() {
        return None;
    }
    let place = |cell: &SharingView| {
        (
            cell.memory_node,
            cell.local_cluster,
            cell.remote_cluster,
            cell.kernel.clone(),
            cell.variant.clone(),
        )
    };
    let tables = all.chunk_by(|one, next| place(one) == place(next)).filter_map(table).collect();
    let (findings, model_text) = meaning(sources, &[ModelKind::Sharing]);
    Some(Section {
        id: "sharing",
        title: "Near and far threads on one memory node",
        about: "Both groups at once, together. Rows: threads near the node; columns: threads far \
                from it."
            .into(),
        tables,
        findings,
        model_text,
    })
}

fn table(cells: &[SharingView]) -> Option<Table> {
    let first = cells.first()?;
    let mut far: Vec<u32> = cells.iter().map(|cell| cell.remote_threads).collect();
    far.sort_unstable();
    far.dedup();
    let mut grid = Grid::with_columns(far.iter().map(|threads| format!("{threads} far")));
    for cell in cells {
        let (near, far) =
            (format!("{} near", cell.local_threads), format!("{} far", cell.remote_threads));
        grid.add(
            near,
            far,
            Cell::of(&cell.case, cell.total.as_ref().map(Figure::sum), Counted::Bytes),
        );
    }
    let caption = format!(
        "Memory of node {}: cluster {} near, cluster {} far, {} {}",
        first.memory_node, first.local_cluster, first.remote_cluster, first.kernel, first.variant
    );
    grid.table(caption, "", Unit::GbPerS)
}
