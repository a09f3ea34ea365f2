//! The events of a session as one numbered stream: the loop emits each once, and any listener can read it.

pub(crate) mod envelope;
pub(crate) mod events_state;
pub(crate) mod fact;
pub(crate) mod stream;
pub(crate) mod subscription;
pub(crate) mod task_events;
#[cfg(test)]
mod tests;
