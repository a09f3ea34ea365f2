//! Limits of a plan: its steps, the tries of each, and the new plans in its place.

/// Most steps of one plan; a user reads no more before approving it.
pub(crate) const STEPS: usize = 200;
/// Most tries of one step.
pub(super) const ATTEMPTS: u32 = 2;
/// Errors of a plan that set off a new one.
pub(super) const ERRORS: u32 = 3;
/// Most new plans that one plan gets by itself; more would go round in circles.
pub(super) const REPLANS: u32 = 3;
