//! What happens in a session, as one numbered stream: the loop says it once, and whoever wants it listens.

pub mod envelope;
pub mod events_state;
pub mod fact;
pub mod stream;
pub mod subscription;
pub mod task_events;
#[cfg(test)]
mod tests;
