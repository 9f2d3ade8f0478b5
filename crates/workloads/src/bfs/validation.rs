//! Graph500's rules of a search's result, each over the whole graph.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bfs::{Edge, NONE};
use crate::team::Team;

/// A level that a vertex cannot have: its parents lead nowhere.
const ASTRAY: u32 = NONE - 1;

/// What breaks each rule, and what a search found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Rule 1: vertices whose parents do not lead to the root.
    pub astray: u64,
    /// Rule 2: vertices that are not one level below their parent.
    pub skewed: u64,
    /// Rule 3: edges between levels further apart than one.
    pub long: u64,
    /// Rule 4: edges with one end that was not reached.
    pub left_out: u64,
    /// Rule 5: vertices that no edge joins to their parent.
    pub unjoined: u64,
    /// Edges whose ends were reached, those from a vertex to itself left out.
    pub edges: u64,
    /// Edges from a reached vertex to itself.
    pub loops: u64,
}

impl Verdict {
    pub fn and(self, other: Self) -> Self {
        Self {
            astray: self.astray + other.astray,
            skewed: self.skewed + other.skewed,
            long: self.long + other.long,
            left_out: self.left_out + other.left_out,
            unjoined: self.unjoined + other.unjoined,
            edges: self.edges + other.edges,
            loops: self.loops + other.loops,
        }
    }
}

/// A vertex' parent and level in one word, so that both come with one line.
#[derive(Debug, Clone, Copy)]
struct Place {
    parent: u32,
    level: u32,
}

impl Place {
    #[expect(clippy::cast_possible_truncation, reason = "halves of a word")]
    fn of(word: &AtomicU64) -> Self {
        let word = word.load(Ordering::Relaxed);
        Self { parent: word as u32, level: (word >> 32) as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.level) << 32 | u64::from(self.parent)
    }

    fn is_reached(self) -> bool {
        self.parent != NONE
    }
}

/// Work memory of a validation.
pub struct Marks<'a> {
    /// A word a vertex.
    pub places: &'a [AtomicU64],
    /// A bit a vertex.
    pub joined: &'a [AtomicU64],
}

/// Judges a search by what it left, a parent for each vertex.
pub fn judge(
    (root, parents): (u32, &[u32]),
    edges: &[Edge],
    marks: &Marks<'_>,
    words: &[Range<usize>],
    team: &Team,
) -> Verdict {
    let &Marks { places, joined } = marks;
    let own = |thread: usize| {
        let words = words[thread].clone();
        64 * words.start..64 * words.end
    };
    team.all(|thread| {
        for vertex in own(thread) {
            let parent = parents[vertex];
            let level = if vertex == root as usize && parent == root { 0 } else { NONE };
            places[vertex].store(Place { parent, level }.word(), Ordering::Relaxed);
        }
        joined[words[thread].clone()].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    });
    team.all(|thread| own(thread).for_each(|vertex| climb(vertex, places)));
    let sum =
        |of_threads: Vec<Verdict>| of_threads.into_iter().fold(Verdict::default(), Verdict::and);
    let shares = team.shares(edges.len());
    let of_edges = sum(team.all(|thread| judge_edges(&edges[shares[thread].clone()], marks)));
    let of_vertices = sum(team.all(|thread| {
        let mut verdict = Verdict::default();
        for vertex in own(thread) {
            let place = Place::of(&places[vertex]);
            if vertex == root as usize {
                verdict.astray += u64::from(place.level != 0);
            } else if place.is_reached() {
                let is_joined = joined[vertex / 64].load(Ordering::Relaxed) >> (vertex % 64) & 1;
                verdict.unjoined += 1 - is_joined;
                if place.level == ASTRAY {
                    verdict.astray += 1;
                } else {
                    let above = Place::of(&places[place.parent as usize]);
                    verdict.skewed += u64::from(place.level != above.level.wrapping_add(1));
                }
            }
        }
        verdict
    }));
    of_edges.and(of_vertices)
}

/// Follows a vertex' parents to one whose level is known, then writes the levels of those on the way.
fn climb(vertex: usize, places: &[AtomicU64]) {
    let mut hops = 0;
    let mut at = vertex;
    // A vertex on the way, further up each time: who meets it again goes round in a circle.
    let mut passed = None;
    // The level where the climb ends; none where that is nowhere.
    let end = loop {
        let place = Place::of(&places[at]);
        if place.level != NONE {
            break Some(place.level);
        }
        if passed == Some(at) || place.parent as usize >= places.len() {
            break None;
        }
        if usize::is_power_of_two(hops) {
            passed = Some(at);
        }
        at = place.parent as usize;
        hops += 1;
    };
    let top = end.filter(|&level| level != ASTRAY);
    let mut at = vertex;
    for hop in 0..=hops {
        let place = Place::of(&places[at]);
        if place.level != NONE || !place.is_reached() {
            return;
        }
        let level = top.map_or(ASTRAY, |top| top + number(hops - hop));
        places[at].store(Place { level, ..place }.word(), Ordering::Relaxed);
        if place.parent as usize >= places.len() {
            return;
        }
        at = place.parent as usize;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "hops within a path of less than 2^32")]
fn number(hops: usize) -> u32 {
    hops as u32
}

fn judge_edges(edges: &[Edge], marks: &Marks<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let join = |vertex: u32| {
        let (word, bit) = (&marks.joined[vertex as usize / 64], 1 << (vertex % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    };
    for &[from, to] in edges {
        let [a, b] = [from, to].map(|end| Place::of(&marks.places[end as usize]));
        match (a.is_reached(), b.is_reached()) {
            (false, false) => continue,
            (true, true) => {}
            _ => {
                verdict.left_out += 1;
                continue;
            }
        }
        if from == to {
            verdict.loops += 1;
            continue;
        }
        verdict.edges += 1;
        verdict.long += u64::from(a.level.abs_diff(b.level) > 1);
        if a.parent == to {
            join(from);
        }
        if b.parent == from {
            join(to);
        }
    }
    verdict
}
