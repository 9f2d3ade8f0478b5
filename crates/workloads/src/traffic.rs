//! What a workload asks of memory, by its loops and not by a measurement.

/// What a phase moves between memory and a cache in a whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTraffic {
    /// As the clock names it.
    pub phase: &'static str,
    /// Floating-point operations.
    pub flops: f64,
    pub arrays: Vec<ArrayTraffic>,
}

impl PhaseTraffic {
    /// Bytes of all arrays, both ways.
    pub fn bytes(&self) -> f64 {
        self.arrays.iter().map(|array| array.read_bytes + array.written_bytes).sum()
    }
}

/// A phase's part of an array's traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrayTraffic {
    /// As the plan of arrays names it.
    pub array: &'static str,
    /// Bytes that come from memory, those that a store fetches before it writes included.
    pub read_bytes: f64,
    /// Bytes that are written back.
    pub written_bytes: f64,
    /// Lines among those read that no prefetcher foresees: their latency counts.
    pub random_lines: f64,
}

impl ArrayTraffic {
    /// Read from one end to the other, this many bytes in all.
    pub fn read(array: &'static str, bytes: f64) -> Self {
        Self { array, read_bytes: bytes, written_bytes: 0.0, random_lines: 0.0 }
    }

    /// Written, and so fetched and written back: whether it was read before makes no difference.
    pub fn written(array: &'static str, bytes: f64) -> Self {
        Self { array, read_bytes: bytes, written_bytes: bytes, random_lines: 0.0 }
    }

    /// Lines of 64 bytes read here and there.
    pub fn gathered(array: &'static str, lines: f64) -> Self {
        Self { array, read_bytes: 64.0 * lines, written_bytes: 0.0, random_lines: lines }
    }
}
