//! Sets the weights of the kernel's weighted interleave, of which there is one set for the whole
//! system (Linux 6.9): root's, and for every program that asks for weighted interleave.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nearfar_units::excerpt;

use crate::loss::Loss;

const FOLDER: &str = "sys/kernel/mm/mempolicy/weighted_interleave";

/// Weights that were written, and what they were before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelWeights {
    /// Pages in a turn of each node that was written.
    pub written: BTreeMap<u32, u32>,
    /// The same before.
    pub before: BTreeMap<u32, u32>,
    /// Whether the kernel had computed the weights by itself, which writing ends (Linux 6.16).
    pub was_automatic: bool,
}

/// The kernel's weights of these nodes: pages in a turn; or why there are none, in words.
pub(crate) fn kernel_weights(
    root: &Path,
    nodes: impl Iterator<Item = u32>,
) -> Result<BTreeMap<u32, u32>, String> {
    let weight = |node| {
        let path = format!("{FOLDER}/node{node}");
        let text = fs::read_to_string(root.join(&path))
            .map_err(|error| format!("cannot read /{path}: {error}"))?;
        let weight = text.trim().parse().ok().filter(|&weight| weight > 0);
        let weight =
            weight.ok_or_else(|| format!("/{path}: '{}' is not a weight", excerpt(text.trim())))?;
        Ok((node, weight))
    };
    nodes.map(weight).collect()
}

/// Writes the kernel's weights of these nodes; those of others stay. Where one is refused, those
/// before it are taken back.
///
/// # Errors
/// When the kernel has no weights, or this process may not write them.
pub fn set_kernel_weights(
    root: &Path,
    weights: &BTreeMap<u32, u32>,
) -> Result<KernelWeights, Loss> {
    let what = "the kernel's weights of nodes";
    let before = kernel_weights(root, weights.keys().copied()).map_err(|reason| {
        let remedy = "weighted interleave came with Linux 6.9; without --set-kernel-weights pages are \
                      moved instead";
        Loss { what: what.into(), reason, remedy: Some(remedy.into()) }
    })?;
    let folder = root.join(FOLDER);
    let automatic = fs::read_to_string(folder.join("auto")).unwrap_or_default();
    let set = KernelWeights {
        written: weights.clone(),
        before,
        was_automatic: matches!(automatic.trim(), "1" | "true" | "Y"),
    };
    for (at, (&node, weight)) in weights.iter().enumerate() {
        let file = folder.join(format!("node{node}"));
        if let Err(error) = fs::write(&file, format!("{weight}\n")) {
            set.take_back(&folder, at);
            return Err(Loss {
                what: what.into(),
                reason: format!("cannot write {weight} to {}: {error}", file.display()),
                remedy: Some(
                    "only root may set them, outside of containers; without --set-kernel-weights \
                     pages are moved instead"
                        .into(),
                ),
            });
        }
    }
    Ok(set)
}

impl KernelWeights {
    /// Writes the former weights of the first this many nodes, as far as the kernel takes them.
    fn take_back(&self, folder: &Path, nodes: usize) {
        for (node, weight) in self.before.iter().take(nodes) {
            fs::write(folder.join(format!("node{node}")), format!("{weight}\n")).ok();
        }
        if self.was_automatic {
            fs::write(folder.join("auto"), "1\n").ok();
        }
    }

    /// What was written and how it is taken back, in a sentence.
    pub fn sentence(&self) -> String {
        let words = |weights: &BTreeMap<u32, u32>| {
            let words: Vec<String> =
                weights.iter().map(|(node, weight)| format!("{node}={weight}")).collect();
            words.join(",")
        };
        let back = if self.was_automatic {
            format!("echo 1 >/{FOLDER}/auto")
        } else {
            let lines =
                self.before.iter().map(|(node, weight)| format!("; echo {weight} >node{node}"));
            format!("cd /{FOLDER}{}", lines.collect::<String>())
        };
        format!(
            "the kernel's weights of nodes are now {}, and stay so for every program that asks for \
             weighted interleave; they were {}{}; to restore them: {back}",
            words(&self.written),
            words(&self.before),
            if self.was_automatic { " by the kernel's own account" } else { "" },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(FOLDER)).unwrap();
        for (name, text) in files {
            fs::write(root.path().join(FOLDER).join(name), text).unwrap();
        }
        root
    }

    fn read(root: &tempfile::TempDir, name: &str) -> String {
        fs::read_to_string(root.path().join(FOLDER).join(name)).unwrap()
    }

    #[test]
    fn weights_are_written_and_the_way_back_is_told() {
        let root = kernel(&[("node0", "1\n"), ("node1", "5\n"), ("node2", "7\n")]);
        let set = set_kernel_weights(root.path(), &[(0, 4), (1, 2)].into()).unwrap();
        assert_eq!((read(&root, "node0"), read(&root, "node1")), ("4\n".into(), "2\n".into()));
        assert_eq!(read(&root, "node2"), "7\n");
        let sentence = set.sentence();
        for words in ["now 0=4,1=2", "were 0=1,1=5;", "echo 1 >node0; echo 5 >node1"] {
            assert!(sentence.contains(words), "{sentence}");
        }
        let root = kernel(&[("node0", "1\n"), ("auto", "true\n")]);
        let set = set_kernel_weights(root.path(), &[(0, 4)].into()).unwrap();
        assert!(
            set.sentence().ends_with("echo 1 >/sys/kernel/mm/mempolicy/weighted_interleave/auto")
        );
    }

    #[test]
    fn a_kernel_without_weights_changes_nothing_and_says_what_to_do() {
        let root = kernel(&[("node0", "3\n")]);
        let loss = set_kernel_weights(root.path(), &[(0, 4), (1, 2)].into()).unwrap_err();
        assert!(loss.remedy.unwrap().contains("6.9"));
        assert_eq!(read(&root, "node0"), "3\n");
        let root = kernel(&[("node0", "3\n"), ("node1", "0\n")]);
        assert_eq!(kernel_weights(root.path(), [0].into_iter()), Ok([(0, 3)].into()));
        assert!(kernel_weights(root.path(), [0, 1].into_iter()).is_err());
    }

    /// A file that nobody may write stands for a refusal: root as well is refused it.
    #[test]
    fn what_was_written_before_a_refusal_is_taken_back() {
        let root = kernel(&[("node0", "3\n")]);
        let refusing = root.path().join(FOLDER).join("node1");
        std::os::unix::fs::symlink("/proc/sys/kernel/ngroups_max", refusing).unwrap();
        let loss = set_kernel_weights(root.path(), &[(0, 4), (1, 2)].into()).unwrap_err();
        assert!(loss.reason.contains("cannot write 2 to"), "{loss:?}");
        assert!(loss.remedy.unwrap().contains("only root"));
        assert_eq!(read(&root, "node0"), "3\n");
    }
}
