//! Copies to and from devices of a simulated machine.

use nearfar_flow::{DeviceLoad, read_machine};
use nearfar_machine::{HostMemory, TransferDirection as Direction};

fn copy(device: &str, node: u32, direction: Direction) -> DeviceLoad {
    DeviceLoad {
        device: device.into(),
        peer: None,
        node: Some(node),
        direction,
        host_memory: Some(HostMemory::Pinned),
        bytes: 512 << 20,
    }
}

#[test]
fn devices_on_one_hub_share_it() {
    let machine = read_machine("amd-2p").unwrap();
    let both = [copy("cuda0", 0, Direction::ToHost), copy("cuda1", 0, Direction::ToHost)];
    let alone = machine.rates_beside(&[], &both[..1]).unwrap().transfers[0];
    let together = machine.rates_beside(&[], &both).unwrap().transfers;
    let sum: f64 = together.iter().sum();
    assert!(sum <= machine.hubs[0].capacity && sum > alone, "{together:?} of {alone}");
    assert!((together[0] / together[1] - 1.0).abs() < 0.01);
}

#[test]
fn what_does_not_exist_is_said() {
    let machine = read_machine("amd-2p").unwrap();
    let refused = |load| machine.rates_beside(&[], &[load]).unwrap_err().to_string();
    assert!(refused(copy("cuda7", 0, Direction::ToHost)).contains("no device cuda7"));
    assert!(refused(copy("cuda0", 9, Direction::ToHost)).contains("node"));
    let nothing = DeviceLoad { bytes: 0, ..copy("cuda0", 0, Direction::ToHost) };
    assert!(refused(nothing).contains("nothing"));
}
