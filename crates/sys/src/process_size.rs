//! How large a process is, by the kernel's counters.

use std::path::Path;

use crate::page_query::base_page_bytes;
use crate::process::task_numbers;
use crate::system_file::read_text;

/// What the kernel's counters say of a process, which takes far less time than to look where its pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessSize {
    pub parent: u32,
    /// Page faults without reading from disk since its start.
    pub faults: u64,
    /// Where its first stack begins, the same in a copy by fork(2) until it becomes another program; 0 where
    /// that is not told.
    pub first_stack: u64,
    pub resident_bytes: u64,
    /// Memory of its own, with what it has in common with copies of it; behind by some pages for each thread.
    pub own_bytes: u64,
}

/// The size of a process, where it was as it is now `before` in less time; `None` where it has no memory (any more).
pub fn process_size(root: &Path, pid: u32, before: Option<&ProcessSize>) -> Option<ProcessSize> {
    let read = |folder: &str| {
        let size = parse_process_size(&read_text(root, format!("proc/{folder}/stat")).ok()?)?;
        let is_same =
            |before: &&ProcessSize| ProcessSize { own_bytes: before.own_bytes, ..size } == **before;
        if let Some(before) = before.filter(is_same) {
            return Some(*before);
        }
        let statm = read_text(root, format!("proc/{folder}/statm")).ok()?;
        let mut pages = statm.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
        let (all, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
        let own_bytes = all.saturating_sub(shared).saturating_mul(base_page_bytes() as u64);
        Some(ProcessSize { own_bytes, ..size })
    };
    let size = read(&pid.to_string())?;
    if size.resident_bytes > 0 {
        return Some(size);
    }
    // The first thread has ended; the others have the memory.
    let others = task_numbers(root, pid).ok()?.into_iter().filter(|&tid| tid != pid);
    let mut found = others.filter_map(|tid| read(&format!("{pid}/task/{tid}")));
    let other = found.find(|other| other.resident_bytes > 0)?;
    Some(ProcessSize { faults: size.faults, ..other })
}

/// From the text of stat.
fn parse_process_size(stat: &str) -> Option<ProcessSize> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // The first word behind the name is field 3 of proc(5).
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(ProcessSize {
        parent: u32::try_from(field(4)?).ok()?,
        faults: field(10)?,
        first_stack: field(28)?,
        resident_bytes: field(24)?.saturating_mul(base_page_bytes() as u64),
        own_bytes: 0,
    })
}

/// The number that the system gave last to a process or thread: while it stays, there are no new ones.
pub fn newest_process(root: &Path) -> Option<u32> {
    read_text(root, "proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_recorded_files() {
        let stat = |pid: u32, faults: u64, resident: u64| {
            let mut fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
            fields[1] = "5".into();
            fields[7] = faults.to_string();
            fields[21] = resident.to_string();
            format!("{pid} (a) b) {}\n", fields.join(" "))
        };
        let page = base_page_bytes() as u64;
        let files = [
            ("proc/7/stat", stat(7, 90, 25)),
            ("proc/7/statm", "900 25 10 1 0 200 0\n".into()),
            ("proc/8/stat", stat(8, 70, 0)),
            ("proc/8/statm", "0 0 0 0 0 0 0\n".into()),
            ("proc/8/task/8/stat", stat(8, 1, 0)),
            ("proc/8/task/9/stat", stat(9, 2, 30)),
            ("proc/8/task/9/statm", "900 30 10 1 0 200 0\n".into()),
        ];
        let files = files.iter().map(|(path, text)| (*path, text.as_str()));
        let tree = crate::file_tree::file_tree(files);
        let size = |faults, resident, own| ProcessSize {
            parent: 5,
            faults,
            first_stack: 28,
            resident_bytes: resident * page,
            own_bytes: own * page,
        };
        let read =
            |pid, before: Option<ProcessSize>| process_size(tree.path(), pid, before.as_ref());
        assert_eq!(read(7, None), Some(size(90, 25, 15)));
        assert_eq!(read(7, Some(size(90, 25, 14))), Some(size(90, 25, 14)), "read before");
        assert_eq!(read(7, Some(size(89, 25, 14))), Some(size(90, 25, 15)));
        assert_eq!(read(8, None), Some(size(70, 30, 20)), "by another thread");
        assert_eq!(read(9, None), None);
        let (root, own) = (Path::new("/"), std::process::id());
        assert!(process_size(root, own, None).unwrap().own_bytes > 1 << 16);
        assert!(newest_process(root).is_some());
    }
}
