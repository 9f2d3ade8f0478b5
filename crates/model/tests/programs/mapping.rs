//! What-if tables against listing every mapping; the thesis's are rows of `crates/reproduce`.

use std::collections::BTreeMap;

use nearfar_model::{MappingError, Target, mappings};

const ALPHA: [f64; 3] = [0.5156, 0.4141, 0.1797];

fn target(classes: &[usize]) -> Target {
    Target { class_from: classes.iter().copied().map(Some).collect() }
}

/// Counts mappings by their classes, listing each.
fn list(targets: &[Target], used: &mut Vec<usize>, counts: &mut BTreeMap<Vec<usize>, u128>) {
    let process = used.len();
    let Some(target) = targets.get(process) else {
        let mut classes: Vec<usize> =
            used.iter().zip(targets).filter_map(|(&place, t)| t.class_from[place]).collect();
        classes.sort_unstable();
        *counts.entry(classes).or_default() += 1;
        return;
    };
    for (place, class) in target.class_from.iter().enumerate() {
        if class.is_some() && !used.contains(&place) {
            used.push(place);
            list(targets, used, counts);
            used.pop();
        }
    }
}

/// Two processes at once end when the slower one does: two in class 1 come before one in class
/// 0 and one in class 2, although accesses in turn would be faster so (0.571 against 0.5).
#[test]
fn mappings_are_ranked_by_their_slowest_process() {
    let alpha = [1.0, 0.5, 0.4];
    let table = mappings(&[target(&[0, 1, 1]), target(&[2, 1, 1])], &alpha).unwrap();
    let order: Vec<(f64, f64)> =
        table.iter().map(|mapping| (mapping.slowest_alpha, mapping.d)).collect();
    assert_eq!(order, [(0.5, 0.75), (0.5, 0.5), (0.4, 0.45)]);
    let forced = mappings(&[target(&[0, 1]), target(&[1, 2])], &alpha).unwrap();
    let order: Vec<(f64, f64)> =
        forced.iter().map(|mapping| (mapping.slowest_alpha, mapping.d)).collect();
    assert_eq!(order, [(0.5, 0.5), (0.4, 0.7)]);
}

#[test]
fn counts_are_those_of_listing_all() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..300 {
        let places = random.usize(1..=6);
        let processes = random.usize(1..=places);
        let known: Vec<Target> = (0..2)
            .map(|_| Target {
                class_from: (0..places)
                    .map(|_| (random.f64() < 0.85).then(|| random.usize(0..3)))
                    .collect(),
            })
            .collect();
        let targets: Vec<Target> =
            (0..processes).map(|_| known[random.usize(0..2)].clone()).collect();
        let mut counts = BTreeMap::new();
        list(&targets, &mut Vec::new(), &mut counts);
        let table = match mappings(&targets, &ALPHA) {
            Ok(table) => table,
            Err(error) => {
                assert!(matches!(error, MappingError::NoRoom { .. }));
                assert!(counts.is_empty());
                continue;
            }
        };
        assert_eq!(table.len(), counts.len());
        for mapping in &table {
            // The example is a mapping of this kind.
            let mut places = mapping.example.clone();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), processes, "each process has a place for itself");
            let mut classes: Vec<usize> = mapping
                .example
                .iter()
                .zip(&targets)
                .map(|(&place, target)| target.class_from[place].unwrap())
                .collect();
            classes.sort_unstable();
            let slowest = classes.iter().map(|&class| ALPHA[class]).fold(1.0, f64::min);
            assert_eq!(mapping.slowest_alpha.to_bits(), slowest.to_bits());
            assert_eq!(Some(&mapping.count), counts.get(&classes));
            let sum: f64 = mapping.shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert!(
            table.windows(2).all(|two| {
                (two[0].slowest_alpha, two[0].d) >= (two[1].slowest_alpha, two[1].d)
            })
        );
    }
}

/// 64! / 32! mappings: too many to list, few to count. All of 64 alike places in class 0.
#[test]
fn many_processes_on_many_places() {
    let halves: Vec<usize> = (0..64).map(|place| place / 32).collect();
    let table = mappings(&vec![target(&halves); 20], &ALPHA[..2]).unwrap();
    assert_eq!(table.len(), 21);
    let all: u128 = (45_u32..=64).map(u128::from).product();
    assert_eq!(table.iter().map(|mapping| mapping.count).sum::<u128>(), all);
    assert!((table[0].shares[0] - 1.0).abs() < 1e-12);
}

#[test]
fn what_cannot_be_mapped_says_why() {
    assert_eq!(mappings(&[], &ALPHA), Err(MappingError::NoTargets));
    let uneven = mappings(&[target(&[0, 1]), target(&[0])], &ALPHA);
    assert_eq!(uneven, Err(MappingError::Places { target: 1, given: 1, places: 2 }));
    let class = mappings(&[target(&[0, 3])], &ALPHA);
    assert_eq!(class, Err(MappingError::Class { target: 0, class: 3, alphas: 3 }));
    let crowd = mappings(&[target(&[0]), target(&[0])], &ALPHA);
    assert_eq!(crowd, Err(MappingError::NoRoom { processes: 2, places: 1 }));
    let words = crowd.unwrap_err().to_string();
    assert!(words.starts_with("2 processes ") && words.ends_with("(1 place in all)"), "{words}");
    let bad = mappings(&[target(&[0])], &[0.0]);
    assert!(matches!(bad, Err(MappingError::DataAccess(_))));
    // 24 different targets on 24 places.
    let different: Vec<Target> = (0..24)
        .map(|own| target(&(0..24).map(|place| usize::from(place != own)).collect::<Vec<_>>()))
        .collect();
    let many = mappings(&different, &ALPHA);
    assert!(matches!(many, Err(MappingError::TooMany { kinds: 24, .. })));
}
