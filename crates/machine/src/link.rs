//! What a PCIe link is by its standard: generation by the transfers of a lane, and lanes.

use crate::machine::Link;
use crate::theoretical_maximum::{LANES, PCIE, TheoreticalMaximum, TheoreticalMaximumError};

impl Link {
    /// The link of a standard's name, `PCIe 2.0 x16`, as it is now and at most.
    ///
    /// # Errors
    /// When the text names no link; the message lists what there is.
    pub fn of_standard(name: &str) -> Result<Self, TheoreticalMaximumError> {
        let asked = TheoreticalMaximum::link(name)?;
        let all = PCIE.iter().flat_map(|it| LANES.map(|lanes| (it.1, lanes)));
        let same = |&(gt_per_s, lanes): &(f64, u32)| {
            TheoreticalMaximum::of_link(gt_per_s, lanes).is_some_and(|it| it == asked)
        };
        let (speed, lanes) = all.into_iter().find(same).ok_or_else(|| {
            // A figure, or the thesis's, is no generation and no number of lanes.
            TheoreticalMaximumError::no_link(name)
        })?;
        Ok(Self {
            gt_per_s: Some(speed),
            lanes: Some(lanes),
            max_gt_per_s: Some(speed),
            max_lanes: Some(lanes),
            bytes_per_s: Some(asked.bytes_per_s),
        })
    }

    /// What the link carries each way as it is now, by its standard; `None` where its speed or
    /// lanes are not known or of no standard.
    pub fn theoretical_maximum(&self) -> Option<TheoreticalMaximum> {
        TheoreticalMaximum::of_link(self.gt_per_s?, self.lanes?)
    }

    /// Whether it runs at fewer lanes or fewer transfers than it could. A link may rest at a
    /// lower speed while its device is idle.
    pub fn is_below_most(&self) -> bool {
        let lanes = self.lanes.zip(self.max_lanes).is_some_and(|(now, most)| now < most);
        let speed = self.gt_per_s.zip(self.max_gt_per_s).is_some_and(|(now, most)| now < most);
        lanes || speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standard_gives_its_link_and_the_link_its_standard() {
        let link = Link::of_standard("PCIe 2.0 x16").unwrap();
        assert_eq!((link.gt_per_s, link.lanes), (Some(5.0), Some(16)));
        let most = link.theoretical_maximum().unwrap();
        assert_eq!((most.name.as_str(), most.bytes_per_s.round()), ("PCIe 2.0 x16", 8e9));
        assert_eq!(link.bytes_per_s, Some(most.bytes_per_s));
    }

    #[test]
    fn what_is_no_link_has_no_standard() {
        assert!(Link::of_standard("12.8").is_err());
        assert!(Link::of_standard("DDR4-3200").is_err());
        let odd = Link { gt_per_s: Some(7.0), lanes: Some(16), ..Link::default() };
        assert_eq!(odd.theoretical_maximum(), None);
        assert_eq!(Link::default().theoretical_maximum(), None);
    }

    #[test]
    fn a_link_with_fewer_lanes_than_it_could_have_is_below_its_most() {
        let whole = Link::of_standard("PCIe 4.0 x16").unwrap();
        assert!(!whole.is_below_most());
        assert!(Link { lanes: Some(8), ..whole.clone() }.is_below_most());
        assert!(Link { gt_per_s: Some(8.0), ..whole }.is_below_most());
        assert!(!Link::default().is_below_most());
    }
}
