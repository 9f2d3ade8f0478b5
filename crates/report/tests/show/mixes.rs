use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_record::{Case, Coordinates, Experiment, MixCoordinates, Record};
use serde_json::Value;

use crate::{add, near, record, shown, stream};

fn handmade() -> Record {
    let mut record = record(&[Experiment::Mixes]);
    let both: NodeSet = [0, 1].into_iter().collect();
    let set = |index, actors| {
        let coordinates = vec![Coordinates::Mixes(MixCoordinates { index })];
        Case { id: format!("mixes/{index}"), coordinates, actors }
    };
    let actors = vec![
        stream("triad", "0-1", MemoryPolicy::Preferred(1)),
        stream("load", "2", MemoryPolicy::Interleave(both)),
    ];
    add(&mut record, set(1, actors), 6, &[&[2.0, 2.5], &[8.0]]);
    let across = vec![stream("copy_nt", "1-2", MemoryPolicy::Preferred(0))];
    add(&mut record, set(0, across), 2, &[&[3.0, 3.0]]);
    record
}

#[test]
fn sets_are_shown_stream_by_stream() {
    let view = shown("mixes", &handmade());
    let set = &view["mixes"][1];
    assert_eq!((&set["index"], &set["case"]), (&1.into(), &"mixes/1".into()));
    assert!(near(&set["total"]["sum_gb_per_s"], 12.5));
    assert_eq!(set["streams"][0]["cluster"], 0);
    assert!(near(&set["streams"][0]["bandwidth"]["sum_gb_per_s"], 4.5));
    assert_eq!(set["streams"][1]["memory"], "interleave:0-1");
    assert!(near(&set["streams"][1]["bandwidth"]["sum_gb_per_s"], 8.0));
    assert_eq!(view["mixes"][0]["streams"][0]["cluster"], Value::Null);
}
