//! The arrays of one run.

/// The arrays of one run: `a` is written, `b` and `c` are read. All have the same length.
///
/// Each constructor is for the kernels of one shape; [`TimedLoop::run`](crate::TimedLoop::run)
/// refuses another shape. Arrays need no alignment beyond that of `f64`, but a full-speed run
/// wants them to start on 64-byte boundaries.
#[derive(Debug)]
pub struct Operands<'a> {
    pub(crate) a: Option<&'a mut [f64]>,
    pub(crate) b: Option<&'a [f64]>,
    pub(crate) c: Option<&'a [f64]>,
    len: usize,
}

impl<'a> Operands<'a> {
    /// For `load`.
    pub fn load(b: &'a [f64]) -> Self {
        Self { a: None, b: Some(b), c: None, len: b.len() }
    }

    /// For `store` and `store_nt`.
    pub fn store(a: &'a mut [f64]) -> Self {
        Self { len: a.len(), a: Some(a), b: None, c: None }
    }

    /// For `copy`, `scale` and their `_nt` forms.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn map(a: &'a mut [f64], b: &'a [f64]) -> Self {
        assert_eq!(a.len(), b.len(), "the lengths of arrays a and b differ");
        Self { len: a.len(), a: Some(a), b: Some(b), c: None }
    }

    /// For `add`, `triad` and their `_nt` forms.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn zip(a: &'a mut [f64], b: &'a [f64], c: &'a [f64]) -> Self {
        assert_eq!(a.len(), b.len(), "the lengths of arrays a and b differ");
        assert_eq!(a.len(), c.len(), "the lengths of arrays a and c differ");
        Self { len: a.len(), a: Some(a), b: Some(b), c: Some(c) }
    }

    /// For `ddot`.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn dot(b: &'a [f64], c: &'a [f64]) -> Self {
        assert_eq!(b.len(), c.len(), "the lengths of arrays b and c differ");
        Self { a: None, b: Some(b), c: Some(c), len: b.len() }
    }

    /// Elements per array.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the arrays have no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many arrays are read and how many are written.
    pub(crate) fn shape(&self) -> (u32, u32) {
        let reads = u32::from(self.b.is_some()) + u32::from(self.c.is_some());
        (reads, u32::from(self.a.is_some()))
    }

    /// The elements before `middle`, and those from it.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(crate) fn split_at(self, middle: usize) -> (Self, Self) {
        let (a_head, a_tail) = self.a.map(|a| a.split_at_mut(middle)).unzip();
        let (b_head, b_tail) = self.b.map(|b| b.split_at(middle)).unzip();
        let (c_head, c_tail) = self.c.map(|c| c.split_at(middle)).unzip();
        (
            Self { a: a_head, b: b_head, c: c_head, len: middle },
            Self { a: a_tail, b: b_tail, c: c_tail, len: self.len - middle },
        )
    }
}
