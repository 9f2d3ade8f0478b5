//! Names the shared library, so that what is linked with it says which one it needs. The number changes with what programs
//! that are there could no longer use.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnearfar_c.so.0");
}
