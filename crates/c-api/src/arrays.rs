//! Pointers that come from C, looked at before they are used.

use std::mem::MaybeUninit;
use std::slice;

use crate::failure::{Code, Failure};

fn null(what: &str) -> Failure {
    Failure::new(Code::NullPointer, format!("the pointer to {what} is NULL or not aligned"))
}

/// What a pointer points to.
///
/// # Safety
/// It is null, or points to a value that nobody changes or frees as long as `'a`.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    if !pointer.is_aligned() {
        return Err(null(what));
    }
    // SAFETY: it is aligned, and the caller promises the rest.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// The elements of an array; none of them may be asked for by any pointer.
///
/// # Safety
/// It is null, or points to this many elements that nobody changes or frees as long as `'a`.
pub(crate) unsafe fn elements<'a, T>(
    array: *const T,
    count: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if array.is_null() || !array.is_aligned() || is_too_long::<T>(count) {
        return Err(null(what));
    }
    // SAFETY: it is aligned and of a length that there can be; the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(array, count) })
}

/// Writes a value.
///
/// # Safety
/// The pointer is null, or its target can be written.
pub(crate) unsafe fn put<T>(target: *mut T, value: T, what: &str) -> Result<(), Failure> {
    if target.is_null() || !target.is_aligned() {
        return Err(null(what));
    }
    // SAFETY: it is neither null nor astray; the caller promises that it can be written.
    unsafe { target.write(value) };
    Ok(())
}

/// Writes an answer as far as there is room, and how many there are.
///
/// # Safety
/// `count` as in [`put`]; `array` is null or has room for this many elements that nobody else uses.
pub(crate) unsafe fn put_all<T>(
    array: *mut T,
    room: usize,
    count: *mut usize,
    values: impl ExactSizeIterator<Item = T>,
    what: &str,
) -> Result<(), Failure> {
    let all = values.len();
    // SAFETY: as the caller promises.
    unsafe { put(count, all, "the count")? };
    if room > 0 && (array.is_null() || !array.is_aligned() || is_too_long::<T>(room)) {
        return Err(null(what));
    }
    if room > 0 {
        // SAFETY: it is aligned and of a length that there can be, and may be uninitialised, as the
        // type says; the caller promises the rest.
        let places = unsafe { slice::from_raw_parts_mut(array.cast::<MaybeUninit<T>>(), room) };
        for (place, value) in places.iter_mut().zip(values) {
            place.write(value);
        }
    }
    if all > room {
        let detail = format!("there is room for {room} of {all} of {what}");
        return Err(Failure::new(Code::NoRoom, detail));
    }
    Ok(())
}

/// No array is longer than half of the addresses.
fn is_too_long<T>(count: usize) -> bool {
    count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err())
}
