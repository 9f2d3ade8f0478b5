//! `nearfar` alone: what this machine is, what is known of it, and what to type next.

use nearfar_document::Overview;
use nearfar_record::{Header, host_name};

use crate::exit_status::ExitStatus;
use crate::{live_machine, output, record_file};

pub fn run() -> anyhow::Result<ExitStatus> {
    let newest = record_file::newest(&host_name()).ok();
    // A record that cannot be read is told by the command that reads it.
    let header: Option<Header> =
        newest.as_deref().and_then(|path| record_file::read_header(path).ok());
    let path = newest.map(|path| path.display().to_string());
    let known = header.as_ref().zip(path.as_deref());
    let overview = Overview::new(&live_machine::read()?, known);
    output::tell(&overview.answer(), false)
}
