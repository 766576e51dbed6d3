//! Which rows of a row group are read.

/// Rows of a row group.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Rows that are passed over, and the wanted ones behind them, in turns.
    runs: Vec<(usize, usize)>,
}

impl Rows {
    /// All of `rows` rows.
    pub(super) fn all(rows: usize) -> Self {
        Self { runs: vec![(0, rows)] }
    }

    /// Adds rows behind some that are passed over.
    pub(super) fn add(&mut self, passed: usize, taken: usize) {
        match self.runs.last_mut() {
            Some((_, before)) if passed == 0 => *before += taken,
            _ => self.runs.push((passed, taken)),
        }
    }

    /// Rows that are passed over, and the wanted ones behind them, in turns.
    pub(super) fn runs(&self) -> &[(usize, usize)] {
        &self.runs
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.runs.iter().map(|&(_, taken)| taken).sum()
    }
}
