//! Settles one file: pulls or listens until the diagnostics of this very text are known.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lsp_types::{DocumentSymbolParams, DocumentSymbolRequest, TextDocumentIdentifier};
use tracing::Instrument;

use crate::model::{Freshness, Reach};
use crate::server::documents::Settled;
use crate::server::header_files::{directives, is_header};
use crate::server::json_rpc::RequestError;
use crate::server::pull::{self, NotPulled};
use crate::server::push_freshness::{Habits, SettleVerdict, judge};
use crate::server::read_diagnostics::fingerprint;
use crate::server::received::SentDiagnostic;
use crate::server::server_client::{PullMethod, ServerConnection};
use crate::server::{Inner, ServerPhase};
use crate::server_facts::{CONFIRM, Fact, LATE, OTHER_UNSAVED, SAVED_ONLY};
use sextant_base::lock::lock;

/// The pause before an interrupted pull is sent again; doubled up to the second value.
const AGAIN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(80));

/// The most time of a probe, from the request to the publish that it is compared with.
const PROBE: Duration = Duration::from_secs(5);

/// The reason why there will be no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The text is no longer the requested one.
    Superseded,
    /// The server is gone or refuses; the text is the reason.
    Unavailable(String),
}

#[derive(Clone, Debug)]
pub(super) struct SettledAnswer {
    pub freshness: Freshness,
    pub version: i64,
    pub items: Arc<Vec<SentDiagnostic>>,
    pub run: Arc<ServerConnection>,
}

/// The state that a request is about.
#[derive(Clone, Debug)]
struct RequestedState {
    uri: String,
    version: i64,
    epoch: u64,
}

/// Fails if the server would answer by another text that the disk has: that of the file, or for clangd of a header.
async fn refuse_outdated(inner: &Inner, run: &ServerConnection, path: &str) -> Result<(), NoAnswer> {
    if run.reads_the_disk() && run.way() == PullMethod::Push && !inner.is_saved(path).await {
        return Err(NoAnswer::Unavailable(SAVED_ONLY.to_owned()));
    }
    if run.knows(Fact::Preamble)
        && let Some(header) = inner.unsaved_beside(path, is_header).await
    {
        return Err(NoAnswer::Unavailable(OTHER_UNSAVED.replace("{file}", &header)));
    }
    Ok(())
}

/// Returns an answer for this version of the file, or the reason why there will be none.
pub(super) async fn settle(inner: &Arc<Inner>, path: &str, version: i64) -> Result<SettledAnswer, NoAnswer> {
    let run = running(inner).await.map_err(NoAnswer::Unavailable)?;
    refuse_outdated(inner, &run, path).await?;
    if let Some(settled) = lock(&inner.documents).get_mut(path).and_then(|document| document.settled.as_mut()) {
        // From here on publishes belong to this settling and amend nothing.
        settled.published = false;
    }
    let (mood, mut pause) = (&inner.observed.mood, AGAIN.0);
    let mut before: Option<(i64, u64, Vec<String>)> = None;
    loop {
        let asked = asked(inner, path).filter(|asked| asked.version == version).ok_or(NoAnswer::Superseded)?;
        let complaints = mood.complaints();
        loaded(inner, &run).await?;
        let Some(outcome) = pulled(inner, &run, path, &asked).await else {
            match listen(inner, &run, path, &asked).await? {
                Some(answer) => return Ok(answer),
                None => continue,
            }
        };
        match outcome {
            Ok(items) if run.knows(Fact::AnswersEarly) => {
                // Some servers answer now and then from the text before; for them the second of two equal answers
                // counts.
                let this = Some((asked.version, asked.epoch, fingerprint(&items)));
                if before == this
                    && let Some(answer) = accept(inner, &run, path, &asked, items)
                {
                    return Ok(answer);
                }
                before = this;
                tokio::time::sleep(CONFIRM).await;
            }
            Ok(items) if run.knows(Fact::HidesTrouble) && items.is_empty() && mood.objection(complaints).is_some() => {
                return Err(NoAnswer::Unavailable(mood.objection(complaints).unwrap_or_default()));
            }
            // A list that it sends while it loads is partial.
            Ok(_) if run.knows(Fact::TellsWhenLoaded) && !mood.at_rest() => {}
            Ok(items) => {
                if !items.is_empty() {
                    mood.has_found();
                }
                if let Some(answer) = accept(inner, &run, path, &asked, items) {
                    return Ok(answer);
                }
            }
            Err(NotPulled::Again) => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(AGAIN.1);
            }
            Err(NotPulled::Gone(reason)) => return Err(NoAnswer::Unavailable(reason)),
            Err(NotPulled::Failed(reason)) if run.advertises_pull() => return Err(NoAnswer::Unavailable(reason)),
            Err(NotPulled::NotOffered | NotPulled::Failed(_)) => run.set_way(PullMethod::Push),
        }
    }
}

/// The answer to a request for the list. `None` where publishes have to be waited for.
async fn pulled(
    inner: &Inner,
    run: &ServerConnection,
    path: &str,
    asked: &RequestedState,
) -> Option<Result<Vec<SentDiagnostic>, NotPulled>> {
    match run.way() {
        PullMethod::Pull => {
            let answer = pull::diagnostics(run, &asked.uri, LATE).await;
            Some(answer.map(|items| items.unwrap_or_else(|| last_published(inner, path))))
        }
        PullMethod::Command => Some(pull::command(run, &inner.config, &asked.uri, LATE).await),
        PullMethod::Diagnose => diagnosed(inner, run, path, asked).await.map(Ok),
        PullMethod::Push => None,
    }
}

fn last_published(inner: &Inner, path: &str) -> Vec<SentDiagnostic> {
    lock(&inner.documents).get(path).map(|document| document.published.last_list.to_vec()).unwrap_or_default()
}

/// Waits until a server has loaded its project, if it reports the end of loading, and has read new settings.
async fn loaded(inner: &Inner, run: &ServerConnection) -> Result<(), NoAnswer> {
    let mut news = inner.news.subscribe();
    loop {
        news.borrow_and_update();
        let mood = &inner.observed.mood;
        let is_loaded = !run.knows(Fact::TellsWhenLoaded) || mood.at_rest();
        let rereads_for = mood.rereads_for();
        if is_loaded && rereads_for.is_none() {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(rereads_for.unwrap_or_default()), if rereads_for.is_some() => {}
            reason = run.connection.reason() => return Err(NoAnswer::Unavailable(reason)),
            changed = news.changed() => changed.map_err(|_| NoAnswer::Superseded)?,
        }
    }
}

pub(super) async fn running(inner: &Inner) -> Result<Arc<ServerConnection>, String> {
    let mut phase = inner.phase.subscribe();
    loop {
        match &*phase.borrow_and_update() {
            ServerPhase::Running(run) => return Ok(Arc::clone(run)),
            ServerPhase::Ended(reason) => return Err(reason.clone()),
            ServerPhase::Idle | ServerPhase::Starting | ServerPhase::Pausing(_) => {}
        }
        phase.changed().await.map_err(|_| "it is no longer needed".to_owned())?;
    }
}

fn asked(inner: &Inner, path: &str) -> Option<RequestedState> {
    let documents = lock(&inner.documents);
    let document = documents.get(path)?;
    Some(RequestedState { uri: document.uri.clone(), version: document.version, epoch: documents.epoch })
}

/// Takes a pulled list if it is of the present text; a reply for an older text is not used.
fn accept(
    inner: &Inner,
    run: &Arc<ServerConnection>,
    path: &str,
    asked: &RequestedState,
    items: Vec<SentDiagnostic>,
) -> Option<SettledAnswer> {
    let mut documents = lock(&inner.documents);
    let epoch = documents.epoch;
    let document = documents.get_mut(path)?;
    if document.version != asked.version || (run.reach() != Reach::File && epoch != asked.epoch) {
        return None;
    }
    let items = Arc::new(items);
    let version = document.version;
    document.settled = Some(Settled { version, epoch, items: Arc::clone(&items), published: false });
    Some(SettledAnswer { freshness: Freshness::Exact, version, items, run: Arc::clone(run) })
}

/// `headers` is that of the documents now.
pub(super) fn habits(inner: &Inner, run: &ServerConnection, headers: u64) -> Habits {
    Habits {
        reach: run.reach(),
        two_phase: inner.observed.two_phase.load(Ordering::Relaxed),
        once: inner.config.publishes_once || run.knows(Fact::PublishesOnce),
        preamble: run.knows(Fact::Preamble),
        headers: run.knows(Fact::OnlyHeaders).then_some(headers),
        looks_once: run.knows(Fact::LooksOnce),
        reads_disk: run.reads_the_disk(),
    }
}

/// The list that the server has published for this text by its answer to [`pull::diagnose`]. `None` if it answered with
/// an error, logged one meanwhile, or published none for this text: its lists may then be those of an older text.
async fn diagnosed(
    inner: &Inner,
    run: &ServerConnection,
    path: &str,
    asked: &RequestedState,
) -> Option<Vec<SentDiagnostic>> {
    let mood = &inner.observed.mood;
    let complaints = mood.complaints();
    pull::diagnose(run, &asked.uri, LATE).await.ok()?;
    if mood.objection(complaints).is_some() {
        return None;
    }
    let documents = lock(&inner.documents);
    let published = &documents.get(path)?.published.since_sent;
    let publish = published.iter().rfind(|publish| publish.version == Some(asked.version))?;
    Some(publish.items.to_vec())
}

/// Waits for a publish that will do. `None` if the server has meanwhile proved to answer pulls.
async fn listen(
    inner: &Arc<Inner>,
    run: &Arc<ServerConnection>,
    path: &str,
    asked: &RequestedState,
) -> Result<Option<SettledAnswer>, NoAnswer> {
    let mut news = inner.news.subscribe();
    if run.knows(Fact::WokenByRequest) {
        poke(run, &asked.uri);
    }
    if run.take_probe() {
        tokio::spawn(probe(Arc::clone(inner), Arc::clone(run), path.to_owned()).in_current_span());
    }
    loop {
        news.borrow_and_update();
        if !run.way().publishes() {
            return Ok(None);
        }
        let wait = match hear(inner, run, path, asked.version)? {
            Ok(answer) => return Ok(Some(answer)),
            Err(wait) => wait,
        };
        let pause = async {
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            reason = run.connection.reason() => return Err(NoAnswer::Unavailable(reason)),
            changed = news.changed() => changed.map_err(|_| NoAnswer::Superseded)?,
            () = pause => {}
        }
    }
}

/// Looks at the present publishes; the inner error is the wait before the next look.
fn hear(
    inner: &Inner,
    run: &Arc<ServerConnection>,
    path: &str,
    version: i64,
) -> Result<Result<SettledAnswer, Option<Duration>>, NoAnswer> {
    let mut documents = lock(&inner.documents);
    let (epoch, headers) = (documents.epoch, documents.headers);
    let document =
        documents.get_mut(path).filter(|document| document.version == version).ok_or(NoAnswer::Superseded)?;
    Ok(match judge(document, epoch, habits(inner, run, headers), Instant::now()) {
        SettleVerdict::Wait(wait) => Err(wait),
        SettleVerdict::Settled(index, freshness) => {
            let items = Arc::clone(&document.published.since_sent[index].items);
            document.directives = Some(directives(&document.text));
            document.settled = Some(Settled { version, epoch, items: Arc::clone(&items), published: true });
            Ok(SettledAnswer { freshness, version, items, run: Arc::clone(run) })
        }
    })
}

/// A read request makes clangd stop waiting for more typing; its answer is ignored.
fn poke(run: &Arc<ServerConnection>, uri: &str) {
    let (run, uri) = (Arc::clone(run), uri.to_owned());
    tokio::spawn(async move { round_trip(&run, &uri, PROBE).await }.in_current_span());
}

/// Waits for the answer to a read request, whichever it is. The error is the reason why there will be none.
pub(super) async fn round_trip(run: &ServerConnection, uri: &str, limit: Duration) -> Result<(), String> {
    let params = DocumentSymbolParams {
        text_document: TextDocumentIdentifier { uri: uri.into() },
        work_done_progress_params: Default::default(),
        partial_result_params: Default::default(),
    };
    match run.connection.request::<DocumentSymbolRequest>(&params, limit).await {
        Ok(_) | Err(RequestError::Rpc(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Tries a pull that the server did not advertise. Pulls are trusted after one that gives the same list as the publish
/// for the same version. Two empty lists prove nothing, and are tried again another time.
async fn probe(inner: Arc<Inner>, run: Arc<ServerConnection>, path: String) {
    let compared = async {
        let asked = asked(&inner, &path)?;
        // Awaited at the same time, since the text may have moved on when the later of them comes.
        let (pulled, published) =
            tokio::join!(pull::diagnostics(&run, &asked.uri, PROBE), heard(&inner, &path, asked.version));
        match (pulled, published) {
            (Ok(Some(items)), Some(published)) => Some((fingerprint(&items), published)),
            (Err(NotPulled::NotOffered | NotPulled::Failed(_)), _) => {
                run.set_way(PullMethod::Push);
                None
            }
            _ => None,
        }
    };
    let compared = tokio::time::timeout(PROBE, compared).await.ok().flatten();
    run.end_probe(compared.is_some());
    if compared.is_some_and(|(pulled, published)| !pulled.is_empty() && pulled == published) {
        tracing::debug!(server = inner.config.name, "answers pulls, though it does not advertise them");
        run.set_way(PullMethod::Pull);
        inner.bump();
    }
}

/// The fingerprint of the publish for a version; `None` if the text moves on before that.
async fn heard(inner: &Inner, path: &str, version: i64) -> Option<Vec<String>> {
    let mut news = inner.news.subscribe();
    loop {
        news.borrow_and_update();
        {
            let documents = lock(&inner.documents);
            let document = documents.get(path).filter(|document| document.version == version)?;
            if let Some(publish) =
                document.published.since_sent.iter().rfind(|publish| publish.version == Some(version))
            {
                return Some(fingerprint(&publish.items));
            }
        }
        news.changed().await.ok()?;
    }
}
