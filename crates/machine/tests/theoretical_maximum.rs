//! Theoretical maxima against the figures that are printed for them.

use nearfar_machine::{Direction, Scope, TheoreticalMaximum};

/// GB/s as vendors' and the standards' bodies' tables print them.
#[test]
fn standards_have_their_printed_figures() {
    for (name, gb_per_s, printed_to) in [
        ("DDR3-800", 6.4, 1e-9),
        ("DDR3-1066", 8.533, 1e-3),
        ("DDR3-1333", 10.667, 1e-3),
        ("DDR3-1600", 12.8, 1e-9),
        ("DDR3-1866", 14.933, 1e-3),
        ("DDR3-2133", 17.0667, 1e-4),
        ("DDR4-1866", 14.933, 1e-3),
        ("DDR4-2400", 19.2, 1e-9),
        ("DDR4-2666", 21.333, 1e-3),
        ("DDR4-2933", 23.467, 1e-3),
        ("DDR4-3200", 25.6, 1e-9),
        ("DDR5-4800", 38.4, 1e-9),
        ("DDR5-5600", 44.8, 1e-9),
        ("DDR5-8800", 70.4, 1e-9),
        ("HBM2", 307.2, 1e-9),
        ("HBM2E", 409.6, 1e-9),
        ("HBM3", 819.2, 1e-9),
        ("PCIe 1.0 x16", 4.0, 1e-9),
        ("PCIe 2.0 x16", 8.0, 1e-9),
        ("PCIe 3.0 x1", 0.985, 1e-3),
        ("PCIe 3.0 x16", 15.754, 1e-3),
        ("PCIe 4.0 x16", 31.508, 1e-3),
        ("PCIe 5.0 x8", 31.508, 1e-3),
        ("PCIe 5.0 x16", 63.015, 1e-3),
        ("PCIe 6.0 x16", 121.0, 1e-9),
    ] {
        let found = if name.starts_with("PCIe") {
            TheoreticalMaximum::link(name).unwrap()
        } else {
            TheoreticalMaximum::memory(name).unwrap()
        };
        assert_eq!(found.name, name);
        assert!((found.gb_per_s() - gb_per_s).abs() <= printed_to, "{name}: {}", found.gb_per_s());
    }
}

#[test]
fn every_name_of_the_list_is_found_again() {
    let list = TheoreticalMaximum::list();
    assert_eq!(list.len(), 6 + 7 + 15 + 3 + 36);
    for entry in &list {
        let written = [entry.name.clone(), entry.name.to_lowercase(), entry.name.replace(' ', "")];
        for name in written {
            let found = match entry.scope {
                Scope::Link => TheoreticalMaximum::link(&name),
                _ => TheoreticalMaximum::memory(&name),
            };
            assert_eq!(&found.unwrap(), entry);
        }
        assert!(!entry.source.is_empty());
        assert_eq!(entry.direction == Direction::EachWay, entry.scope == Scope::Link);
    }
}

#[test]
fn channels_of_a_node_are_counted() {
    let node = TheoreticalMaximum::memory("ddr4-3200 x8").unwrap();
    assert_eq!((node.name.as_str(), node.scope), ("DDR4-3200x8", Scope::Node));
    assert!((node.gb_per_s() - 204.8).abs() < 1e-9);
    let stacks = TheoreticalMaximum::memory("HBM2Ex4").unwrap();
    assert!((stacks.gb_per_s() - 1638.4).abs() < 1e-9);
    for text in ["DDR4-3200x0", "DDR4-3200x65", "DDR4-3200x", "DDR4-3200x1.5", "DDR4-3200x-1"] {
        let error = TheoreticalMaximum::memory(text).unwrap_err().to_string();
        assert!(error.contains("a memory node has 1 to 64"), "{error}");
    }
}

/// The thesis's two conventions share a name: 17.066 for memory, 12.8 for links.
#[test]
fn the_thesis_is_read_for_memory_and_for_links() {
    let gamma = TheoreticalMaximum::memory("braithwaite2012").unwrap();
    assert!((gamma.gb_per_s() - 17.066).abs() < 1e-12);
    let phi = TheoreticalMaximum::link("Braithwaite2012").unwrap();
    assert!((phi.gb_per_s() - 12.8).abs() < 1e-12);
    assert_eq!((gamma.scope, phi.scope), (Scope::Channel, Scope::Link));
}

#[test]
fn figures_are_gb_per_s_or_have_a_unit() {
    for text in ["51.2", "51.2GB/s", " 51.2 GB/s ", "51200MB/s", "51.2gb/s", "51.2 GB/S"] {
        let given = TheoreticalMaximum::memory(text).unwrap();
        assert!((given.bytes_per_s - 51.2e9).abs() < 1.0, "{text}");
        assert_eq!((given.name.as_str(), given.scope), ("given", Scope::Given));
    }
    for text in ["0", "0GB/s", "1.2.3", "1000001", "9".repeat(400).as_str()] {
        let error = TheoreticalMaximum::memory(text).unwrap_err().to_string();
        assert!(error.contains("is no bandwidth above 0"), "{error}");
    }
    // Gb/s is an eighth of GB/s.
    for (text, unit) in
        [("51.2GB", "GB"), ("51.2 GiB/s", "GiB/s"), ("400Gb/s", "Gb/s"), ("1e9", "e9"), ("8%", "%")]
    {
        let error = TheoreticalMaximum::memory(text).unwrap_err().to_string();
        let wanted = format!("'{text}' has the unit {unit}, which is none here; use GB/s");
        assert!(error.starts_with(&wanted), "{error}");
    }
}

#[test]
fn an_unknown_name_is_told_what_there_is() {
    for text in [
        "",
        "DDR6-9600",
        "DDR3-3200",
        "PCIe 4.0",
        "PCIe 7.0 x16",
        "PCIe 4.0 x3",
        "inf",
        "nan",
        "-1",
    ] {
        let error = TheoreticalMaximum::memory(text).unwrap_err().to_string();
        for there in ["DDR3-800/", "8800", "HBM2E", "braithwaite2012", "51.2GB/s"] {
            assert!(error.contains(there), "{text}: {error}");
        }
        assert!(!error.contains("such as PCIe"), "{error}");
        let error = TheoreticalMaximum::link(text).unwrap_err().to_string();
        assert!(error.contains("PCIe 4.0 x16") && !error.contains("DDR4-"), "{error}");
    }
}

#[test]
fn a_link_is_no_memory() {
    assert!(TheoreticalMaximum::link("PCIe 2.0 x16").is_ok());
    assert!(TheoreticalMaximum::link("25").is_ok());
    for text in ["DDR4-3200", "DDR4-3200x8", "HBM3"] {
        let error = TheoreticalMaximum::link(text).unwrap_err().to_string();
        assert!(error.contains("is a memory standard"), "{error}");
    }
}

#[test]
fn no_memory_is_a_link() {
    for text in ["PCIe 4.0 x16", "pcie5.0x8"] {
        let error = TheoreticalMaximum::memory(text).unwrap_err().to_string();
        assert!(error.contains("is a link"), "{error}");
        assert!(error.contains("give the figure"), "{error}");
    }
}
