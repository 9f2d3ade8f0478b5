//! The model of latencies in tables and words.

use nearfar_units::{Bytes, format_significant};

use crate::figures::{count, significant};
use crate::model_latency::{LatencyModelView, LoadedCurveView, NumaFactorView};
use crate::paragraph::paragraph;
use crate::printable::printable;
use crate::show_grid::{Side, groups, sorted};
use crate::table::table;

/// The whole model.
pub(crate) fn text(view: &LatencyModelView) -> String {
    let mut text = factors(view) + &levels(view);
    for curve in &view.curves {
        text += &loaded(curve);
    }
    if !view.advice.is_empty() {
        text.push('\n');
    }
    text + &view
        .advice
        .iter()
        .map(|advice| paragraph("-> ", &printable(advice)))
        .collect::<String>()
}

fn three(value: f64) -> String {
    format_significant(value, 3)
}

/// `1.23 (1.2 to 1.3)`, or only the first where the interval is one number.
fn with_interval(value: f64, interval: [f64; 2]) -> String {
    let [low, high] = interval.map(three);
    let value = three(value);
    if low == high { value } else { format!("{value} ({low} to {high})") }
}

fn factors(view: &LatencyModelView) -> String {
    let mut text = "\n".to_string()
        + &paragraph(
            "NUMA factor: ",
            "time of an access / the least of the cluster's own nodes, the machine idle; behind it \
             ns, below it what the intervals of both leave room for.",
        );
    let cells: Vec<&NumaFactorView> = view.factors.iter().collect();
    let nodes = Side {
        keys: sorted(cells.iter().map(|cell| cell.memory_node)),
        of: |cell: &NumaFactorView| cell.memory_node,
        label: |node: &u32| format!("node {node}"),
    };
    let clusters = Side {
        keys: sorted(cells.iter().map(|cell| cell.cluster)),
        of: |cell: &NumaFactorView| cell.cluster,
        label: |cluster: &u32| format!("cluster {cluster}"),
    };
    text += &crate::show_grid::grid(&cells, &clusters, &nodes, factor_cell, |_, _| "-".into());
    for (why, of) in groups(&view.factors, |cell| cell.numa_factor_unknown.clone()) {
        let Some(why) = why else { continue };
        let places = of.iter().map(|cell| format!("{} on {}", cell.cluster, cell.memory_node));
        let places: Vec<String> = places.collect();
        text += &paragraph(" ? ", &printable(&format!("{}: {why}", places.join(", "))));
    }
    if view.factors.iter().any(|cell| cell.is_short) {
        let why = "caches answered a part of the accesses: memory alone takes longer";
        text += &paragraph(" ^ ", why);
    }
    match (&view.span, &view.span_unknown) {
        (Some(span), _) => {
            let what = format!(
                "{} to {} over {}, the most from cluster {} to node {}",
                three(span.least_numa_factor),
                with_interval(span.most_numa_factor, span.most_numa_factor_interval),
                count(span.pairs, "pair"),
                span.worst_cluster,
                span.worst_memory_node
            );
            text += &paragraph(" remote: ", &what);
        }
        (None, Some(why)) => {
            text += &paragraph(" remote: ", &printable(&format!("no NUMA factor: {why}")));
        }
        (None, None) => {}
    }
    text + &firmware(view)
}

fn factor_cell(cell: &NumaFactorView) -> String {
    let ns = cell.latency.as_ref().map_or("-".into(), |time| three(time.median_ns));
    let short = if cell.is_short { "^" } else { "" };
    match (cell.numa_factor, cell.numa_factor_interval) {
        (Some(factor), Some([low, high])) if low < high => {
            format!("{} {ns}{short}\n{} - {}", three(factor), three(low), three(high))
        }
        (Some(factor), _) => format!("{} {ns}{short}", three(factor)),
        _ => format!("? {ns}{short}"),
    }
}

/// What the firmware says, and how far that is off.
fn firmware(view: &LatencyModelView) -> String {
    let known: Vec<(&NumaFactorView, f64, f64)> = view
        .factors
        .iter()
        .filter(|cell| !cell.is_local)
        .filter_map(|cell| Some((cell, cell.firmware_factor?, cell.firmware_error?)))
        .collect();
    let Some((worst, says, error)) =
        known.iter().max_by(|one, other| one.2.abs().total_cmp(&other.2.abs()))
    else {
        return String::new();
    };
    let wrong = known.iter().filter(|(cell, ..)| cell.is_firmware_wrong == Some(true)).count();
    let verdict = match wrong {
        0 => "no pair is contradicted".to_string(),
        wrong => format!("{} of {} contradicted", wrong, count(known.len(), "remote pair")),
    };
    let what = format!(
        "distance / 10, {verdict}; farthest off from cluster {} to node {}: it says {}, which is {} %",
        worst.cluster,
        worst.memory_node,
        significant(*says, 3),
        match (error * 100.0).round() {
            more if more > 0.0 => format!("too much by {more}"),
            less if less < 0.0 => format!("too little by {}", less.abs()),
            _ => "off by less than 0.5".into(),
        }
    );
    paragraph(" firmware: ", &what)
}

fn levels(view: &LatencyModelView) -> String {
    let mut text = String::new();
    for ((cluster, node), of) in groups(&view.levels, |level| (level.cluster, level.memory_node)) {
        let header = ["level", "set", "ns", "interval"].map(String::from).to_vec();
        let rows = of.iter().map(|level| {
            let [low, high] = level.interval_ns.map(three);
            vec![
                level.level.map_or_else(|| "memory".into(), |level| format!("L{level}")),
                Bytes(level.working_set_bytes).to_string(),
                three(level.median_ns),
                format!("{low} - {high}"),
            ]
        });
        text += &format!("\nidle by level, cluster {cluster} before node {node}\n");
        text += &table(header, rows.collect(), 1);
    }
    text
}

fn loaded(curve: &LoadedCurveView) -> String {
    let what = format!(
        "cluster {} on {} node {}, beside {} of {} {}",
        curve.cluster,
        if curve.is_local { "its own" } else { "the remote" },
        curve.memory_node,
        count(curve.threads as usize, "thread"),
        printable(&curve.kernel),
        printable(&curve.variant),
    );
    let mut text = "\n".to_string() + &paragraph("loaded: ", &what);
    let header = ["GB/s", "ns", "interval", "times idle", "queue"].map(String::from).to_vec();
    let times = |ns: f64| curve.unloaded_ns.map_or("-".into(), |idle| three(ns / idle));
    let ends = |interval: [f64; 2]| interval.map(three).join(" - ");
    let law = |ns: Option<f64>| ns.map_or("-".into(), three);
    let mut rows = Vec::new();
    if let Some((ns, interval)) = curve.unloaded_ns.zip(curve.unloaded_interval_ns) {
        let base = curve.queue.as_ref().map(|queue| queue.base_ns);
        rows.push(vec!["no load".into(), three(ns), ends(interval), times(ns), law(base)]);
    }
    rows.extend(curve.points.iter().map(|at| {
        let (ns, traffic) = (at.median_ns, three(at.traffic_gb_per_s));
        vec![traffic, three(ns), ends(at.interval_ns), times(ns), law(at.queue_ns)]
    }));
    text += &table(header, rows, 0);
    if curve.missing > 0 {
        text += &format!(" {} without figures\n", count(curve.missing, "point"));
    }
    let knee = curve.knee.as_ref().map(|knee| {
        let at = with_interval(knee.traffic_gb_per_s, knee.traffic_interval_gb_per_s);
        format!("at {at} GB/s and {} ns", three(knee.loaded_ns))
    });
    text += &outcome(" knee: ", knee, curve.knee_unknown.as_deref());
    let usable = curve.usable.as_ref().map(|usable| {
        let most = usable.most_gb_per_s.map_or("no end in what was measured".into(), three);
        format!(
            "{} ({} to {most}) GB/s with accesses {} times as long as idle ones",
            three(usable.traffic_gb_per_s),
            three(usable.least_gb_per_s),
            usable.rise
        )
    });
    text += &outcome(" usable: ", usable, curve.usable_unknown.as_deref());
    let queue = curve.queue.as_ref().map(|queue| {
        format!(
            "{} ns + {} ns u / (1 - u), u = traffic / {} GB/s; off by {:.1} % (rms of {} points), \
             {:.1} % at worst",
            three(queue.base_ns),
            three(queue.service_ns),
            three(queue.capacity_gb_per_s),
            queue.error * 100.0,
            queue.points,
            queue.worst_error * 100.0
        )
    });
    text + &outcome(" queue: ", queue, curve.queue_unknown.as_deref())
}

fn outcome(first: &str, found: Option<String>, unknown: Option<&str>) -> String {
    let why = || format!("none: {}", unknown.unwrap_or("not known"));
    paragraph(first, &printable(&found.unwrap_or_else(why)))
}
