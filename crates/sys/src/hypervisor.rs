//! Which hypervisor runs this virtual machine, by the CPU's own word.

/// The name that the hypervisor gives by CPUID leaf 0x4000_0000 (reserved for it by
/// Intel and AMD); `None` when the CPU reports none, or on other architectures.
pub fn hypervisor_signature() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        const FEATURES: u32 = 1;
        const HYPERVISOR_PRESENT: u32 = 1 << 31;
        const HYPERVISOR: u32 = 0x4000_0000;
        if __cpuid(FEATURES).ecx & HYPERVISOR_PRESENT == 0 {
            return None;
        }
        let leaf = __cpuid(HYPERVISOR);
        let bytes: Vec<u8> =
            [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|part| part.to_le_bytes()).collect();
        let text: String =
            bytes.iter().filter(|byte| byte.is_ascii_graphic()).map(|&b| char::from(b)).collect();
        (!text.is_empty()).then_some(text)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(test)]
mod tests {
    /// The kernel reads the same bit into the flags of /proc/cpuinfo.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn signature_is_there_when_the_kernel_sees_a_hypervisor() {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap();
        let seen = flags.split_whitespace().any(|flag| flag == "hypervisor");
        assert_eq!(super::hypervisor_signature().is_some(), seen);
    }
}
