//! The memory of a round: a pool for each policy and page size, mapped when a case first needs it.

use std::collections::BTreeMap;

use nearfar_kernels::Pattern;
use nearfar_machine::{Machine, MemoryPolicy};
use nearfar_record::{Case, Pages, Reason, ReasonCode};

use super::dealt_pages::{NotDealt, Split};
use super::job::{Job, cut_slices};
use super::layout::{Area, Layout, PoolKey, lay_out, pool_needs};
use super::pool::{Pool, PoolRequest};
use super::proof::{Placed, PlacedArea};

/// The pools of a round.
#[derive(Debug)]
pub(super) struct Pools {
    /// Whether the nodes' own figures of their memory can be believed.
    node_memory_is_known: bool,
    pools: BTreeMap<PoolKey, Pool>,
    /// Bytes that each pool needs in this round.
    needs: BTreeMap<PoolKey, u64>,
    /// Why the kernel moves no pages here, once it has refused.
    move_refused: Option<String>,
    /// How pages lie that were dealt out as they were touched.
    splits: BTreeMap<PoolKey, Vec<Split>>,
}

/// What pools are made with.
#[derive(Clone, Copy)]
struct Setting<'a> {
    layouts: &'a [Layout],
    machine: &'a Machine,
    pattern: &'a Pattern,
}

impl Pools {
    pub fn new(node_memory_is_known: bool) -> Self {
        Self {
            node_memory_is_known,
            pools: BTreeMap::new(),
            needs: BTreeMap::new(),
            move_refused: None,
            splits: BTreeMap::new(),
        }
    }

    /// Gives all memory back, and notes what these cases need.
    pub fn begin_round(&mut self, cases: &[&Case]) {
        self.clear();
        self.needs.clear();
        for case in cases {
            for (key, bytes) in pool_needs(&lay_out(case)) {
                let most = self.needs.entry(key).or_default();
                *most = (*most).max(bytes);
            }
        }
    }

    /// Has memory ready for a case: mapped, and but for first touch placed and filled. What
    /// streams read holds the pattern; what is written counts as overwritten from now on.
    ///
    /// # Errors
    /// When there is no room, or the kernel refuses.
    pub fn make_ready(
        &mut self,
        layouts: &[Layout],
        machine: &Machine,
        pattern: &Pattern,
    ) -> Result<(), Reason> {
        self.end_case();
        let setting = Setting { layouts, machine, pattern };
        let of_case = pool_needs(layouts);
        let of_round = self.needs.clone();
        let wanted = |key: &PoolKey, least| of_round.get(key).copied().unwrap_or(0).max(least);
        // One pool for all cases of the round if there is room, else what this case needs, at the
        // cost of the others.
        match self.ensure_all(&of_case, wanted, setting) {
            Err(Reason { code: ReasonCode::NoRoom, .. }) => {
                self.clear();
                self.ensure_all(&of_case, |_, least| least, setting)?;
            }
            outcome => outcome?,
        }
        self.restore(setting)
    }

    fn ensure_all(
        &mut self,
        needs: &BTreeMap<PoolKey, u64>,
        wanted: impl Fn(&PoolKey, u64) -> u64,
        setting: Setting<'_>,
    ) -> Result<(), Reason> {
        for (key, &least) in needs {
            let cpus = setting.layouts.iter().find(|layout| layout.arrays().any(|a| a.key == *key));
            let Some(cpus) = cpus.map(|layout| &layout.touching_cpus) else { continue };
            let is_large_enough = self.pools.get(key).is_some_and(|pool| pool.bytes() >= least);
            if !is_large_enough {
                self.forget(key);
            }
            let policy = match key {
                PoolKey::Policy(policy, _) => policy.clone(),
                PoolKey::Dealt { nodes, .. } => MemoryPolicy::Interleave(nodes.clone()),
            };
            let bytes = wanted(key, least);
            let request = PoolRequest {
                policy: &policy,
                pages: key.pages(),
                bytes,
                cpus,
                machine: setting.machine,
                node_memory_is_known: self.node_memory_is_known,
                pattern: setting.pattern,
            };
            let pool = match key {
                PoolKey::Dealt { .. } => {
                    self.deal(key, request, least, splits_of(setting.layouts, key))?;
                    continue;
                }
                PoolKey::Policy(..) if is_large_enough => continue,
                PoolKey::Policy(MemoryPolicy::FirstTouch, _) => {
                    Pool::reserve(PoolRequest { bytes: least, ..request })?
                }
                PoolKey::Policy(..) => Pool::map(request)?,
            };
            self.pools.insert(key.clone(), pool);
        }
        Ok(())
    }

    /// Deals the pages of a pool out as the case has it: those of the last case are moved, or,
    /// where the kernel moves none, the pool is mapped again.
    fn deal(
        &mut self,
        key: &PoolKey,
        request: PoolRequest<'_>,
        least: u64,
        splits: Vec<Split>,
    ) -> Result<(), Reason> {
        if self.move_refused.is_none() {
            let pool = match self.pools.remove(key) {
                Some(pool) => pool,
                None => Pool::map_movable(request)?,
            };
            match pool.deal(&splits) {
                Ok(()) => {
                    self.pools.insert(key.clone(), pool);
                    return Ok(());
                }
                Err(NotDealt::Refused(reason)) => return Err(reason),
                Err(NotDealt::MoveRefused(refusal)) => {
                    self.move_refused = Some(refusal.to_string());
                }
            }
        }
        if self.pools.contains_key(key) && self.splits.get(key) == Some(&splits) {
            return Ok(());
        }
        self.forget(key);
        let why = self.move_refused.as_deref().unwrap_or_default();
        let request = PoolRequest { bytes: least, ..request };
        let pool = Pool::map_split(request, &splits, why)?;
        self.pools.insert(key.clone(), pool);
        self.splits.insert(key.clone(), splits);
        Ok(())
    }

    /// Writes the pattern again where kernels wrote and streams will read.
    fn restore(&mut self, setting: Setting<'_>) -> Result<(), Reason> {
        for layout in setting.layouts {
            for array in &layout.sources {
                let Some(pool) = self.pools.get_mut(&array.key) else { continue };
                let cpus = &layout.touching_cpus;
                if let Err(reason) = pool.restore(&array.range(), cpus, setting.pattern) {
                    // What is in the pool is not known any more.
                    self.forget(&array.key);
                    return Err(reason);
                }
            }
        }
        for array in setting.layouts.iter().filter_map(|layout| layout.destination.as_ref()) {
            if let Some(pool) = self.pools.get_mut(&array.key) {
                pool.overwrite(array.range());
            }
        }
        Ok(())
    }

    /// What is to be proven of each actor.
    pub fn placed(&self, layouts: &[Layout]) -> Vec<Placed> {
        let base_page_bytes: u64 = self.pools.values().map(Pool::base_page_bytes).sum();
        let placed = |layout: &Layout| {
            let mut placed = Placed::default();
            for area in &layout.areas {
                let Some(pool) = self.pools.get(&area.key) else { continue };
                let place = if area.is_written { &mut placed.written } else { &mut placed.pages };
                let range = pool.addresses(&area.range);
                // Sizes cost about as much for each base page of the process as a node does for
                // each of the range. Huge pages that were moved may have been split.
                let is_dealt = matches!(area.key, PoolKey::Dealt { .. });
                let asks = area.key.pages() != Pages::Small
                    && (is_dealt || base_page_bytes <= range.bytes() as u64);
                *place = Some(PlacedArea {
                    range,
                    page_sizes: pool.page_sizes.filter(|_| !asks),
                    mapping: pool.mapping(),
                    policy: area.policy.clone(),
                    threads: u32::try_from(layout.cpus.len()).unwrap_or(u32::MAX),
                });
            }
            placed
        };
        layouts.iter().map(placed).collect()
    }

    /// The slices of all threads, by actor, then thread.
    pub fn cut_slices(&mut self, layouts: &[Layout]) -> Vec<Job<'_>> {
        cut_slices(layouts, self.pools.iter_mut().map(|(key, pool)| (key, pool.elements_mut())))
    }

    /// Gives up the pools of these actors, so that later cases get others.
    pub fn give_up(&mut self, layouts: &[Layout]) {
        for array in layouts.iter().flat_map(Layout::arrays) {
            self.forget(&array.key);
        }
    }

    /// Gives back what no other case may use: the memory of first touch.
    pub fn end_case(&mut self) {
        self.pools.retain(|key, _| !key.is_first_touch());
    }

    fn forget(&mut self, key: &PoolKey) {
        self.pools.remove(key);
        self.splits.remove(key);
    }

    fn clear(&mut self) {
        self.pools.clear();
        self.splits.clear();
    }
}

/// How the pages of a pool are dealt out in a case.
fn splits_of(layouts: &[Layout], key: &PoolKey) -> Vec<Split> {
    let of_key = |area: &&Area| area.key == *key;
    let split = |area: &Area| match &area.policy {
        MemoryPolicy::Weighted(weights) => {
            Some(Split { range: area.range.clone(), weights: weights.clone() })
        }
        _ => None,
    };
    layouts.iter().flat_map(|layout| layout.areas.iter().filter(of_key)).filter_map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use nearfar_record::{Actor, PLACED_FRACTION, Stream};

    use super::super::job::JobSlices;
    use super::super::layout::tests::{case, chase, stream};

    const MIB: u64 = 1 << 20;

    struct Live {
        machine: Machine,
        pattern: Pattern,
        pools: Pools,
    }

    impl Live {
        fn new() -> Self {
            let machine = nearfar_topology::read_live(Path::new("/")).unwrap();
            Self { machine, pattern: Pattern::new(11), pools: Pools::new(false) }
        }

        /// The first and the last node: the same where there is one.
        fn ends(&self) -> (u32, u32) {
            let nodes = &self.machine.allowed_nodes;
            (nodes.first().unwrap(), nodes.last().unwrap())
        }

        fn stream(&self, kernel: &str, memory: &str, threads: u32, bytes: u64) -> Stream {
            let mut stream = stream(kernel, memory, threads, bytes);
            stream.binding.cpus = self.machine.allowed_cpus.clone();
            stream
        }

        /// Makes memory ready and has the threads touch theirs; checks that what they read holds
        /// the pattern, writes what they write, and proves the pages.
        fn run(&mut self, actors: Vec<Actor>) -> Vec<super::super::proof::Proven> {
            let layouts = lay_out(&case(actors));
            self.pools.make_ready(&layouts, &self.machine, &self.pattern).unwrap();
            let placed = self.pools.placed(&layouts);
            for mut job in self.pools.cut_slices(&layouts) {
                if job.fills {
                    job.slices.fill(&self.pattern);
                }
                match job.slices {
                    JobSlices::Stream { destination, sources } => {
                        for source in sources {
                            let last = source.elements.len() - 1;
                            for index in [0, last / 3, last] {
                                let value = self.pattern.value(source.first_index + index as u64);
                                assert_eq!(source.elements[index].to_bits(), value.to_bits());
                            }
                        }
                        destination.into_iter().for_each(|slice| slice.elements.fill(-3.0));
                    }
                    JobSlices::Whole(slice) => slice.elements.fill(-4.0),
                    JobSlices::Line(_) | JobSlices::Nothing => {}
                }
            }
            placed.iter().map(|placed| placed.prove(&self.machine).unwrap()).collect()
        }
    }

    #[test]
    fn what_one_case_wrote_the_next_one_reads_as_it_was() {
        let mut live = Live::new();
        let memory = format!("preferred:{}", live.ends().0);
        let actor = |kernel: &str| Actor::Stream(live.stream(kernel, &memory, 2, 6 * MIB));
        let cases =
            [vec![actor("triad")], vec![actor("load"), chase(&memory, MIB)], vec![actor("ddot")]];
        let planned: Vec<Case> = cases.iter().cloned().map(case).collect();
        live.pools.begin_round(&planned.iter().collect::<Vec<_>>());
        let mut found = Vec::new();
        for actors in cases {
            for proven in live.run(actors) {
                let pages = proven.pages.unwrap();
                assert!(pages.fraction_on(live.ends().0) >= PLACED_FRACTION, "{pages:?}");
                found.push(proven.page_sizes.resident_bytes.unwrap());
            }
        }
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|&bytes| bytes == found[0]), "a pool was mapped again: {found:?}");
    }

    #[test]
    fn pages_of_one_pool_follow_the_splits_of_the_cases() {
        let mut live = Live::new();
        let (near, far) = live.ends();
        for (read, write) in [((1, 1), (3, 1)), ((9, 1), (1, 200)), ((1, 1), (1, 1))] {
            let policy = |(a, b)| match near == far {
                true => format!("weighted:{near}={a}"),
                false => format!("weighted:{near}={a},{far}={b}"),
            };
            let mut hybrid = live.stream("2l1s", &policy(read), 2, 12 * MIB);
            hybrid.write_memory = Some(policy(write).parse().unwrap());
            let proven = live.run(vec![Actor::Stream(hybrid)]).remove(0);
            for (pages, (a, b)) in [(proven.pages, read), (proven.written, write)] {
                let pages = pages.unwrap();
                let share = match near == far {
                    true => 1.0,
                    false => f64::from(a) / f64::from(a + b),
                };
                assert!((pages.fraction_on(near) - share).abs() < 0.005, "{share}: {pages:?}");
            }
        }
        assert_eq!(live.pools.pools.len(), 2);
    }

    #[test]
    fn interleaved_pages_are_proven() {
        let mut live = Live::new();
        let nodes = live.machine.allowed_nodes.clone();
        let copy = live.stream("copy", &format!("interleave:{nodes}"), 2, 16 * MIB);
        let proven = live.run(vec![Actor::Stream(copy)]).remove(0);
        let pages = proven.pages.unwrap();
        let share = 1.0 / nodes.len() as f64;
        assert!(nodes.iter().all(|node| (pages.fraction_on(node) - share).abs() < 0.001));
    }

    #[test]
    fn first_touch_has_fresh_memory_in_each_case() {
        let mut live = Live::new();
        let copy = || Actor::Stream(stream("copy", "first-touch", 2, 4 * MIB));
        for _ in 0..2 {
            let layouts = lay_out(&case(vec![copy()]));
            live.pools.make_ready(&layouts, &live.machine, &live.pattern).unwrap();
            let placed = live.pools.placed(&layouts);
            assert!(placed[0].prove(&live.machine).is_err(), "pages were there before the touch");
            // A range with a policy of its own is left alone by NUMA balancing (numa(5)).
            let start = format!("{:x} ", placed[0].pages.as_ref().unwrap().mapping.start());
            if let Ok(maps) = std::fs::read_to_string("/proc/self/numa_maps") {
                let policy = maps.lines().find_map(|line| line.strip_prefix(&start));
                assert!(policy.is_some_and(|line| line.starts_with("local")), "{policy:?}");
            }
            live.run(vec![copy()]);
        }
        live.pools.end_case();
        assert!(live.pools.pools.is_empty());
    }

    #[test]
    fn pools_with_pages_elsewhere_are_given_up() {
        let mut live = Live::new();
        let memory = format!("preferred:{}", live.ends().0);
        let load = Actor::Stream(live.stream("load", &memory, 1, MIB));
        live.run(vec![load.clone()]);
        assert_eq!(live.pools.pools.len(), 1);
        live.pools.give_up(&lay_out(&case(vec![load])));
        assert!(live.pools.pools.is_empty());
    }

    #[test]
    fn a_case_that_does_not_fit_has_room_made_or_is_refused() {
        let mut live = Live::new();
        let memory = format!("preferred:{}", live.ends().0);
        let of = |live: &Live, bytes| vec![Actor::Stream(live.stream("load", &memory, 1, bytes))];
        let (small, huge) = (case(of(&live, MIB)), case(of(&live, 1 << 50)));
        // The round would like one pool for both.
        live.pools.begin_round(&[&small, &huge]);
        live.run(small.actors);
        let refused = live.pools.make_ready(&lay_out(&huge), &live.machine, &live.pattern);
        assert_eq!(refused.unwrap_err().code, ReasonCode::NoRoom);
    }
}
