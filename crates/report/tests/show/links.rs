use nearfar_machine::MemoryPolicy;
use nearfar_record::{Case, Coordinates, Experiment, LinkCoordinates, Record, Way};
use nearfar_report::ShowView;
use serde_json::Value;

use crate::{add, near, record, shown, stream};

fn add_link(record: &mut Record, from: u32, way: Way, out: [f64; 2], back: Option<[f64; 2]>) {
    let cpus = |package: u32| if package == 0 { "0-1" } else { "2-3" };
    let to = 1 - from;
    let place = LinkCoordinates {
        from_package: from,
        to_package: to,
        cluster: None,
        way,
        kernel: "load".into(),
        variant: "avx2".into(),
        threads: 2,
    };
    let mut actors = vec![stream("load", cpus(from), MemoryPolicy::Preferred(to))];
    let mut done = vec![&out[..]];
    if let Some(back) = &back {
        actors.push(stream("load", cpus(to), MemoryPolicy::Preferred(from)));
        done.push(back);
    }
    let id = format!("links/package{from}-package{to}/{}/load/avx2", way.as_str());
    add(record, Case { id, coordinates: vec![Coordinates::Links(place)], actors }, 6, &done);
}

fn handmade() -> Record {
    let mut record = record(&[Experiment::Links]);
    add_link(&mut record, 0, Way::OneWay, [6.0, 5.0], None);
    add_link(&mut record, 1, Way::OneWay, [6.0, 6.0], None);
    add_link(&mut record, 0, Way::BothWays, [5.0, 4.0], Some([4.0, 4.5]));
    record
}

#[test]
fn links_are_a_matrix_for_each_way() {
    let view = shown("links", &handmade());
    let links = view["links"].as_array().unwrap();
    assert_eq!(links.len(), 3);
    let both = links.iter().find(|link| link["way"] == "both_ways").unwrap();
    assert!(near(&both["total"]["sum_gb_per_s"], 17.5));
    assert!(near(&both["total"]["paced_gb_per_s"], 16.0));
    assert!(near(&both["from"]["sum_gb_per_s"], 9.0));
    assert!(near(&both["from"]["paced_gb_per_s"], 8.0));
    assert!(near(&both["back"]["sum_gb_per_s"], 8.5));
    let one = &links[0];
    assert!(near(&one["from"]["sum_gb_per_s"], 11.0));
    assert_eq!((&one["way"], &one["back"]), (&"one_way".into(), &Value::Null));
    assert_eq!(one["cluster"], Value::Null);
}

/// A cluster alone stands apart from the package that it is of.
#[test]
fn clusters_alone_have_a_table_of_their_own() {
    let mut record = handmade();
    let place = LinkCoordinates {
        from_package: 1,
        to_package: 0,
        cluster: Some(1),
        way: Way::OneWay,
        kernel: "load".into(),
        variant: "avx2".into(),
        threads: 2,
    };
    let actors = vec![stream("load", "2-3", MemoryPolicy::Preferred(0))];
    let id = "links/cluster1-package0/one_way/load/avx2".into();
    let case = Case { id, coordinates: vec![Coordinates::Links(place)], actors };
    add(&mut record, case, 6, &[&[3.5, 3.5]]);
    let view = ShowView::new(&record);
    let of: Vec<(Way, Option<u32>)> = view.links.iter().map(|it| (it.way, it.cluster)).collect();
    let package = |way| (way, None);
    let expected = [package(Way::OneWay), package(Way::OneWay), package(Way::BothWays)];
    assert_eq!(of, [&expected[..], &[(Way::OneWay, Some(1))]].concat());
    let text = view.text();
    let (packages, alone) = text.split_once("\none cluster alone: load ").unwrap();
    assert!(packages.contains("package 1 x 2") && !packages.contains("cluster 1 x 2"), "{text}");
    assert!(alone.contains("cluster 1 x 2") && alone.contains("7.00"), "{text}");
}
