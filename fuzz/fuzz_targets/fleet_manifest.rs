#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    nearfar_fuzz::fleet_manifest(input);
});
