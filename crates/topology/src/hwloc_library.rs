//! hwloc's library, loaded when a description is first read. Most commands read none: they start
//! sooner without it, and run where it is not installed.
//!
//! The binding calls hwloc's functions by their names. Here each of these names is a jump to where
//! the loaded library has the function, so that the linker leaves the library itself out. A
//! function that is missing in the list below does no harm: the linker then puts the library in as
//! usual, and a test (`crates/cli/tests/program/start.rs`) says so.

use std::arch::global_asm;
use std::error::Error;
use std::ffi::c_void;
use std::mem::forget;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// The library of hwloc 2, whose interface is the one of the binding.
const LIBRARY: &str = "libhwloc.so.15";

macro_rules! functions {
    ($($place:literal $name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        const PLACES: &[usize] = &[$($place),*];
        $(
            #[cfg(target_arch = "x86_64")]
            global_asm!(
                concat!(".pushsection .text.", stringify!($name), ", \"ax\", @progbits"),
                concat!(".globl ", stringify!($name)),
                concat!(".hidden ", stringify!($name)),
                concat!(".type ", stringify!($name), ", @function"),
                concat!(stringify!($name), ":"),
                concat!("jmp qword ptr [rip + {loaded} + 8*", stringify!($place), "]"),
                ".popsection",
                loaded = sym LOADED,
            );
            #[cfg(target_arch = "aarch64")]
            global_asm!(
                concat!(".pushsection .text.", stringify!($name), ", \"ax\", @progbits"),
                concat!(".globl ", stringify!($name)),
                concat!(".hidden ", stringify!($name)),
                concat!(".type ", stringify!($name), ", @function"),
                concat!(stringify!($name), ":"),
                "adrp x16, {loaded}",
                "add x16, x16, :lo12:{loaded}",
                concat!("ldr x16, [x16, #8*", stringify!($place), "]"),
                "br x16",
                ".popsection",
                loaded = sym LOADED,
            );
        )*
    };
}

functions! {
    0 hwloc_bitmap_alloc
    1 hwloc_bitmap_alloc_full
    2 hwloc_bitmap_free
    3 hwloc_bitmap_isset
    4 hwloc_bitmap_next
    5 hwloc_bitmap_set_range
    6 hwloc_bitmap_weight
    7 hwloc_distances_get
    8 hwloc_distances_get_name
    9 hwloc_distances_release
    10 hwloc_free_xmlbuffer
    11 hwloc_get_api_version
    12 hwloc_get_depth_type
    13 hwloc_get_nbobjs_by_depth
    14 hwloc_get_obj_by_depth
    15 hwloc_get_type_depth
    16 hwloc_memattr_get_by_name
    17 hwloc_memattr_get_flags
    18 hwloc_memattr_get_initiators
    19 hwloc_memattr_get_name
    20 hwloc_obj_type_is_cache
    21 hwloc_obj_type_is_io
    22 hwloc_topology_check
    23 hwloc_topology_destroy
    24 hwloc_topology_export_xmlbuffer
    25 hwloc_topology_get_allowed_cpuset
    26 hwloc_topology_get_allowed_nodeset
    27 hwloc_topology_get_depth
    28 hwloc_topology_init
    29 hwloc_topology_load
    30 hwloc_topology_set_flags
    31 hwloc_topology_set_io_types_filter
    32 hwloc_topology_set_synthetic
    33 hwloc_topology_set_type_filter
    34 hwloc_topology_set_xmlbuffer
}

/// Where the library has them, once it is loaded.
static LOADED: [AtomicPtr<c_void>; NAMES.len()] =
    [const { AtomicPtr::new(called_too_soon as *mut c_void) }; NAMES.len()];

extern "C" fn called_too_soon() {
    panic!("hwloc is called before its library is loaded");
}

// Each name jumps by its own place.
const _: () = {
    let mut place = 0;
    while place < PLACES.len() {
        assert!(PLACES[place] == place);
        place += 1;
    }
};

/// Loads the library, unless it is loaded. Nothing of hwloc may be called before.
///
/// # Errors
/// Why it cannot be loaded.
pub(crate) fn load() -> Result<(), String> {
    static RESULT: OnceLock<Result<(), String>> = OnceLock::new();
    RESULT.get_or_init(find_functions).clone()
}

fn find_functions() -> Result<(), String> {
    // SAFETY: what runs is the initialisation of hwloc, as it would at the start of a program that
    // is linked with it. Its plugins find its functions only where they are visible to all.
    let library = unsafe { Library::open(Some(LIBRARY), RTLD_NOW | RTLD_GLOBAL) };
    // What the system says is the error's source.
    let library = library.map_err(|error| {
        error.source().map_or_else(|| error.to_string(), |source| source.to_string())
    })?;
    for (name, place) in NAMES.iter().zip(&LOADED) {
        // SAFETY: a function of C is an address; only the binding, which declares its type, calls it.
        let function = unsafe { library.get::<*mut c_void>(name.as_bytes()) };
        let function = function.map_err(|_| format!("{LIBRARY} has no function {name}"))?;
        place.store(*function, Ordering::Release);
    }
    // The addresses hold for as long as the library is loaded: until the process ends.
    forget(library);
    Ok(())
}
