//! `serve`: answers messages of `characterize --only network` on another machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use nearfar_document::printable;
use nearfar_network::{Limits, Server, Token, Told};

use crate::args::ServeArguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(arguments: &ServeArguments) -> anyhow::Result<ExitStatus> {
    let token = Token::read(&arguments.token_file)?;
    let ended = Arc::new(AtomicBool::new(false));
    for signal in nearfar_sys::ending_signals() {
        signal_hook::flag::register(signal, Arc::clone(&ended))
            .context("cannot watch for signals")?;
    }
    let cannot = || format!("cannot listen at {}", arguments.listen);
    let server = Server::bind(arguments.listen, token, Limits::default()).with_context(cannot)?;
    let address = server.address().with_context(cannot)?;
    output::print(&format!("nearfar serves at {address}\n"))?;
    let ends = || ended.load(Ordering::Relaxed);
    // Who reads what it tells may be gone: it serves all the same.
    let tell = |told: &Told| {
        output::print(&format!("{}\n", printable(&told.to_string()))).ok();
    };
    server.serve(&ends, &tell).context("no longer waits for connections")?;
    Ok(ExitStatus::Done)
}
