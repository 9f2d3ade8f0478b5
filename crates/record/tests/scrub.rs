//! A record that is given away says nothing of whose it is, and measured the same.
#![expect(clippy::unwrap_used, reason = "tests panic")]

use std::path::Path;

use nearfar_record::{
    Experiment, Line, NetworkInputs, Private, RecordWriter, Removed, ScrubError, Sealing, Warning,
    read_record, scrub_record,
};

fn written(lines: &[Line]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = RecordWriter::create(file.path(), true).unwrap();
    lines.iter().for_each(|line| writer.write(line).unwrap());
    std::fs::read(file.path()).unwrap()
}

fn scrubbed(record: &[u8]) -> (Vec<u8>, Removed) {
    let (lines, removed) = scrub_record(record).unwrap();
    (written(&lines), removed)
}

/// Of a record by which fuzzing begins.
fn lines() -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record/pairs");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn names_paths_and_addresses_go_and_figures_stay() {
    let mut lines = lines();
    let Line::Header(header) = &mut lines[0] else { panic!() };
    header.host = "login7".into();
    header.machine.notes = vec![
        "on login7 /home/ada/x.so was loaded; /proc/cpuinfo, /sys/a and 3 GB/s stay".into(),
        "enx001a2b3c4d5e has 00:1a:2b:3c:4d:5e".into(),
    ];
    lines.push(Line::Warning(Warning {
        code: "pairs".into(),
        message: "'/scratch/of/ada': login7.".into(),
        remedy: "nothing".into(),
        of_samples: false,
    }));
    let before = written(&lines);
    let (after, removed) = scrubbed(&before);
    let text = String::from_utf8(after.clone()).unwrap();
    for private in ["login7", "ada", "/home", "/scratch", "1a2b3c", "1a:2b"] {
        assert!(!text.contains(private), "{private}: {text}");
    }
    assert!(text.contains("on removed removed was loaded; /proc/cpuinfo, /sys/a and 3 GB/s stay"));
    assert!(text.contains("'removed': removed."));
    let counts = [(Private::HostName, 3), (Private::Path, 2), (Private::HardwareAddress, 1)];
    assert_eq!(removed, counts.into());
    let (was, is) = (read_record(&before[..]).unwrap(), read_record(&after[..]).unwrap());
    assert_eq!(is.sealing, Sealing::Fits);
    assert_eq!((was.cases, was.samples), (is.cases, is.samples));
    assert_eq!(was.header.inputs, is.header.inputs);
    // Nothing is left to take out.
    assert_eq!(scrubbed(&after), (after, Removed::new()));
}

/// Another machine's name, where it stands and in the reason why messages to it ended; a device's id is none.
#[test]
fn names_of_other_machines_go() {
    let mut lines = lines();
    let Line::Header(header) = &mut lines[0] else { panic!() };
    header.inputs.experiments.push(Experiment::Network);
    header.inputs.network =
        Some(NetworkInputs { peer: Some("node7.secret:7420".into()), ..NetworkInputs::default() });
    let absent = lines.iter_mut().find_map(|line| match line {
        Line::Absent(absent) => Some(absent),
        _ => None,
    });
    absent.unwrap().reason.text = "node7.secret:7420: it refuses the token".into();
    let before = written(&lines);
    let (after, removed) = scrubbed(&before);
    let text = String::from_utf8(after.clone()).unwrap();
    assert!(!text.contains("secret") && text.contains("removed: it refuses the token"), "{text}");
    // The host's own name stands in the header alone.
    assert_eq!(removed, [(Private::HostName, 1), (Private::PeerName, 2)].into());
    assert_eq!(scrubbed(&after).0, after);
}

#[test]
fn a_host_named_as_a_word_of_the_format_changes_no_case() {
    let mut lines = lines();
    let Line::Header(header) = &mut lines[0] else { panic!() };
    header.host = "load".into();
    let before = written(&lines);
    let (after, _) = scrubbed(&before);
    let (was, is) = (read_record(&before[..]).unwrap(), read_record(&after[..]).unwrap());
    assert_eq!((was.cases, was.samples), (is.cases, is.samples));
    assert_eq!(is.header.host, "removed");
}

#[test]
fn what_was_changed_is_not_sealed_again() {
    let text = String::from_utf8(written(&lines())).unwrap();
    let edited = text.replacen("\"started\":\"20", "\"started\":\"19", 1);
    assert_ne!(text, edited);
    let refused = scrub_record(edited.as_bytes());
    assert!(matches!(refused, Err(ScrubError::NotAsWritten(_))), "{refused:?}");
}
