//! Keeps the page in which the user writes a longer request, and sends it when the page is saved.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::engine::EngineHost;
use crate::engine::commands;
use crate::engine::links::{EngineLink, INFO};
use crate::engine::plan_page_text;
use crate::engine::request_arguments::{GivenArguments, GivenPlace};
use crate::engine::streamed_page::{EditorPage, PageKind, line_start};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;
use sextant_base::one_line::clean;
use sextant_engine::api::{Command, Request};

/// The place that the written request is about.
#[derive(Debug, Default)]
struct WrittenRequest {
    place: GivenPlace,
    document: Option<String>,
    /// The text that was sent last: a second save of it sends nothing.
    sent: Option<String>,
    /// True while the task of that text runs.
    runs: bool,
    /// The text whose task failed or was stopped: the page shows it again.
    failed: Option<String>,
}

#[derive(Debug)]
pub(super) struct RequestPage {
    pub(super) page: EditorPage,
    written: Mutex<WrittenRequest>,
}

impl RequestPage {
    pub(super) fn new(folder: &Path) -> Self {
        Self { page: EditorPage::new(folder, "request.md", PageKind::Document), written: Mutex::default() }
    }

    /// Shows the page for a request about this place. Words that are not sent yet stay in it.
    ///
    /// # Errors
    /// The place is outside of the workspace, or the editor does not show the page.
    pub(super) async fn begin(
        &self,
        engine: &EngineHost,
        link: &EngineLink,
        place: GivenPlace,
        document: Option<String>,
    ) -> Result<(), Failure> {
        let about = engine.request(&words("?", &place), document.as_deref())?;
        let open = self.page.open(&engine.buffers).map(|open| open.text);
        let unsent = {
            let mut written = lock(&self.written);
            let unsent = open.filter(|text| written.sent.as_deref() != Some(&**text));
            let unsent = unsent.or_else(|| written.failed.take().map(Arc::from));
            *written = WrittenRequest { place, document, ..WrittenRequest::default() };
            unsent
        };
        if let Some(text) = &unsent {
            self.page.accept(&engine.buffers, text);
        }
        let kept = unsent.map(|text| plan_page_text::without_comments(&text).trim().to_owned()).unwrap_or_default();
        let text = format!("<!-- a request about {}; :w sends it -->\n\n{kept}\n", place_of(engine, &about));
        self.page.change(&engine.buffers, |page| *page = text);
        self.page.show_at(&engine.buffers, link, Some(line_start(2))).await
    }

    /// Sends the text of the page.
    pub(super) async fn send(&self, engine: &Arc<EngineHost>, link: &EngineLink) -> Result<(), Failure> {
        let Some(text) = self.page.open(&engine.buffers).map(|open| open.text) else { return Ok(()) };
        let request = {
            let mut written = lock(&self.written);
            if written.sent.as_deref() == Some(&*text) {
                engine.say(INFO, "this request was sent; agent.ask begins another one");
                return Ok(());
            }
            let given = words(plan_page_text::without_comments(&text).trim(), &written.place);
            let request = engine.request(&given, written.document.as_deref())?;
            engine.answers.blocks.asked_at(written.document.as_deref(), written.place.first_line());
            // A second save may come before the first one has begun its task.
            (written.sent, written.runs) = (Some(text.to_string()), true);
            request
        };
        if let Err(failure) = commands::run(engine, link, Command::Ask(request)) {
            self.ended(false);
            return Err(failure);
        }
        self.page.accept(&engine.buffers, &text);
        Ok(())
    }

    /// Notes the end of a task. The text of a request that failed counts as unsent.
    pub(super) fn ended(&self, ok: bool) {
        let mut written = lock(&self.written);
        if std::mem::take(&mut written.runs) && !ok {
            written.failed = written.sent.take();
        }
    }
}

fn words(text: &str, place: &GivenPlace) -> GivenArguments {
    GivenArguments { text: text.to_owned(), number: None, place: place.clone() }
}

/// The place of a request, as its page names it.
fn place_of(engine: &EngineHost, request: &Request) -> String {
    let Some(file) = request.path.as_ref().filter(|_| !request.workspace) else { return "the workspace".to_owned() };
    let relative = Path::new(file).strip_prefix(engine.setup.root.path()).unwrap_or(Path::new(file));
    // A name that ended the comment would put its own words into the request.
    let name = clean(&relative.to_string_lossy()).replace(['<', '>'], "?");
    match request.lines {
        Some((first, last)) if first == last => format!("{name}, line {first}"),
        Some((first, last)) => format!("{name}, lines {first} to {last}"),
        None => name,
    }
}
