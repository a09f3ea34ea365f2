//! The code that a page of Sextant's names: the editor's own "go to definition" leads to it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Place;
use super::before::own_engine;
use crate::support::helix_client::{HelixClient, HelixVersion};

#[tokio::test(flavor = "multi_thread")]
async fn the_definition_of_a_place_in_a_page_is_the_code() {
    let text = "def f() -> int:\n    return 1\n\n\ndef g() -> int:\n    return 2\n";
    let place = Place::new(&[("a.py", text)]);
    let _own = own_engine(&place);
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &[]), &place.root);
    assert_eq!(helix.capabilities["definitionProvider"], true);
    let uri = helix.open("a.py", "python");
    helix.command("agent.ask", json!([]));
    let page = helix.wait("the page", |seen| seen.shown.last().cloned());
    let end = helix.text(&page).len();
    helix.edit(&page, end..end, "Look at `a.py:2`, a.py::g and none.py:3.\n");
    let words = helix.text(&page);
    let definition = |uri: &str, text: &str, part: &str| {
        let at = text.find(part).expect("a place");
        let (line, column) = (text[..at].matches('\n').count(), at - text[..at].rfind('\n').map_or(0, |end| end + 1));
        let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": column}});
        helix.request("textDocument/definition", params)["result"].clone()
    };
    for (part, line, column) in [("py:2", 1, 0), ("g and", 4, 4)] {
        let start = Instant::now();
        // The engine may not have the words yet.
        let found = loop {
            let found = definition(&page, &words, part);
            if !found.is_null() || start.elapsed() > Duration::from_secs(60) {
                break found;
            }
        };
        assert_eq!(
            (&found["uri"], &found["range"]["start"]),
            (&json!(uri), &json!({"line": line, "character": column}))
        );
    }
    assert_eq!(definition(&page, &words, "none.py"), Value::Null);
    assert_eq!(definition(&uri, text, "f()"), Value::Null, "no server is there");
    helix.quit();
}
