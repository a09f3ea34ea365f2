//! The open question, and the user's permissions for the session.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::editor::event::QuestionKind;
use crate::events::stream::EventStream;
use sextant_base::failure::Failure;
use sextant_base::lock::lock;

const SAID_NO: &str = "the user said no to";
const DID_NOT_AGREE: &str = "the user did not agree to";

/// True if a call failed since the user did not consent: nothing is left to do then.
pub(crate) fn is_declined(failure: &Failure) -> bool {
    [SAID_NO, DID_NOT_AGREE].iter().any(|words| failure.message.starts_with(words))
}

/// The open question, and the user's permissions for the session.
pub(crate) struct Approvals {
    pub(crate) events: Arc<EventStream>,
    /// True if a door brings answers.
    pub(crate) someone: AtomicBool,
    /// Held by the asking task, so that a second question waits for its turn.
    pub(crate) turn: tokio::sync::Mutex<()>,
    pub(crate) waiting: Mutex<Option<OpenQuestion>>,
    /// Commands that are allowed for the session, argument by argument.
    pub(crate) commands: Mutex<BTreeSet<Vec<String>>>,
    /// Files that run by being there, and that may be changed for the session.
    pub(crate) files: Mutex<BTreeSet<String>>,
    /// Texts that such files had in this session, as hashes whose key no other process knows.
    pub(crate) texts: Mutex<HashSet<u64>>,
    pub(crate) text_hasher: RandomState,
    /// The task whose edits are written without a question, where the user reviews before.
    pub(crate) written_task: Mutex<Option<String>>,
    /// True if nobody has read the plan before it is carried out.
    pub(crate) unread: AtomicBool,
}

/// The user's answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAnswer {
    /// The number of an option, counted from 1.
    Option(usize),
    /// Words of the user's own. They are no consent, except for a plain yes to a question for one.
    Words(String),
}

impl UserAnswer {
    /// The number of the chosen option; 0 for words.
    pub fn choice(&self) -> usize {
        match self {
            Self::Option(choice) => *choice,
            Self::Words(_) => 0,
        }
    }

    /// The words of an answer that is no choice.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Option(_) => None,
            Self::Words(words) => Some(words.clone()),
        }
    }

    /// The answer to a question for consent that is no consent, for a model.
    pub(crate) fn refusal(&self, to: &str) -> String {
        match self {
            Self::Option(_) => format!("{SAID_NO} {to}"),
            Self::Words(words) => format!("{DID_NOT_AGREE} {to}, and says: {words}"),
        }
    }
}

impl From<usize> for UserAnswer {
    fn from(choice: usize) -> Self {
        Self::Option(choice)
    }
}

#[derive(Debug)]
pub(crate) struct OpenQuestion {
    pub(crate) kind: QuestionKind,
    pub(crate) options: Vec<String>,
    pub(crate) answer: oneshot::Sender<UserAnswer>,
}

impl Approvals {
    pub(crate) fn new(events: Arc<EventStream>) -> Self {
        Self {
            events,
            someone: AtomicBool::default(),
            turn: tokio::sync::Mutex::default(),
            waiting: Mutex::default(),
            commands: Mutex::default(),
            files: Mutex::default(),
            texts: Mutex::default(),
            text_hasher: RandomState::new(),
            written_task: Mutex::default(),
            unread: AtomicBool::default(),
        }
    }

    pub(crate) fn open(&self) -> std::sync::MutexGuard<'_, Option<OpenQuestion>> {
        lock(&self.waiting)
    }

    pub(crate) fn plan_is_read(&self, read: bool) {
        self.unread.store(!read, Ordering::Relaxed);
    }

    /// True if a plan counts as the user's words: somebody has read it.
    pub(crate) fn is_read(&self) -> bool {
        !self.unread.load(Ordering::Relaxed)
    }

    pub(crate) fn can_ask(&self) -> bool {
        self.someone.load(Ordering::Relaxed)
    }

    pub(crate) fn allowed(&self, command: &[String]) -> bool {
        lock(&self.commands).contains(command)
    }

    pub(crate) fn allowed_file(&self, path: &str) -> bool {
        lock(&self.files).contains(path)
    }

    pub(crate) fn allow_file(&self, path: &str) {
        lock(&self.files).insert(path.to_owned());
    }

    /// True if the user has allowed every edit of a task.
    pub(crate) fn writes_all(&self, task: &str) -> bool {
        lock(&self.written_task).as_deref() == Some(task)
    }

    pub(crate) fn write_all(&self, task: &str) {
        *lock(&self.written_task) = Some(task.to_owned());
    }

    pub(crate) fn saw_text(&self, path: &str, text: &str) {
        lock(&self.texts).insert(self.text_hasher.hash_one((path, text)));
    }

    /// True if a file had this text in this session.
    pub(crate) fn knows_text(&self, path: &str, text: &str) -> bool {
        lock(&self.texts).contains(&self.text_hasher.hash_one((path, text)))
    }

    pub(crate) fn allow(&self, command: &[String]) {
        lock(&self.commands).insert(command.to_vec());
    }
}
