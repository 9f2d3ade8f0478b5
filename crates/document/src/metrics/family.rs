//! The families of metrics: what `docs/metrics.md` describes.

/// Name and version of the families; the number grows when one goes or changes its meaning.
pub(super) const SCHEMA: &str = "nearfar.metrics/2";

/// A family of metrics. All are gauges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Family {
    RecordInfo,
    Started,
    MeasuredTime,
    Finished,
    Cases,
    Samples,
    DisturbedSamples,
    ProvenSamples,
    LeastPlaced,
    Warning,
    Bandwidth,
    BandwidthConfidence,
    BandwidthDisturbed,
    BandwidthLlcMultiple,
    Latency,
    LatencyConfidence,
    LatencyDisturbed,
    LatencyPartlyCached,
    NumaFactor,
    RoofBandwidth,
    RoofFlops,
    DeviceInfo,
    LinkLanes,
    LinkSpeed,
    Transfer,
    TransferConfidence,
    TransferDisturbed,
    SmallTransfer,
    RepeatedSeries,
}

impl Family {
    /// Its name; it ends in the unit, where there is one.
    pub fn name(self) -> &'static str {
        match self {
            Self::RecordInfo => "nearfar_record_info",
            Self::Started => "nearfar_started_timestamp_seconds",
            Self::MeasuredTime => "nearfar_measured_seconds",
            Self::Finished => "nearfar_finished",
            Self::Cases => "nearfar_cases",
            Self::Samples => "nearfar_samples",
            Self::DisturbedSamples => "nearfar_disturbed_samples",
            Self::ProvenSamples => "nearfar_proven_samples",
            Self::LeastPlaced => "nearfar_least_placed_ratio",
            Self::Warning => "nearfar_warning",
            Self::Bandwidth => "nearfar_bandwidth_bytes_per_second",
            Self::BandwidthConfidence => "nearfar_bandwidth_confidence_ratio",
            Self::BandwidthDisturbed => "nearfar_bandwidth_disturbed_ratio",
            Self::BandwidthLlcMultiple => "nearfar_bandwidth_llc_multiple_ratio",
            Self::Latency => "nearfar_latency_seconds",
            Self::LatencyConfidence => "nearfar_latency_confidence_ratio",
            Self::LatencyDisturbed => "nearfar_latency_disturbed_ratio",
            Self::LatencyPartlyCached => "nearfar_latency_partly_cached",
            Self::NumaFactor => "nearfar_numa_factor_ratio",
            Self::RoofBandwidth => "nearfar_roof_bytes_per_second",
            Self::RoofFlops => "nearfar_roof_flops_per_second",
            Self::DeviceInfo => "nearfar_device_info",
            Self::LinkLanes => "nearfar_link_lanes",
            Self::LinkSpeed => "nearfar_link_transfers_per_second",
            Self::Transfer => "nearfar_transfer_bytes_per_second",
            Self::TransferConfidence => "nearfar_transfer_confidence_ratio",
            Self::TransferDisturbed => "nearfar_transfer_disturbed_ratio",
            Self::SmallTransfer => "nearfar_small_transfer_seconds",
            Self::RepeatedSeries => "nearfar_repeated_series",
        }
    }

    /// Its unit; `None` for counts and for what is either 0 or 1.
    pub fn unit(self) -> Option<&'static str> {
        let units =
            ["bytes_per_second", "flops_per_second", "transfers_per_second", "seconds", "ratio"];
        units
            .into_iter()
            .find(|unit| self.name().strip_suffix(unit).is_some_and(|rest| rest.ends_with('_')))
    }

    /// What it is, in one sentence without characters that the format escapes.
    pub fn help(self) -> &'static str {
        match self {
            Self::RecordInfo => "The record that the other figures are of; the value is 1.",
            Self::Started => "When measuring began, in seconds since 1970 (UTC).",
            Self::MeasuredTime => "Time that was measured, by all runs that ended in order.",
            Self::Finished => "Whether measuring ended in order: 1 if so, else 0.",
            Self::Cases => "Cases that were measured, omitted or refused.",
            Self::Samples => "Samples in the record.",
            Self::DisturbedSamples => "Samples that something disturbed.",
            Self::ProvenSamples => "Samples whose pages were all proven, by the weakest method.",
            Self::LeastPlaced => "Smallest share of the pages that were on the nodes asked for.",
            Self::Warning => "Warnings that hold, each with the value 1.",
            Self::Bandwidth => "Useful bandwidth of a pair over rounds.",
            Self::BandwidthConfidence => "How often such an interval holds the true median.",
            Self::BandwidthDisturbed => "Disturbed samples / samples; at 1 none was left out.",
            Self::BandwidthLlcMultiple => "Working set / caches; below 4 they may have helped.",
            Self::Latency => "Time of an access on an idle machine, over rounds.",
            Self::LatencyConfidence => "How often such an interval holds the true median.",
            Self::LatencyDisturbed => "Disturbed samples / samples; at 1 none was left out.",
            Self::LatencyPartlyCached => "1 where caches answered a part of the accesses, else 0.",
            Self::NumaFactor => "Time of an access / the least of the initiator's own nodes.",
            Self::RoofBandwidth => "Useful bandwidth that an initiator reaches, over rounds.",
            Self::RoofFlops => "Floating-point operations a second that an initiator reaches.",
            Self::DeviceInfo => "A device that data is copied to; the value is 1.",
            Self::LinkLanes => "Lanes of the link of a PCIe device, now or at most.",
            Self::LinkSpeed => "Transfers of each lane of such a link, now or at most.",
            Self::Transfer => "Bandwidth of the largest copies of a place, all ways, over rounds.",
            Self::TransferConfidence => "How often such an interval holds the true median.",
            Self::TransferDisturbed => "Disturbed samples / samples; at 1 none was left out.",
            Self::SmallTransfer => "Time of the smallest copy of a place, over rounds.",
            Self::RepeatedSeries => "Figures left out because another has the same labels.",
        }
    }
}
