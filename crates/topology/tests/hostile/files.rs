//! Files written for one weakness each.

/// Names and texts; `sound` is what the others are made from.
pub fn all() -> Vec<(&'static str, String)> {
    let sets = |set: &str| {
        format!(
            "cpuset=\"{set}\" complete_cpuset=\"{set}\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
        )
    };
    let one = sets("0x1");
    let node = format!("<object type=\"NUMANode\" os_index=\"0\" {one} gp_index=\"2\"/>");
    let unit = format!("<object type=\"PU\" os_index=\"0\" {one} gp_index=\"3\"/>");
    let around = |inner: &str, after: &str| {
        format!(
            "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" {one} \
             allowed_cpuset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">{inner}</object>\
             {after}</topology>"
        )
    };
    let plain = format!("{node}{unit}");
    let matrix = |attributes: &str, indexes: &str, values: &str| {
        let distances = format!(
            "<distances2 {attributes}><indexes length=\"{}\">{indexes}</indexes>\
             <u64values length=\"{}\">{values}</u64values></distances2>",
            indexes.len(),
            values.len()
        );
        around(&plain, &distances)
    };
    let attribute = |name: &str, flags: &str, value: &str| {
        around(&plain, &format!("<memattr name=\"{name}\" flags=\"{flags}\">{value}</memattr>"))
    };
    let groups = format!("<object type=\"Group\" {one} gp_index=\"9\">").repeat(120);
    let closed = "</object>".repeat(120);
    let laughs: String =
        (1..12).map(|n| format!("<!ENTITY e{n} \"&e{};&e{};\">", n - 1, n - 1)).collect();
    let value = |target: &str, cpuset: &str| {
        format!(
            "<memattr_value target_obj_gp_index=\"{target}\" target_obj_type=\"NUMANode\" \
             value=\"18446744073709551615\" initiator_cpuset=\"{cpuset}\"/>"
        )
    };
    vec![
        ("sound", around(&plain, "")),
        ("empty", String::new()),
        ("nul", "\0".repeat(4096)),
        // hwloc's own parser ends at the blank, and what follows has no gp_index.
        ("blank-before-value", around(&plain.replacen("gp_index=", "gp_index= ", 1), "")),
        ("text-between", around(&format!("{plain}$"), "")),
        ("comment", around(&format!("{plain}<!-- x -->"), "")),
        ("no-kind", around(&format!("{plain}<object {one} gp_index=\"7\"/>"), "")),
        ("other-spelling", around(&format!("{node}{}", unit.replace("PU", "pu")), "")),
        ("no-objects", "<topology version=\"2.0\"/>".into()),
        ("no-units", around(&node, "")),
        ("no-nodes", around(&unit, "")),
        ("same-unit-twice", around(&format!("{plain}{unit}"), "")),
        ("same-node-twice", around(&format!("{node}{plain}"), "")),
        ("machine-in-machine", around(&around(&plain, ""), "")),
        ("unit-in-unit", around(&format!("{node}{}{unit}</object>", unit.replace("/>", ">")), "")),
        ("deep-groups", around(&format!("{node}{groups}{unit}{closed}"), "")),
        (
            "entities",
            format!("<!DOCTYPE topology [<!ENTITY e0 \"ha\">{laughs}]>{}", around("&e11;", "")),
        ),
        (
            "huge-matrix",
            matrix("type=\"NUMANode\" nbobjs=\"65536\" kind=\"5\" indexing=\"os\"", "0", "10"),
        ),
        (
            "short-matrix",
            matrix("type=\"NUMANode\" nbobjs=\"2048\" kind=\"5\" indexing=\"os\"", "0 ", "10 "),
        ),
        (
            "long-matrix",
            matrix(
                "type=\"NUMANode\" nbobjs=\"1\" kind=\"5\" indexing=\"os\"",
                "0 0 0 ",
                "10 10 10 ",
            ),
        ),
        (
            "unknown-in-matrix",
            matrix("type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" indexing=\"os\"", "0 7 ", "1 2 3 4 "),
        ),
        (
            "same-in-matrix",
            matrix("type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" indexing=\"os\"", "0 0 ", "1 2 3 4 "),
        ),
        (
            "io-matrix",
            matrix("type=\"PCIDev\" nbobjs=\"2\" kind=\"5\" indexing=\"gp\"", "1 2 ", "1 2 3 4 "),
        ),
        (
            "kind-of-all",
            matrix(
                "type=\"NUMANode\" nbobjs=\"1\" kind=\"4294967295\" indexing=\"os\"",
                "0 ",
                "10 ",
            ),
        ),
        ("redefined", attribute("Capacity", "7", &value("2", "0x1"))),
        ("flags", attribute("ReadBandwidth", "4294967295", &value("2", "0x1"))),
        ("endless-initiator", attribute("ReadBandwidth", "5", &value("2", "0xf...f"))),
        ("far-initiator", attribute("ReadBandwidth", "5", &value("2", "0x1,,,,,,,,,,0x0"))),
        ("wrong-target", attribute("ReadBandwidth", "5", &value("3", "0x1"))),
        (
            "nobody-as-target",
            attribute("ReadBandwidth", "5", &value("18446744073709551615", "0x1")),
        ),
        (
            "userdata",
            around(
                &format!("<userdata length=\"4294967295\" encoding=\"base64\">x</userdata>{plain}"),
                "",
            ),
        ),
        (
            "pages",
            around(
                &plain.replacen(
                    "/>",
                    "><page_type size=\"-1\" count=\"99999999999999999999\"/></object>",
                    1,
                ),
                "",
            ),
        ),
        (
            "bridge",
            around(
                &format!(
                    "{plain}<object type=\"Bridge\" gp_index=\"7\" bridge_type=\"9-9\" depth=\"4294967295\" bridge_pci=\"zzzz\"><object type=\"PCIDev\" gp_index=\"8\" pci_busid=\"ffffffff:ff:ff.f\" pci_type=\"\" pci_link_speed=\"nan\"/></object>"
                ),
                "",
            ),
        ),
        (
            "cache",
            around(
                &format!(
                    "{node}<object type=\"L3Cache\" {one} gp_index=\"7\" cache_size=\"-1\" depth=\"77\" cache_linesize=\"0\" cache_associativity=\"-7\" cache_type=\"9\">{unit}</object>"
                ),
                "",
            ),
        ),
        (
            "kinds-of-cpus",
            around(
                &plain,
                "<cpukind cpuset=\"0xf...f\" forced_efficiency=\"-9\"><info name=\"a\" value=\"b\"/></cpukind>",
            ),
        ),
        (
            "long-name",
            around(
                &plain.replacen("<object", &format!("<object name=\"{}\"", "x".repeat(1 << 20)), 1),
                "",
            ),
        ),
    ]
}
