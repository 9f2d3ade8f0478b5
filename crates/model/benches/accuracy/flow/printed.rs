//! Cells of a paper that were never fitted: saad2022's table from its lone cells and four mixed
//! ones. (denoyelle2019 prints the roofs of one initiator and no figure of one thread, from which
//! nothing can be fitted.)
#![expect(clippy::print_stdout, reason = "the table is the result")]

use nearfar_flow::Load;
use nearfar_model::{FlowCase, FlowLayout, FlowStream, fit_flow};
use nearfar_record::Experiment;

const PAPER: &str = include_str!("../../../../../papers/saad2022.json");
const MOST: u32 = 4;
/// Mixed cells that are fitted: local and remote processes.
const FITTED: [(u32, u32); 4] = [(1, 1), (2, 2), (4, 1), (4, 4)];
const NOISE: f64 = 0.02;

/// Prints the errors; nothing is promised of them.
pub fn print_errors() -> bool {
    let (local, remote) = (table("local"), table("remote"));
    let of = |table: &[f64], n: u32, m: u32| table[(n * (MOST + 1) + m) as usize] * 1e6;
    let case = |n: u32, m: u32| {
        let streams = [(0, n, of(&local, n, m)), (1, m, of(&remote, n, m))];
        let stream = |(initiator, threads, rate)| FlowStream {
            load: Load { initiator, threads, shares: vec![(0, 1.0)] },
            kernel: 0,
            rate,
            noise: NOISE,
        };
        let busy = streams.into_iter().filter(|&(_, threads, _)| threads > 0);
        let experiment = if n > 0 && m > 0 { Experiment::Sharing } else { Experiment::Pairs };
        FlowCase { experiment, streams: busy.map(stream).collect() }
    };
    let lone = (1..=MOST).flat_map(|count| [case(count, 0), case(0, count)]);
    let cases: Vec<FlowCase> = lone.chain(FITTED.map(|(n, m)| case(n, m))).collect();
    let layout = FlowLayout {
        initiators: 2,
        nodes: vec![0],
        links: Vec::new(),
        kernels: vec!["triad".into()],
    };
    let fitted = fit_flow(&layout, &cases, |_| false).unwrap();
    let (mut groups, mut totals): (Vec<f64>, Vec<f64>) = Default::default();
    for n in 1..=MOST {
        for m in (1..=MOST).filter(|&m| !FITTED.contains(&(n, m))) {
            let case = case(n, m);
            let rates = fitted.rates(&case).unwrap();
            let truth = case.streams.iter().map(|stream| stream.rate);
            groups.extend(
                rates.iter().zip(truth.clone()).map(|(it, truth)| (it / truth - 1.0).abs()),
            );
            totals.push((rates.iter().sum::<f64>() / truth.sum::<f64>() - 1.0).abs());
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let worst = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    println!(
        "saad2022, 12 cells from the lone ones and 4: groups {:.1} % (worst {:.1}), totals {:.1} % \
         (worst {:.1})",
        100.0 * mean(&groups),
        100.0 * worst(&groups),
        100.0 * mean(&totals),
        100.0 * worst(&totals)
    );
    true
}

/// The numbers of a table of the paper's file, row by row.
fn table(name: &str) -> Vec<f64> {
    let begin = PAPER.find(&format!("\"{name}\": [")).unwrap();
    let text = &PAPER[begin..];
    let text = &text[text.find('[').unwrap()..];
    // A key or the object's end stands behind the last row.
    let end = text.find(['"', '}']).unwrap_or(text.len());
    let cells = text[..end].split(|c: char| !c.is_ascii_digit()).filter(|cell| !cell.is_empty());
    let cells: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(cells.len(), ((MOST + 1) * (MOST + 1)) as usize, "{name}");
    cells
}
