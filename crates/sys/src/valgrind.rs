//! What a program tells Valgrind's callgrind, which simulates a cache below what it runs.

/// Has callgrind write what all threads were counted since the last time, under the first 31 bytes of
/// this name. Where callgrind does not run the program nothing is done.
pub fn write_simulated_counts(name: &str) {
    let mut text = [0; 32];
    text.iter_mut().take(31).zip(name.bytes()).for_each(|(to, byte)| *to = byte);
    request(DUMP_STATS_AT, text.as_ptr() as u64);
}

/// `CALLGRIND_DUMP_STATS_AT` of callgrind.h.
const DUMP_STATS_AT: u64 = 0x4354_0003;

/// A client request as valgrind.h makes it.
#[cfg(target_arch = "x86_64")]
fn request(code: u64, argument: u64) {
    let arguments = [code, argument, 0, 0, 0, 0];
    // SAFETY: the rotations add up to 128 bits and leave rdi as it was, and the exchange does nothing;
    // Valgrind knows the sequence, reads the array that rax points to, and writes rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0_u64 => _,
            options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: u64, _: u64) {}
