//! What `doctor` tells of the devices that data can be copied to.

use std::fs;

use serde_json::Value;

use crate::nearfar;

/// The checks of an interface, with what is set in the environment.
fn checks_of(interface: &str, environment: &[(&str, &str)]) -> Vec<Value> {
    let mut command = nearfar();
    let output =
        command.args(["doctor", "--json"]).envs(environment.iter().copied()).output().unwrap();
    let status = output.status.code();
    assert!(status == Some(0) || status == Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = view["checks"].as_array().unwrap().iter();
    all.filter(|check| check["check"] == interface).cloned().collect()
}

fn finding(check: &Value) -> &str {
    check["finding"].as_str().unwrap()
}

/// PoCL shows the CPUs (`scripts/install-packages devices`).
#[test]
fn doctor_tells_of_each_device() {
    let cache = tempfile::tempdir().unwrap();
    let checks = checks_of("opencl", &[("POCL_CACHE_DIR", cache.path().to_str().unwrap())]);
    let of_pocl =
        checks.iter().find(|check| finding(check).contains("Portable Computing Language"));
    let of_pocl = of_pocl.unwrap_or_else(|| panic!("no PoCL: {checks:?}"));
    assert_eq!(of_pocl["standing"], "fine");
    for word in ["opencl", "shares the host's memory", "next to node", "memory ", "driver "] {
        assert!(finding(of_pocl).contains(word), "{of_pocl}");
    }
}

#[test]
fn doctor_says_why_an_interface_shows_no_device() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().to_str().unwrap();
    let [of_opencl] = &checks_of("opencl", &[("OCL_ICD_VENDORS", folder)])[..] else {
        panic!("one check")
    };
    assert!(finding(of_opencl).contains("CL_PLATFORM_NOT_FOUND_KHR"), "{of_opencl}");
    assert_eq!(of_opencl["standing"], "fine", "there is no driver, and nothing broken");
    let of_hip = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];
    let others = ["libcuda.so.1", "libcuda.so", "libOpenCL.so.1", "libOpenCL.so"];
    for library in others.iter().chain(&of_hip) {
        fs::write(scratch.path().join(library), "no library").unwrap();
    }
    for (interface, words) in [
        ("cuda", ["CUDA shows no device: ", "libcuda.so.1) cannot be loaded: "]),
        ("hip", ["HIP shows no device: ", "libamdhip64.so) cannot be loaded: "]),
        ("opencl", ["OpenCL shows no device: ", "libOpenCL.so.1) cannot be loaded: "]),
    ] {
        let checks = checks_of(interface, &[("LD_LIBRARY_PATH", folder)]);
        let [check] = &checks[..] else { panic!("{checks:?}") };
        for word in words {
            assert!(finding(check).contains(word), "{check}");
        }
        assert_eq!(check["standing"], "warning", "a library that is there and is none: {check}");
        assert!(check["remedy"].as_str().is_some_and(|it| it.contains("answers")), "{check}");
    }
}
