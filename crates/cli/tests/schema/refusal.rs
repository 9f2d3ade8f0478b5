//! A schema that lets everything pass would pass every other test: these damage
//! valid documents in every place and expect a refusal.

use std::collections::BTreeSet;

use nearfar_machine::MemoryModule;
use nearfar_record::{Header, Line, read_record};
use serde::Deserialize;
use serde_json::Value;

use crate::contract::{join, property_paths, schema};
use crate::mutation::{Damage, damage_everywhere};
use crate::{
    EVERY_VIEW, every_line, model_flow, model_hybrid, model_sharing, record_text, sealed,
    show_view, validator,
};

/// Where null stands for something that is not known or does not apply.
const NULL_IN_VIEWS: &[(&str, &[&str])] = &[
    (
        "topo",
        &[
            "packages[].model",
            "nodes[].memory_bytes",
            "nodes[].memory_side_cache_bytes",
            "clusters[].cpu_node",
            "caches[].bytes",
            "caches[].line_bytes",
            "distances",
            "firmware_figures[].initiator",
            "firmware_figures[].read_bytes_per_s",
            "firmware_figures[].write_bytes_per_s",
            "firmware_figures[].read_latency_ns",
            "firmware_figures[].write_latency_ns",
            "devices[].node",
            "devices[].class",
            "devices[].vendor_device",
            "devices[].name",
            "devices[].link.gt_per_s",
            "devices[].link.lanes",
            "devices[].link.max_gt_per_s",
            "devices[].link.max_lanes",
            "devices[].link.bytes_per_s",
            "interleave_weights",
            "memory_modules",
            "memory_modules[].bank",
            "memory_modules[].kind",
            "memory_modules[].bytes",
            "memory_modules[].configured_mt_per_s",
            "memory_modules[].max_mt_per_s",
            "memory_modules[].data_bits",
            "memory_modules[].manufacturer",
            "memory_modules[].part_number",
            "empty_memory_sockets",
            "memory_channels",
            "memory_modules_unknown",
            "memory_channels_unknown",
        ],
    ),
    ("show", show_view::NULLS),
    ("doctor", &["checks[].remedy"]),
    (
        "record-doctor",
        &[
            "noise",
            "resolution",
            "findings[].memory_share",
            "findings[].parts[].cluster",
            "findings[].parts[].initiator",
            "findings[].parts[].memory_node",
            "findings[].parts[].from_package",
            "findings[].parts[].to_package",
            "unsteady[].part.cluster",
            "unsteady[].part.initiator",
            "unsteady[].part.memory_node",
            "unsteady[].part.from_package",
            "unsteady[].part.to_package",
            "unmeasured[].text",
            "checks[].remedy",
        ],
    ),
    ("characterize", &["interrupted_by"]),
    ("dry-run", &[]),
    (
        "classes",
        &[
            "variant",
            "gamma",
            "gamma_unknown",
            "gamma_remedy",
            "noise",
            "standard_error",
            "classes[].index",
            "classes[].alpha",
            "classes[].pairs[].cpu_node",
            "classes[].pairs[].relation",
            "classes[].pairs[].distance",
            "left_out[].refused",
        ],
    ),
    ("model", &["unavailable[].remedy"]),
    (
        "predict",
        &[
            "host",
            "started",
            "executor",
            "sealing",
            "gamma",
            "gamma_unknown",
            "gamma_remedy",
            "unit_gb_per_s",
            "places_are",
            "initiator",
            "places",
            "places[].cpu_node",
            "d_serial",
            "d_overlap",
            "bounds_unknown",
            "rows[].d_serial",
            "rows[].d_overlap",
            "rows[].slowest_alpha",
            "rows[].slowest_lone_gb_per_s",
            "rows[].sum_lone_gb_per_s",
            "rows[].d_gb_per_s",
            "rows[].d_serial_gb_per_s",
            "rows[].d_overlap_gb_per_s",
            "rows[].mappings",
            "rows[].example",
        ],
    ),
    ("flow", model_flow::NULLS),
    ("predict-flow", model_flow::PREDICT_NULLS),
    ("roofline", crate::model_roofline::NULLS),
    ("predict-roofline", crate::model_roofline::PREDICT_NULLS),
    ("profile", crate::profile::NULLS),
    ("sharing", model_sharing::NULLS),
    ("predict-sharing", model_sharing::PREDICT_NULLS),
    ("hybrid", model_hybrid::NULLS),
    ("predict-hybrid", model_hybrid::PREDICT_NULLS),
    ("latency", crate::model_latency::NULLS),
    ("strategy", crate::model_strategy::NULLS),
    ("devices", crate::model_devices::NULLS),
    ("distribution", crate::model_distribution::NULLS),
    ("sensitivity", crate::sensitivity::NULLS),
    ("report", crate::document::NULLS),
    ("advise", crate::advise::NULLS),
    (
        "advise-device",
        &[
            "device_name",
            "command",
            "places[].to_device.spread_between_rounds",
            "places[].to_device.spread_within_rounds",
            "places[].to_host.spread_between_rounds",
            "places[].to_host.spread_within_rounds",
        ],
    ),
    ("compare", crate::compare::NULLS),
    ("run", crate::run::NULLS),
    ("machines", &[]),
    ("topology-export", &["attributes[].kernel"]),
    ("kernels", &[]),
    (
        "reproduce",
        &[
            "papers[].rows[].ours",
            "papers[].rows[].error",
            "papers[].rows[].judged_by",
            "papers[].rows[].tolerance",
            "papers[].rows[].why",
        ],
    ),
];

/// Where figures can be below 0.
const SIGNED_IN_VIEWS: &[(&str, &[&str])] = &[
    ("show", show_view::SIGNED),
    ("sharing", model_sharing::SIGNED),
    ("sensitivity", crate::sensitivity::SIGNED),
    ("report", crate::document::SIGNED),
    ("compare", &["cases[].score"]),
    ("reproduce", &["papers[].rows[].printed", "papers[].rows[].ours", "papers[].rows[].error"]),
];

/// Whether a place is in a list of views' places.
fn is_listed(list: &[(&str, &[&str])], name: &str, path: &str) -> bool {
    list.iter().any(|(view, paths)| *view == name && paths.contains(&path))
}

/// Whether a field may be missing: where names are data, any may.
fn may_be_missing(path: &str, known: &BTreeSet<String>) -> bool {
    known.iter().filter_map(|path| path.strip_suffix('*')).any(|object| path.starts_with(object))
}

/// The damages of a document, of these kinds, that its schema accepts: what and where.
fn accepted(
    name: &str,
    document: &Value,
    kinds: impl Fn(Damage) -> bool,
) -> BTreeSet<(Damage, String)> {
    let validator = validator(name);
    let (mut accepted, mut damages) = (BTreeSet::new(), 0);
    damage_everywhere(document, |damage, path, damaged| {
        damages += 1;
        if kinds(damage) && validator.is_valid(damaged) {
            accepted.insert((damage, path.to_string()));
        }
    });
    assert!(damages > 20, "{name}: damaged in {damages} ways only");
    accepted
}

#[test]
fn damaged_views_are_refused() {
    for (name, view) in EVERY_VIEW.iter() {
        let known = property_paths(&schema(name));
        for (damage, path) in accepted(name, view, |_| true) {
            let allowed = match damage {
                Damage::UnknownField | Damage::WrongType => false,
                Damage::Negative => is_listed(SIGNED_IN_VIEWS, name, &path),
                Damage::MissingField => may_be_missing(&path, &known),
                // Which texts are free is told apart by the record's test below.
                Damage::OtherWord => path != "schema",
                Damage::Null => is_listed(NULL_IN_VIEWS, name, &path),
            };
            assert!(allowed, "{name}: {damage:?} at {path} is accepted");
        }
    }
}

#[test]
fn null_is_accepted_in_views_wherever_it_is_said_to_be() {
    for &(name, paths) in NULL_IN_VIEWS {
        let mut found = BTreeSet::new();
        for (_, view) in EVERY_VIEW.iter().filter(|(view, _)| *view == name) {
            collect_nulls(view, "", &mut found);
            let nulls = accepted(name, view, |damage| damage == Damage::Null);
            found.extend(nulls.into_iter().map(|(_, path)| path));
        }
        assert_eq!(found, paths.iter().map(ToString::to_string).collect(), "{name}");
    }
}

fn collect_nulls(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Null => {
            found.insert(path.into());
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect_nulls(value, &join(path, name), found));
        }
        Value::Array(items) => {
            items.iter().for_each(|item| collect_nulls(item, &format!("{path}[]"), found));
        }
        _ => {}
    }
}

/// The record's own reader is the other opinion: what a schema accepts it reads,
/// and the two agree on where null may stand.
#[test]
fn damaged_lines_are_refused_as_the_reader_refuses_them() {
    let known = property_paths(&schema("record"));
    let validator = validator("record");
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for line in every_line() {
        // Lines of one shape are damaged once.
        let shape = shape_of(&line).to_string();
        if !seen.insert(shape) {
            continue;
        }
        damage_everywhere(&line, |damage, path, document| {
            let by_schema = validator.is_valid(document);
            let by_reader = Line::deserialize(document).is_ok();
            let consistent = match damage {
                Damage::UnknownField => !by_schema && !by_reader,
                Damage::WrongType | Damage::Negative => !by_schema,
                Damage::MissingField => !by_schema || may_be_missing(path, &known),
                Damage::Null => by_schema == by_reader,
                Damage::OtherWord => !by_schema || by_reader,
            };
            assert!(
                consistent,
                "{damage:?} at {path}: schema accepts: {by_schema}, reader accepts: {by_reader}"
            );
        });
    }
    assert!(seen.len() > 10, "{} shapes of lines only", seen.len());
}

/// Records of a program that did not know a field yet, as docs/record-format.md promises.
#[test]
fn a_missing_field_that_can_be_null_is_read_as_null() {
    let mut left_out = 0;
    for line in every_line() {
        let mut older = line.clone();
        left_out += remove_nulls(&mut older);
        let read = |document: Value| serde_json::from_value::<Line>(document).unwrap();
        let whole = serde_json::to_value(read(line)).unwrap();
        assert_eq!(serde_json::to_value(read(older)).unwrap(), whole);
    }
    assert!(left_out > 40, "{left_out} fields were left out");
}

/// Removes fields that are null, and says how many.
fn remove_nulls(value: &mut Value) -> usize {
    match value {
        Value::Object(fields) => {
            let before = fields.len();
            fields.retain(|_, value| !value.is_null());
            let removed = before - fields.len();
            removed + fields.values_mut().map(remove_nulls).sum::<usize>()
        }
        Value::Array(items) => items.iter_mut().map(remove_nulls).sum(),
        _ => 0,
    }
}

/// A document with every text and number made the same, to tell its shape.
fn shape_of(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shape_of(value))).collect()
        }
        Value::Array(items) => items.iter().map(shape_of).collect(),
        Value::String(_) => Value::String(String::new()),
        Value::Number(_) => Value::from(0),
        Value::Bool(_) => Value::Bool(false),
        Value::Null => Value::Null,
    }
}

/// Alphas and maxima are made of a module's figures: neither opinion lets those pass
/// that no module has.
#[test]
fn absurd_memory_modules_are_refused_as_the_reader_refuses_them() {
    let validator = validator("record");
    let as_json = |header: &Header| sealed(&Line::Header(header.clone().into()));
    let mut header = every_line::known_header();
    assert!(validator.is_valid(&as_json(&header)));
    let sound = header.machine.memory_modules.as_ref().unwrap()[0].clone();
    for (absurd, word) in [
        (MemoryModule { configured_mt_per_s: Some(0), ..sound.clone() }, "0 MT/s"),
        (MemoryModule { configured_mt_per_s: Some(u32::MAX), ..sound.clone() }, "4294967295 MT/s"),
        (MemoryModule { max_mt_per_s: Some(100_001), ..sound.clone() }, "100001 MT/s at most"),
        (MemoryModule { data_bits: Some(0), ..sound.clone() }, "0 data bits"),
        (MemoryModule { bytes: Some(0), ..sound.clone() }, "a size of 0 bytes"),
    ] {
        header.machine.memory_modules = Some(vec![sound.clone(), absurd]);
        assert!(!validator.is_valid(&as_json(&header)), "{word}");
        let lines = record_text(&every_line::record(header.clone()));
        let error = read_record(lines.as_slice()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}
