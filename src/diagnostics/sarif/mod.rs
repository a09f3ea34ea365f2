//! SARIF 2.1.0: the format that checkers share, read and written.

pub mod read_sarif;
pub mod write;
