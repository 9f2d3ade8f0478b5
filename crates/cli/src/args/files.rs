//! What the user typed after `files`.

use std::path::PathBuf;

use clap::Args;
use nearfar_place::Placement;

use crate::output::AnswerForm;

pub const AFTER_HELP: &str = "\
Examples:
  nearfar files model.gguf                        on which nodes it is in memory, and who maps it
  nearfar files model.gguf --place interleave     over all nodes in turn
  nearfar files /data '*.parquet' --place bind:1  folders and patterns; all of it to node 1
  nearfar files model.gguf --evict                out of memory; who reads it next places it

What is in memory of a file is on the nodes of whoever read it first, and stays there whatever
placement a program is started under. Nothing is read from the disk to look at it. --place moves
pages where they are, without root those that no process maps; what does not move is dropped and
read again. Nothing that is not in memory is read. Interrupted, pages stay where they are then; the
same command goes on. docs/running.md says what can stay, and why.

Exit status: 0 done; 1 some of it is not where it was asked for, or still in memory; 2 there is no
such file; 3 of some file it cannot be told, or the placement cannot be had.";

#[derive(Debug, Args)]
pub struct FilesArguments {
    /// Files; folders with all files below them; patterns with * and ? in names
    #[arg(required = true, value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Put what is in memory of them on these nodes: interleave[:NODES], bind:NODES, preferred:NODE,
    /// local:NODES or weighted:NODE=W,.. (as of `nearfar run`)
    #[arg(short, long, value_name = "PLACEMENT")]
    pub place: Option<Placement>,
    /// Drop them from memory
    #[arg(long, conflicts_with = "place")]
    pub evict: bool,
    /// Print all, and not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print JSON (docs/schema/nearfar.files-1.json)
    #[arg(long)]
    pub json: bool,
}

impl FilesArguments {
    /// In which form to answer.
    pub fn form(&self) -> AnswerForm {
        AnswerForm { as_json: self.json, full: self.full }
    }
}
