//! Numbers and dates that no machine has.

use nearfar_machine::Machine;

use crate::environment::Environment;

/// No program ran and no clock counted for longer: a century, s.
const MAX_SECONDS: f64 = 100.0 * 366.0 * 86_400.0;
/// The same, ns.
pub(super) const MAX_NS: u64 = 100 * 366 * 86_400 * 1_000_000_000;

/// A number of seconds that passed.
pub(super) fn check_seconds(seconds: f64, of: &str) -> Result<(), String> {
    if (0.0..=MAX_SECONDS).contains(&seconds) {
        return Ok(());
    }
    Err(format!("{of} of {seconds:e} s"))
}

/// A time as records have it: RFC 3339, UTC, to the second.
pub(super) fn check_date(text: &str) -> Result<(), String> {
    let is_date = text.len() == "2026-01-01T00:00:00Z".len()
        && text.parse::<jiff::Timestamp>().is_ok_and(|time| time.to_string() == text);
    if is_date { Ok(()) } else { Err(format!("'{text}' is no time such as 2026-01-01T00:00:00Z")) }
}

/// What a machine's links and memories do is above nothing.
pub(super) fn check_machine(machine: &Machine) -> Result<(), String> {
    let links = machine.devices.iter().map(|device| &device.link);
    let rates = links.flat_map(|link| [link.gt_per_s, link.max_gt_per_s, link.bytes_per_s]);
    check_amounts(rates, "a link's rate")?;
    let figures = machine.firmware_figures.iter().flat_map(|figure| {
        let rates = [figure.read_bytes_per_s, figure.write_bytes_per_s];
        rates.into_iter().chain([figure.read_latency_ns, figure.write_latency_ns])
    });
    check_amounts(figures, "a figure of the firmware")
}

/// What surrounds a measurement.
pub(super) fn check_environment(environment: &Environment) -> Result<(), String> {
    check_amounts([environment.load_average], "a load average")?;
    check_amounts([environment.cgroup.cpu_limit], "a limit of CPU time")
}

fn check_amounts(amounts: impl IntoIterator<Item = Option<f64>>, of: &str) -> Result<(), String> {
    /// Above every rate of anything, bytes/s or else.
    const MAX_AMOUNT: f64 = 1e18;
    let mut amounts = amounts.into_iter().flatten();
    match amounts.find(|amount| !(0.0..=MAX_AMOUNT).contains(amount)) {
        Some(amount) => Err(format!("{of} of {amount:e}")),
        None => Ok(()),
    }
}
