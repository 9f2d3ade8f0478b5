//! What to do with the times of an access, in sentences with their numbers and conditions.

use nearfar_model::{Latency, LoadedCurve, NumaFactor, USABLE_RISE};
use nearfar_units::format_significant;

use crate::figures::{count, gb_per_s};

/// The sentences of a model.
pub(crate) fn advice(model: &Latency) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(of_distance(model));
    sentences.extend(of_firmware(&model.factors));
    sentences.extend(model.curves.iter().filter_map(of_load));
    sentences
}

/// A difference below this fraction of an access is not worth moving data for: the rule of gains.
const WORTH: f64 = 0.05;

fn of_distance(model: &Latency) -> Option<String> {
    let span = model.span.as_ref().ok()?;
    let three = |value| format_significant(value, 3);
    let (low, high) = span.most.interval;
    if low <= 1.0 + WORTH {
        return Some(format!(
            "Do not move data for the latency's sake: the farthest node answers in {} times the \
             local time ({} to {}), and a gain below 5 % is none.",
            three(span.most.value),
            three(low),
            three(high)
        ));
    }
    Some(format!(
        "Put a thread whose accesses wait for each other (lists, trees, hash tables) and its data on \
         one node; expect an access to a remote node to take at least {} times as long, at most {} times ({} \
         to {}) from cluster {} to node {}; where data must be remote, avoid that pair.",
        three(span.least),
        three(span.most.value),
        three(low),
        three(high),
        span.worst_cluster,
        span.worst_node
    ))
}

fn of_firmware(factors: &[NumaFactor]) -> Option<String> {
    let remote = || factors.iter().filter(|pair| !pair.is_local);
    let wrong = remote().filter(|pair| pair.is_firmware_wrong() == Some(true));
    let worst = wrong.max_by(|one, other| {
        let off = |pair: &NumaFactor| pair.firmware_error().map_or(0.0, f64::abs);
        off(one).total_cmp(&off(other))
    })?;
    let measured = worst.factor.as_ref().ok()?.value;
    Some(format!(
        "Do not place by the firmware's distances (`numactl --hardware`): from cluster {} to node {} \
         they say {}, and {} was measured.",
        worst.cluster,
        worst.memory_node,
        format_significant(worst.firmware?, 2),
        format_significant(measured, 3)
    ))
}

fn of_load(curve: &LoadedCurve) -> Option<String> {
    let (idle, most) = (curve.idle?.median, curve.most_bytes_per_s()?);
    let rise = curve.most_rise()?;
    let three = |value| format_significant(value, 3);
    let (node, kernel) = (curve.memory_node, &curve.kernel);
    if let Ok(usable) = &curve.usable {
        let (least, most) = usable.interval;
        let most = most.map_or("more than was measured".into(), gb_per_s);
        return Some(format!(
            "Keep other traffic (`{kernel}`) on node {node} below {} GB/s ({} to {most}) while cluster \
             {} waits for single accesses there; above it they take more than {} times the {} ns of \
             an idle machine.",
            gb_per_s(usable.bytes_per_s),
            gb_per_s(least),
            curve.cluster,
            usable.rise,
            three(idle)
        ));
    }
    let threads = curve.threads;
    Some(match &curve.knee {
        Ok(knee) => format!(
            "Of the traffic of {} (`{kernel}`) on node {node}, the first {} GB/s ({} to \
             {}) cost least: accesses of cluster {} take {} ns there, {} ns idle, and {} times the \
             idle time beside all that they can move, {} GB/s.",
            count(threads as usize, "thread"),
            gb_per_s(knee.bytes_per_s),
            gb_per_s(knee.interval.0),
            gb_per_s(knee.interval.1),
            curve.cluster,
            three(knee.ns),
            three(idle),
            three(rise),
            gb_per_s(most)
        ),
        Err(_) => {
            let highest = curve.highest_rise()?;
            let threads = count(threads as usize, "thread");
            let beside =
                format!("{} GB/s beside it (`{kernel}`, {threads} on node {node})", gb_per_s(most));
            let (cluster, idle) = (curve.cluster, three(idle));
            if highest < USABLE_RISE {
                format!(
                    "Up to {beside} are no reason to separate a chase of cluster {cluster}: accesses \
                     take at most {} times the {idle} ns of an idle machine.",
                    three(highest)
                )
            } else {
                format!(
                    "Whether up to {beside} are a reason to separate a chase of cluster {cluster} is \
                     hidden by noise: accesses take {} times the {idle} ns of an idle machine, and \
                     {} times by the ends of the intervals; measure more rounds on a quiet machine.",
                    three(rise),
                    three(highest)
                )
            }
        }
    })
}
