//! A virtual wire between the network adapters of two guests.

use std::path::PathBuf;

use tempfile::TempDir;

/// A wire whose packets are datagrams of this machine, lost while the other end's guest is not there. No port
/// is taken, no network of this machine seen.
#[derive(Debug)]
pub struct Wire {
    folder: TempDir,
    megabits_per_s: u32,
}

/// One end of a [`Wire`], which must live as long: an adapter near a node of a guest.
#[derive(Debug, Clone)]
pub struct WireEnd {
    pub node: u32,
    number: u8,
    ends: [PathBuf; 2],
    megabits_per_s: u32,
}

impl Wire {
    /// A wire whose adapters say that their link carries so much; nothing holds packets to it.
    ///
    /// # Errors
    /// When no temporary folder can be made.
    pub fn new(megabits_per_s: u32) -> std::io::Result<Self> {
        Ok(Self { folder: tempfile::tempdir()?, megabits_per_s })
    }

    /// Its two ends, each near that node of its guest.
    pub fn ends(&self, nodes: [u32; 2]) -> [WireEnd; 2] {
        let ends = ["0", "1"].map(|name| self.folder.path().join(name));
        let megabits_per_s = self.megabits_per_s;
        [0_u8, 1].map(|number| WireEnd {
            node: nodes[usize::from(number)],
            number,
            ends: ends.clone(),
            megabits_per_s,
        })
    }
}

impl WireEnd {
    pub(crate) fn netdev(&self) -> String {
        let own = usize::from(self.number);
        let [own, other] = [own, 1 - own].map(|end| self.ends[end].display());
        format!(
            "dgram,id=wire,local.type=unix,local.path={own},remote.type=unix,remote.path={other}"
        )
    }

    pub(crate) fn device(&self) -> String {
        format!(
            "virtio-net-pci,netdev=wire,mac=52:54:00:00:00:0{},speed={},duplex=full",
            self.number, self.megabits_per_s
        )
    }
}
