//! What names a CPU of AArch64, where Linux gives codes and no name.

use nearfar_record::Cpu;

/// Who implements cores, and which: by the codes of MIDR_EL1.
struct Implementer {
    code: u32,
    name: &'static str,
    parts: &'static [(u32, &'static str)],
}

/// Those that servers have. From the technical reference manuals of the cores and
/// arch/arm64/include/asm/cputype.h of Linux.
const IMPLEMENTERS: [Implementer; 11] = [
    of(
        0x41,
        "Arm",
        &[
            (0xd03, "Cortex-A53"),
            (0xd07, "Cortex-A57"),
            (0xd08, "Cortex-A72"),
            (0xd0b, "Cortex-A76"),
            (0xd0c, "Neoverse-N1"),
            (0xd40, "Neoverse-V1"),
            (0xd49, "Neoverse-N2"),
            (0xd4a, "Neoverse-E1"),
            (0xd4f, "Neoverse-V2"),
            (0xd83, "Neoverse-V3AE"),
            (0xd84, "Neoverse-V3"),
            (0xd8e, "Neoverse-N3"),
        ],
    ),
    of(0x42, "Broadcom", &[(0x516, "Vulcan")]),
    of(0x43, "Cavium", &[(0x0a1, "ThunderX"), (0x0af, "ThunderX2"), (0x0b8, "ThunderX3")]),
    of(0x46, "Fujitsu", &[(0x001, "A64FX")]),
    of(0x48, "HiSilicon", &[(0xd01, "TaiShan-v110"), (0xd02, "TaiShan-v120")]),
    of(0x4e, "NVIDIA", &[(0x004, "Carmel"), (0x010, "Olympus")]),
    of(0x50, "APM", &[(0x000, "X-Gene")]),
    of(0x51, "Qualcomm", &[(0x001, "Oryon"), (0xc00, "Falkor")]),
    of(0x61, "Apple", &[]),
    of(0x6d, "Microsoft", &[(0xd49, "Azure-Cobalt-100")]),
    of(0xc0, "Ampere", &[(0xac3, "Ampere-1"), (0xac4, "Ampere-1A")]),
];

const fn of(code: u32, name: &'static str, parts: &'static [(u32, &'static str)]) -> Implementer {
    Implementer { code, name, parts }
}

/// The first CPU of a /proc/cpuinfo of AArch64; `None` if that names no implementer. Where cores
/// differ each is named.
pub(crate) fn arm_cpu(cpuinfo: &str) -> Option<Cpu> {
    let codes = |name: &'static str| {
        let of_name = move |line: &str| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| code(value.trim())).flatten()
        };
        cpuinfo.lines().filter_map(of_name)
    };
    let implementer = codes("CPU implementer").next()?;
    let known = IMPLEMENTERS.iter().find(|known| known.code == implementer);
    let name = |part: u32| {
        let named = known.and_then(|known| known.parts.iter().find(|it| it.0 == part));
        named.map_or_else(
            || format!("part {part:#05x} of implementer {implementer:#04x}"),
            |named| named.1.into(),
        )
    };
    let mut parts: Vec<u32> = Vec::new();
    for part in codes("CPU part") {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let names: Vec<String> = parts.iter().copied().map(name).collect();
    let revision = codes("CPU revision").next();
    let variant = codes("CPU variant").next();
    Some(Cpu {
        vendor: known.map(|known| known.name.into()),
        model_name: (!names.is_empty()).then(|| names.join(", ")),
        family: Some(implementer),
        model: parts.first().copied(),
        // As in the register: four bits each.
        stepping: variant.zip(revision).map(|(variant, revision)| (variant << 4) | revision),
        microcode: None,
    })
}

/// A number as Linux prints it there, with 0x or without.
fn code(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
    // Wider is no field of the register.
    .filter(|&code| code <= 0xfff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(implementer: &str, variant: &str, parts: &[&str], revision: &str) -> String {
        let of = |(number, part): (usize, &&str)| {
            format!(
                "processor\t: {number}\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd sve\n\
                 CPU implementer\t: {implementer}\nCPU architecture: 8\nCPU variant\t: {variant}\n\
                 CPU part\t: {part}\nCPU revision\t: {revision}\n\n"
            )
        };
        parts.iter().enumerate().map(of).collect()
    }

    #[test]
    fn servers_are_named_by_their_codes() {
        for (implementer, part, vendor, name) in [
            ("0x41", "0xd0c", "Arm", "Neoverse-N1"),
            ("0x41", "0xd4f", "Arm", "Neoverse-V2"),
            ("0x46", "0x001", "Fujitsu", "A64FX"),
            ("0xc0", "0xac3", "Ampere", "Ampere-1"),
        ] {
            let cpu = arm_cpu(&listed(implementer, "0x1", &[part; 4], "2")).unwrap();
            assert_eq!(
                (cpu.vendor.as_deref(), cpu.model_name.as_deref()),
                (Some(vendor), Some(name))
            );
            assert_eq!(cpu.stepping, Some(18));
            assert_eq!(cpu.family, code(implementer));
            assert_eq!((cpu.model, cpu.microcode), (code(part), None));
        }
    }

    #[test]
    fn codes_that_nobody_knows_stand_for_themselves() {
        let cpu = arm_cpu(&listed("0x41", "0x0", &["0xabc"], "0")).unwrap();
        assert_eq!(cpu.vendor.as_deref(), Some("Arm"));
        assert_eq!(cpu.model_name.as_deref(), Some("part 0xabc of implementer 0x41"));
        let cpu = arm_cpu(&listed("0x07", "0x0", &["0xd0c"], "0")).unwrap();
        assert_eq!((cpu.vendor, cpu.family), (None, Some(7)));
        assert_eq!(cpu.model_name.as_deref(), Some("part 0xd0c of implementer 0x07"));
    }

    #[test]
    fn cores_that_differ_are_all_named() {
        let cpu = arm_cpu(&listed("0x41", "0x0", &["0xd03", "0xd03", "0xd08", "0xd03"], "4"));
        assert_eq!(cpu.unwrap().model_name.as_deref(), Some("Cortex-A53, Cortex-A72"));
    }

    #[test]
    fn what_is_no_code_is_not_made_up() {
        assert_eq!(arm_cpu("vendor_id\t: GenuineIntel\nmodel\t: 1\n"), None);
        assert_eq!(arm_cpu(""), None);
        let cpu = arm_cpu(&listed("0x41", "0x99999", &["0xzz"], "-1")).unwrap();
        let nothing = Cpu { vendor: Some("Arm".into()), family: Some(0x41), ..Cpu::default() };
        assert_eq!(cpu, nothing);
    }
}
