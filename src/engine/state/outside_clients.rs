//! Clients outside whose calls are carried out here: the files that each has read, and the task of its edits.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::state::journal::Journal;
use crate::state::read_views::SeenTexts;
use crate::state::task::Task;
use sextant_base::lock::lock;
use sextant_base::one_line::clean;

/// Clients that are remembered; the one that was silent for longest is forgotten first.
const MOST: usize = 64;
/// Characters of a client's name.
const NAME: usize = 40;
/// Silence after which a client's next edit begins another task: an undo takes back one go of work.
const PAUSE: Duration = Duration::from_secs(600);
/// Edits of one task.
const EDITS: usize = 200;

/// The caller: one connection of one program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideClient {
    /// Differs from that of every other connection.
    pub id: String,
    /// As the user reads it: the program's own name.
    pub name: String,
}

impl OutsideClient {
    pub fn new(id: impl Into<String>, name: &str) -> Self {
        let name: String = clean(name).chars().take(NAME).collect();
        let name = if name.trim().is_empty() { "a client".to_owned() } else { name.trim().to_owned() };
        Self { id: id.into(), name }
    }
}

/// The work of one client.
#[derive(Debug)]
pub(crate) struct ClientWork {
    /// The text of each file as the client has seen it last.
    pub(crate) seen: Mutex<SeenTexts>,
    /// Held while one of its edits is made: they come one after the other.
    pub(crate) task: tokio::sync::Mutex<Option<Task>>,
    /// The files that it has changed: what the user says of them in the review is said to it.
    changed: Mutex<BTreeSet<String>>,
    last: Mutex<Instant>,
}

impl ClientWork {
    fn new() -> Self {
        Self {
            seen: Mutex::default(),
            task: tokio::sync::Mutex::default(),
            changed: Mutex::default(),
            last: Mutex::new(Instant::now()),
        }
    }

    pub(crate) fn has_changed(&self, file: &str) -> bool {
        lock(&self.changed).contains(file)
    }

    pub(crate) fn note_changed(&self, files: impl IntoIterator<Item = String>) {
        lock(&self.changed).extend(files);
    }

    /// True if the next edit goes on with this task.
    pub(crate) fn goes_on(&self, journal: &Journal) -> bool {
        let paused = std::mem::replace(&mut *lock(&self.last), Instant::now()).elapsed() > PAUSE;
        !paused && journal.checkpoints.len() < EDITS
    }
}

/// All clients of a session.
#[derive(Debug, Default)]
pub(crate) struct OutsideClients {
    known: Mutex<Vec<(String, Arc<ClientWork>)>>,
    /// Held while a file is looked at for the first time, before an edit: one after the other.
    pub(crate) ahead: tokio::sync::Mutex<()>,
}

impl OutsideClients {
    pub(crate) fn of(&self, client: &str) -> Arc<ClientWork> {
        let mut known = lock(&self.known);
        let work = match known.iter().position(|(id, _)| id == client) {
            Some(at) => known.remove(at).1,
            None => Arc::new(ClientWork::new()),
        };
        known.push((client.to_owned(), Arc::clone(&work)));
        let old = known.len().saturating_sub(MOST);
        known.drain(..old);
        work
    }

    pub(crate) fn forget(&self, client: &str) {
        lock(&self.known).retain(|(id, _)| id != client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_s_name_is_one_short_line() {
        assert_eq!(OutsideClient::new("1", "claude\u{1b}[31m\ncode").name, "claude [31m code");
        assert_eq!(OutsideClient::new("1", " \n").name, "a client");
        assert_eq!(OutsideClient::new("1", &"x".repeat(99)).name.len(), NAME);
    }

    #[test]
    fn who_was_silent_for_longest_is_forgotten_first() {
        let clients = OutsideClients::default();
        let first = clients.of("0");
        (1..MOST).for_each(|n| drop(clients.of(&n.to_string())));
        assert!(Arc::ptr_eq(&clients.of("0"), &first), "it is the same one");
        drop(clients.of("new"));
        assert!(Arc::ptr_eq(&clients.of("0"), &first), "it has called since");
        clients.forget("0");
        assert!(!Arc::ptr_eq(&clients.of("0"), &first));
    }
}
