//! CUDA, by NVIDIA's driver (`libcuda.so.1`), and HIP, by AMD's runtime (`libamdhip64.so`): streams
//! of copies, the same but for names and for what stands for a device.

mod calls;
mod copies;
mod devices;
#[cfg(test)]
mod double;
mod driver;
mod error_name;
mod handles;
#[cfg(test)]
mod hip_header;
#[cfg(test)]
mod lies;

pub(crate) use copies::Copies;
pub(crate) use devices::find;
pub(crate) use driver::Driver;
pub(crate) use handles::Context;
