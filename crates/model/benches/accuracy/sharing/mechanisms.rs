//! Tables of local and remote bandwidth by mechanisms that are none of the model's laws.

/// Rows: 0 to 4 local threads; columns: 0 to 4 remote ones; MB/s.
pub type Table = [[f64; 5]; 5];

type Mechanism = fn(&mut fastrand::Rng) -> (Table, Table);

/// By their names.
pub const MECHANISMS: [(&str, Mechanism); 3] = [
    ("smooth flow", smooth_flow),
    ("hard max-min", hard_max_min),
    ("closed queueing", closed_queueing),
];

/// What threads want and what the parts of the machine give, MB/s.
struct Node {
    local_one: f64,
    remote_one: f64,
    port: f64,
    link: f64,
    controller: f64,
}

impl Node {
    fn drawn(random: &mut fastrand::Rng) -> Self {
        let mut between = |low: f64, high: f64| low + (high - low) * random.f64();
        let local_one = between(6000.0, 12000.0);
        let remote_one = local_one * between(0.4, 0.9);
        let port = local_one * between(1.5, 3.5);
        let link = remote_one * between(1.2, 3.0);
        let controller = port.max(link) * between(1.0, 1.3);
        Self { local_one, remote_one, port, link, controller }
    }
}

fn tables(of_cell: impl Fn(f64, f64) -> (f64, f64)) -> (Table, Table) {
    let (mut local, mut remote) = ([[0.0; 5]; 5], [[0.0; 5]; 5]);
    for (n, threads) in (0..5_u8).map(f64::from).enumerate() {
        for (m, far) in (0..5_u8).map(f64::from).enumerate() {
            (local[n][m], remote[n][m]) = of_cell(threads, far);
        }
    }
    (local, remote)
}

/// Each part is neared smoothly, with a sharpness of its own; what the controller takes from each
/// group follows its share to a power.
fn smooth_flow(random: &mut fastrand::Rng) -> (Table, Table) {
    let node = Node::drawn(random);
    let [port, link, controller] = [(); 3].map(|()| 2.0 + 6.0 * random.f64());
    let power = 0.6 + 0.6 * random.f64();
    let bend = |wanted: f64, most: f64, p: f64| {
        if wanted > 0.0 { (wanted.powf(-p) + most.powf(-p)).powf(-1.0 / p) } else { 0.0 }
    };
    tables(|n, m| {
        let near = bend(n * node.local_one, node.port, port);
        let far = bend(m * node.remote_one, node.link, link);
        let total = bend(near + far, node.controller, controller);
        let (one, other) = (near.powf(power), far.powf(power));
        if near + far == 0.0 {
            return (0.0, 0.0);
        }
        // No group gets more than it has alone.
        let local = (total * one / (one + other)).clamp(total - far, near);
        (local, total - local)
    })
}

/// Every thread gets equal steps until a part that it uses is full.
fn hard_max_min(random: &mut fastrand::Rng) -> (Table, Table) {
    let node = Node::drawn(random);
    tables(|n, m| {
        let near_alone = (n * node.local_one).min(node.port);
        let far_alone = (m * node.remote_one).min(node.link);
        if near_alone + far_alone <= node.controller {
            return (near_alone, far_alone);
        }
        let fair = node.controller / (n + m);
        let far = far_alone.min((m * fair).max(node.controller - near_alone));
        (node.controller - far, far)
    })
}

/// Threads keep ten lines each under way through the port or the link and the controller; mean
/// values by Schweitzer's approximation.
fn closed_queueing(random: &mut fastrand::Rng) -> (Table, Table) {
    const LINES: f64 = 10.0;
    let node = Node::drawn(random);
    let mean_service = |most: f64| 64.0 / most;
    let (port, link) = (mean_service(node.port), mean_service(node.link));
    let controller = mean_service(node.controller);
    let think = |one: f64, own: f64| (64.0 * LINES / one - own - controller).max(0.0);
    let away = [think(node.local_one, port), think(node.remote_one, link)];
    let own = [port, link];
    tables(|n, m| {
        let customers = [LINES * n, LINES * m];
        // Lines of each group at its own part and at the controller.
        let mut queues = customers.map(|lines| [lines / 2.0, lines / 2.0]);
        let mut rates = [0.0; 2];
        for _ in 0..400 {
            let before = queues;
            for group in 0..2 {
                let lines: f64 = customers[group];
                if lines == 0.0 {
                    continue;
                }
                let others = before[0][1] + before[1][1] - before[group][1] / lines;
                let times = [
                    own[group] * (1.0 + before[group][0] * (1.0 - 1.0 / lines)),
                    controller * (1.0 + others),
                ];
                rates[group] = lines / (away[group] + times[0] + times[1]);
                queues[group] = times.map(|time| rates[group] * time);
            }
        }
        (64.0 * rates[0], 64.0 * rates[1])
    })
}
