//! Where chance comes from: one seed for all, from the environment or fixed.

use std::env;

/// A small generator of random numbers (`splitmix64`): the same seed gives the same cases everywhere.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// One for each case, so that a case can be repeated alone.
    pub fn of_case(case: usize) -> Self {
        Self(seed() ^ (case as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub fn odds(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

pub fn seed() -> u64 {
    number("ADVERSARY_SEED").unwrap_or(20_261_122)
}

/// How many random cases there are, where the environment does not say.
pub fn cases(usual: usize) -> usize {
    number("ADVERSARY_N").map_or(usual, |n| n as usize)
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}
