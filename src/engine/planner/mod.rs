//! Plans made, judged, carried out and made anew.

pub(crate) mod attempt;
pub(crate) mod available;
pub(crate) mod carry_out;
pub(crate) mod checks;
pub(crate) mod ending;
pub(crate) mod judge;
pub(crate) mod looks;
pub(crate) mod make;
pub mod replan;
pub(crate) mod rewritten;
pub(crate) mod run;
pub(crate) mod talk;
pub(crate) mod validate;
pub mod waiting;
