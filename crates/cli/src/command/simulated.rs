//! `--simulate list`: the simulated machines that are built in.

use nearfar_flow::builtin_machines;

use crate::exit_status::ExitStatus;
use crate::output;

pub fn list() -> anyhow::Result<ExitStatus> {
    let machines = builtin_machines()?;
    let widest = machines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, title) in &machines {
        text += &format!("{name:widest$}  {title}\n");
    }
    output::print(&text)?;
    Ok(ExitStatus::Done)
}
