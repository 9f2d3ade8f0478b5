//! Folders that stand for the root of a file system in tests.

use std::fs;

use tempfile::TempDir;

/// A folder with these files, by path and text; a path that ends in `/` is a folder.
pub(crate) fn file_tree<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let below = root.path().join(path);
        let folder = if path.ends_with('/') { Some(below.as_path()) } else { below.parent() };
        fs::create_dir_all(folder.unwrap()).unwrap();
        if !path.ends_with('/') {
            fs::write(below, text).unwrap();
        }
    }
    root
}
