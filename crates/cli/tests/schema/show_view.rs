//! The arrays of `show`, one for each experiment, with every optional field given and null.

use nearfar_machine::{CpuSet, HostMemory, MemoryKind, TransferDirection};
use nearfar_record::{
    Affinity, ChaseWalk, Experiment, Line, Pages, RoofPurpose, TransferKind, Way, read_record,
};
use nearfar_report::{
    AbsentView, BandwidthView, BesideView, CaseView, CellView, FigureView, FlopsView, HybridView,
    LatencyView, LinkView, LoadView, MixStreamView, MixView, RoofView, RoundsView, RunsView,
    ScalingView, SharingView, ShowView, TimeView, TransferView,
};
use serde_json::Value;

use crate::{every_line, record_text};

/// Where null stands for something that is not known or does not apply.
pub const NULLS: &[&str] = &[
    "cpu",
    "kernel_release",
    "seconds",
    "least_placed",
    "worst_share_deviation",
    "huge_page_share",
    "pairs[].cpu_node",
    "pairs[].figures[].spread_between_rounds",
    "pairs[].figures[].spread_within_rounds",
    "pairs[].figures[].llc_multiple",
    "pairs[].refused[].round",
    "scaling[].llc_multiple",
    "scaling[].omitted[].round",
    "scaling[].refused[].round",
    "scaling[].bandwidth",
    "scaling[].bandwidth.spread_between_rounds",
    "scaling[].bandwidth.spread_within_rounds",
    "scaling[].paced",
    "scaling[].paced.deviation_gb_per_s",
    "scaling[].sum",
    "scaling[].sum.deviation_gb_per_s",
    "sharing[].llc_multiple",
    "sharing[].omitted[].round",
    "sharing[].refused[].round",
    "sharing[].total",
    "sharing[].total.spread_between_rounds",
    "sharing[].total.spread_within_rounds",
    "sharing[].local",
    "sharing[].local.spread_between_rounds",
    "sharing[].local.spread_within_rounds",
    "sharing[].remote",
    "sharing[].remote.spread_between_rounds",
    "sharing[].remote.spread_within_rounds",
    "sharing[].remote_per_thread_gb_per_s",
    "links[].llc_multiple",
    "links[].omitted[].round",
    "links[].refused[].round",
    "links[].cluster",
    "links[].total",
    "links[].total.spread_between_rounds",
    "links[].total.spread_within_rounds",
    "links[].from",
    "links[].from.spread_between_rounds",
    "links[].from.spread_within_rounds",
    "links[].back",
    "links[].back.spread_between_rounds",
    "links[].back.spread_within_rounds",
    "roofs[].llc_multiple",
    "roofs[].omitted[].round",
    "roofs[].refused[].round",
    "roofs[].level",
    "roofs[].node",
    "roofs[].is_local",
    "roofs[].clusters",
    "roofs[].memory_kind",
    "roofs[].bandwidth",
    "roofs[].bandwidth.spread_between_rounds",
    "roofs[].bandwidth.spread_within_rounds",
    "roofs[].flops",
    "roofs[].flops.spread_between_rounds",
    "roofs[].flops.spread_within_rounds",
    "roofs[].core_ghz",
    "roofs[].bytes_per_cycle",
    "roofs[].flops_per_cycle",
    "roofs[].flops_per_byte",
    "roofs[].attainable_gflop_per_s",
    "roofs[].attainable_ratio",
    "hybrid[].llc_multiple",
    "hybrid[].omitted[].round",
    "hybrid[].refused[].round",
    "hybrid[].of",
    "hybrid[].dominating",
    "hybrid[].beside",
    "hybrid[].asked_load_fast_share",
    "hybrid[].found_load_fast_share",
    "hybrid[].asked_store_fast_share",
    "hybrid[].found_store_fast_share",
    "hybrid[].bandwidth",
    "hybrid[].bandwidth.spread_between_rounds",
    "hybrid[].bandwidth.spread_within_rounds",
    "hybrid[].time_ratio",
    "mixes[].llc_multiple",
    "mixes[].omitted[].round",
    "mixes[].refused[].round",
    "mixes[].total",
    "mixes[].total.spread_between_rounds",
    "mixes[].total.spread_within_rounds",
    "mixes[].streams[].cluster",
    "mixes[].streams[].bandwidth",
    "mixes[].streams[].bandwidth.spread_between_rounds",
    "mixes[].streams[].bandwidth.spread_within_rounds",
    "latency[].llc_multiple",
    "latency[].omitted[].round",
    "latency[].refused[].round",
    "latency[].cpu_node",
    "latency[].latency",
    "latency[].translation_ns",
    "latency[].translation_interval_ns",
    "latency[].core_ghz",
    "latency[].load",
    "latency[].load.bandwidth",
    "latency[].load.bandwidth.spread_between_rounds",
    "latency[].load.bandwidth.spread_within_rounds",
    "devices[].llc_multiple",
    "devices[].omitted[].round",
    "devices[].refused[].round",
    "devices[].device_name",
    "devices[].memory_node",
    "devices[].host_memory",
    "devices[].peer",
    "devices[].bandwidth",
    "devices[].bandwidth.spread_between_rounds",
    "devices[].bandwidth.spread_within_rounds",
    "devices[].device_clock_gb_per_s",
    "devices[].copy_us",
    "devices[].beside",
    "devices[].beside.device",
    "devices[].beside.kernel",
    "devices[].beside.variant",
    "devices[].beside.threads",
    "devices[].beside.bandwidth",
    "devices[].beside.bandwidth.spread_between_rounds",
    "devices[].beside.bandwidth.spread_within_rounds",
    "devices[].beside.alone",
    "devices[].beside.alone.spread_between_rounds",
    "devices[].beside.alone.spread_within_rounds",
    "devices[].beside.copies_alone",
    "devices[].beside.copies_alone.spread_between_rounds",
    "devices[].beside.copies_alone.spread_within_rounds",
    "omitted[].round",
    "refused[].round",
];

/// Numbers that can be negative.
pub const SIGNED: &[&str] = &["latency[].translation_ns", "latency[].translation_interval_ns[]"];

/// A view with what is known and what is not of every experiment, and one without any.
pub fn views() -> Vec<(&'static str, Value)> {
    let header = Line::Header(Box::new(every_line::known_header()));
    let record = read_record(record_text(&[header]).as_slice()).unwrap();
    let mut view = ShowView::new(&record);
    let empty = serde_json::to_value(&view).unwrap();
    view.experiments = Experiment::ALL.into();
    view.pairs = both(cell);
    view.scaling = both(scaling);
    view.sharing = both(sharing);
    view.links = both(link);
    view.roofs = both(roof);
    view.hybrid = both(hybrid);
    view.mixes = both(mix);
    view.latency = both(latency);
    view.devices = both(transfer);
    view.devices.extend(
        [beside(true), beside(false)]
            .map(|beside| TransferView { beside: Some(beside), ..transfer(true) }),
    );
    vec![("show", empty), ("show", serde_json::to_value(view).unwrap())]
}

fn both<View>(view: impl Fn(bool) -> View) -> Vec<View> {
    [true, false].map(view).into()
}

fn case(known: bool) -> CaseView {
    let absent = |code| AbsentView {
        case: "a case".into(),
        code,
        reason: "what happened; what to do".into(),
        round: known.then_some(1),
    };
    CaseView {
        case: "a case".into(),
        llc_multiple: known.then_some(4.25),
        omitted: vec![absent("budget")],
        refused: vec![absent("no_room")],
    }
}

fn rounds(known: bool) -> RoundsView {
    RoundsView {
        confidence: 0.969,
        rounds: 6,
        samples: 12,
        disturbed: 1,
        only_disturbed: false,
        spread_between_rounds: known.then_some(0.02),
        spread_within_rounds: known.then_some(0.01),
    }
}

/// A bandwidth, its spreads known or null.
fn bandwidth(known: bool) -> BandwidthView {
    BandwidthView {
        sum_gb_per_s: 12.5,
        sum_interval_gb_per_s: [12.25, 12.75],
        paced_gb_per_s: 12.0,
        paced_interval_gb_per_s: [11.75, 12.25],
        rounds: rounds(known),
    }
}

fn cell(known: bool) -> CellView {
    let figure = FigureView {
        case: "a case".into(),
        variant: "avx512".into(),
        bandwidth: bandwidth(known),
        llc_multiple: known.then_some(4.25),
    };
    CellView {
        initiator: "cluster".into(),
        index: 0,
        cluster: 0,
        cpu_node: known.then_some(0),
        cpus: "0-1".parse().unwrap(),
        memory_node: 1,
        kernel: "triad".into(),
        threads: 2,
        peak: known,
        figures: vec![figure],
        refused: case(known).refused,
    }
}

fn scaling(known: bool) -> ScalingView {
    let runs = RunsView {
        mean_gb_per_s: 12.0,
        deviation_gb_per_s: Some(0.5),
        min_gb_per_s: 11.5,
        max_gb_per_s: 12.5,
        runs_gb_per_s: vec![11.5, 12.5],
    };
    ScalingView {
        case: case(known),
        kernel: "copy".into(),
        variant: "avx512".into(),
        threads: 2,
        affinity: if known { Affinity::Scatter } else { Affinity::Unbound },
        bandwidth: known.then(|| bandwidth(known)),
        paced: known.then(|| runs.clone()),
        sum: known.then_some(runs),
    }
}

fn sharing(known: bool) -> SharingView {
    SharingView {
        case: case(known),
        memory_node: 0,
        local_cluster: 0,
        remote_cluster: 1,
        local_threads: 2,
        remote_threads: 1,
        kernel: "triad".into(),
        variant: "avx512".into(),
        total: known.then(|| bandwidth(known)),
        local: known.then(|| bandwidth(known)),
        remote: known.then(|| bandwidth(known)),
        remote_per_thread_gb_per_s: known.then_some(4.0),
    }
}

fn link(known: bool) -> LinkView {
    LinkView {
        case: case(known),
        from_package: 0,
        to_package: 1,
        cluster: known.then_some(0),
        way: if known { Way::BothWays } else { Way::OneWay },
        kernel: "copy_nt".into(),
        variant: "avx512".into(),
        threads: 2,
        total: known.then(|| bandwidth(known)),
        from: known.then(|| bandwidth(known)),
        back: known.then(|| bandwidth(known)),
    }
}

fn roof(known: bool) -> RoofView {
    let flops = FlopsView {
        sum_gflop_per_s: 64.0,
        sum_interval_gflop_per_s: [63.0, 65.0],
        paced_gflop_per_s: 62.0,
        paced_interval_gflop_per_s: [61.0, 63.0],
        rounds: rounds(known),
    };
    RoofView {
        case: case(known),
        cluster: 0,
        limit: if known { "contended" } else { "compute" },
        level: known.then_some(1),
        node: known.then_some(0),
        is_local: known.then_some(true),
        clusters: known.then_some(4),
        memory_kind: known.then_some(MemoryKind::Dram),
        kernel: if known { "1l_4fma" } else { "fma_dp" }.into(),
        variant: "avx512".into(),
        threads: 2,
        purpose: if known { RoofPurpose::Validation } else { RoofPurpose::Roof },
        bandwidth: known.then(|| bandwidth(known)),
        flops: known.then_some(flops),
        core_ghz: known.then_some(2.5),
        bytes_per_cycle: known.then_some(64.0),
        flops_per_cycle: known.then_some(16.0),
        flops_per_byte: known.then_some(1.0),
        attainable_gflop_per_s: known.then_some(64.0),
        attainable_ratio: known.then_some(0.99),
        cpus: CpuSet::new(),
        actor: 0,
    }
}

fn transfer(known: bool) -> TransferView {
    TransferView {
        case: case(known),
        device: "cuda0".into(),
        device_name: known.then(|| "An accelerator".into()),
        cluster: 0,
        memory_node: known.then_some(0),
        direction: if known { TransferDirection::ToHost } else { TransferDirection::ToPeer },
        host_memory: known.then_some(HostMemory::Pinned),
        peer: (!known).then(|| "cuda1".into()),
        bytes: 1 << 20,
        bandwidth: known.then(|| bandwidth(known)),
        device_clock_gb_per_s: known.then_some(12.75),
        copy_us: known.then_some(84.0),
        beside: None,
        actor: 0,
        shares_host_memory: false,
    }
}

fn beside(known: bool) -> BesideView {
    BesideView {
        device: (!known).then(|| "cuda1".into()),
        kernel: known.then(|| "load".into()),
        variant: known.then(|| "avx512".into()),
        threads: known.then_some(2),
        bandwidth: known.then(|| bandwidth(false)),
        alone: known.then(|| bandwidth(false)),
        copies_alone: known.then(|| bandwidth(false)),
    }
}

fn hybrid(known: bool) -> HybridView {
    let kind = |kind| known.then_some(kind);
    HybridView {
        case: case(known),
        cluster: 0,
        fast_node: 1,
        fast_kind: MemoryKind::Hbm,
        slow_node: 0,
        slow_kind: MemoryKind::Dram,
        point: if known { "pair" } else { "surface" },
        of: kind(TransferKind::SlowStore),
        dominating: kind(TransferKind::FastLoad),
        beside: kind(TransferKind::SlowLoad),
        loads: 2,
        stores: 1,
        load_share: 0.75,
        fast_share: 0.5,
        asked_load_fast_share: known.then_some(0.5),
        found_load_fast_share: known.then_some(0.5),
        asked_store_fast_share: known.then_some(0.5),
        found_store_fast_share: known.then_some(0.5),
        kernel: "2l1nt".into(),
        variant: "avx512".into(),
        threads: 2,
        bandwidth: known.then(|| bandwidth(known)),
        time_ratio: known.then_some(0.9),
    }
}

fn mix(known: bool) -> MixView {
    let stream = MixStreamView {
        cluster: known.then_some(0),
        threads: 2,
        kernel: "load".into(),
        variant: "avx512".into(),
        memory: if known { "preferred:0" } else { "interleave:0-1" }.into(),
        bandwidth: known.then(|| bandwidth(known)),
        place: String::new(),
        actor: 0,
    };
    MixView {
        case: case(known),
        index: 0,
        total: known.then(|| bandwidth(known)),
        streams: vec![stream],
    }
}

fn latency(known: bool) -> LatencyView {
    let time = TimeView {
        median_ns: 100.5,
        interval_ns: [99.5, 101.5],
        confidence: 0.969,
        rounds: 6,
        samples: 12,
        disturbed: 1,
        only_disturbed: false,
    };
    let load = LoadView {
        kernel: "2l1s".into(),
        variant: "avx512".into(),
        threads: 3,
        pause_cycles: 64,
        bandwidth: Some(bandwidth(known)),
    };
    LatencyView {
        case: case(known),
        cluster: 0,
        cpu_node: known.then_some(0),
        memory_node: 1,
        working_set_bytes: 1 << 30,
        pages: if known { Pages::Transparent } else { Pages::Small },
        walk: if known { ChaseWalk::Anywhere } else { ChaseWalk::PageGroups },
        in_matrix: known,
        latency: known.then_some(time),
        has_empty_round: false,
        translation_ns: known.then_some(5.0),
        translation_interval_ns: known.then_some([-1.0, 9.0]),
        is_translation_noise: known,
        core_ghz: known.then_some(2.5),
        load: known.then_some(load),
    }
}
