//! PCIe addresses as the kernel writes them.

/// `0000:3b:00.0`: what Linux and hwloc call the device at these numbers.
pub(crate) fn bus_id(domain: u32, bus: u32, device: u32, function: u32) -> Option<String> {
    let is_address = bus <= 0xff && device <= 0x1f && function <= 7;
    is_address.then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}"))
}

/// A PCIe address in the kernel's form, `0000:3b:00.0`, from one with capitals, without its
/// domain, without its function, or with more digits than are needed (`00000000:3B:00.0`). None
/// where the text is no such address.
pub fn normalized_bus_id(text: &str) -> Option<String> {
    let (rest, function) = match text.split_once('.') {
        Some((rest, function)) => (rest, hexadecimal(function)?),
        None => (text, 0),
    };
    let parts: Vec<&str> = rest.split(':').collect();
    let (domain, bus, device) = match parts.as_slice() {
        [bus, device] => (0, hexadecimal(bus)?, hexadecimal(device)?),
        [domain, bus, device] => (hexadecimal(domain)?, hexadecimal(bus)?, hexadecimal(device)?),
        _ => return None,
    };
    bus_id(domain, bus, device, function)
}

fn hexadecimal(digits: &str) -> Option<u32> {
    // `from_str_radix` takes a sign.
    let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn what_drivers_write_becomes_what_the_kernel_writes() {
        for (text, expected) in [
            ("0000:3B:00.0", "0000:3b:00.0"),
            ("00000000:3B:00.0", "0000:3b:00.0"),
            ("10000:AF:1f.7", "10000:af:1f.7"),
            ("3b:00.1", "0000:3b:00.1"),
            ("0001:3b:00", "0001:3b:00.0"),
        ] {
            assert_eq!(normalized_bus_id(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            ".",
            ":",
            "::.",
            "0000:3b:00.",
            "0000:3b:00.8",
            "0000:3b:20.0",
            "0000:100:00.0",
            "100000000:3b:00.0",
            "+0:3b:00.0",
            "0000:3b:00.0.0",
            "0000:3b:00:00.0",
            " 0000:3b:00.0",
            "0000:3b:00.0\0",
            "3b",
            "3b:é0.0",
        ] {
            assert_eq!(normalized_bus_id(text), None, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Nothing that a driver may write ends the program, and what is read is written as it
        /// is read again.
        #[test]
        fn any_text_is_read_or_refused(text in r"[0-9a-fA-F:. \x00+é-]{0,24}|\PC{0,24}") {
            if let Some(id) = normalized_bus_id(&text) {
                prop_assert_eq!(normalized_bus_id(&id), Some(id.clone()), "{:?}", text);
                prop_assert!(id.len() >= "0000:00:00.0".len(), "{:?}", text);
            }
        }

        /// Numbers go in and come out, whatever the digits' form.
        #[test]
        fn numbers_survive(
            domain in any::<u32>(), bus in 0..=0xffu32, device in 0..=0x1fu32, function in 0..8u32,
        ) {
            let text = format!("{domain:08X}:{bus:02X}:{device:02X}.{function:X}");
            let id = normalized_bus_id(&text);
            prop_assert_eq!(&id, &bus_id(domain, bus, device, function));
            let id = id.unwrap();
            let numbers: Vec<u32> =
                id.split([':', '.']).map(|part| u32::from_str_radix(part, 16).unwrap()).collect();
            prop_assert_eq!(numbers, vec![domain, bus, device, function]);
        }
    }
}
