#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    nearfar_fuzz::network_frame(input);
});
