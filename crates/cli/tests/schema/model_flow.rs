//! The views of `model flow` and of what `predict` asks it, with every optional field given
//! and null.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;

use crate::program;

/// Where null stands in `nearfar.flow/1`.
pub const NULLS: &[&str] = &[
    "parts[].part.cluster",
    "parts[].part.memory_node",
    "parts[].part.from_package",
    "parts[].part.to_package",
    "parts[].part.memory_kind",
    "placements[].memory_node",
    "placements[].measured_gb_per_s",
    "placements[].limit",
    "placements[].limit.part.cluster",
    "placements[].limit.part.memory_node",
    "placements[].limit.part.from_package",
    "placements[].limit.part.to_package",
    "placements[].limit.part.memory_kind",
];

/// Where null stands in `nearfar.predict-flow/1`.
pub const PREDICT_NULLS: &[&str] = &[
    "streams[].limit",
    "streams[].limit.cluster",
    "streams[].limit.memory_node",
    "streams[].limit.from_package",
    "streams[].limit.to_package",
    "streams[].limit.memory_kind",
    "parts[].part.cluster",
    "parts[].part.memory_node",
    "parts[].part.from_package",
    "parts[].part.to_package",
    "parts[].part.memory_kind",
];

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    static VIEWS: OnceLock<[Value; 2]> = OnceLock::new();
    let [flow, predict] = VIEWS.get_or_init(of_a_machine_with_every_part).clone();
    vec![("flow", flow), ("predict-flow", predict)]
}

/// Eight nodes in two packages have every kind of part; one of each is kept.
fn of_a_machine_with_every_part() -> [Value; 2] {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    let machine = ["characterize", "--simulate", "two-socket-8-nodes", "--suite", "standard"];
    let cases = ["--only", "pairs,links,roofs,mixes", "--kernel", "load,triad", "--out", path];
    assert!(program::nearfar(&[&machine[..], &cases].concat()).status.success());
    let json = |arguments: &[&str]| program::json_of(&program::nearfar(arguments), &[0]);
    let mut flow = json(&["model", path, "flow", "--json"]);
    let near = ["--stream", "cpus=0-15 mem=bind:0"];
    let far = ["--stream", "cpus=64-79 mem=interleave:0,1", "--stream", "cpus=80 mem=bind:7"];
    let mut predict = json(&[&["predict", path, "--json"][..], &near, &far].concat());
    for view in [&mut flow, &mut predict] {
        let mut kinds = BTreeSet::new();
        let parts = view["parts"].as_array_mut().unwrap();
        parts.retain(|it| kinds.insert(it["part"]["kind"].to_string()));
    }
    flow["one_thread"].as_array_mut().unwrap().truncate(2);
    // A placement without a limit, whichever this machine has.
    let placements = flow["placements"].as_array_mut().unwrap();
    let with_limit = placements.iter().find(|it| !it["limit"].is_null()).unwrap().clone();
    let mut without = with_limit.clone();
    without["limit"] = Value::Null;
    without["measured_gb_per_s"] = Value::Null;
    let on_node = placements.iter().find(|it| !it["memory_node"].is_null()).unwrap().clone();
    *placements = vec![with_limit, without, on_node];
    let streams = predict["streams"].as_array_mut().unwrap();
    streams.sort_by_key(|it| it["limit"].is_null());
    let mut without = streams[0].clone();
    without["limit"] = Value::Null;
    streams.push(without);
    [flow, predict]
}
