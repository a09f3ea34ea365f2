//! Tests of the documents of a server: what is sent, with which version.

use serde_json::json;

use super::*;
use crate::server::received;

fn file(path: &str, text: &str) -> FileText {
    FileText { path: path.into(), text: text.into() }
}

fn methods(notices: &[DocumentNotice]) -> Vec<&str> {
    notices.iter().map(|notice| notice.method.trim_start_matches("textDocument/")).collect()
}

#[test]
fn a_whole_text_is_sent_as_the_range_of_the_one_before_where_a_server_needs_that() {
    let mut documents = SentDocuments::new("/w".into());
    documents.by_range = Some(Encoding::Utf16);
    documents.sync(&[file("a.py", "1\nü𝄞")]);
    let change = &documents.sync(&[file("a.py", "1")])[0].params["contentChanges"][0];
    assert_eq!(change["range"]["end"], json!({"line": 1, "character": 3}));
    assert_eq!((&change["range"]["start"]["line"], &change["text"]), (&json!(0), &json!("1")));
}

#[test]
fn versions_only_go_up_over_changes_closing_and_a_new_process() {
    let mut documents = SentDocuments::new("/w".into());
    let notices = documents.sync(&[file("a.py", "1"), file("b.py", "1")]);
    assert_eq!(methods(&notices), ["didOpen", "didOpen"]);
    assert_eq!(notices[0].params["textDocument"]["version"], 1);
    assert!(documents.sync(&[file("a.py", "1")]).is_empty());
    assert_eq!(documents.epoch, 0, "the same text is not a change");
    assert_eq!(methods(&documents.sync(&[file("a.py", "2")])), ["didChange"]);
    assert_eq!((documents.epoch, documents.get("b.py").unwrap().changed), (1, 0));
    assert_eq!(methods(documents.close("a.py").as_slice()), ["didClose"]);
    assert!(documents.get("a.py").is_none());
    let notices = documents.sync(&[file("a.py", "2")]);
    assert_eq!((methods(&notices), &notices[0].params["textDocument"]["version"]), (vec!["didOpen"], &json!(3)));
    assert_eq!(documents.reopen().len(), 2);
    assert_eq!(documents.get("a.py").unwrap().version, 3);
}

#[test]
fn a_text_that_sources_others_is_sent_again_after_a_change_elsewhere_where_it_is_looked_at_once() {
    let mut documents = SentDocuments::new("/w".into());
    let (with, without) = (file("a.sh", "source ./lib.sh\n"), file("b.sh", "echo one\n"));
    documents.sync(&[with.clone(), without.clone(), file("lib.sh", "1")]);
    documents.sync(&[file("lib.sh", "2")]);
    documents.saved("lib.sh");
    assert!(documents.sync(std::slice::from_ref(&with)).is_empty(), "of any other server");
    documents.looks_once = true;
    let notices = documents.sync(&[with.clone(), without.clone()]);
    assert_eq!((methods(&notices), &notices[0].params["textDocument"]["version"]), (vec!["didChange"], &json!(2)));
    assert!(documents.sync(std::slice::from_ref(&with)).is_empty(), "once for each change");
    assert!(!documents.get("a.sh").unwrap().is_unsaved());
    documents.sync(&[file("lib.sh", "3")]);
    assert!(documents.sync(&[with]).is_empty(), "it would read the disk, which has another text");
}

#[test]
fn texts_without_a_list_are_sent_again_once_at_the_first_one_where_each_is_looked_at_once() {
    let mut documents = SentDocuments::new("/w".into());
    documents.sync(&[file("a.sh", "1"), file("b.sh", "1")]);
    assert!(documents.missed().is_empty(), "of any other server");
    documents.looks_once = true;
    documents.reopen();
    documents.publish("file:///w/b.sh", Some(1), Arc::default(), Instant::now());
    let notices = documents.missed();
    assert_eq!((methods(&notices), &notices[0].params["textDocument"]["version"]), (vec!["didChange"], &json!(1)));
    assert!(documents.missed().is_empty());
    documents.reopen();
    assert_eq!(documents.missed().len(), 2, "of a new process");
}

#[test]
fn a_written_header_has_the_others_opened_again_where_a_server_keeps_what_it_read() {
    let mut documents = SentDocuments::new("/w".into());
    documents.sync(&[file("a.h", "1"), file("a.cc", "1"), file("b.cc", "1")]);
    assert_eq!(methods(&documents.sync(&[file("a.h", "2"), file("a.cc", "2")])), ["didChange", "didChange"]);
    documents.keeps_headers = true;
    documents.reopen();
    let notices = documents.sync(&[file("a.h", "3"), file("a.cc", "3")]);
    assert_eq!(methods(&notices), ["didClose", "didOpen", "didClose", "didOpen"]);
    assert_eq!(notices[3].params["textDocument"]["version"], 3);
    assert_eq!(methods(&documents.sync(&[file("a.cc", "4")])), ["didChange"]);
    documents.changed_on_disk(std::iter::once("c.cc"));
    assert_eq!(methods(&documents.sync(&[file("b.cc", "1")])), ["didClose", "didOpen"], "the same text");
    documents.changed_on_disk(["lib/closed.hpp", "c.cc"].into_iter());
    assert_eq!(methods(&documents.sync(&[file("a.cc", "4"), file("a.cc", "4")])), ["didClose", "didOpen"]);
}

#[test]
fn publishes_of_an_earlier_text_and_of_strangers_are_not_kept() {
    let mut documents = SentDocuments::new("/w".into());
    documents.sync(&[file("ü a.py", "1")]);
    let now = Instant::now();
    let mut publish = |uri| documents.publish(uri, Some(1), Arc::default(), now);
    assert_eq!(publish("file:///w/%C3%BC%20a.py").as_deref(), Some("ü a.py"));
    assert_eq!(publish("file:///w/b.py"), None);
    assert_eq!(publish("file:///etc/b.py"), None);
    for sent in [json!({"uri": 3}), json!({"uri": "file:///w/b.py", "diagnostics": null}), json!(null)] {
        assert!(received::read::<received::Publish>(&sent).is_none());
    }
    assert_eq!(documents.get("ü a.py").unwrap().published.since_sent.len(), 1);
    documents.sync(&[file("ü a.py", "2")]);
    assert!(documents.get("ü a.py").unwrap().published.since_sent.is_empty());
}
