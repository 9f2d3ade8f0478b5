//! BFS: breadth-first searches in a large graph whose degrees differ widely. Bound by the latency of
//! vertices looked up at random, and by the streams of their edges.
//!
//! Source: Graph500, specification 2.0 and reference 3.0.1; braithwaite2012, figures 6.3 and 6.4.

mod edges;
mod random;
mod statistics;
mod validation;

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::arithmetic::real;
use crate::array::{Array, ArrayPlan};
use crate::clock::{Clock, Search};
use crate::program::Program;
use crate::size::Class;
use crate::team::{Team, cut, shares};
use crate::traffic::{ArrayTraffic, PhaseTraffic};
use crate::verification::Check;
use edges::{Edge, EdgeList};
use random::Mrg;
pub use statistics::{Counting, SearchStatistics, Spread};
use validation::{Marks, Verdict, judge};

/// Edges of the list a vertex.
const EDGE_FACTOR: usize = 16;

const ROOTS: usize = 64;

/// The parent of a vertex that was not reached.
const NONE: u32 = u32::MAX;

/// What is known of the searches of a scale: sums over all roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// Without those from a vertex to itself.
    edges: u64,
    loops: u64,
}

/// Searches in a graph of 2^scale vertices from 64 roots. Its work are the edges of the list, with
/// those from a vertex to itself, whose ends were reached, of all searches; reference 3.0 leaves the
/// latter out, which [`Clock::searches`] tell apart.
#[derive(Debug, Clone, Copy)]
pub struct Bfs {
    scale: u32,
    seeds: [u64; 2],
    known: Option<Known>,
}

impl Bfs {
    pub fn new(class: Class) -> Self {
        Self::of_scale(match class {
            Class::S => 12,
            Class::W => 16,
            Class::A => 20,
            Class::B => 22,
            Class::C => 24,
        })
    }

    /// # Panics
    /// When the scale is below 6 or above 31.
    pub fn of_scale(scale: u32) -> Self {
        assert!((6..32).contains(&scale), "scale {scale}");
        // Of scales 10, 12 and 14 the reference prints these of one search; of the others they
        // were counted by this program.
        let known = match scale {
            10 => Some((16_239, 144)),
            12 => Some((65_327, 208)),
            13 => Some((130_794, 276)),
            14 => Some((261_818, 326)),
            15 => Some((523_885, 400)),
            16 => Some((1_048_079, 491)),
            17 => Some((2_096_512, 625)),
            18 => Some((4_193_472, 778)),
            19 => Some((8_387_584, 929)),
            20 => Some((16_775_818, 1158)),
            21 => Some((33_552_502, 1496)),
            22 => Some((67_106_224, 1906)),
            23 => Some((134_213_828, 2348)),
            24 => Some((268_429_687, 2860)),
            _ => None,
        };
        let roots = ROOTS as u64;
        let known =
            known.map(|(edges, loops)| Known { edges: roots * edges, loops: roots * loops });
        Self { scale, seeds: [2, 3], known }
    }

    fn vertices(&self) -> usize {
        1 << self.scale
    }

    /// Edges of the list.
    fn edges(&self) -> usize {
        EDGE_FACTOR << self.scale
    }

    /// Words of a bit a vertex, which the threads share out: so a word is one's only.
    fn words(&self) -> usize {
        self.vertices() / 64
    }

    /// The roots: different vertices with edges to others.
    fn roots(&self, starts: &[u64]) -> Vec<u32> {
        let vertices = self.vertices();
        let mut random = Mrg::new(self.seeds).after(2, 0);
        let mut roots = Vec::with_capacity(ROOTS);
        for _ in 0..vertices {
            let sum = random.deviate() + random.deviate();
            let root = self.vertex(sum);
            let has_edges = starts[root as usize] < starts[root as usize + 1];
            if has_edges && !roots.contains(&root) {
                roots.push(root);
            }
            if roots.len() == ROOTS {
                break;
            }
        }
        roots
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a vertex is below 2^31"
    )]
    fn vertex(&self, sum: f64) -> u32 {
        let vertices = self.vertices();
        ((sum * vertices as f64) as usize % vertices) as u32
    }

    /// Sorts the edges by the vertices at their ends: those of a vertex are its row. Edges from a
    /// vertex to itself lead nowhere and are left out.
    fn construct(
        edges: &[Edge],
        starts: &mut Array,
        columns: &[AtomicU32],
        words: &[Range<usize>],
        team: &Team,
    ) {
        let shares = team.shares(edges.len());
        let proper = |thread: usize| {
            let own: &[Edge] = &edges[shares[thread].clone()];
            own.iter().filter(|[from, to]| from != to)
        };
        // A vertex' count, then its row's begin, lie one further on: when the row is full, that is
        // its end.
        let next = starts.atomic_u64();
        team.all(|thread| {
            for end in proper(thread).flatten() {
                next[*end as usize + 1].fetch_add(1, Ordering::Relaxed);
            }
        });
        let counts = &mut starts.of_mut::<u64>()[1..];
        let sums = team.each(cut(counts, words, 64), |_, counts| counts.iter().sum::<u64>());
        team.each(cut(counts, words, 64), |thread, counts| {
            let mut begin: u64 = sums[..thread].iter().sum();
            for count in counts {
                begin += std::mem::replace(count, begin);
            }
        });
        let next = starts.atomic_u64();
        team.all(|thread| {
            for &[from, to] in proper(thread) {
                for (row, column) in [(from, to), (to, from)] {
                    let place = next[row as usize + 1].fetch_add(1, Ordering::Relaxed);
                    columns[index(place)].store(column, Ordering::Relaxed);
                }
            }
        });
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a usize has 64 bits here")]
fn index(place: u64) -> usize {
    place as usize
}

/// A graph by rows.
#[derive(Clone, Copy)]
struct Graph<'a> {
    starts: &'a [u64],
    columns: &'a [u32],
}

impl Graph<'_> {
    fn row(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.columns[index(self.starts[vertex])..index(self.starts[vertex + 1])]
    }
}

/// What a search writes: a parent of each vertex, and bits of it.
struct State<'a> {
    parents: &'a mut Array,
    /// Vertices that were reached.
    visited: &'a mut Array,
    /// Those of them that were in this level or above.
    seen: &'a mut [u64],
    /// Those in this level: only who owns them looks at them.
    level: &'a mut [u64],
}

/// Searches from a root, level by level: each thread looks at the rows of its own vertices.
#[inline(never)]
fn search(graph: Graph<'_>, root: u32, state: &mut State<'_>, words: &[Range<usize>], team: &Team) {
    let State { parents, visited, seen, level } = state;
    let parts = cut(parents.of_mut::<u32>(), words, 64)
        .into_iter()
        .zip(cut(visited.of_mut::<u64>(), words, 1))
        .zip(cut(seen, words, 1));
    team.each(parts, |_, ((parents, visited), seen)| {
        parents.fill(NONE);
        visited.fill(0);
        seen.fill(0);
    });
    let (parents, visited) = (parents.atomic_u32(), visited.atomic_u64());
    parents[root as usize].store(root, Ordering::Relaxed);
    visited[root as usize / 64].store(1 << (root % 64), Ordering::Relaxed);
    let mut reached = 1;
    while reached > 0 {
        let parts = cut(seen, words, 1).into_iter().zip(cut(level, words, 1));
        team.each(parts, |thread, (seen, level)| {
            let visited = &visited[words[thread].clone()];
            for ((seen, level), visited) in seen.iter_mut().zip(level).zip(visited) {
                let now = visited.load(Ordering::Relaxed);
                *level = now & !std::mem::replace(seen, now);
            }
        });
        let level = &**level;
        let of_threads = team.all(|thread| {
            let own = words[thread].clone();
            let of_word = |(word, &bits)| expand(graph, (word, bits), parents, visited);
            own.clone().zip(&level[own]).map(of_word).sum::<u64>()
        });
        reached = of_threads.into_iter().sum();
    }
}

/// Looks at the rows of a level's vertices of one word; how many vertices of them are reached first.
#[inline]
fn expand(
    graph: Graph<'_>,
    (word, bits): (usize, u64),
    parents: &[AtomicU32],
    visited: &[AtomicU64],
) -> u64 {
    let mut bits = bits;
    let mut reached = 0;
    while bits != 0 {
        #[expect(clippy::cast_possible_truncation, reason = "vertices are below 2^31")]
        let vertex = (64 * word) as u32 + bits.trailing_zeros();
        bits &= bits - 1;
        for &column in graph.row(vertex) {
            let (word, bit) = (&visited[column as usize / 64], 1 << (column % 64));
            if word.load(Ordering::Relaxed) & bit == 0
                && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
            {
                parents[column as usize].store(vertex, Ordering::Relaxed);
                reached += 1;
            }
        }
    }
    reached
}

impl Program for Bfs {
    fn arrays(&self, threads: usize) -> Vec<ArrayPlan> {
        let words = self.words();
        let shared = |name, unit| ArrayPlan::shared::<u64>(name, (words, unit), threads, false);
        let mut starts = shared("rowstarts", 64);
        // The last row's end.
        starts.bytes += 8;
        if let Some(last) = starts.owners.last_mut() {
            last.end += 8;
        }
        let columns = (2 * EDGE_FACTOR * self.vertices(), 1);
        vec![
            ArrayPlan::shared::<Edge>("edges", (self.edges(), 1), threads, false),
            starts,
            // Of rows about as long each: a share of vertices is a share of the columns.
            ArrayPlan::shared::<u32>("columns", columns, threads, true),
            ArrayPlan::shared::<u32>("parent", (words, 64), threads, true),
            shared("visited", 1),
            shared("seen", 1),
            shared("level", 1),
            shared("places", 64),
        ]
    }

    fn work(&self) -> f64 {
        // Most of the list where it was not counted: more than 0.99 of it from scale 10 on.
        let estimate = real(ROOTS * self.edges());
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let counted = self.known.map(|known| (known.edges + known.loops) as f64);
        counted.unwrap_or(estimate) / 1e6
    }

    fn unit(&self) -> &'static str {
        "Medge"
    }

    fn traffic(&self, cache_bytes: f64) -> Vec<PhaseTraffic> {
        // Of the searches, which alone are timed. How often lines are fetched again was counted in a
        // simulated cache at scales 16 and 18 and is approximate: rows that lie in different levels
        // share lines (columns 1.08 times, rowstarts 1.9 times), the bits of all vertices are looked
        // at in each level (5 times), and the columns that stream by leave less of the cache to what
        // is found at random, the more vertices the better for those found often (the exponents). A
        // cache between the graph's size and twice that keeps a part, which is left out here.
        let searches = real(ROOTS);
        let vertices = real(self.vertices());
        let (starts, parents, bits) = (8.0 * vertices, 4.0 * vertices, vertices / 8.0);
        let columns = 8.0 * 1e6 * self.work() / searches;
        let validation = 8.0 * (real(self.edges()) + vertices);
        let stays = columns + starts + parents + 3.0 * bits + validation <= cache_bytes;
        let searches = if stays { 0.0 } else { searches };
        // Those without edges are more the larger the scale: counted from 12 to 20.
        let reached = vertices * 0.819 * (-0.0357 * (f64::from(self.scale) - 12.0)).exp();
        let missed = |bytes: f64, steepness: f64| (-steepness * cache_bytes / bytes).exp();
        let random = |array, bytes: f64, lines: f64, stores: f64| ArrayTraffic {
            array,
            read_bytes: searches * (bytes + 64.0 * lines),
            written_bytes: searches * (bytes + 64.0 * stores),
            random_lines: searches * lines,
        };
        let found = reached * missed(parents, 0.45);
        let looked_at = columns / 4.0 * missed(bits, 1.2);
        let arrays = vec![
            ArrayTraffic::read("columns", searches * 1.08 * columns),
            ArrayTraffic::read("rowstarts", searches * 1.9 * starts),
            random("parent", parents, found, found),
            random("visited", bits, looked_at, reached * missed(bits, 1.2)),
            ArrayTraffic::written("seen", searches * 5.0 * bits),
            ArrayTraffic::written("level", searches * 5.0 * bits),
        ];
        vec![PhaseTraffic { phase: "search", flops: 0.0, arrays }]
    }

    fn run(&self, arrays: &mut [Array], team: &Team, clock: &mut Clock) -> Vec<Check> {
        let [edges, starts, columns, parents, visited, seen, level, places] = arrays else {
            unreachable!("the arrays that were planned")
        };
        let words = &shares(self.words(), team.threads());
        let shares = team.shares(self.edges());
        let list = EdgeList::new(self.scale, self.seeds);
        team.each(cut(edges.of_mut(), &shares, 1), |thread, edges| {
            list.write(shares[thread].start, edges);
        });
        let edges = edges.of::<Edge>();
        // Graph500 times the construction by itself: it is no part of the rate.
        Self::construct(edges, starts, columns.atomic_u32(), words, team);
        let graph = Graph { starts: starts.of(), columns: columns.of() };
        let roots = self.roots(graph.starts);
        let mut verdict = Verdict::default();
        let places = places.atomic_u64();
        let mut state = State { parents, visited, seen: seen.of_mut(), level: level.of_mut() };
        // A warm-up.
        roots.first().iter().for_each(|root| search(graph, **root, &mut state, words, team));
        clock.start();
        clock.stop();
        for &root in &roots {
            clock.resume();
            clock.time("search", || search(graph, root, &mut state, words, team));
            let time = clock.stop();
            let marks = Marks { places, joined: state.visited.atomic_u64() };
            let found = judge((root, state.parents.of()), edges, &marks, words, team);
            clock.searched(Search { time, edges: found.edges, loops: found.loops });
            verdict = verdict.and(found);
        }
        let mut checks = vec![
            Check::exact(
                "rule 1: vertices whose parents do not lead to the root",
                0,
                verdict.astray,
            ),
            Check::exact("rule 2: vertices not one level below their parent", 0, verdict.skewed),
            Check::exact("rule 3: edges that skip a level", 0, verdict.long),
            Check::exact("rule 4: edges with one end left out", 0, verdict.left_out),
            Check::exact(
                "rule 5: vertices that no edge joins to their parent",
                0,
                verdict.unjoined,
            ),
        ];
        if let Some(known) = self.known {
            checks.push(Check::exact("searches", ROOTS as u64, roots.len() as u64));
            checks.push(Check::exact("edges reached", known.edges, verdict.edges));
            checks.push(Check::exact("edges to the same vertex", known.loops, verdict.loops));
        }
        checks
    }
}
