//! saad2022's tables of local and remote bandwidth, MB/s, as a record;
//! `crates/reproduce/tests/wrong_numbers.rs` holds them against `papers/saad2022.json`.

use nearfar_record::{Coordinates, Record};
use nearfar_specimen::{add_at, sharing};

/// Rows: 0 to 4 local processes; columns: 0 to 4 remote ones.
pub const LOCAL: [[f64; 5]; 5] = [
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [7656.0, 6776.0, 6325.0, 6185.0, 6210.0],
    [11024.0, 8921.0, 8379.0, 8283.0, 8242.0],
    [12607.0, 10167.0, 9235.0, 9141.0, 9145.0],
    [12925.0, 10487.0, 9393.0, 9299.0, 9302.0],
];

/// The same of the remote processes.
pub const REMOTE: [[f64; 5]; 5] = [
    [0.0, 4844.0, 6998.0, 6938.0, 6807.0],
    [0.0, 4412.0, 6020.0, 6020.0, 5945.0],
    [0.0, 4056.0, 5329.0, 5335.0, 5275.0],
    [0.0, 3675.0, 4765.0, 4742.0, 4699.0],
    [0.0, 3472.0, 4472.0, 4459.0, 4416.0],
];

/// Mixed cells from which the others are predicted well: 1 near 1 far, 2 and 2, 4 and 1, 4 and 4.
pub const FOUR: [(u32, u32); 4] = [(1, 1), (2, 2), (4, 1), (4, 4)];

/// Every cell in which both run.
pub fn mixed() -> impl Iterator<Item = (u32, u32)> {
    (1..=4).flat_map(|n| (1..=4).map(move |m| (n, m)))
}

/// What the table has of a cell.
pub fn printed(local: &[[f64; 5]; 5], n: u32, m: u32) -> f64 {
    local[n as usize][m as usize]
}

/// Adds a cell of these local and remote threads; each round is useful bytes/s of the local and of
/// the remote group.
pub fn add_cell(record: &mut Record, (n, m): (u32, u32), rounds: &[(f64, f64)]) {
    let of_groups = |&(local, remote): &(f64, f64)| {
        let groups = [(n, local), (m, remote)].into_iter().filter(|(threads, _)| *threads > 0);
        groups.map(|(_, rate)| rate).collect::<Vec<f64>>()
    };
    add_at(record, Coordinates::Sharing(sharing(n, m)), rounds.iter().map(of_groups));
}

/// Lone cells and these mixed ones of a table, one round each.
pub fn record_of(local: &[[f64; 5]; 5], remote: &[[f64; 5]; 5], mixed: &[(u32, u32)]) -> Record {
    let mut record = nearfar_specimen::record();
    let alone = (1..=4).flat_map(|count| [(count, 0), (0, count)]);
    for (n, m) in alone.chain(mixed.iter().copied()) {
        let rounds = [(printed(local, n, m) * 1e6, printed(remote, n, m) * 1e6)];
        add_cell(&mut record, (n, m), &rounds);
    }
    record
}
