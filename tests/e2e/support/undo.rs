//! Undo and redo of a session, of which only the words are wanted.

use sextant::engine::{Ending, Engine, Target, UndoRequest};

#[allow(async_fn_in_trait, reason = "the tests alone call it")]
pub trait UndoWords {
    /// Takes back a part of the last task, with the reason that is kept for later work.
    async fn undo_because(&self, target: &Target, partial: bool, reason: &str) -> Ending<String>;
    async fn redo(&self) -> Ending<String>;

    async fn undo(&self) -> Ending<String> {
        self.undo_part(&Target::Task, false).await
    }

    async fn undo_part(&self, target: &Target, partial: bool) -> Ending<String> {
        self.undo_because(target, partial, "").await
    }
}

impl UndoWords for Engine {
    async fn undo_because(&self, target: &Target, partial: bool, reason: &str) -> Ending<String> {
        let wish = UndoRequest { target: target.clone(), partial, reason: reason.to_owned(), ..UndoRequest::default() };
        self.take_back(&wish).await.map(|undone| undone.summary)
    }

    async fn redo(&self) -> Ending<String> {
        self.bring_back().await.map(|undone| undone.summary)
    }
}
