//! Reads the files under review from the editor, and takes in what the user typed in them.

use std::collections::BTreeSet;

use crate::durable::stored_review;
use crate::edit::recover;
use crate::editor::Document;
use crate::state::edit_service::EditService;
use sextant_base::failure::Failure;

/// Takes in what the user typed and undid, before the review is handed to the agent.
pub(crate) async fn take_in(service: &EditService) {
    stored_review::load(&service.store).await;
    let _turn = service.store.review.turn.lock().await;
    if let Err(failure) = texts(service).await {
        tracing::warn!(%failure.message, "what was typed in the files under review is not known");
    }
}

/// The files under review as the editor has them; typing is taken in on the way.
pub(crate) async fn texts(service: &EditService) -> Result<Vec<Document>, Failure> {
    let review = service.store.review.now();
    let paths: BTreeSet<&String> = review.files.keys().chain(review.retraceable()).collect();
    let mut found = Vec::new();
    for path in paths {
        match recover::look_at(&service.workspace, path).await? {
            Some(document) => {
                service.store.review.change(|review| review.typed(path, &document.text));
                found.push(document);
            }
            None => service.store.review.change(|review| drop(review.files.remove(path))),
        }
    }
    Ok(found)
}
