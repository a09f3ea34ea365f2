//! Calls put together from pieces, for every way in which servers number and name them.

use super::*;
use crate::tools::sample_tools;

fn piece(slot: Option<u64>, id: &str, tool: &str, arguments: &str) -> Piece {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Piece::Call { slot, from: 100, id: some(id), tool: some(tool), arguments: arguments.to_owned(), keep: None }
}

fn reply(pieces: &[Piece], ending: AnswerEnd) -> Option<ChatReply> {
    let mut parts = AnswerParts::default();
    pieces.iter().for_each(|piece| parts.add(piece.clone()));
    parts.reply("x:m", sample_tools::tools(), ending, &[])
}

/// `id tool parameters` of every use, with its problem.
fn uses(pieces: &[Piece]) -> Vec<String> {
    let reply = reply(pieces, AnswerEnd::Whole).unwrap();
    let shown = |call: &ToolUse| {
        let problem = call.problem.as_deref().map(|why| format!(" !{why}")).unwrap_or_default();
        format!("{} {} {}{problem}", call.id, call.tool, call.parameters)
    };
    reply.uses.iter().map(shown).collect()
}

#[test]
fn calls_are_distinguished_however_they_are_numbered() {
    let both = ["a read_symbol {\"symbol\":\"f\"}", "b search {\"pattern\":\"x\"}"];
    let read = "{\"symbol\":\"f\"}";
    let search = "{\"pattern\":\"x\"}";
    // As the protocol has it, interleaved.
    let pieces = [
        piece(Some(100), "a", "read_symbol", ""),
        piece(Some(101), "b", "search", "{\"pat"),
        piece(Some(100), "", "", read),
        piece(Some(101), "", "", "tern\":\"x\"}"),
    ];
    assert_eq!(uses(&pieces), both);
    // The same number for both.
    let pieces = [
        piece(Some(100), "a", "read_symbol", "{\"symbol\":"),
        piece(Some(100), "", "", "\"f\"}"),
        piece(Some(100), "b", "search", search),
    ];
    assert_eq!(uses(&pieces), both);
    // No number at all.
    let pieces = [piece(None, "a", "read_symbol", ""), piece(None, "", "", read), piece(None, "b", "search", search)];
    assert_eq!(uses(&pieces), both);
    // The same number and no names.
    let pieces = [piece(Some(100), "", "read_symbol", read), piece(Some(100), "", "search", search)];
    assert_eq!(uses(&pieces), ["call00001 read_symbol {\"symbol\":\"f\"}", "call00002 search {\"pattern\":\"x\"}"]);
    // The same name twice.
    let pieces = [piece(Some(100), "a", "read_symbol", read), piece(Some(101), "a", "search", search)];
    assert_eq!(uses(&pieces), [both[0], "call00001 search {\"pattern\":\"x\"}"]);
    // The name again at the end.
    let pieces = [piece(Some(100), "", "search", search), piece(Some(100), "", "search", "")];
    assert_eq!(uses(&pieces), ["call00001 search {\"pattern\":\"x\"}"]);
    // The name again with every piece.
    let pieces = [piece(Some(100), "a", "search", "{\"pat"), piece(Some(100), "a", "search", "tern\":\"x\"}")];
    assert_eq!(uses(&pieces), ["a search {\"pattern\":\"x\"}"]);
}

#[test]
fn a_call_that_cannot_run_is_there_with_its_problem() {
    let list = uses(&[
        piece(Some(1), "a", "rm", "{\"path\":\"/\"}"),
        piece(Some(2), "b", "search", "{\"pattern\": \"x"),
        piece(Some(3), "c", "search", ""),
        piece(Some(4), "d", "search", "[1]"),
        piece(Some(5), "e", "", "{}"),
    ]);
    assert!(list[0].starts_with("a rm {\"path\":\"/\"} !there is no tool `rm`; the tools are read_file"), "{list:?}");
    assert!(list[1].starts_with("b search \"{\\\"pattern\\\": \\\"x\" !the parameters of search are not"), "{list:?}");
    assert!(list[2].contains("search needs `pattern`") && list[3].contains("not a whole JSON object"), "{list:?}");
    assert!(list[4].contains("there is no tool ``"), "{list:?}");
}

#[test]
fn at_the_limit_the_last_call_is_asked_to_be_smaller_and_a_broken_stream_gives_none() {
    let pieces =
        [piece(Some(1), "a", "search", "{\"pattern\":\"x\"}"), piece(Some(2), "b", "edit_file", "{\"path\":\"a.p")];
    let limit = reply(&pieces, AnswerEnd::Limit).unwrap();
    assert!(limit.cut && limit.uses[0].problem.is_none());
    assert!(limit.uses[1].problem.as_ref().unwrap().contains("limit of tokens"), "{limit:?}");
    assert_eq!(limit.uses[1].parameters, json!("{\"path\":\"a.p"));
    assert_eq!(reply(&pieces, AnswerEnd::Broken), None);
    assert!(reply(&pieces[..1], AnswerEnd::Broken).is_some(), "what is whole is whole");
    assert_eq!(reply(&[piece(Some(1), "a", "search", "")], AnswerEnd::Broken), None, "its arguments never came");
}

#[test]
fn no_name_of_a_use_comes_twice_in_a_conversation() {
    let before =
        ChatReply { uses: vec![ToolUse { id: "call00001".into(), ..ToolUse::default() }], ..ChatReply::default() };
    let mut ids = UseIds::after(&[ChatMessage::Model(before)]);
    assert_eq!(ids.take(Some("x")), "x");
    assert_eq!(
        [ids.take(None), ids.take(Some("x")), ids.take(Some("call00001"))],
        ["call00002", "call00003", "call00004"]
    );
    assert!(is_ours("call00004") && is_ours("call123456") && !is_ours("call_1") && !is_ours("callx0001"));
}
