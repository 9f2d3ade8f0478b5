//! What one thread of a stream asks for at most on a simulated machine: its loop's
//! arithmetic and its pauses take time as well.

use nearfar_kernels::Arithmetic;
use nearfar_record::{PAUSED_BYTES, Reason, Stream};

use super::answers::Answers;
use crate::kernel_name::MemoryKernel;

impl Answers {
    /// Useful bytes/s that one thread asks for at most; `None` where nothing but memory limits
    /// it. `alone` is what it gets when nothing else runs and it neither computes nor pauses.
    ///
    /// Arithmetic runs beside loads and stores: the slower decides, as in the roofline. A pause
    /// comes on top: of every [`PAUSED_BYTES`] of each array,
    ///
    /// ```text
    /// time = bytes / rate + cycles / clock
    /// ```
    pub fn thread_limit(
        &self,
        stream: &Stream,
        kernel: MemoryKernel,
        alone: impl FnOnce() -> Result<f64, Reason>,
    ) -> Result<Option<f64>, Reason> {
        let computed = self.arithmetic_limit(kernel, &stream.variant)?;
        if stream.pause_cycles == 0 {
            return Ok(computed);
        }
        let ghz = self
            .simulated
            .core_ghz
            .ok_or_else(|| self.unsaid("nothing of core_ghz, in whose cycles pauses are"))?;
        let rate = alone()?.min(computed.unwrap_or(f64::INFINITY));
        let bytes = (PAUSED_BYTES / 8 * kernel.step_bytes()) as f64;
        Ok(Some(bytes / (bytes / rate + f64::from(stream.pause_cycles) / (ghz * 1e9))))
    }

    /// Useful bytes/s at which a core that does nothing else does a mix's arithmetic; `None`
    /// without any. (The catalog's kernels have theirs within the file's figures.)
    fn arithmetic_limit(&self, kernel: MemoryKernel, variant: &str) -> Result<Option<f64>, Reason> {
        let MemoryKernel::Mix(mix) = kernel else { return Ok(None) };
        let loops: &[&str] = match mix.arithmetic() {
            None => return Ok(None),
            Some(Arithmetic::Add) => &["add_dp"],
            // Where an instruction set cannot fuse, a multiplication and an addition.
            Some(Arithmetic::Fma) => &["fma_dp", "mul_add_dp"],
        };
        let rate = loops.iter().find_map(|name| self.simulated.flop_rate(name, variant));
        let rate = rate.ok_or_else(|| {
            let loops = loops.join(" and ");
            self.unsaid(&format!("under [flops] nothing of {loops} in {variant}"))
        })?;
        Ok(Some(rate / mix.intensity()))
    }
}
