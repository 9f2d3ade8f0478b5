//! Codes, what they mean, and the sentence that a thread's last failure left.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use nearfar_model::Inapplicable;
use nearfar_runtime::RankError;

/// What a function returns, as the header names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    Ok = 0,
    NullPointer = 1,
    NoRecord = 2,
    NotInRecord = 3,
    NoNode = 4,
    NoPlace = 5,
    BadThreads = 6,
    NoFlow = 7,
    UnknownRunning = 8,
    NoRoom = 9,
    Internal = 10,
}

/// What each code means, by its number.
const TEXTS: [&CStr; 11] = [
    c"no error",
    c"a pointer is NULL, or not aligned, that must not be",
    c"there is no record, or it cannot be read",
    c"the record does not hold what is needed",
    c"the record's machine has no such memory node",
    c"there is no such place",
    c"a number of threads that is none",
    c"several threads run, and the ranking was opened without the flow model",
    c"threads run on a place and a node of which the record has no figures",
    c"the array is too short for the answer",
    c"an error of the library itself; please report it",
];

/// A failure on its way to the caller.
#[derive(Debug)]
pub(crate) struct Failure {
    pub code: Code,
    pub detail: String,
}

impl Failure {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

impl From<RankError> for Failure {
    fn from(error: RankError) -> Self {
        let code = match error {
            RankError::NoNode { .. } => Code::NoNode,
            RankError::NoPlace { .. } => Code::NoPlace,
            RankError::Threads { .. } => Code::BadThreads,
            RankError::NoFlow => Code::NoFlow,
            RankError::UnknownRunning(_) => Code::UnknownRunning,
        };
        Self::new(code, error.to_string())
    }
}

impl From<Inapplicable> for Failure {
    fn from(missing: Inapplicable) -> Self {
        let detail = match &missing.remedy {
            Some(command) => format!("{missing}; `{command}` measures it"),
            None => missing.to_string(),
        };
        Self::new(Code::NotInRecord, detail)
    }
}

thread_local! {
    static DETAIL: RefCell<CString> = RefCell::new(CString::default());
}

/// Does the work of a function: its code, with the sentence kept for this thread. A panic becomes
/// [`Code::Internal`].
pub(crate) fn code_of(work: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let panicked = |_| Err(Failure::new(Code::Internal, "the library panicked"));
    // What work borrows is not used again after a panic, but for answers that are written anew.
    match catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked) {
        Ok(()) => Code::Ok as i32,
        Err(failure) => {
            keep(&failure.detail);
            failure.code as i32
        }
    }
}

/// Keeps a sentence. Records come from strangers, so control characters become spaces.
fn keep(detail: &str) {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = detail.chars().map(plain).collect();
    let text = CString::new(text).unwrap_or_default();
    // A thread that is ending has nobody left to read it.
    let _kept = DETAIL.try_with(|kept| kept.replace(text));
}

/// What a code means; see the header.
#[unsafe(no_mangle)]
pub extern "C" fn nearfar_error_text(code: i32) -> *const c_char {
    let text = usize::try_from(code).ok().and_then(|code| TEXTS.get(code));
    text.map_or(c"there is no such code", |text| *text).as_ptr()
}

/// What went wrong in this thread's last call that failed; see the header.
#[unsafe(no_mangle)]
pub extern "C" fn nearfar_error_detail() -> *const c_char {
    DETAIL.try_with(|kept| kept.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(code_of(|| panic!("of a test")), Code::Internal as i32);
        assert_eq!(DETAIL.with(|kept| kept.borrow().clone()).as_c_str(), c"the library panicked");
        assert_eq!(code_of(|| Ok(())), Code::Ok as i32);
    }

    #[test]
    fn sentences_hold_nothing_that_steers_a_terminal() {
        assert_eq!(code_of(|| Err(Failure::new(Code::NoNode, "a\0b\x1b[2Jc"))), 4);
        assert_eq!(DETAIL.with(|kept| kept.borrow().clone()).as_c_str(), c"a b [2Jc");
    }
}
