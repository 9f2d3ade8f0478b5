//! The columns of coordinates: one set for all experiments, empty where they do not apply.

use nearfar_record::{
    Coordinates, DeviceCoordinates, HybridCoordinates, HybridPoint, LatencyCoordinates,
    LinkCoordinates, PageSplit, PairCoordinates, Roof, RoofCoordinates, SharingCoordinates,
    TransferBeside, TransferCoordinates,
};

use super::row::Row;

impl<'a> Row<'a> {
    /// Fills in where the case stands.
    pub fn set_coordinates(&mut self, place: &'a Coordinates) {
        self.experiment = Some(place.experiment());
        match place {
            Coordinates::Pairs(pair) => self.set_pair(pair),
            Coordinates::Scaling(scaling) => self.affinity = Some(scaling.affinity),
            Coordinates::Sharing(sharing) => self.set_sharing(sharing),
            Coordinates::Links(link) => self.set_link(link),
            Coordinates::Roofs(roof) => self.set_roof(roof),
            Coordinates::Hybrid(hybrid) => self.set_hybrid(hybrid),
            Coordinates::Mixes(mix) => self.mix = Some(mix.index),
            Coordinates::Latency(latency) => self.set_latency(latency),
            Coordinates::Devices(DeviceCoordinates::Transfer(place)) => self.set_transfer(place),
            Coordinates::Devices(DeviceCoordinates::Streams(place)) => {
                self.initiator = Some(place.initiator);
                self.cpu_node = place.cpu_node;
                self.memory_node = Some(place.memory_node);
            }
            // Their samples have no actors, and so no rows.
            Coordinates::Commands(_) => {}
        }
    }

    fn set_pair(&mut self, pair: &PairCoordinates) {
        self.stage = Some(pair.stage);
        self.group_by = Some(pair.group_by);
        self.group_index = Some(pair.index);
        self.initiator = Some(pair.initiator);
        self.cpu_node = pair.cpu_node;
        self.memory_node = Some(pair.memory_node);
    }

    /// The actors are the groups that have threads, the local one first.
    fn set_sharing(&mut self, sharing: &SharingCoordinates) {
        let is_local = self.actor == 0 && sharing.local_threads > 0;
        let of_group = if is_local { sharing.local_initiator } else { sharing.remote_initiator };
        self.group = Some(if is_local { "local" } else { "remote" });
        self.initiator = Some(of_group);
        self.memory_node = Some(sharing.memory_node);
        self.local_initiator = Some(sharing.local_initiator);
        self.remote_initiator = Some(sharing.remote_initiator);
        self.local_threads = Some(sharing.local_threads);
        self.remote_threads = Some(sharing.remote_threads);
    }

    /// Of the transfer and of the streams beside it; a second device has a place of its own.
    fn set_transfer(&mut self, place: &'a TransferCoordinates) {
        self.initiator = Some(place.initiator);
        self.cpu_node = place.cpu_node;
        self.memory_node = place.memory_node;
        self.device = Some(place.device.as_str().into());
        self.peer_device = place.peer.as_deref().map(Into::into);
        self.direction = Some(place.direction);
        self.host_memory = place.host_memory;
        self.beside = place.beside.as_ref().map(|beside| match beside {
            TransferBeside::Streams { kernel, .. } => kernel.as_str().into(),
            TransferBeside::Device { device } => device.as_str().into(),
        });
    }

    fn set_link(&mut self, link: &LinkCoordinates) {
        self.from_package = Some(link.from_package);
        self.to_package = Some(link.to_package);
        self.way = Some(link.way);
        self.initiator = link.initiator;
    }

    fn set_roof(&mut self, place: &RoofCoordinates) {
        self.initiator = Some(place.initiator);
        self.purpose = Some(place.purpose);
        self.limit = Some(match place.roof {
            Roof::Compute => "compute",
            Roof::Cache { level } => {
                self.cache_level = Some(level);
                "cache"
            }
            Roof::Memory { node } => {
                self.memory_node = Some(node);
                "memory"
            }
            Roof::Contended { node, initiators } => {
                (self.memory_node, self.initiators) = (Some(node), Some(initiators));
                "contended"
            }
            Roof::AllLocal { node } => {
                self.memory_node = Some(node);
                "all_local"
            }
            Roof::Interleaved { kind } => {
                self.memory_kind = Some(kind);
                "interleaved"
            }
            Roof::Congested { kind } => {
                self.memory_kind = Some(kind);
                "congested"
            }
        });
    }

    fn set_hybrid(&mut self, place: &HybridCoordinates) {
        self.initiator = Some(place.initiator);
        self.fast_node = Some(place.fast_node);
        self.slow_node = Some(place.slow_node);
        (self.loads, self.stores) = (Some(place.loads), Some(place.stores));
        let share = |split: Option<PageSplit>| {
            split.map(PageSplit::fast_share).filter(|share| share.is_finite())
        };
        self.load_fast_share = share(place.load_pages);
        self.store_fast_share = share(place.store_pages);
        self.point = Some(match place.point {
            HybridPoint::Corner { of } => {
                self.transfer = Some(of);
                "corner"
            }
            HybridPoint::Pair { dominating, beside } => {
                (self.transfer, self.transfer_beside) = (Some(dominating), Some(beside));
                "pair"
            }
            HybridPoint::Surface => "surface",
        });
    }

    fn set_latency(&mut self, place: &'a LatencyCoordinates) {
        self.initiator = Some(place.initiator);
        self.cpu_node = place.cpu_node;
        self.memory_node = Some(place.memory_node);
        self.walk = Some(place.walk);
        if let Some(load) = &place.load {
            self.load_kernel = Some(load.kernel.as_str().into());
            self.load_threads = Some(load.threads);
            self.load_pause_cycles = Some(load.pause_cycles);
        }
    }
}
