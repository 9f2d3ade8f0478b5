//! Sets of nodes that pages are dealt out over.

/// Of so many nodes all subsets are looked at, 255 of them.
pub const MOST_NODES: usize = 8;

/// Subsets of so many nodes, each in ascending order, none twice. Of more than
/// [`MOST_NODES`] those of the ones that can give most, by `most`; and the named groups.
pub(crate) fn subsets(most: &[f64], groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..most.len()).collect();
    order.sort_by(|&a, &b| most[b].total_cmp(&most[a]));
    order.truncate(MOST_NODES);
    order.sort_unstable();
    let members = |bits: u32| {
        let chosen = order.iter().enumerate().filter(move |(place, _)| bits >> place & 1 == 1);
        chosen.map(|(_, &page_node)| page_node).collect::<Vec<usize>>()
    };
    let mut all: Vec<Vec<usize>> = (1..1_u32 << order.len()).map(members).collect();
    let everything: Vec<usize> = (0..most.len()).collect();
    let lone = (0..most.len()).map(|page_node| vec![page_node]);
    for group in groups.iter().cloned().chain([everything]).chain(lone) {
        if !group.is_empty() && !all.contains(&group) {
            all.push(group);
        }
    }
    all
}

/// Equal shares of a subset's nodes.
pub(crate) fn equal_shares(subset: &[usize], page_nodes: usize) -> Vec<f64> {
    let share = 1.0 / subset.len().max(1) as f64;
    let mut shares = vec![0.0; page_nodes];
    subset.iter().for_each(|&page_node| shares[page_node] = share);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_nodes_have_255_subsets_and_more_nodes_those_of_the_widest_eight() {
        let of = |count: usize| subsets(&vec![1.0; count], &[]).len();
        assert_eq!([of(1), of(2), of(3), of(8)], [1, 3, 7, 255]);
        let most: Vec<f64> = (0..12_u32).map(f64::from).collect();
        let all = subsets(&most, &[vec![0, 1]]);
        assert_eq!(all.len(), 255 + 4 + 2, "of 4..=11, the lone others, the group and all");
        assert!(all.contains(&vec![0, 1]) && all.contains(&(0..12).collect()));
        assert!(all.contains(&vec![4, 11]) && !all.contains(&vec![3, 11]));
        assert!(all.iter().all(|subset| subset.is_sorted()));
    }
}
