//! What happens in a session, as one numbered stream: the loop says it once, and whoever wants it listens.

pub(crate) mod envelope;
pub(crate) mod events_state;
pub(crate) mod fact;
pub(crate) mod stream;
pub(crate) mod subscription;
pub(crate) mod task_events;
#[cfg(test)]
mod tests;
