//! From a record to a ranking, and its end.

use std::ffi::{CStr, OsStr, c_char};
use std::fs::File;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use nearfar_model::{ClassRule, RecordFigures, flow};
use nearfar_record::{Executor, Record, Sealing, host_name, newest_record, read_record};
use nearfar_runtime::Ranking;

use crate::arrays::{put, reference};
use crate::failure::{Code, Failure, code_of};

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The version of the library; see the header.
#[unsafe(no_mangle)]
pub extern "C" fn nearfar_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// `nearfar_ranking`: a record made ready for questions, and what must be known of it.
#[derive(Debug)]
pub struct OpenRanking {
    ranking: Ranking,
    cautions: u32,
}

impl Deref for OpenRanking {
    type Target = Ranking;

    fn deref(&self) -> &Ranking {
        &self.ranking
    }
}

/// What must be known of a record's figures, as the header names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Caution {
    Simulated = 1,
    Changed = 2,
    Unsealed = 4,
    Torn = 8,
}

fn cautions(record: &Record) -> u32 {
    let simulated = record.header.executor == Executor::Simulated;
    let all = [
        (simulated, Caution::Simulated),
        (matches!(record.sealing, Sealing::Edited { .. }), Caution::Changed),
        (record.sealing == Sealing::Unsealed, Caution::Unsealed),
        (record.torn, Caution::Torn),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, caution)| caution as u32).sum()
}

/// What must be known of the record; see the header.
///
/// # Safety
/// `ranking` is null or from [`nearfar_open`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_cautions(ranking: *const OpenRanking) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { reference(ranking, "the ranking") }.map_or(0, |ranking| ranking.cautions)
}

/// Reads a record and makes it ready; see the header.
///
/// # Safety
/// `path` is null or text that ends in a 0; `ranking` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_open(
    path: *const c_char,
    with_flow: i32,
    ranking: *mut *mut OpenRanking,
) -> i32 {
    code_of(|| {
        // SAFETY: as the caller promises.
        unsafe { put(ranking, ptr::null_mut(), "the ranking")? };
        // SAFETY: as the caller promises.
        let path = unsafe { path_of(path)? };
        let made = Box::new(open(&path, with_flow != 0)?);
        // SAFETY: as the caller promises; it could be written before.
        unsafe { put(ranking, Box::into_raw(made), "the ranking") }
    })
}

/// The path that was given, else that of the newest record of this host.
///
/// # Safety
/// `path` is null or text that ends in a 0.
unsafe fn path_of(path: *const c_char) -> Result<PathBuf, Failure> {
    if path.is_null() {
        let missing = |why: nearfar_record::NoRecord| Failure::new(Code::NoRecord, why.to_string());
        return newest_record(&host_name()).map_err(missing);
    }
    // SAFETY: it is not null; the caller promises the 0.
    let path = unsafe { CStr::from_ptr(path) };
    Ok(OsStr::from_bytes(path.to_bytes()).into())
}

fn open(path: &Path, with_flow: bool) -> Result<OpenRanking, Failure> {
    let failed = |why: String| Failure::new(Code::NoRecord, format!("{}: {why}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let mut record = read_record(file).map_err(|error| failed(error.to_string()))?;
    record.file = Some(path.into());
    let figures = RecordFigures::new(&record);
    let mut ranking = Ranking::new(&figures, &ClassRule::default())?;
    if with_flow {
        ranking = ranking.with_flow(&flow(&figures)?)?;
    }
    Ok(OpenRanking { ranking, cautions: cautions(&record) })
}

/// Frees a ranking; see the header.
///
/// # Safety
/// It is null, or from [`nearfar_open`], not freed before and not in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_free(ranking: *mut OpenRanking) {
    if !ranking.is_null() {
        // SAFETY: it is a box of ours, as the caller promises.
        drop(unsafe { Box::from_raw(ranking) });
    }
}
