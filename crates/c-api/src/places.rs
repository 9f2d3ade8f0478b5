//! What a ranking knows: places, nodes, pairs.

use nearfar_runtime::{Place, RankError, Ranking, UnknownPair};

use crate::arrays::{put, put_all, reference};
use crate::failure::{Code, Failure, code_of};
use crate::record::OpenRanking;

/// `nearfar_place`: where tasks can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct PlaceDescription {
    /// Its number among its kind.
    pub cpu_group: u32,
    /// The initiator that it belongs to.
    pub initiator: u32,
    /// Lowest node with CPUs of that initiator, or [`NO_CPU_NODE`].
    pub cpu_node: u32,
    /// How many CPUs it has.
    pub cpus: u32,
}

/// `NEARFAR_NO_CPU_NODE`: an initiator has no node with CPUs.
pub const NO_CPU_NODE: u32 = u32::MAX;

/// How many places there are; see the header.
///
/// # Safety
/// `ranking` is null or from `nearfar_open` and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_place_count(ranking: *const OpenRanking) -> usize {
    // SAFETY: as the caller promises.
    unsafe { reference(ranking, "the ranking") }.map_or(0, |ranking| ranking.places().len())
}

fn find(ranking: &Ranking, place: usize) -> Result<&Place, Failure> {
    let places = ranking.places().len();
    let missing = || Failure::from(RankError::NoPlace { place, places });
    ranking.places().get(place).ok_or_else(missing)
}

/// Describes a place; see the header.
///
/// # Safety
/// `ranking` as in [`nearfar_place_count`]; `description` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_describe_place(
    ranking: *const OpenRanking,
    place: usize,
    description: *mut PlaceDescription,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let place = find(unsafe { reference(ranking, "the ranking")? }, place)?;
        let found = PlaceDescription {
            cpu_group: place.cpu_group,
            initiator: place.initiator,
            cpu_node: place.cpu_node.unwrap_or(NO_CPU_NODE),
            cpus: u32::try_from(place.cpus.len()).unwrap_or(u32::MAX),
        };
        // SAFETY: as the caller promises.
        unsafe { put(description, found, "the description") }
    })
}

/// Lists a place's CPUs; see the header.
///
/// # Safety
/// `ranking` as in [`nearfar_place_count`]; `cpus` is null or has room for this many, `count` is null
/// or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_place_cpus(
    ranking: *const OpenRanking,
    place: usize,
    cpus: *mut u32,
    room: usize,
    count: *mut usize,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let place = find(unsafe { reference(ranking, "the ranking")? }, place)?;
        let found: Vec<u32> = place.cpus.iter().collect();
        // SAFETY: as the caller promises.
        unsafe { put_all(cpus, room, count, found.into_iter(), "the CPUs") }
    })
}

/// Lists the record's memory nodes; see the header.
///
/// # Safety
/// `ranking` as in [`nearfar_place_count`]; `nodes` is null or has room for this many, `count` is null
/// or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_nodes(
    ranking: *const OpenRanking,
    nodes: *mut u32,
    room: usize,
    count: *mut usize,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let ranking = unsafe { reference(ranking, "the ranking")? };
        // SAFETY: as the caller promises.
        unsafe { put_all(nodes, room, count, ranking.nodes().iter().copied(), "the nodes") }
    })
}

/// What one thread alone moves; see the header.
///
/// # Safety
/// `ranking` as in [`nearfar_place_count`]; `bytes_per_s` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_lone_rate(
    ranking: *const OpenRanking,
    place: usize,
    node: u32,
    bytes_per_s: *mut f64,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let ranking = unsafe { reference(ranking, "the ranking")? };
        let pair = UnknownPair { place, node };
        ranking.check_pair(pair)?;
        let why = || ranking.why_unknown(pair).unwrap_or_default();
        let rate = ranking.lone_rate(place, node);
        let rate = rate.ok_or_else(|| Failure::new(Code::NotInRecord, why()))?;
        // SAFETY: as the caller promises.
        unsafe { put(bytes_per_s, rate, "the rate") }
    })
}

/// How far apart places are that are equally good, alone; see the header.
///
/// # Safety
/// `ranking` as in [`nearfar_place_count`]; `ratio` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_noise(ranking: *const OpenRanking, ratio: *mut f64) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let ranking = unsafe { reference(ranking, "the ranking")? };
        let missing = || Failure::new(Code::NotInRecord, "the record has one round of each pair");
        let noise = ranking.noise().ok_or_else(missing)?;
        // SAFETY: as the caller promises.
        unsafe { put(ratio, noise, "the noise") }
    })
}

/// The same beside threads that run; see the header.
///
/// # Safety
/// As for [`nearfar_noise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_least_difference(
    ranking: *const OpenRanking,
    ratio: *mut f64,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        let ranking = unsafe { reference(ranking, "the ranking")? };
        let least = ranking.least_difference().ok_or(RankError::NoFlow)?;
        // SAFETY: as the caller promises.
        unsafe { put(ratio, least, "the least difference") }
    })
}
