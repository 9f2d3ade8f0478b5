//! The system calls that say where a page is: move_pages(2) as a query,
//! get_mempolicy(2) by address, mincore(2).
//!
//! Pages that are asked about are base pages, or larger ones where the caller knows that each
//! is in memory as one: one address stands for all of it then.

use std::ffi::{c_int, c_ulong, c_void};
use std::fmt::Display;
use std::iter;
use std::ptr;

use crate::address_range::AddressRange;
use crate::refusal::{Errno, Refusal};

/// `MPOL_F_NODE` of get_mempolicy(2): answer with a node, not with a policy.
const MPOL_F_NODE: c_ulong = 1;
/// `MPOL_F_ADDR` of get_mempolicy(2): about the page or range at the address.
pub(crate) const MPOL_F_ADDR: c_ulong = 2;
/// `MPOL_F_MEMS_ALLOWED` of get_mempolicy(2): answer with the nodes of the cpuset.
pub(crate) const MPOL_F_MEMS_ALLOWED: c_ulong = 4;

/// Base pages asked about in one call: 128 KiB of addresses, small beside any working set.
const BATCH: usize = 16_384;

/// Pages of this size asked about, or moved, in one call.
fn batch(page_bytes: usize) -> usize {
    (BATCH * base_page_bytes() / page_bytes).max(1)
}

/// What answers hold before the kernel writes them, so that one it never wrote is no
/// answer: no node, no negated error of its own, no mode.
pub(crate) const NO_ANSWER: c_int = c_int::MIN;

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
pub fn base_page_bytes() -> usize {
    // SAFETY: no memory is involved.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // POSIX has no system without a page size; 4096 is the smallest of Linux.
    usize::try_from(bytes).unwrap_or(4096).max(4096)
}

/// Start addresses of the pages of a range, as many at once as are asked about in one call.
pub(crate) fn batches(range: AddressRange, page_bytes: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut pages = range.pages(page_bytes);
    iter::from_fn(move || Some(pages.by_ref().take(batch(page_bytes)).collect()))
        .take_while(|batch: &Vec<usize>| !batch.is_empty())
}

/// Asks move_pages(2) for the node of pages of a process. Does not fault pages in.
pub(crate) fn query_move_pages(
    pid: u32,
    pages: &[usize],
    page_bytes: usize,
) -> Result<Vec<PageState>, Refusal> {
    let Some(&first) = pages.first() else { return Ok(Vec::new()) };
    let mut states = vec![NO_ANSWER; pages.len()];
    let what = format_args!("query of {} pages", pages.len());
    call_move_pages(pid, pages, None, &mut states, what)?;
    if states.contains(&NO_ANSWER) {
        return Err(Refusal::Unanswered { call: "move_pages", arguments: what.to_string() });
    }
    let is_in_doubt = pid == OWN && states.iter().any(|&state| is_doubtful(state));
    let resident = match is_in_doubt {
        // It fails on holes.
        true => resident_pages(first, pages.len(), page_bytes).ok().flatten(),
        false => None,
    };
    let judge = |(number, (&page, &state)): (usize, (&usize, &c_int))| {
        judge_state(page, state, resident.as_ref().map(|all| all[number]))
    };
    Ok(pages.iter().zip(&states).enumerate().map(judge).collect())
}

/// Whether mincore(2) is to be asked: kernels tell absent pages in different ways.
fn is_doubtful(state: c_int) -> bool {
    state == -libc::ENOENT || state == -libc::EFAULT
}

/// What move_pages(2) said of a page. Of an absent anonymous page Linux 6.12 says ENOENT and 6.1
/// says EFAULT, as it does of the zero page. Of a page that NUMA balancing has marked, so that
/// the next access shows who makes it, 6.1 says ENOENT although it is present, or EFAULT where it is
/// huge; get_mempolicy(2) is such an access, and knows, but does not tell the zero page from memory:
/// of what may be that, move_pages(2) is asked once more behind the access.
fn judge_state(page: usize, state: c_int, resident: Option<bool>) -> PageState {
    if let Ok(node) = u32::try_from(state) {
        return PageState::OnNode(node);
    }
    match (is_doubtful(state), resident) {
        (true, Some(false)) => PageState::Absent,
        (true, Some(true)) => {
            let node = node_by_get_mempolicy(page).unwrap_or(PageState::Unknown);
            if state == -libc::ENOENT { node } else { node_asked_again(page) }
        }
        (true, None) if state == -libc::ENOENT => PageState::Absent,
        _ => PageState::Unknown,
    }
}

fn node_asked_again(page: usize) -> PageState {
    let mut state = [NO_ANSWER];
    let what = format_args!("second query of the page at {page:#x}");
    call_move_pages(OWN, &[page], None, &mut state, what).ok();
    u32::try_from(state[0]).map_or(PageState::Unknown, PageState::OnNode)
}

/// This process, for move_pages(2).
pub(crate) const OWN: u32 = 0;

/// Of move_pages(2): pages that the process has alone.
pub(crate) const MPOL_MF_MOVE: c_int = 2;
/// Of move_pages(2): all pages.
pub(crate) const MPOL_MF_MOVE_ALL: c_int = 4;

/// move_pages(2) of pages of a process: to nodes, one for each page, with flags, or as a query. The
/// kernel's answers come in `states`; returns the number of pages that it says it did not move.
pub(crate) fn call_move_pages(
    pid: u32,
    pages: &[usize],
    to: Option<(&[c_int], c_int)>,
    states: &mut [c_int],
    arguments: impl Display,
) -> Result<u64, Refusal> {
    let (nodes, flags) = to.map_or((None, 0), |(nodes, flags)| (Some(nodes), flags));
    let pid = match c_int::try_from(pid) {
        Ok(pid) => pid,
        Err(_) => return Err(Refusal::call("move_pages", arguments, Errno(libc::ESRCH))),
    };
    let count = pages.len().min(states.len()).min(nodes.map_or(usize::MAX, <[c_int]>::len));
    let addresses: Vec<*mut c_void> =
        pages.iter().copied().map(ptr::without_provenance_mut).collect();
    // SAFETY: the kernel reads `count` addresses, which it does not follow on our behalf, and
    // as many nodes where there are some, and writes as many numbers to `states`. A page that
    // moves keeps its address and what it holds.
    let status = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            pid,
            count as c_ulong,
            addresses.as_ptr(),
            nodes.map_or(ptr::null(), <[c_int]>::as_ptr),
            states.as_mut_ptr(),
            flags,
        )
    };
    u64::try_from(status).map_err(|_| Refusal::call("move_pages", arguments, Errno::last()))
}

/// Asks get_mempolicy(2) for the node of every page that mincore(2) calls
/// resident. The order matters: get_mempolicy reads the page, and so would make an
/// absent one present (as the zero page, on whatever node that is). A zero page
/// that is there already cannot be told from memory this way.
pub(crate) fn query_get_mempolicy(
    range: AddressRange,
    page_bytes: usize,
    mut each: impl FnMut(PageState),
) -> Result<(), Refusal> {
    query_resident(range, page_bytes, |page, resident| {
        each(if resident { node_by_get_mempolicy(page)? } else { PageState::Absent });
        Ok(())
    })
}

/// The node of a page that is resident.
fn node_by_get_mempolicy(page: usize) -> Result<PageState, Refusal> {
    let arguments = format_args!("node of the page at {page:#x}");
    let node = get_mempolicy(None, page, MPOL_F_NODE | MPOL_F_ADDR, arguments)?;
    Ok(u32::try_from(node).map_or(PageState::Unknown, PageState::OnNode))
}

/// Asks mincore(2) of every page whether it is resident.
pub(crate) fn query_resident(
    range: AddressRange,
    page_bytes: usize,
    mut each: impl FnMut(usize, bool) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    for pages in batches(range, page_bytes) {
        let resident = resident_pages(pages[0], pages.len(), page_bytes)
            .map_err(|errno| Refusal::call("mincore", range, errno))?
            .ok_or_else(|| Refusal::Unanswered { call: "mincore", arguments: range.to_string() })?;
        for (page, resident) in pages.into_iter().zip(resident) {
            each(page, resident)?;
        }
    }
    Ok(())
}

/// mincore(2) of `count` pages, which answers for base pages: the first of each counts. Fails
/// when one of them is not mapped; `None` when it wrote no answer.
fn resident_pages(
    first: usize,
    count: usize,
    page_bytes: usize,
) -> Result<Option<Vec<bool>>, Errno> {
    let base = base_page_bytes();
    let bytes = count * page_bytes;
    let mut states = vec![NO_RESIDENCY; bytes / base];
    // SAFETY: the kernel looks the addresses up without reading through them, and
    // writes one byte a base page to `states`.
    let status =
        unsafe { libc::mincore(ptr::without_provenance_mut(first), bytes, states.as_mut_ptr()) };
    if status != 0 {
        return Err(Errno::last());
    }
    // The low bit is residency, the rest is reserved.
    let answered = !states.contains(&NO_RESIDENCY);
    let firsts = states.iter().step_by((page_bytes / base).max(1));
    Ok(answered.then(|| firsts.map(|state| state & 1 == 1).collect()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageRequest};

    #[test]
    fn what_kernels_say_of_pages_is_told_apart() {
        let mut mapping = Mapping::new(1, PageRequest::Small).unwrap();
        mapping.as_f64_mut().fill(1.0);
        let page = mapping.address();
        let node = node_by_get_mempolicy(page).unwrap();
        assert!(matches!(node, PageState::OnNode(_)));
        for (state, resident, expected) in [
            (3, None, PageState::OnNode(3)),
            (-libc::ENOENT, None, PageState::Absent),
            (-libc::ENOENT, Some(false), PageState::Absent),
            // Marked by NUMA balancing.
            (-libc::ENOENT, Some(true), node),
            (-libc::EFAULT, Some(false), PageState::Absent),
            // Marked so while it is huge, and a hole.
            (-libc::EFAULT, Some(true), node),
            (-libc::EFAULT, None, PageState::Unknown),
            (-libc::EBUSY, Some(true), PageState::Unknown),
            (-libc::EBUSY, Some(false), PageState::Unknown),
        ] {
            assert_eq!(judge_state(page, state, resident), expected, "{state} {resident:?}");
        }
        let untouched = Mapping::new(1, PageRequest::Small).unwrap();
        assert_eq!(untouched.as_f64()[0].to_bits(), 0);
        let zero_page = judge_state(untouched.address(), -libc::EFAULT, Some(true));
        assert_eq!(zero_page, PageState::Unknown, "no memory of its own");
    }

    #[test]
    fn larger_pages_are_asked_about_once() {
        let base = base_page_bytes();
        let mut mapping = Mapping::new(64 * base, PageRequest::Small).unwrap();
        mapping.as_f64_mut()[..32 * base / size_of::<f64>()].fill(1.0);
        let (mut asked, mut resident) = (Vec::new(), Vec::new());
        for pages in batches((&mapping).into(), 8 * base) {
            let states = query_move_pages(OWN, &pages, 8 * base).unwrap();
            asked.extend(pages.into_iter().zip(states.iter().map(|it| *it != PageState::Absent)));
        }
        query_resident((&mapping).into(), 8 * base, |page, is_there| {
            resident.push((page, is_there));
            Ok(())
        })
        .unwrap();
        let of_page = |number: usize| (mapping.address() + number * 8 * base, number < 4);
        assert_eq!(asked, (0..8).map(of_page).collect::<Vec<_>>());
        assert_eq!(resident, asked);
    }
}
