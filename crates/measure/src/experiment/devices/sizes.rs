//! How much is copied at a time.

use std::collections::BTreeMap;

use nearfar_machine::{Accelerator, HostMemory, TransferDirection as Direction};
use nearfar_record::{Absent, Case, ReasonCode, Suite};

use super::{Place, far, near, size_word};
use crate::experiment::omitted::omitted;
use crate::experiment::setting::Setting;

const KIB: u64 = 1 << 10;

/// SHOC's sizes: 20 from 1 KiB to 512 MiB, each twice the one before.
const ALL: u32 = 20;

/// The short set: every fourth, so that both the time of a small copy and the bandwidth of a large
/// one are there, and one size between where the two are equal on most links.
const SHORT: [u64; 5] = [KIB, 16 * KIB, 256 * KIB, 4096 * KIB, 65536 * KIB];

/// The sizes of a device's copies.
pub(super) struct Sizes {
    /// What is asked for, ascending.
    wanted: Vec<u64>,
    /// Most bytes of one copy with one way in use, by node; none where nothing limits it.
    most: BTreeMap<u32, Option<u64>>,
    device: String,
}

impl Sizes {
    pub fn of(setting: Setting<'_>, device: &Accelerator, places: &[Place]) -> Self {
        let wanted = match (setting.inputs.working_set_bytes, setting.inputs.suite) {
            // A copy is whole elements of 8 bytes.
            (Some(forced), _) => vec![(forced / 8 * 8).max(8)],
            (None, Suite::Full) => (0..ALL).map(|power| KIB << power).collect(),
            (None, Suite::Quick | Suite::Standard) => SHORT.to_vec(),
        };
        // A quarter of the room, as for arrays.
        let of_node = |place: &Place| {
            let room = [setting.available_on(place.node), device.memory_bytes];
            (place.node, room.into_iter().flatten().min().map(|bytes| bytes / 4))
        };
        Self { wanted, most: places.iter().map(of_node).collect(), device: device.id.clone() }
    }

    /// Whether a copy of this size has room.
    fn fits(&self, node: u32, direction: Direction, bytes: u64) -> bool {
        let most = self.most.get(&node).copied().flatten();
        most.is_none_or(|most| bytes.saturating_mul(u64::from(direction.ways())) <= most)
    }

    /// The largest size that has room.
    pub fn largest(&self, node: u32, direction: Direction) -> Option<u64> {
        self.wanted.iter().rev().copied().find(|&bytes| self.fits(node, direction, bytes))
    }

    /// What has no room, each node once.
    pub fn absent(&self) -> Vec<Absent> {
        let of_node = |&node: &u32| {
            let direction = Direction::ToDevice;
            let too_large = self.wanted.iter().find(|&&it| !self.fits(node, direction, it))?;
            let text = format!(
                "copies of {} and more do not fit in a quarter of the memory that node {node} or \
                 the device has free",
                size_word(*too_large)
            );
            let case = format!("devices/{}/node{node}", self.device);
            Some(omitted(case, ReasonCode::TooLarge, text))
        };
        self.most.keys().filter_map(of_node).collect()
    }

    /// The smaller sizes, each way, on the node next to the device; in `full` pageable memory and
    /// the farthest node as well.
    pub fn curve_cases(
        &self,
        setting: Setting<'_>,
        device: &Accelerator,
        places: &[Place],
    ) -> Vec<Case> {
        let is_full = setting.inputs.suite == Suite::Full;
        if setting.inputs.suite == Suite::Quick {
            return Vec::new();
        }
        let far = far(setting, device, places).filter(|_| is_full);
        let memories = if is_full { &HostMemory::ALL[..] } else { &[HostMemory::Pinned][..] };
        let mut cases = Vec::new();
        for place in near(device, places).into_iter().chain(far) {
            for &memory in memories {
                for direction in [Direction::ToDevice, Direction::ToHost] {
                    let largest = self.largest(place.node, direction);
                    let smaller = self.wanted.iter().filter(|&&it| Some(it) < largest);
                    cases.extend(
                        smaller.map(|&it| place.alone(setting, device, direction, memory, it)),
                    );
                }
            }
        }
        cases
    }
}
