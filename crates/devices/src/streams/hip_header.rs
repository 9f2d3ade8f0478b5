//! HIP's numbers as AMD's own header has them.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use super::calls::{Address, EVENT_DEFAULT, STREAM_NON_BLOCKING, SUCCESS};
use super::driver::{HIP_ATTRIBUTE_INTEGRATED, HIP_UNKNOWN};
use super::error_name::{
    INVALID_DEVICE, LOST, NO_DEVICE, OUT_OF_MEMORY, PEER_ACCESS_ALREADY_ENABLED,
    PEER_ACCESS_UNSUPPORTED,
};

/// Every number is asserted by the compiler, so that it names the one that is another. A device is a number, an
/// address a pointer.
#[test]
#[ignore = "needs libamdhip64-dev: make devices"]
fn numbers_and_sizes_are_those_of_hips_header() {
    let mut source = String::from(
        "#define __HIP_PLATFORM_AMD__\n#include <stdbool.h>\n#include <hip/hip_runtime_api.h>\n",
    );
    let lost = [
        (4, "hipErrorDeinitialized"),
        (214, "hipErrorECCNotCorrectable"),
        (700, "hipErrorIllegalAddress"),
        (702, "hipErrorLaunchTimeOut"),
        (709, "hipErrorContextIsDestroyed"),
        (710, "hipErrorAssert"),
        (719, "hipErrorLaunchFailure"),
    ];
    assert!(lost.iter().all(|(code, _)| LOST.contains(code)));
    let others = [
        (SUCCESS, "hipSuccess"),
        (OUT_OF_MEMORY, "hipErrorOutOfMemory"),
        (NO_DEVICE, "hipErrorNoDevice"),
        (INVALID_DEVICE, "hipErrorInvalidDevice"),
        (PEER_ACCESS_ALREADY_ENABLED, "hipErrorPeerAccessAlreadyEnabled"),
        (PEER_ACCESS_UNSUPPORTED, "hipErrorPeerAccessUnsupported"),
        (HIP_UNKNOWN.0, HIP_UNKNOWN.1),
        (HIP_ATTRIBUTE_INTEGRATED, "hipDeviceAttributeIntegrated"),
        (STREAM_NON_BLOCKING.cast_signed(), "hipStreamNonBlocking"),
        (EVENT_DEFAULT.cast_signed(), "hipEventDefault"),
        (i32::try_from(size_of::<Address>()).unwrap(), "sizeof(hipDeviceptr_t)"),
        (i32::try_from(size_of::<i32>()).unwrap(), "sizeof(hipDevice_t)"),
    ];
    for (ours, name) in lost.into_iter().chain(others) {
        writeln!(source, "_Static_assert({name} == {ours}, \"{name}\");").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbers.c");
    fs::write(&file, source).unwrap();
    let compiled = Command::new("cc").arg("-fsyntax-only").arg(&file).output().unwrap();
    let told = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{told}");
}
