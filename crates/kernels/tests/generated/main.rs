//! Generated loops and the chase against what they say they do.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod texts;

// What is generated; on other architectures nothing is.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod denied;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod fenced;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod flops;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod intensities;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod mixes;

/// The variant that every CPU of the architecture runs.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const NARROWEST: nearfar_kernels::Variant = if cfg!(target_arch = "aarch64") {
    nearfar_kernels::Variant::Neon
} else {
    nearfar_kernels::Variant::Sse2
};
