//! From a record to a ranking, and its end.

use std::ffi::{CStr, OsStr, c_char};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use nearfar_model::{ClassRule, RecordFigures, flow};
use nearfar_record::{host_name, newest_record, read_record};
use nearfar_runtime::Ranking;

use crate::arrays::put;
use crate::failure::{Code, Failure, code_of};

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The version of the library; see the header.
#[unsafe(no_mangle)]
pub extern "C" fn nearfar_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// Reads a record and makes it ready; see the header.
///
/// # Safety
/// `path` is null or text that ends in a 0; `ranking` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_open(
    path: *const c_char,
    with_flow: i32,
    ranking: *mut *mut Ranking,
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

fn open(path: &Path, with_flow: bool) -> Result<Ranking, Failure> {
    let failed = |why: String| Failure::new(Code::NoRecord, format!("{}: {why}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let record = read_record(file).map_err(|error| failed(error.to_string()))?;
    let figures = RecordFigures::new(&record);
    let ranking = Ranking::new(&figures, &ClassRule::default())?;
    if !with_flow {
        return Ok(ranking);
    }
    Ok(ranking.with_flow(&flow(&figures)?)?)
}

/// Frees a ranking; see the header.
///
/// # Safety
/// It is null, or from [`nearfar_open`], not freed before and not in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearfar_free(ranking: *mut Ranking) {
    if !ranking.is_null() {
        // SAFETY: it is a box of ours, as the caller promises.
        drop(unsafe { Box::from_raw(ranking) });
    }
}
