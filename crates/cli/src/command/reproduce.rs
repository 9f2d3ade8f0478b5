//! `reproduce`: the papers' tables, printed and computed again.

use nearfar_document::ReproducedPapers;
use nearfar_reproduce::{papers, reproduce};

use crate::args::ReproduceArguments;
use crate::exit_status::ExitStatus;
use crate::output;

pub fn run(arguments: &ReproduceArguments) -> anyhow::Result<ExitStatus> {
    let asked = arguments.paper.as_deref();
    let keys = papers().into_iter().filter(|&key| asked.is_none_or(|asked| asked == key));
    let papers = keys.map(reproduce).collect::<Result<Vec<_>, _>>()?;
    let view = ReproducedPapers::new(&papers);
    output::answer(arguments.form(), &view, || view.answer())?;
    Ok(if view.has_failed() { ExitStatus::CheckFailed } else { ExitStatus::Done })
}
