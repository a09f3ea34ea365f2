//! Tests pages between the engine's wanted text, an editor's buffer, and the text of an earlier engine.

use serde_json::json;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;

use super::*;
use crate::engine::links::Links;
use crate::engine::open_documents::Mirror;
use crate::link::link_channel::{self, LinkCall, LinkReceiver, LinkSender};
use crate::link::{ChangedDocument, EditorName, EngineSays, Hello, LINK_VERSION, OpenedDocument, ProxySays};
use sextant_base::positions::{Encoding, LineIndex, Range};

fn page(base: &str, shown: &str, wanted: &str) -> EditorPage {
    let page = EditorPage::new(Path::new("/nowhere"), "answer.md", PageKind::Log);
    let text = PageText {
        wanted: wanted.into(),
        file: ShownText { base: base.into(), shown: Some(shown.into()), coming: None },
        met: true,
        ..PageText::default()
    };
    *lock(&page.0.text) = text;
    page
}

fn target(page: &EditorPage, now: &str) -> Option<String> {
    page.target(None, now).map(|(_, target)| target)
}

#[test]
fn what_the_user_typed_in_a_page_stays() {
    assert_eq!(target(&page("a", "a", "ab"), "a").as_deref(), Some("ab"));
    assert_eq!(target(&page("a", "a", "a"), "a"), None);
    assert_eq!(target(&page("a", "a", "ab"), "a and mine\n").as_deref(), Some("a and mine\nb"), "behind it");
    assert_eq!(target(&page("a", "a", "x"), "mine"), None, "other words are not put over it");
    assert_eq!(target(&page("ab", "a, mine\nb", "abc"), "a, mine\nb").as_deref(), Some("a, mine\nbc"), "at each put");
    let long = format!("# Sextant\n\n## one\n\n## two\n{}", "word ".repeat(100));
    let shorter = format!("# Sextant\n{}more", &long["# Sextant\n\n## one\n".len()..]);
    let typed = format!("{long}mine\n");
    assert_eq!(target(&page(&long, &long, &shorter), &typed), Some(format!("{typed}more")), "its first turn is gone");
    // Thinking has become one line, and words follow.
    let (base, wanted) = ("a\n\n> long\n> thought", "a\n\n> short\n\nYes.");
    assert_eq!(
        target(&page(base, base, wanted), &format!("mine {base}")).as_deref(),
        Some("mine a\n\n> short\n\nYes.")
    );
    let typed = "a\n\n> long, mine\n> thought";
    assert_eq!(target(&page(base, base, wanted), typed), Some(format!("{typed}short\n\nYes.")), "never over it");
    let turns = "# Sextant\n\n## one\n\n## two\n";
    assert_eq!(
        target(&page(turns, turns, "# Sextant\n\n## two\n"), &format!("{turns}mine\n")),
        None,
        "turns that are gone"
    );
}

#[test]
fn a_document_of_an_engine_before_is_replaced_and_the_users_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let new = || EditorPage::new(dir.path(), "plan.md", PageKind::Document);
    let before = new();
    before.change_quietly("the plan\n");
    before.write().unwrap();
    for (open, wanted) in [("the plan\n", Some("another\n")), ("the plan, mine\n", None)] {
        let page = new();
        page.change_quietly("another\n");
        assert_eq!(target(&page, open), None, "not before it is looked at");
        page.meet(None, open);
        assert_eq!(target(&page, open).as_deref(), wanted, "{open}");
        // A text that was written before the editor reported its buffer is not taken for the user's either.
        let late = new();
        late.change_quietly("another\n");
        late.write().unwrap();
        late.note(&["the plan\n"]);
        late.meet(None, open);
        assert_eq!(target(&late, open).as_deref(), wanted, "{open}");
    }
}

#[test]
fn a_conversation_of_an_engine_before_goes_on_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let page = EditorPage::new(dir.path(), "answer.md", PageKind::Log);
    page.change_quietly("# Sextant\nnew\n");
    page.meet(None, "# Sextant\nold, and mine\n");
    assert_eq!(target(&page, "# Sextant\nold, and mine\n").as_deref(), Some("# Sextant\nold, and mine\nnew\n"));
    let empty = EditorPage::new(dir.path(), "answer.md", PageKind::Log);
    empty.meet(None, "");
    empty.change_quietly("# Sextant\n");
    assert_eq!(target(&empty, "").as_deref(), Some("# Sextant\n"));
}

#[test]
fn a_page_that_is_opened_again_from_its_file_is_ours() {
    let dir = tempfile::tempdir().unwrap();
    let page = EditorPage::new(dir.path(), "plan.md", PageKind::Document);
    page.change_quietly("one\n");
    page.write().unwrap();
    page.meet(None, "one\n");
    lock(&page.0.text).editor(None).takes("two\n".into(), "two\n".into());
    page.change_quietly("three\n");
    // The page was closed without being written, so the file is older.
    page.meet(None, "one\n");
    assert_eq!(target(&page, "one\n").as_deref(), Some("three\n"));
}

impl EditorPage {
    fn change_quietly(&self, wanted: &str) {
        wanted.clone_into(&mut lock(&self.0.text).wanted);
    }
}

/// An editor that has the page open and makes every edit.
async fn editor(
    buffers: EditorBuffers,
    uri: String,
    mut calls: LinkReceiver<EngineSays>,
    out: LinkSender<ProxySays>,
    confirmed: Arc<Semaphore>,
) {
    while let Some(LinkCall { id: Some(id), message: EngineSays::Request(request) }) = calls.next().await {
        let open = buffers.mirror.of_uri(&uri).unwrap();
        let mut text = open.text.to_string();
        let edits = request.params["edit"]["documentChanges"][0]["edits"].as_array().unwrap().clone();
        for edit in edits.iter().rev() {
            let range: Range = serde_json::from_value(edit["range"].clone()).unwrap();
            let bytes = LineIndex::new(&text).byte_range(&text, range, Encoding::Utf16);
            text.replace_range(bytes, edit["newText"].as_str().unwrap());
        }
        let changed = ChangedDocument { uri: uri.clone(), version: open.version + 1, text: text.into() };
        buffers.mirror.changed(1, changed);
        confirmed.acquire().await.unwrap().forget();
        out.reply(id, &Ok(json!({"applied": true})));
    }
}

/// A page that an editor has open with this text. The editor confirms an edit at each permit.
fn opened(dir: &Path, kind: PageKind, text: &str, confirmed: Arc<Semaphore>) -> (EditorPage, EditorBuffers) {
    let page = EditorPage::new(dir, "page.md", kind);
    let uri = page.uri().to_owned();
    let patience = Duration::from_millis(1);
    let (mirror, links) = (Arc::<Mirror>::default(), Arc::<Links>::default());
    let buffers = EditorBuffers { root: dir.to_owned(), mirror, links, patience };
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (out, mut from_proxy) = link_channel::open::<ProxySays, EngineSays>(ours).unwrap();
    let (to_engine, calls) = link_channel::open::<EngineSays, ProxySays>(theirs).unwrap();
    tokio::spawn(async move { while from_proxy.next().await.is_some() {} });
    let hello = Hello {
        version: LINK_VERSION,
        root: dir.to_owned(),
        editor_pid: None,
        server: None,
        client: EditorName::default(),
        encoding: Encoding::Utf16,
        client_capabilities: json!({}),
        options: json!(null),
        again: false,
    };
    buffers.links.add(Arc::new(EngineLink { id: 1, hello, out, server: None, spare: None, messaged: Arc::default() }));
    let opened = OpenedDocument { uri: uri.clone(), language_id: "markdown".into(), version: 1, text: text.into() };
    buffers.mirror.opened(1, None, opened);
    page.opened(&buffers);
    tokio::spawn(editor(buffers.clone(), uri, calls, to_engine, confirmed));
    (page, buffers)
}

#[tokio::test]
async fn a_text_that_is_being_put_is_not_the_users_and_a_late_acceptance_leaves_it() {
    let dir = tempfile::tempdir().unwrap();
    let confirmed = Arc::new(Semaphore::new(0));
    let (page, buffers) = opened(dir.path(), PageKind::Document, "", Arc::clone(&confirmed));
    let shows = async |text: &str| {
        let mut news = buffers.mirror.news();
        while *page.open(&buffers).unwrap().text != *text {
            news.changed().await.unwrap();
        }
    };
    let mut before = "";
    for text in ["one\n", "two\n", "three\n"] {
        page.change(&buffers, |page| text.clone_into(page));
        tokio::time::timeout(Duration::from_secs(60), shows(text)).await.expect("the page follows");
        assert_eq!(page.edited(&buffers), None, "{text}");
        // Somebody has read the text before this one, and takes it over only now.
        page.accept(&buffers, before);
        confirmed.add_permits(1);
        before = text;
    }
}

#[tokio::test]
async fn a_page_is_brought_up_to_date_however_long_the_user_types_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let confirmed = Arc::new(Semaphore::new(1000));
    let (page, buffers) = opened(dir.path(), PageKind::Log, "# Sextant\n", confirmed);
    let uri = page.uri().to_owned();
    let mut text = String::from("# Sextant\n");
    let mut news = buffers.mirror.news();
    let type_on = |text: &mut String, version: i64| {
        text.push('x');
        let changed = ChangedDocument { uri: uri.clone(), version, text: text.as_str().into() };
        buffers.mirror.changed(1, changed);
    };
    type_on(&mut text, 2);
    page.change(&buffers, |page| page.push_str("# Sextant\nnew\n"));
    // The time goes past the patience of the change, which waits for the keys to rest.
    let start = Instant::now();
    for version in 3.. {
        type_on(&mut text, version);
        tokio::task::yield_now().await;
        if start.elapsed() > TICK * 10 {
            break;
        }
    }
    let there = async {
        while !buffers.mirror.of_uri(&uri).unwrap().text.ends_with("new\n") {
            news.changed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), there).await.expect("it is tried again");
    assert!(buffers.mirror.of_uri(&uri).unwrap().text.starts_with(&text), "what was typed stays");
}
