//! Cases as they are made, or why there are none.

use nearfar_record::{Absent, Case};

use super::Planned;

impl Extend<Result<Case, Absent>> for Planned {
    fn extend<Cases: IntoIterator<Item = Result<Case, Absent>>>(&mut self, cases: Cases) {
        for case in cases {
            match case {
                Ok(case) => self.cases.push(case),
                Err(absent) => self.absent.push(absent),
            }
        }
    }
}
