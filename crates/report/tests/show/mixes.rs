use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_record::{Coordinates, Experiment, MixCoordinates, Record};
use serde_json::Value;

use crate::handmade::{add, gb, record, stream};
use crate::{near, shown};

fn handmade() -> Record {
    let mut record = record(&[Experiment::Mixes]);
    let both: NodeSet = [0, 1].into_iter().collect();
    let place = |index| vec![Coordinates::Mixes(MixCoordinates { index })];
    let actors = vec![
        stream("triad", "0-1", MemoryPolicy::Preferred(1)),
        stream("load", "2", MemoryPolicy::Interleave(both)),
    ];
    let done = vec![gb([2.0, 2.5]), gb([8.0])];
    add(&mut record, "mixes/1", place(1), actors, &vec![done; 6]);
    let across = vec![stream("copy_nt", "1-2", MemoryPolicy::Preferred(0))];
    add(&mut record, "mixes/0", place(0), across, &vec![vec![gb([3.0, 3.0])]; 2]);
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
