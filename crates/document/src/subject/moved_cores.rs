//! What a hypervisor did to samples, in words.

use nearfar_record::MovedCores;
use nearfar_units::format_significant;

/// How many do not count, and why.
pub(super) fn moved_words(moved: &MovedCores) -> String {
    let ns = |ns: f64| format_significant(ns, 2);
    format!(
        "{} of {} samples beside loads do not count: the hypervisor had put the CPUs on other cores, between \
         which a line takes {} ns; between the usual ones it takes {}.",
        moved.left_out,
        moved.of,
        ns(moved.other_ns),
        ns(moved.usual_ns)
    )
}
