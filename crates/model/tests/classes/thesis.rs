//! Classes of the thesis's printed matrices.

use nearfar_machine::TheoreticalMaximum;
use nearfar_model::{ClassRule, RecordFigures, classes};
use nearfar_record::{Coordinates, PairCoordinates, Record};
use nearfar_specimen::{add_alone, pair, record};

/// A record with one figure for each build of a kernel on each pair: the builds as
/// variants, as the thesis takes the best of compilers.
fn record_of(pairs: &[(u32, u32)], builds: &[&[f64]], unit: f64) -> Record {
    let mut record = record();
    for (number, row) in builds.iter().enumerate() {
        for (&(cpu_group, node), figure) in pairs.iter().zip(*row) {
            let variant = format!("build{number}");
            let place = PairCoordinates { variant, ..pair(cpu_group, node, "triad") };
            add_alone(&mut record, Coordinates::Pairs(place), &[figure * unit]);
        }
    }
    record
}

const COLUMNS: [(u32, u32); 8] = [(0, 0), (0, 1), (0, 2), (0, 3), (3, 0), (3, 1), (3, 2), (3, 3)];

/// Table 5.3, MB/s, and the classes that its printed columns give: 6395 (table 5.2's 6441
/// stands in a column that is not printed), 3915, 2181.
#[test]
fn table_5_3_has_the_classes_of_table_5_2() {
    let rows: [&[f64]; 9] = [
        &[6395.0, 3905.0, 2162.0, 2146.0, 2127.0, 2141.0, 3915.0, 6323.0],
        &[6114.0, 3779.0, 2135.0, 2109.0, 2107.0, 2102.0, 3786.0, 6109.0],
        &[5316.0, 3347.0, 2181.0, 2147.0, 2147.0, 2130.0, 3875.0, 5341.0],
        &[5351.0, 3350.0, 2166.0, 2130.0, 2154.0, 2120.0, 3897.0, 5365.0],
        &[6121.0, 3875.0, 2145.0, 2141.0, 2136.0, 2147.0, 3891.0, 6284.0],
        &[6383.0, 3907.0, 2150.0, 2122.0, 2122.0, 2118.0, 3913.0, 6141.0],
        &[6147.0, 3789.0, 2142.0, 2132.0, 2129.0, 2138.0, 3808.0, 6137.0],
        &[6153.0, 3792.0, 2135.0, 2109.0, 2104.0, 2095.0, 3804.0, 6120.0],
        &[6364.0, 3874.0, 2135.0, 2132.0, 2129.0, 2128.0, 3890.0, 6316.0],
    ];
    let gamma = Some(TheoreticalMaximum::memory("braithwaite2012").unwrap());
    let rule = ClassRule { gamma, ..ClassRule::default() };
    let found = classes(&RecordFigures::new(&record_of(&COLUMNS, &rows, 1e6)), &rule).unwrap();
    let set = &found.sets[0];
    let maxima: Vec<f64> = set.classes.iter().map(|class| (class.max / 1e6).round()).collect();
    assert_eq!(maxima, [6395.0, 3915.0, 2181.0]);
    let sizes: Vec<usize> = set.classes.iter().map(|class| class.pairs.len()).collect();
    assert_eq!(sizes, [2, 2, 4]);

    for (class, printed) in set.classes[1..].iter().zip([0.2294, 0.1278]) {
        let ours = class.alpha.unwrap();
        assert!((ours - printed).abs() < 5.1e-5, "{ours} {printed}");
    }
}

/// Table A.4's columns, the best of its rows: from one node of the four-socket machine four
/// levels, as table A.2 says (8.0, 5.5, 4.0, 3.2 over all nodes).
#[test]
fn table_a_4_has_four_levels() {
    let columns: Vec<(u32, u32)> = (0..8).map(|node| (0, node)).collect();
    let best = [7796.0, 5549.0, 3097.0, 3024.0, 3240.0, 3176.0, 3916.0, 3761.0];
    let found =
        classes(&RecordFigures::new(&record_of(&columns, &[&best], 1e6)), &ClassRule::default())
            .unwrap();
    let nodes: Vec<Vec<u32>> = found.sets[0]
        .classes
        .iter()
        .map(|class| class.pairs.iter().map(|pair| pair.memory_node).collect())
        .collect();
    assert_eq!(nodes, [vec![0], vec![1], vec![6, 7], vec![2, 3, 4, 5]]);
}
