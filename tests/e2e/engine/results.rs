//! What the tools give a model: lines in pages, all overloads of a name, and both ends of a long output.

use serde_json::json;

use crate::engine::project;
use crate::support::engine::{Setup, TestEngine, act};
use crate::support::project::Project;
use crate::support::replies::change;

const TWINS: &str = "\
from typing import overload


@overload
def parse(x: int) -> int: ...
@overload
def parse(x: str) -> str: ...
def parse(x):
    return x


class Box:
    @property
    def size(self) -> int:
        return 1

    @size.setter
    def size(self, value: int) -> None:
        pass
";

#[tokio::test]
async fn what_shares_a_name_is_read_together_with_the_lines_of_the_file() {
    let project = Project::new(&[("a.py", TWINS)]);
    let read = |symbol: &str| act("read_symbol", json!({"symbol": symbol}));
    let replies =
        vec![read("parse"), read("Box::size"), read("a.py::parse#3"), act("list_symbols", json!({"query": "a.py"}))];
    let engine = TestEngine::new(&project, Setup { replies, ..Setup::default() });
    engine.ask_about(&request("a.py", "look at it")).await;
    let told = engine.told();
    let parse = "a.py::parse#1, lines 4 to 5\n@overload\ndef parse(x: int) -> int: ...\na.py::parse#2, lines 6 to 7\n\
                 @overload\ndef parse(x: str) -> str: ...\na.py::parse#3, lines 8 to 9\ndef parse(x):\n    return x";
    assert_eq!(told[0], parse);
    assert!(
        told[1].contains("a.py::Box::size#1, lines 13 to 15\n    @property\n")
            && told[1].contains("a.py::Box::size#2, lines 17 to "),
        "{}",
        told[1]
    );
    assert_eq!(told[2], "a.py::parse#3, lines 8 to 9\ndef parse(x):\n    return x");
    assert!(
        told[3].starts_with("function a.py::parse 4-5\n") && told[3].contains("class a.py::Box 12-"),
        "{}",
        told[3]
    );
}

fn request(path: &str, text: &str) -> sextant::engine::Request {
    sextant::engine::Request { text: text.into(), path: Some(path.into()), ..Default::default() }
}

#[tokio::test]
async fn a_long_file_symbol_or_list_comes_in_pages_that_say_how_to_go_on() {
    let body: String = (0..600).map(|n| format!("    x{n} = {n}\n")).collect();
    let more: String = (0..250).map(|n| format!("\n\ndef g{n}(): ...\n")).collect();
    let project = Project::new(&[("a.py", &format!("def f():\n{body}{more}"))]);
    let replies = vec![
        act("read_file", json!({"path": "a.py"})),
        act("read_file", json!({"path": "a.py", "offset": 401, "limit": 2})),
        act("read_symbol", json!({"symbol": "a.py::f"})),
        act("read_symbol", json!({"symbol": "a.py::f", "offset": 401})),
        act("list_symbols", json!({"query": "a.py"})),
        act("list_symbols", json!({"query": "a.py", "offset": 201})),
        act("read_file", json!({"path": "a.py", "offset": 5000})),
    ];
    let engine = TestEngine::new(&project, Setup { replies, ..Setup::default() });
    engine.ask_about(&request("a.py", "look at it")).await;
    let told = engine.told();
    assert!(told[0].starts_with("def f():\n    x0 = 0\n"), "{}", told[0]);
    assert!(told[0].ends_with("\n    x398 = 398\n[lines 1 to 400 of 1351 of a.py; offset 401 goes on]"), "{}", told[0]);
    assert_eq!(told[1], "    x399 = 399\n    x400 = 400\n[lines 401 to 402 of 1351 of a.py; offset 403 goes on]");
    assert!(
        told[2].starts_with("a.py::f, lines 1 to 601\n") && told[2].ends_with("[lines 1 to 400; offset 401 goes on]"),
        "{}",
        told[2]
    );
    assert!(
        told[3].starts_with("a.py::f, lines 1 to 601\n    x399") && told[3].ends_with("[lines 401 to 601]"),
        "{}",
        told[3]
    );
    assert!(told[4].ends_with("[symbols 1 to 200 of the list; offset 201 goes on]"), "{}", told[4]);
    assert!(told[5].ends_with("a.py::g249 1351-1351\n[symbols 201 to 251 of the list]"), "{}", told[5]);
    assert_eq!(told[6], "[a.py has 1351 lines]");
}

#[tokio::test]
async fn an_edit_that_quotes_the_numbers_is_understood_or_refused_with_a_word() {
    let project = project();
    let edit = |old: &str, new: &str| act("edit_file", change("a.py", old, new));
    let replies = vec![
        edit("1  def f() -> int:\n2      return 1", "1  def f() -> int:\n2      return 11"),
        edit("2      return 11", "2      x = 11\n    return x"),
        act(
            "edit_symbol",
            json!({"symbol": "a.py::f", "action": "replace", "content": "1  def f() -> int:\n2      return 12"}),
        ),
    ];
    let engine = TestEngine::new(&project, Setup { replies, ..Setup::default() });
    engine.ask("raise it").await;
    let told = engine.told();
    assert!(told[0].contains("the numbers of the lines were taken off"), "{told:?}");
    assert!(told[1].contains("some lines of new_string begin with the number of a line"), "{told:?}");
    assert!(project.read("a.py").starts_with("def f() -> int:\n    return 12\n"), "{told:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_long_output_keeps_its_ends_and_says_what_is_between() {
    let project = project();
    let replies = vec![act("run_command", json!({"command": ["seq", "5000"]}))];
    let config = json!({"commands_allowed": ["seq"]});
    let engine = TestEngine::new(&project, Setup { replies, config, ..Setup::default() });
    engine.ask("count").await;
    let told = engine.told();
    let (head, tail) = told[0].split_once("left out]").expect("something is left out");
    assert!(head.contains("instructions):\n1\n2\n") && tail.ends_with("\n4999\n5000"), "{}", told[0]);
    let first: usize = head.lines().rev().nth(1).unwrap().parse().expect("a whole line");
    let last: usize = tail.lines().nth(1).unwrap().parse().expect("a whole line");
    assert!(head.ends_with(&format!("[{} lines ({} bytes) ", last - first - 1, bytes(first, last))), "{}", told[0]);
}

/// Bytes of the lines between two numbers.
fn bytes(first: usize, last: usize) -> usize {
    (first + 1..last).map(|n| n.to_string().len() + 1).sum()
}
