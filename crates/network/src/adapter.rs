//! The adapter through which a connection goes, as the kernel shows it below `/sys/class/net`.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use nearfar_machine::{AdapterInterrupts, CpuSet, Machine, NetworkAdapter, NodeSet};
use nearfar_sys::InterfaceAddress;

/// More interrupts than any adapter has.
const MOST_INTERRUPTS: usize = 4096;

/// The adapter through which a connection between these addresses goes, the one here first; `None` where no
/// interface has the address. `root` is that of the file system, `/` on the live machine.
pub fn adapter_of(
    root: &Path,
    machine: &Machine,
    addresses: &[InterfaceAddress],
    [here, there]: [IpAddr; 2],
) -> Option<NetworkAdapter> {
    let of_address =
        |address: IpAddr| addresses.iter().find(|it| it.address == address.to_canonical());
    // What a machine sends to an address of its own crosses loopback, whichever interface has it.
    let found = match of_address(there) {
        Some(_) => addresses.iter().find(|it| it.is_loopback),
        None => of_address(here),
    }?;
    Some(adapter(root, machine, &found.interface, found.is_loopback))
}

fn adapter(root: &Path, machine: &Machine, interface: &str, is_loopback: bool) -> NetworkAdapter {
    let folder = root.join("sys/class/net").join(interface);
    let device = folder.join("device");
    let bus = pci_function(&device);
    let node = bus.as_ref().and_then(|bus| number::<i64>(&bus.join("numa_node")));
    let infiniband = infiniband_port(&device);
    let (link, no_rate) = match rate(&folder, infiniband.as_ref(), is_loopback) {
        Ok(bits) => (Some(bits), None),
        Err(why) => (None, Some(why)),
    };
    NetworkAdapter {
        interface: interface.into(),
        is_loopback,
        driver: last_of_link(&device.join("driver")),
        bus_id: bus.as_deref().and_then(name_of),
        // -1 where the firmware does not say.
        node: node.and_then(|node| u32::try_from(node).ok()),
        link_bits_per_s: link,
        no_rate,
        infiniband: infiniband.as_ref().map(|port| port.0.clone()),
        interrupts: bus.and_then(|bus| interrupts(root, machine, &bus)),
    }
}

/// The PCIe function that a device is or is on, up the kernel's tree: virtio's device is below its own.
fn pci_function(device: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(device).ok()?;
    let is_function = |path: &&Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.len() >= 12 && name.split([':', '.']).count() == 4)
    };
    real.ancestors().find(is_function).map(Path::to_path_buf)
}

/// The adapter's name for InfiniBand, and its first port's folder.
fn infiniband_port(device: &Path) -> Option<(String, PathBuf)> {
    let folder = device.join("infiniband");
    let entry = fs::read_dir(&folder).ok()?.flatten().next()?;
    let name = entry.file_name().to_str()?.to_string();
    Some((name, entry.path().join("ports/1")))
}

/// Bits/s each way, or why that is not known.
fn rate(
    folder: &Path,
    infiniband: Option<&(String, PathBuf)>,
    is_loopback: bool,
) -> Result<u64, String> {
    if is_loopback {
        return Err("loopback has no link".into());
    }
    // A pair of virtual ends says 10 Gb/s, and a bridge what its ports say: made up, or another's.
    if !folder.join("device").exists() && !folder.join("bonding").exists() {
        return Err("it is no adapter of its own (a bridge, a pair of virtual ends)".into());
    }
    let megabits: Option<i64> = number(&folder.join("speed"));
    if let Some(megabits) = megabits.and_then(|it| u64::try_from(it).ok()).filter(|&it| it > 0) {
        return megabits.checked_mul(1_000_000).ok_or_else(|| "its speed is no number".into());
    }
    // `100 Gb/sec (4X EDR)`
    let of_port = infiniband.and_then(|(_, port)| fs::read_to_string(port.join("rate")).ok());
    let gigabits: Option<f64> =
        of_port.as_deref().and_then(|text| text.split_once(" Gb/sec")?.0.trim().parse().ok());
    match gigabits.filter(|gigabits| (0.1..=1e5).contains(gigabits)) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1e8 and 1e14"
        )]
        Some(gigabits) => Ok((gigabits * 1e9).round() as u64),
        None => Err("its driver does not say how fast its link is".into()),
    }
}

fn interrupts(root: &Path, machine: &Machine, function: &Path) -> Option<AdapterInterrupts> {
    let numbers = fs::read_dir(function.join("msi_irqs")).ok()?.flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut interrupts = AdapterInterrupts { count: 0, cpus: CpuSet::new(), nodes: NodeSet::new() };
    for number in numbers.take(MOST_INTERRUPTS) {
        let folder = root.join("proc/irq").join(number.to_string());
        let cpus = |file: &str| {
            let text = fs::read_to_string(folder.join(file)).ok()?;
            text.trim().parse::<CpuSet>().ok().filter(|cpus| !cpus.is_empty())
        };
        // Which of those that may take it does.
        if let Some(cpus) = cpus("effective_affinity_list").or_else(|| cpus("smp_affinity_list")) {
            interrupts.count += 1;
            interrupts.cpus = interrupts.cpus.union(&cpus);
        }
    }
    let near = machine.nodes.iter().filter(|node| node.locality.intersects(&interrupts.cpus));
    interrupts.nodes = near.map(|node| node.os_index).collect();
    (interrupts.count > 0).then_some(interrupts)
}

fn number<T: std::str::FromStr>(path: &Path) -> Option<T> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn last_of_link(path: &Path) -> Option<String> {
    name_of(&fs::read_link(path).ok()?)
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A tree as Linux has it: an adapter of virtio on node 1, whose interrupts go to CPU 3.
    fn tree(root: &Path) {
        let function = root.join("sys/devices/pci0000:20/0000:20:01.0");
        let device = function.join("virtio3");
        let class = root.join("sys/class/net");
        for folder in [&device.join("net/eth1"), &function.join("msi_irqs"), &class.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(function.join("numa_node"), "1\n");
        write(function.join("msi_irqs/41"), "msix\n");
        write(function.join("msi_irqs/42"), "msix\n");
        write(root.join("proc/irq/41/smp_affinity_list"), "0-3\n");
        write(root.join("proc/irq/41/effective_affinity_list"), "3\n");
        write(device.join("net/eth1/speed"), "25000\n");
        symlink(device.join("net/eth1"), class.join("eth1")).unwrap();
        symlink(&device, device.join("net/eth1/device")).unwrap();
        symlink("/sys/bus/virtio/drivers/virtio_net", device.join("driver")).unwrap();
        // Virtual ends claim 10 Gb/s.
        write(class.join("veth0/speed"), "10000\n");
        write(class.join("lo/mtu"), "65536\n");
    }

    fn address(interface: &str, address: &str, is_loopback: bool) -> InterfaceAddress {
        let address = address.parse().unwrap();
        InterfaceAddress { interface: interface.into(), address, is_loopback }
    }

    fn machine() -> Machine {
        nearfar_topology::parse_synthetic("numanode:2 core:2 pu:1").unwrap()
    }

    #[test]
    fn an_adapter_is_found_by_a_local_address_with_its_place_and_its_rate() {
        let root = tempfile::tempdir().unwrap();
        tree(root.path());
        let all = [address("lo", "127.0.0.1", true), address("eth1", "10.0.0.1", false)];
        let find_to = |ends: [&str; 2]| {
            adapter_of(root.path(), &machine(), &all, ends.map(|end| end.parse().unwrap()))
        };
        let find = |here: &str| find_to([here, "10.0.0.77"]);
        let found = find("10.0.0.1").unwrap();
        let interrupts =
            AdapterInterrupts { count: 1, cpus: CpuSet::single(3), nodes: NodeSet::single(1) };
        assert_eq!(
            found,
            NetworkAdapter {
                interface: "eth1".into(),
                is_loopback: false,
                driver: Some("virtio_net".into()),
                bus_id: Some("0000:20:01.0".into()),
                node: Some(1),
                link_bits_per_s: Some(25_000_000_000),
                no_rate: None,
                infiniband: None,
                interrupts: Some(interrupts),
            }
        );
        assert_eq!(find("::ffff:10.0.0.1"), Some(found));
        // An address of this machine is reached by no adapter.
        assert_eq!(find_to(["10.0.0.1", "10.0.0.1"]), find("127.0.0.1"));
        let lo = find("127.0.0.1").unwrap();
        assert!(lo.is_loopback && lo.link_bits_per_s.is_none() && lo.node.is_none(), "{lo:?}");
        assert_eq!(lo.no_rate.as_deref(), Some("loopback has no link"));
        assert_eq!(find("10.0.0.9"), None);
    }

    #[test]
    fn a_rate_that_is_made_up_is_none_and_infiniband_says_its_own() {
        let root = tempfile::tempdir().unwrap();
        tree(root.path());
        let all = [address("veth0", "10.1.0.1", false), address("eth1", "10.0.0.1", false)];
        let find = |here: &str| {
            let ends = [here, "10.9.9.9"].map(|end| end.parse().unwrap());
            adapter_of(root.path(), &machine(), &all, ends).unwrap()
        };
        let virtual_end = find("10.1.0.1");
        assert_eq!(virtual_end.link_bits_per_s, None);
        assert!(virtual_end.no_rate.unwrap().contains("no adapter of its own"));

        let device = root.path().join("sys/devices/pci0000:20/0000:20:01.0/virtio3");
        fs::write(device.join("net/eth1/speed"), "-1\n").unwrap();
        assert!(find("10.0.0.1").no_rate.unwrap().contains("does not say"));
        let port = device.join("infiniband/mlx5_0/ports/1");
        fs::create_dir_all(&port).unwrap();
        fs::write(port.join("rate"), "100 Gb/sec (4X EDR)\n").unwrap();
        let found = find("10.0.0.1");
        assert_eq!(found.link_bits_per_s, Some(100_000_000_000));
        assert_eq!(found.infiniband.as_deref(), Some("mlx5_0"));
    }
}
