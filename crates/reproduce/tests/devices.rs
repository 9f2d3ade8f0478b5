//! Models of copies to and from devices, on simulated machines whose figures are known and on
//! records that nobody would measure.

use nearfar_flow::{SimulatedMachine, read_machine};
use nearfar_machine::{HostMemory, TheoreticalMaximum, TransferDirection};
use nearfar_model::{
    DeviceClassRule, RecordFigures, TransferFigures, device_classes, devices, largest_copies,
    mappings, reach_of_devices, transfers,
};
use nearfar_record::{Coordinates, DeviceCoordinates, Record};
use nearfar_reproduce::{PrintedOf, PrintedTable, PrintedValue, measure_simulated_devices};

fn simulated(name: &str) -> (SimulatedMachine, Record) {
    let machine = read_machine(name).unwrap();
    let record = measure_simulated_devices(&machine).unwrap();
    (machine, record)
}

/// What the files of machines say of their devices is found again from the copies' sizes.
#[test]
fn latency_and_bandwidth_are_those_of_the_file() {
    for name in ["amd-2p", "two-socket-4-gpus"] {
        let (machine, record) = simulated(name);
        let model = devices(&RecordFigures::new(&record), &DeviceClassRule::default()).unwrap();
        let mut seen = 0;
        for time in &model.times {
            let law = time.law.as_result().unwrap();
            let of = |it: &&nearfar_flow::SimulatedDevice| it.accelerator.id == time.place.device;
            let device = machine.devices.iter().find(of).unwrap();
            let nodes = machine.machine.nodes.iter();
            let node = time.place.memory_node.unwrap();
            let column = nodes.map(|it| it.os_index).position(|it| it == node).unwrap();
            let rates = match time.place.direction {
                TransferDirection::ToDevice => &device.to_device,
                TransferDirection::ToHost => &device.to_host,
                way => panic!("sizes of {way}"),
            };
            let kept = match time.place.host_memory {
                Some(HostMemory::Pageable) => device.pageable,
                _ => 1.0,
            };
            let bandwidth = rates[column] * kept;
            let close = |ours: f64, known: f64| (ours / known - 1.0).abs() < 0.01;
            assert!(close(law.latency.0 / 1e9, device.latency_s), "{name}: {time:?}");
            assert!(close(law.bandwidth.0, bandwidth), "{name}: {time:?}");
            assert!(close(law.half_bandwidth_bytes, device.latency_s * bandwidth), "{time:?}");
            assert!(law.worst_error < 0.01, "{time:?}");
            let half = law.rate(law.half_bandwidth_bytes);
            assert!((half / law.bandwidth - 0.5).abs() < 1e-9, "one way: {time:?}");
            seen += 1;
        }
        // Two nodes, ways and memories of each device.
        assert_eq!(seen, 8 * machine.devices.len(), "{name}");
    }
}

/// Of a size that was measured one way alone there is nothing both ways; the next one counts.
#[test]
fn the_largest_copies_are_of_one_size_measured_all_ways() {
    let (_, mut record) = simulated("amd-2p");
    let both = [TransferDirection::ToHost, TransferDirection::ToDevice];
    let largest = |record: &Record| -> Vec<Vec<(TransferDirection, u64)>> {
        let all = transfers(&RecordFigures::new(record));
        let places = largest_copies(&all, HostMemory::Pinned, &both);
        assert!(places.keys().map(|at| (&at.device, at.memory_node)).is_sorted());
        let place = |of: Vec<&TransferFigures>| -> Vec<(TransferDirection, u64)> {
            of.iter().map(|it| (it.place.direction, it.place.bytes)).collect()
        };
        places.into_values().map(place).collect()
    };
    let whole = both.map(|way| (way, 512 << 20)).to_vec();
    assert_eq!(largest(&record), vec![whole.clone(); 8], "two devices, four nodes");
    // Node 0 is next to both: there all sizes were copied.
    record.samples.retain(|it| it.case != "devices/cuda0/node0/to_host/pinned/512MiB");
    record.samples.retain(|it| !it.case.starts_with("devices/cuda0/node1/to_host/pinned"));
    let left = largest(&record);
    assert_eq!(left[0], both.map(|way| (way, 256 << 20)));
    assert_eq!(left[1], [], "the place is known and has none");
    assert_eq!(left[2..], vec![whole; 6]);
}

#[test]
fn alpha_is_of_each_link_s_standard_unless_it_is_given() {
    let (_, record) = simulated("amd-2p");
    let figures = RecordFigures::new(&record);
    let of = |phi| {
        let rule = DeviceClassRule { phi, ..DeviceClassRule::default() };
        let all = device_classes(&figures, &rule);
        let found = all.into_iter().find(|it| it.direction == TransferDirection::ToHost).unwrap();
        found.classes.iter().map(|class| class.alpha.unwrap()).collect::<Vec<f64>>()
    };
    // 8 GB/s each way; 6.58, 5.3182 and 2.3109 GB/s stand in table 5.5.
    for (ours, rate) in of(None).into_iter().zip([6.58, 5.3182, 2.3109]) {
        assert!((ours * 8.0 / rate - 1.0).abs() < 1e-3, "{ours} {rate}");
    }
    // Table 5.4.
    let given = TheoreticalMaximum::link("braithwaite2012").unwrap();
    assert!((of(Some(given))[0] / 0.5141 - 1.0).abs() < 1e-3);
}

/// Equation 4.17 has one process at each device's best node at most, 4.18 both.
#[test]
fn mappings_of_two_devices_on_one_hub_and_on_two() {
    for (name, best, kinds) in
        [("amd-2p", [0.5, 0.5, 0.0], 4), ("amd-2p-two-hubs", [1.0, 0.0, 0.0], 6)]
    {
        let (_, record) = simulated(name);
        let all = device_classes(&RecordFigures::new(&record), &DeviceClassRule::default());
        let found = all.into_iter().find(|it| it.direction == TransferDirection::ToHost).unwrap();
        let reach = reach_of_devices(&found, &["cuda0".into(), "cuda1".into()]);
        assert_eq!(reach.places.iter().map(|it| it.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let table = mappings(&reach.targets, &[0.5156, 0.4141, 0.1797]).unwrap();
        assert_eq!(table[0].shares, best, "{name}");
        assert_eq!(table.len(), kinds, "{name}: {table:?}");
        let count: u128 = table.iter().map(|mapping| mapping.count).sum();
        assert_eq!(count, 12, "{name}: 4 x 3 ways to give two processes nodes of their own");
        // A device that nobody knows is reached from nowhere.
        let unknown = reach_of_devices(&found, &["cuda9".into()]);
        assert!(mappings(&unknown.targets, &[0.5156, 0.4141, 0.1797]).is_err());
    }
}

#[test]
fn records_of_strangers_make_no_panic_and_no_figure_that_is_none() {
    let machine = read_machine("amd-2p").unwrap().machine;
    let printed = |value| PrintedValue { row: "", cpu_node: 0, memory_node: 0, value };
    let record = |values| {
        let of = PrintedOf::Copies(TransferDirection::ToHost);
        let title = "x".to_string();
        PrintedTable { title, machine: &machine, of, bytes_per_s: 1e9, values }.record().unwrap()
    };
    let mut strange = record(vec![printed(5.0); 6]);
    let names = ["cuda0", "opencl7", "\u{1b}[2J", "", "cuda", "cuda0"];
    for (position, (case, name)) in strange.cases.iter_mut().zip(names).enumerate() {
        case.id = format!("devices/{position}");
        strange.samples[position].case.clone_from(&case.id);
        if let Coordinates::Devices(DeviceCoordinates::Transfer(place)) = &mut case.coordinates[0] {
            place.device = name.into();
            place.memory_node =
                [None, Some(u32::MAX), Some(0), Some(1), Some(2), Some(3)][position];
            place.bytes = [0, u64::MAX, 1, 8, 1 << 62, 3][position];
            place.actor = [9, 0, 0, u32::MAX, 0, 0][position];
        }
    }
    strange.samples[4].actors[0].useful_bytes = 0;
    strange.samples[4].actors[0].threads[0].useful_bytes = 0;
    strange.samples[5].actors.clear();
    let figures = RecordFigures::new(&strange);
    if let Ok(model) = devices(&figures, &DeviceClassRule::default()) {
        for classes in &model.class_sets {
            assert!(classes.phi.found().is_none(), "no device of these has a link");
            for class in &classes.classes {
                assert!(class.max.is_finite() && class.max > 0.0);
            }
        }
        for law in model.times.iter().filter_map(|time| time.law.found()) {
            assert!(law.latency.0.is_finite() && law.bandwidth.0.is_finite());
        }
    }
    let empty = record(Vec::new());
    let why = devices(&RecordFigures::new(&empty), &DeviceClassRule::default()).unwrap_err();
    assert!(why.why.contains("devices"), "{why}");
}
