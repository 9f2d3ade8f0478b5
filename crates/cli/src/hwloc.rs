//! How hwloc is asked: with no plugin, and of no other machine than the one that is meant.

use nearfar_topology::{HWLOC_CHECKS, HWLOC_ENVIRONMENT, TopologyError};

/// What hwloc answers of the machine that the program runs on. No other thread may run.
pub fn ask<Answer>(ask: impl FnOnce() -> Result<Answer, TopologyError>) -> anyhow::Result<Answer> {
    Ok(nearfar_sys::with_hwloc_environment(&HWLOC_ENVIRONMENT, ask)??)
}

/// What hwloc answers of a text that a stranger wrote. It may end this process, a child of which
/// nothing else is asked.
pub fn ask_in_child<Answer>(
    ask: impl FnOnce() -> Result<Answer, TopologyError>,
) -> anyhow::Result<Answer> {
    let own: Vec<(&str, &str)> = HWLOC_ENVIRONMENT.into_iter().chain([HWLOC_CHECKS]).collect();
    Ok(nearfar_sys::with_hwloc_environment(&own, ask)??)
}
