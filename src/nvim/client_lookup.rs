//! Sends questions about a name to the clients that the user's Neovim has attached to the buffer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::editor::NvimEditor;
use crate::lua_channel::Channel;
use crate::lua_messages::List;
use sextant_base::deadline::Deadline;
use sextant_base::path;
use sextant_base::positions::Encoding;
use sextant_diagnostics::server::name_requests::{LookupError, NameQuestion};
use sextant_engine::api::{EditorError, LookupAnswer, MOST_PLACES, NameLookup, SaidOfName};

/// The time limit for cancelling a question.
const QUICK: Duration = Duration::from_secs(5);

/// One client's answer.
#[derive(Debug, Deserialize)]
struct WireAnswer {
    client: String,
    encoding: Encoding,
    how: LookupOutcome,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    message: String,
    /// The work of the server that was open at the answer, in its own words.
    unread: Option<String>,
    /// `b:changedtick` of the loaded buffers that the answer changes, by their URI. An empty Lua table arrives as an
    /// empty list.
    #[serde(default)]
    ticks: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LookupOutcome {
    Answered,
    Refused,
    Outdated,
    Silent,
    Gone,
}

/// Cancels the requests in Neovim when no caller waits for the answers any more.
struct CancelOnDrop {
    channel: Arc<Channel>,
    id: u64,
    answered: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let (channel, id) = (Arc::clone(&self.channel), self.id);
        tokio::spawn(async move {
            let sent = channel.call::<Value>("forget_lookup", &json!({"id": id}), "a question", QUICK).await;
            if let Err(error) = sent {
                tracing::debug!(%error, "a question was not called off");
            }
        });
    }
}

pub(super) async fn look_up(
    editor: &NvimEditor,
    wanted: &NameLookup,
    deadline: Deadline,
) -> Result<Vec<LookupAnswer>, EditorError> {
    let id = editor.channel.number();
    let new_name = match &wanted.question {
        NameQuestion::Rename { new_name } => Some(new_name),
        _ => None,
    };
    let params = json!({
        "id": id,
        "path": editor.absolute(&wanted.path),
        "version": wanted.version,
        "line": wanted.at.line,
        "column": wanted.at.character,
        "method": wanted.question.method(),
        "new_name": new_name,
        "most": MOST_PLACES,
        "beside": wanted.beside.iter().map(|path| editor.absolute(path)).collect::<Vec<_>>(),
        "ms": deadline.left_ms(),
        "spans_project": wanted.question.spans_project(),
        "reading_ms": u64::try_from(wanted.reading.as_millis()).unwrap_or(u64::MAX),
    });
    let mut guard = CancelOnDrop { channel: Arc::clone(&editor.channel), id, answered: false };
    let answers = editor.channel.call::<List<WireAnswer>>("look_up", &params, &wanted.path, deadline.left()).await;
    guard.answered = answers.is_ok();
    Ok(answers?.0.into_iter().map(|answer| read(editor, answer)).collect())
}

fn read(editor: &NvimEditor, answer: WireAnswer) -> LookupAnswer {
    let ticks: HashMap<String, i64> = serde_json::from_value(answer.ticks).unwrap_or_default();
    let own = |(uri, tick): (String, i64)| {
        let file = path::from_uri(&uri)?.to_string_lossy().into_owned();
        editor.owns(&file).then(|| (editor.relative(&file), tick))
    };
    let found = match answer.how {
        LookupOutcome::Answered => Ok(SaidOfName {
            value: answer.value,
            encoding: answer.encoding,
            versions: ticks.into_iter().filter_map(own).collect(),
            unread: answer.unread,
        }),
        LookupOutcome::Refused => Err(LookupError::Refused(answer.message)),
        LookupOutcome::Outdated => Err(LookupError::Outdated),
        LookupOutcome::Silent => Err(LookupError::TimedOut),
        LookupOutcome::Gone => Err(LookupError::Gone(answer.message)),
    };
    LookupAnswer { provider: answer.client, said: found }
}
