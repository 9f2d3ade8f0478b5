//! Files that the command of `run` names: whether they lie against its placement, and putting them there.

use std::path::PathBuf;

use nearfar_machine::MemoryPolicy;
use nearfar_place::{FileTreatment, PageDeal, Placement, file_against, list_files, named_files};

use crate::args::RunArguments;

/// What is to be known of them before the program starts, in sentences; with --files they are put where
/// the placement has them.
pub(super) fn file_notes(
    placement: &Placement,
    memory: &MemoryPolicy,
    arguments: &RunArguments,
) -> Vec<String> {
    let files = named_files(&arguments.command);
    match PageDeal::of(placement, memory) {
        _ if files.is_empty() => Vec::new(),
        None if arguments.files => {
            vec![format!("--files: {placement} names no nodes, and files stay where they are")]
        }
        None => Vec::new(),
        Some(deal) if arguments.files => put(files, placement, deal),
        Some(deal) => {
            let text = placement.to_string();
            files.iter().filter_map(|path| file_against(path, &deal.shares, &text)).collect()
        }
    }
}

fn put(files: Vec<PathBuf>, placement: &Placement, deal: PageDeal) -> Vec<String> {
    let placed = list_files(&files, &FileTreatment::Place(placement.to_string(), deal));
    let list = match placed {
        Ok(list) => list,
        Err(error) => return vec![format!("--files: {error}")],
    };
    nearfar_document::placed_file_lines(&list)
}
