//! What comes over the border and must not: null pointers, wrong numbers, too little room, other
//! threads. Functions are called as C calls them.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::thread::scope;

use nearfar_c::{
    Caution, Code, OpenRanking, PlaceDescription, RankedNode, RankedPlace, Running, Touched, User,
    nearfar_cautions, nearfar_describe_place, nearfar_error_detail, nearfar_error_text,
    nearfar_free, nearfar_least_difference, nearfar_lone_rate, nearfar_nodes, nearfar_noise,
    nearfar_open, nearfar_place_count, nearfar_place_cpus, nearfar_rank, nearfar_rank_nodes,
    nearfar_version,
};
use nearfar_model::{ClassRule, RecordFigures, flow};
use nearfar_runtime::Ranking;

use crate::record::{itanium2, write};

/// An open ranking that is freed.
pub struct Open(pub *mut OpenRanking);

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: it is from nearfar_open and freed once.
        unsafe { nearfar_free(self.0) }
    }
}

fn open(path: &Path, with_flow: i32) -> (i32, Open) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut ranking = null_mut();
    // SAFETY: both pointers are of values that live here.
    let code = unsafe { nearfar_open(path.as_ptr(), with_flow, &raw mut ranking) };
    (code, Open(ranking))
}

pub fn opened(with_flow: i32) -> Open {
    let (_folder, path) = write(&itanium2());
    let (code, ranking) = open(&path, with_flow);
    assert_eq!((code, ranking.0.is_null()), (Code::Ok as i32, false), "{}", detail());
    ranking
}

fn detail() -> String {
    // SAFETY: the library promises text that ends in a 0.
    unsafe { CStr::from_ptr(nearfar_error_detail()) }.to_str().unwrap().into()
}

fn rank(ranking: &Open, touched: &[Touched], running: &[Running], room: usize) -> (i32, usize) {
    let none = RankedPlace { place: 77, seconds: -1.0, ratio: -1.0 };
    let mut ranked = vec![none; room + 1];
    let mut count = 99;
    // SAFETY: the pointers are of values that live here, the lengths theirs.
    let code = unsafe {
        nearfar_rank(
            ranking.0,
            touched.as_ptr(),
            touched.len(),
            running.as_ptr(),
            running.len(),
            ranked.as_mut_ptr(),
            room,
            &raw mut count,
        )
    };
    assert_eq!(ranked[room], none, "written beyond the room");
    assert_eq!(ranked.iter().filter(|it| it.place == 77).count(), room + 1 - count.min(room));
    (code, count)
}

const DATA: Touched = Touched { bytes: 5, node: 1 };

#[test]
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "every call has the same reason")]
fn null_pointers_are_codes() {
    let wrong = Code::NullPointer as i32;
    let ranking = opened(0);
    let (mut count, mut rate, mut cpus) = (0, 0.0, [0_u32; 1]);
    let count = &raw mut count;
    // SAFETY: every pointer is null or of a value that lives here, which is what is tested.
    let codes = unsafe {
        assert_eq!((nearfar_place_count(null()), nearfar_cautions(null())), (0, 0));
        nearfar_free(null_mut());
        [
            nearfar_open(null(), 0, null_mut()),
            nearfar_describe_place(null(), 0, null_mut()),
            nearfar_describe_place(ranking.0, 0, null_mut()),
            nearfar_place_cpus(null(), 0, cpus.as_mut_ptr(), 1, count),
            nearfar_place_cpus(ranking.0, 0, null_mut(), 1, count),
            nearfar_place_cpus(ranking.0, 0, cpus.as_mut_ptr(), 1, null_mut()),
            nearfar_nodes(null(), null_mut(), 0, count),
            nearfar_nodes(ranking.0, null_mut(), 9, count),
            nearfar_lone_rate(null(), 0, 0, &raw mut rate),
            nearfar_lone_rate(ranking.0, 0, 0, null_mut()),
            nearfar_noise(null(), &raw mut rate),
            nearfar_noise(ranking.0, null_mut()),
            nearfar_least_difference(null(), &raw mut rate),
            nearfar_rank(null(), null(), 0, null(), 0, null_mut(), 0, count),
            nearfar_rank(ranking.0, null(), 1, null(), 0, null_mut(), 0, count),
            nearfar_rank(ranking.0, null(), 0, null(), 1, null_mut(), 0, count),
            nearfar_rank(ranking.0, null(), 0, null(), 0, null_mut(), 4, count),
            nearfar_rank(ranking.0, null(), 0, null(), 0, null_mut(), 0, null_mut()),
            nearfar_rank(
                ranking.0,
                std::slice::from_ref(&DATA).as_ptr(),
                usize::MAX,
                null(),
                0,
                null_mut(),
                0,
                count,
            ),
            nearfar_rank_nodes(null(), null(), 0, null(), 0, null_mut(), 0, count),
            nearfar_rank_nodes(ranking.0, null(), 1, null(), 0, null_mut(), 0, count),
            nearfar_rank_nodes(ranking.0, null(), 0, null(), 0, null_mut(), 0, null_mut()),
        ]
    };
    assert_eq!(codes, [wrong; 22]);
    assert!(detail().contains("NULL"), "{}", detail());
}

#[test]
fn an_array_that_is_too_short_holds_the_best() {
    let ranking = opened(0);
    assert_eq!(rank(&ranking, &[DATA], &[], 4), (Code::Ok as i32, 4));
    assert_eq!(rank(&ranking, &[DATA], &[], 9), (Code::Ok as i32, 4));
    for room in 0..4 {
        assert_eq!(rank(&ranking, &[DATA], &[], room), (Code::NoRoom as i32, 4));
    }
    assert_eq!(detail(), "there is room for 3 of 4 of the ranked places");
    let (mut nodes, mut count) = ([9_u32; 4], 0);
    // SAFETY: the pointers are of values that live here.
    let code = unsafe { nearfar_nodes(ranking.0, nodes.as_mut_ptr(), 2, &raw mut count) };
    assert_eq!((code, count, nodes), (Code::NoRoom as i32, 4, [0, 1, 9, 9]));
}

#[test]
fn what_rust_refuses_is_a_code_with_its_sentence() {
    let ranking = opened(0);
    let running = |place, node, threads| Running { place, threads, node };
    let ask = |running: Running| rank(&ranking, &[DATA], &[running], 4);
    assert_eq!(ask(running(0, 0, 1.0)), (Code::NoFlow as i32, 0));
    assert_eq!(ask(running(9, 0, 1.0)), (Code::NoPlace as i32, 0));
    assert_eq!(ask(running(0, 9, 1.0)), (Code::NoNode as i32, 0));
    assert_eq!(ask(running(0, 0, f64::NAN)), (Code::BadThreads as i32, 0));
    assert_eq!(
        detail(),
        "NaN is no number of threads: give one from 0 (users: above 0) to 1000000"
    );
    let (code, empty) = open(Path::new("/nowhere/\x1b[31m"), 0);
    assert_eq!((code, empty.0.is_null()), (Code::NoRecord as i32, true));
    assert_eq!(detail(), "/nowhere/ [31m: No such file or directory (os error 2)");
}

#[test]
fn a_record_without_mixes_has_no_flow_model() {
    let mut record = itanium2();
    record.header.inputs.experiments.retain(|it| it.as_str() == "pairs");
    record.cases.retain(|case| case.id.starts_with("pairs/"));
    record.samples.retain(|sample| sample.case.starts_with("pairs/"));
    let (_folder, path) = write(&record);
    assert_eq!(open(&path, 1).0, Code::NotInRecord as i32);
    assert!(detail().contains("nearfar characterize"), "{}", detail());
    assert_eq!(open(&path, 0).0, Code::Ok as i32);
}

#[test]
fn places_and_nodes_are_those_of_rust() {
    let ranking = opened(1);
    // SAFETY: it is open.
    let rust = unsafe { &*ranking.0 };
    // SAFETY: it is open.
    assert_eq!(unsafe { nearfar_place_count(ranking.0) }, rust.places().len());
    for (index, place) in rust.places().iter().enumerate() {
        let mut found = PlaceDescription { cpu_group: 0, initiator: 0, cpu_node: 0, cpus: 0 };
        // SAFETY: the pointers are of values that live here.
        assert_eq!(unsafe { nearfar_describe_place(ranking.0, index, &raw mut found) }, 0);
        assert_eq!((found.initiator, Some(found.cpu_node)), (place.initiator, place.cpu_node));
        let (mut cpus, mut count) = (vec![0; found.cpus as usize], 0);
        // SAFETY: the pointers are of values that live here, the room is theirs.
        let code = unsafe {
            nearfar_place_cpus(ranking.0, index, cpus.as_mut_ptr(), cpus.len(), &raw mut count)
        };
        assert_eq!((code, cpus), (0, place.cpus.iter().collect::<Vec<u32>>()));
        let mut rate = 0.0;
        // SAFETY: the pointers are of values that live here.
        assert_eq!(unsafe { nearfar_lone_rate(ranking.0, index, 2, &raw mut rate) }, 0);
        assert_eq!(Some(rate), rust.lone_rate(index, 2));
    }
    let users = [User { place: 1, threads: 3.0, bytes: 1 << 30 }];
    let busy = [Running { place: 0, threads: 2.0, node: 1 }];
    let (mut ranked, mut count) = ([RankedNode { seconds: 0.0, ratio: 0.0, node: 9 }; 4], 0);
    // SAFETY: the pointers are of values that live here, the lengths theirs.
    let code = unsafe {
        let (users, busy, to) = (users.as_ptr(), busy.as_ptr(), ranked.as_mut_ptr());
        nearfar_rank_nodes(ranking.0, users, 1, busy, 1, to, 4, &raw mut count)
    };
    assert_eq!((code, count), (0, 4));
    let users = [nearfar_runtime::User { place: 1, threads: 3.0, bytes: 1 << 30 }];
    let busy = [nearfar_runtime::Running { place: 0, node: 1, threads: 2.0 }];
    let expected = rust.rank_nodes(&users, &busy).unwrap().ranked;
    let found: Vec<(u32, f64)> = ranked.iter().map(|it| (it.node, it.seconds)).collect();
    assert_eq!(found, expected.iter().map(|it| (it.node, it.seconds)).collect::<Vec<_>>());
}

/// Each thread has answers and sentences of its own.
#[test]
fn several_threads_ask_at_once() {
    let ranking = opened(1);
    let address = ranking.0 as usize;
    scope(|scope| {
        for node in 0..8 {
            scope.spawn(move || {
                let ranking = std::mem::ManuallyDrop::new(Open(address as *mut OpenRanking));
                for _ in 0..200 {
                    let running = [Running { place: 0, threads: 4.0, node: 1 }];
                    let found = rank(&ranking, &[Touched { bytes: 7, node }], &running, 4);
                    if node < 4 {
                        assert_eq!(found, (Code::Ok as i32, 4));
                    } else {
                        assert_eq!(found, (Code::NoNode as i32, 0));
                        let sentence =
                            format!("the machine of the record has no memory node {node}");
                        assert_eq!(detail(), sentence);
                    }
                }
            });
        }
    });
}

#[test]
fn every_code_has_a_text() {
    let text = |code| {
        // SAFETY: the library promises text that ends in a 0.
        unsafe { CStr::from_ptr(nearfar_error_text(code)) }.to_str().unwrap()
    };
    let texts: std::collections::BTreeSet<&str> =
        (Code::Ok as i32..=Code::Internal as i32).map(text).collect();
    assert_eq!(texts.len(), 11);
    for code in [-1, 11, i32::MIN, i32::MAX] {
        assert_eq!(text(code), "there is no such code");
    }
    // SAFETY: as above.
    let version = unsafe { CStr::from_ptr(nearfar_version()) };
    assert_eq!(version.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn what_must_be_known_of_a_record_is_told() {
    let (_folder, path) = write(&itanium2());
    let cautions = |path: &Path| {
        let (code, ranking) = open(path, 0);
        assert_eq!(code, Code::Ok as i32, "{}", detail());
        // SAFETY: the ranking is open.
        unsafe { nearfar_cautions(ranking.0) }
    };
    assert_eq!(cautions(&path), Caution::Simulated as u32);
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.replacen("\"simulated-itanium2\"", "\"itanium2\"", 1) + "{\"sample\"";
    fs::write(&path, changed).unwrap();
    assert_eq!(cautions(&path), 1 | Caution::Changed as u32 | Caution::Torn as u32);
    let unsealed = text.lines().map(|line| line.split_once(",\"seal\"").unwrap().0.to_owned());
    fs::write(&path, unsealed.map(|line| line + "}\n").collect::<String>()).unwrap();
    assert_eq!(cautions(&path), 1 | Caution::Unsealed as u32);
}

#[test]
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "every call has the same reason")]
fn how_far_equally_good_places_are_apart_is_that_of_rust() {
    let record = itanium2();
    let figures = RecordFigures::new(&record);
    let model = flow(&figures).unwrap();
    let rust = Ranking::new(&figures, &ClassRule::default()).unwrap().with_flow(&model).unwrap();
    let (alone, beside) = (opened(0), opened(1));
    let (mut noise, mut least) = (0.0, 0.0);
    // SAFETY: the rankings are open, the targets live here.
    let codes = unsafe {
        [
            nearfar_noise(beside.0, &raw mut noise),
            nearfar_least_difference(alone.0, &raw mut least),
            nearfar_least_difference(beside.0, &raw mut least),
        ]
    };
    assert_eq!(codes, [Code::Ok as i32, Code::NoFlow as i32, Code::Ok as i32]);
    assert_eq!((Some(noise), least), (rust.noise(), model.least_difference()));
}
