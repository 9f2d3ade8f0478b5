//! The system calls that say where a page is: move_pages(2) as a query,
//! get_mempolicy(2) by address, mincore(2).

use std::ffi::{c_int, c_ulong, c_void};
use std::fmt::Display;
use std::ptr;

use crate::address_range::AddressRange;
use crate::refusal::{Errno, Refusal};

/// `MPOL_F_NODE` of get_mempolicy(2): answer with a node, not with a policy.
const MPOL_F_NODE: c_ulong = 1;
/// `MPOL_F_ADDR` of get_mempolicy(2): about the page or range at the address.
pub(crate) const MPOL_F_ADDR: c_ulong = 2;
/// `MPOL_F_MEMS_ALLOWED` of get_mempolicy(2): answer with the nodes of the cpuset.
pub(crate) const MPOL_F_MEMS_ALLOWED: c_ulong = 4;

/// Pages asked about in one call: 128 KiB of addresses, small beside any working set.
const BATCH: usize = 16_384;

/// What answers hold before the kernel writes them, so that one it never wrote is no
/// answer: no node, no negated error of its own, no mode.
const NO_ANSWER: c_int = c_int::MIN;

/// As [`NO_ANSWER`], for mincore(2): it writes 0 or 1, other bits are reserved.
const NO_RESIDENCY: u8 = 0xaa;

/// What the kernel says about one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageState {
    /// Present on this node.
    OnNode(u32),
    /// Not present: never written, dropped or swapped out.
    Absent,
    /// Another answer: the zero page or no mapping (`EFAULT`), a page that other
    /// processes share (`EACCES`), a page on its way (`EBUSY`).
    Unknown,
}

/// The size of a base page in bytes; 4 KiB on x86, up to 64 KiB on Arm and POWER.
#[must_use]
pub fn base_page_bytes() -> usize {
    // SAFETY: no memory is involved.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // POSIX has no system without a page size; 4096 is the smallest of Linux.
    usize::try_from(bytes).unwrap_or(4096).max(4096)
}

/// Asks move_pages(2) for the node of every base page. Does not fault pages in.
pub(crate) fn query_move_pages(
    range: AddressRange,
    mut each: impl FnMut(PageState),
) -> Result<(), Refusal> {
    let page_bytes = base_page_bytes();
    let mut pages = range.pages(page_bytes);
    let mut states: Vec<c_int> = Vec::with_capacity(BATCH);
    loop {
        let batch: Vec<*mut c_void> =
            pages.by_ref().take(BATCH).map(ptr::without_provenance_mut).collect();
        let Some(first) = batch.first() else {
            return Ok(());
        };
        states.clear();
        states.resize(batch.len(), NO_ANSWER);
        let no_nodes = ptr::null::<c_int>();
        // SAFETY: the kernel reads batch.len() addresses, which it does not follow on
        // our behalf (no target nodes: a query), and writes as many numbers to `states`.
        let status = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0_i32,
                batch.len() as c_ulong,
                batch.as_ptr(),
                no_nodes,
                states.as_mut_ptr(),
                0_i32,
            )
        };
        if status < 0 {
            let what = format_args!("query of {range}");
            return Err(Refusal::call("move_pages", what, Errno::last()));
        }
        if states.contains(&NO_ANSWER) {
            let arguments = format!("query of {range}");
            return Err(Refusal::Unanswered { call: "move_pages", arguments });
        }
        // Of an absent anonymous page Linux 6.12 says ENOENT and 6.1 says EFAULT, as it
        // does of the zero page; mincore tells them apart, and fails on holes.
        let resident = if states.contains(&-libc::EFAULT) {
            resident_pages(first.addr(), batch.len(), page_bytes).ok().flatten()
        } else {
            None
        };
        for (number, &state) in states.iter().enumerate() {
            let absent = || {
                state == -libc::ENOENT
                    || state == -libc::EFAULT && resident.as_ref().is_some_and(|all| !all[number])
            };
            each(match u32::try_from(state) {
                Ok(node) => PageState::OnNode(node),
                Err(_) if absent() => PageState::Absent,
                Err(_) => PageState::Unknown,
            });
        }
    }
}

/// Asks get_mempolicy(2) for the node of every base page that mincore(2) calls
/// resident. The order matters: get_mempolicy reads the page, and so would make an
/// absent one present (as the zero page, on whatever node that is). A zero page
/// that is there already cannot be told from memory this way.
pub(crate) fn query_get_mempolicy(
    range: AddressRange,
    mut each: impl FnMut(PageState),
) -> Result<(), Refusal> {
    query_resident(range, |page, resident| {
        if !resident {
            each(PageState::Absent);
            return Ok(());
        }
        let arguments = format_args!("node of the page at {page:#x}");
        let node = get_mempolicy(None, page, MPOL_F_NODE | MPOL_F_ADDR, arguments)?;
        each(u32::try_from(node).map_or(PageState::Unknown, PageState::OnNode));
        Ok(())
    })
}

/// Asks mincore(2) of every base page whether it is resident.
pub(crate) fn query_resident(
    range: AddressRange,
    mut each: impl FnMut(usize, bool) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let page_bytes = base_page_bytes();
    let mut pages = range.pages(page_bytes);
    while let Some(first) = pages.next() {
        let count = 1 + pages.by_ref().take(BATCH - 1).count();
        let resident = resident_pages(first, count, page_bytes)
            .map_err(|errno| Refusal::call("mincore", range, errno))?
            .ok_or_else(|| Refusal::Unanswered { call: "mincore", arguments: range.to_string() })?;
        for (page, resident) in (first..).step_by(page_bytes).zip(resident) {
            each(page, resident)?;
        }
    }
    Ok(())
}

/// mincore(2) of `count` pages; fails when one of them is not mapped. `None` when it
/// wrote no answer.
fn resident_pages(
    first: usize,
    count: usize,
    page_bytes: usize,
) -> Result<Option<Vec<bool>>, Errno> {
    let mut states = vec![NO_RESIDENCY; count];
    // SAFETY: the kernel looks the addresses up without reading through them, and
    // writes one byte a page, `count` in all, to `states`.
    let status = unsafe {
        libc::mincore(ptr::without_provenance_mut(first), count * page_bytes, states.as_mut_ptr())
    };
    if status != 0 {
        return Err(Errno::last());
    }
    // The low bit is residency, the rest is reserved.
    let answered = !states.contains(&NO_RESIDENCY);
    Ok(answered.then(|| states.iter().map(|state| state & 1 == 1).collect()))
}

/// get_mempolicy(2): returns the mode, or the node for `MPOL_F_NODE`, and fills the
/// mask with the policy's nodes. A refusal says what was asked by `arguments`.
pub(crate) fn get_mempolicy(
    mask: Option<&mut [c_ulong]>,
    address: usize,
    flags: c_ulong,
    arguments: impl Display,
) -> Result<c_int, Refusal> {
    let mut answer = NO_ANSWER;
    // The kernel counts the bits from one: it uses maxnode - 1 of them.
    let (words, maxnode) = match mask {
        Some(words) => (words.as_mut_ptr(), crate::bit_mask::bits(words) as c_ulong + 1),
        None => (ptr::null_mut(), 0),
    };
    // SAFETY: the kernel writes one int to `answer` and at most maxnode - 1 bits to the
    // mask, both live; the address is looked up in the page tables, not trusted.
    let status = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut answer, words, maxnode, address, flags)
    };
    match (status, answer) {
        (0, NO_ANSWER) => {
            Err(Refusal::Unanswered { call: "get_mempolicy", arguments: arguments.to_string() })
        }
        (0, answer) => Ok(answer),
        _ => Err(Refusal::call("get_mempolicy", arguments, Errno::last())),
    }
}
