//! The pseudo-random numbers of Graph500: a multiple recursive generator of order 5 modulo 2^31 - 1,
//! in which one can jump anywhere.

const MODULUS: u64 = (1 << 31) - 1;

/// What the newest and the oldest of the last five values count for in the next.
const NEWEST: u64 = 107_374_182;
const OLDEST: u64 = 104_480;

/// What some steps do to the last five values.
#[derive(Debug, Clone, Copy)]
pub struct Steps([[u64; 5]; 5]);

/// x mod 2^31 - 1, or that much more.
fn nearly_reduced(x: u64) -> u64 {
    (x & MODULUS) + (x >> 31)
}

impl Steps {
    const NONE: Self = {
        let mut none = [[0; 5]; 5];
        let mut at = 0;
        while at < 5 {
            none[at][at] = 1;
            at += 1;
        }
        Self(none)
    };

    const ONE: Self = {
        let mut one = [[0; 5]; 5];
        one[0][0] = NEWEST;
        one[0][4] = OLDEST;
        let mut at = 1;
        while at < 5 {
            one[at][at - 1] = 1;
            at += 1;
        }
        Self(one)
    };

    /// Both of them.
    fn and(&self, other: &Self) -> Self {
        let column = |to: usize| std::array::from_fn(|row| other.0[row][to]);
        let columns: [[u64; 5]; 5] = std::array::from_fn(|to| self.of(column(to)));
        Self(std::array::from_fn(|row| std::array::from_fn(|to| columns[to][row])))
    }

    fn times(&self, count: u64) -> Self {
        let (mut all, mut power, mut rest) = (Self::NONE, *self, count);
        while rest > 0 {
            if rest & 1 == 1 {
                all = all.and(&power);
            }
            power = power.and(&power);
            rest >>= 1;
        }
        all
    }

    /// 2^log of them.
    fn doubled(&self, log: u32) -> Self {
        (0..log).fold(*self, |power, _| power.and(&power))
    }

    #[inline]
    fn of(&self, values: [u64; 5]) -> [u64; 5] {
        self.0.map(|row| {
            let products = row.iter().zip(values).map(|(factor, value)| factor * value);
            products.map(nearly_reduced).sum::<u64>() % MODULUS
        })
    }

    /// Those from one place where streams begin to the next: 2^64.
    pub fn to_next_stream() -> Self {
        Self::ONE.doubled(64)
    }
}

/// The generator: its last five values, the newest first.
#[derive(Debug, Clone, Copy)]
pub struct Mrg {
    values: [u64; 5],
}

impl Mrg {
    pub fn new([first, second]: [u64; 2]) -> Self {
        let low = |seed: u64| (seed & ((1 << 30) - 1)) + 1;
        let middle = |seed: u64| low(seed >> 30);
        let high = ((second >> 60) << 4) + (first >> 60) + 1;
        Self { values: [low(first), middle(first), low(second), middle(second), high] }
    }

    /// The same stream `far` 2^128 + `streams` 2^64 values later.
    pub fn after(self, far: u64, streams: u64) -> Self {
        let stream = Steps::to_next_stream();
        self.and(&stream.times(streams)).and(&stream.doubled(64).times(far))
    }

    #[inline]
    pub fn and(self, steps: &Steps) -> Self {
        Self { values: steps.of(self.values) }
    }

    /// The next value.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let [newest, second, third, fourth, oldest] = self.values;
        let folded = nearly_reduced(NEWEST * newest + OLDEST * oldest);
        let next = if folded >= MODULUS { folded - MODULUS } else { folded };
        self.values = [next, newest, second, third, fourth];
        next
    }

    /// The next deviate, of two values.
    #[expect(clippy::cast_precision_loss, reason = "values are below 2^31")]
    pub fn deviate(&mut self) -> f64 {
        let coarse = self.draw() as f64 * 4.656_612_875_245_797e-10;
        coarse + self.draw() as f64 * 2.168_404_346_990_493e-19
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_arrive_where_steps_do() {
        let start = Mrg::new([2, 3]);
        let mut stepped = start;
        for count in 0..200 {
            assert_eq!(start.and(&Steps::ONE.times(count)).values, stepped.values);
            stepped.draw();
        }
        let doubled = start.and(&Steps::ONE.doubled(10)).values;
        assert_eq!(doubled, start.and(&Steps::ONE.times(1024)).values);
    }
}
