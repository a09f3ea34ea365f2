//! Requests that need no model: what is clearly one is done at once; everything else goes on.
//!
//! Precision before recall: a phrase has to be one of those below from its first word to its last.

pub(crate) mod explain;
pub(crate) mod find;
pub(crate) mod memory;
pub(crate) mod mode;
pub(crate) mod phrase;
pub(crate) mod read;
pub(crate) mod undo;

#[cfg(test)]
pub(crate) mod tests;

pub use crate::agent::direct::explain::is_stop;
use crate::agent::direct::phrase::Phrase;
pub use crate::agent::direct::phrase::Say;
use crate::agent::forget;
use crate::agent::outcome::Outcome;
use crate::agent::prefer;
use crate::agent::request::Request;
use crate::agent::session::Session;
use crate::agent::trace::SharedTrace;
use crate::agent::undo::Target;
use crate::agent::verdict::Status;
use crate::base::failure::Failure;
use crate::diagnostics::policy::{Effect, Trace};
use crate::editor::event::Event;
use crate::llm::step::Usage;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direct {
    /// A symbol or a file.
    Read(String),
    /// Where a symbol or a file is.
    Where(String),
    /// Where a name is used.
    Uses(String),
    /// The symbols of a file.
    Outline(String),
    /// The last task, or a part of it; why, as far as it was said.
    Undo {
        target: Target,
        reason: String,
    },
    /// What was undone last.
    Redo,
    Forget(String),
    ForgetAll,
    Remember(String),
    Recall(String),
    Learned,
    /// As the user called it.
    Mode(mode::Wanted),
    Why,
    Stop,
    Stats,
}

/// What the answer to a direct request says, and in one line what was done.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) summary: String,
}

impl Said {
    fn new(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { text: text.into(), summary: summary.into() }
    }
}

/// The request that a text makes, as far as words alone tell.
pub fn recognise(text: &str) -> Option<Direct> {
    let phrase = Phrase::new(text)?;
    None.or_else(|| mode::recognise(&phrase))
        .or_else(|| explain::recognise(&phrase))
        .or_else(|| undo::recognise(&phrase))
        .or_else(|| memory::recognise(&phrase))
        .or_else(|| find::recognise(&phrase))
        .or_else(|| read::recognise(&phrase))
        .filter(|direct| !takes_nothing(direct, &phrase))
}

/// `undo nothing`, `forget nothing`: the opposite of what the verb says.
fn takes_nothing(direct: &Direct, phrase: &Phrase) -> bool {
    matches!(direct, Direct::Undo { .. } | Direct::Forget(_)) && phrase.speaks_of_nothing()
}

/// Does what a text directly asks for. `None` where it is for the model: no direct request, or one whose name
/// is only a word.
pub(crate) async fn direct(session: &Session, request: &Request) -> Result<Option<Outcome>, Failure> {
    let Some(direct) = recognise(&request.text) else { return Ok(None) };
    let spanish = Phrase::new(&request.text).is_some_and(|phrase| phrase.spanish());
    let say = Say { spanish };
    let said = match &direct {
        Direct::Read(name) => read::direct_read(session, request, name, say).await?,
        Direct::Outline(name) => read::direct_outline(session, name, say).await?,
        Direct::Where(name) => find::direct_where(session, request, name, say).await?,
        Direct::Uses(name) => find::direct_uses(session, request, name, say).await?,
        Direct::Undo { target, reason } => Some(undo::undo(session, target, reason).await?),
        Direct::Redo => Some(undo::redo(session).await?),
        Direct::Forget(text) => Some(answered(prefer::forget(session, text, say).await?)),
        Direct::ForgetAll => Some(answered(forget::forget_all(session, say).await?)),
        Direct::Remember(text) => Some(answered(prefer::prefer(session, text, say).await?)),
        Direct::Recall(text) => Some(answered(prefer::recall_about(session, text, say).await?)),
        Direct::Learned => Some(answered(prefer::learned(session).await?)),
        Direct::Mode(wanted) => Some(mode::direct_mode(session, *wanted, say)),
        Direct::Why => Some(explain::direct_why(session, say).await),
        Direct::Stop => Some(Said::new("", say.of("nothing is running", "no hay nada en marcha"))),
        Direct::Stats => Some(explain::direct_stats(session, say).await?),
    };
    let Some(said) = said else { return Ok(None) };
    session.editor.show(Event::Started {
        request: request.text.clone(),
        mode: "direct".to_owned(),
        model: "no model".to_owned(),
    });
    if !said.text.is_empty() {
        session.editor.show(Event::Words { text: format!("{}\n", said.text) });
    }
    let trace = SharedTrace::new(&request.text);
    trace.push(1, Trace::new(Effect::Acted, "the request", "direct", format!("{}; no model was asked", said.summary)));
    // What is said of the work itself is no request that an undo could be about.
    let about_work = matches!(direct, Direct::Undo { .. } | Direct::Redo | Direct::Why | Direct::Stats | Direct::Stop);
    let forgets = matches!(direct, Direct::Forget(_) | Direct::ForgetAll);
    if !about_work && !forgets {
        session.note_asked("", &request.text);
    }
    // Asked why, the answer is about the task before, and stays about it.
    if !forgets && !matches!(direct, Direct::Why | Direct::Stats | Direct::Stop) {
        session.use_trace(&trace);
    }
    Ok(Some(Outcome {
        ok: true,
        summary: said.summary,
        answer: said.text,
        files: Vec::new(),
        new_diagnostics: Vec::new(),
        fixed: 0,
        unchanged: 0,
        diagnostics_status: Status::Off,
        pending: Vec::new(),
        usage: Usage::default(),
        failed_steps: Vec::new(),
        trace: trace.entries(),
    }))
}

fn answered(text: String) -> Said {
    let summary = text.lines().next().unwrap_or_default().to_owned();
    // One line would be shown twice.
    if text.lines().count() > 1 { Said::new(text, summary) } else { Said::new("", summary) }
}
