//! The compact style with a scripted server: what a small model answers, and what becomes of it.

use std::process::Output;

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;

const TEXT: &str = "\
import os

LIMIT = 3


class Cart:
    def __init__(self, prices: list[float]) -> None:
        self.prices = prices

    def total(self) -> float:
        return sum(self.prices) + 1

    def count(self) -> int:
        return len(self.prices)


def label(cart: Cart) -> str:
    return f\"{cart.count()} of {LIMIT} in {os.sep}\"
";

const TOTAL: &str = "    def total(self) -> float:\n        return sum(self.prices)\n";

fn fence(code: &str) -> Reply {
    Reply::Text(format!("```python\n{code}\n```"))
}

fn configured(project: &Project, more: &str, url: &str) {
    let folder = project.beside("config").join("sextant");
    std::fs::create_dir_all(&folder).expect("a folder");
    let model =
        "provider = \"openai_compatible\"\nmodel = \"m\"\nstyle = \"compact\"\ncontext = 8192\nmax_attempts = 1";
    let text = format!("{more}\n[model]\n{model}\nbase_url = \"{url}\"\n");
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

struct Ran {
    outcome: Value,
    output: Output,
    /// What the model was asked, in order.
    asked: Vec<String>,
    bodies: Vec<Value>,
}

impl Ran {
    fn summary(&self) -> &str {
        self.outcome["summary"].as_str().unwrap_or_default()
    }
}

async fn ask_with(project: &Project, config: &str, request: &str, place: &[&str], replies: Vec<Reply>) -> Ran {
    let server = ModelServer::start(replies).await;
    configured(project, config, &server.url());
    let arguments = [&["ask", request, "--json"], place].concat();
    let output = tokio::task::block_in_place(|| sextant(project, &arguments));
    let requests = server.requests();
    Ran {
        outcome: outcome(&output)["outcome"].clone(),
        output,
        asked: requests.iter().map(|request| request.said_by("user").to_owned()).collect(),
        bodies: requests.iter().map(|request| request.body.clone()).collect(),
    }
}

async fn ask(project: &Project, request: &str, replies: Vec<Reply>) -> Ran {
    ask_with(project, "", request, &["--file", "cart.py:11"], replies).await
}

fn cart() -> Project {
    Project::new(&[("cart.py", TEXT)])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_in_the_fence_is_the_method_s_new_text() {
    for reply in [
        format!("```python\n{TOTAL}```"),
        "Sure! The sum was one too much:\n\n```py\ndef total(self) -> float:\n    return sum(self.prices)\n```\nThat is it.".to_owned(),
        format!("```python\n{}```", TEXT.replace(" + 1", "")),
        "def total(self) -> float:\n    return sum(self.prices)".to_owned(),
    ] {
        let project = cart();
        let ran = ask(&project, "total is one too much", vec![Reply::Text(reply.clone())]).await;
        assert_eq!(project.read("cart.py"), TEXT.replace(" + 1", ""), "{reply}: {}", ran.outcome);
        assert!(ran.output.status.success() && ran.outcome["ok"] == true, "{}", ran.outcome);
        assert_eq!(ran.asked.len(), 1, "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_is_short_and_has_no_tools_and_no_schema() {
    let project = cart();
    let ran = ask(&project, "total is one too much", vec![fence(TOTAL)]).await;
    let (asked, body) = (&ran.asked[0], &ran.bodies[0]);
    for part in ["The method `total` of the class `Cart` in cart.py", "sum(self.prices) + 1", "self.prices = prices"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(asked.contains("def count(self) -> int: ...") && !asked.contains("len(self.prices)"), "{asked}");
    assert!(asked.contains("Request: total is one too much") && !asked.contains("Reported"), "{asked}");
    assert!(body.get("tools").is_none() && body.get("response_format").is_none(), "{body}");
    let all = body["messages"].to_string().len();
    assert!(all < 800 * 7 / 2, "{all} bytes are more than 800 tokens");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_whole_text_is_asked_for_again() {
    let bad = [
        (Reply::Text("```python\ndef total(self) -> float:\n    return".to_owned()), "not closed"),
        (Reply::Truncated("```python\ndef total(self) -> float:\n    ret".to_owned()), "not closed"),
        (fence("def total(self) -> float:\n    # ... existing code ...\n    return sum(self.prices)"), "left out"),
        (fence("def count(self) -> int:\n    return 0"), "`count` and not `total`"),
        (Reply::Text("I would remove the one.".to_owned()), "does not define `total`"),
        (fence("def total(self) -> float:\n    return sum(self.prices"), "does not parse"),
        (fence("    def total(self) -> float:\n        return sum(self.prices) + 1"), "nothing was changed"),
    ];
    for (reply, why) in bad {
        let project = cart();
        let ran = ask(&project, "total is one too much", vec![reply, fence(TOTAL)]).await;
        assert_eq!(project.read("cart.py"), TEXT.replace(" + 1", ""), "{why}: {}", ran.outcome);
        assert_eq!(ran.asked.len(), 2, "{why}: {:#?}", ran.asked);
        assert!(ran.asked[1].contains(why), "{why}: {}", ran.asked[1]);
        assert_eq!(ran.outcome["ok"], true, "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_cannot_be_used_is_in_the_trace_without_its_secrets() {
    let project = cart();
    let reply = Reply::Text("I would remove the one.\nAPI_KEY=sk-abcdefghijklmnopqrstuvwxyz123456".to_owned());
    let ran = ask(&project, "total is one too much", vec![reply, fence(TOTAL)]).await;
    let trace = ran.outcome["trace"].as_array().expect("a trace");
    let kept = trace.iter().find(|entry| entry["about"] == "a reply").unwrap_or_else(|| panic!("{}", ran.outcome));
    let reason = kept["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("it does not define `total`"), "{reason}");
    assert!(reason.contains("\nI would remove the one.") && !reason.contains("abcdefghij"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_goes_back_with_its_own_text_and_is_mended() {
    let project = cart();
    let wrong = fence("def total(self) -> float:\n    return sum(self.costs)");
    let ran = ask(&project, "total is one too much", vec![wrong, fence(TOTAL)]).await;
    assert_eq!(project.read("cart.py"), TEXT.replace(" + 1", ""), "{}", ran.outcome);
    let again = &ran.asked[1];
    assert!(again.contains("return sum(self.costs)") && again.contains("\"costs\""), "{again}");
    assert!(!again.contains("LIMIT") && !again.contains("+ 1"), "its text and what is wrong alone: {again}");
    assert_eq!((&ran.outcome["ok"], &ran.outcome["new_diagnostics"]), (&json!(true), &json!([])), "{}", ran.outcome);
    assert!(sextant(&project, &["undo"]).status.success());
    assert_eq!(project.read("cart.py"), TEXT, "one undo takes all of it back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_gone_on_from_where_the_next_answer_holds_none() {
    let project = cart();
    let wrong = fence("def total(self) -> float:\n    return sum(self.costs)");
    let prose = Reply::Text("Line 2 has to be `return sum(self.prices)`.".to_owned());
    let ran = ask(&project, "total is one too much", vec![wrong, prose, fence(TOTAL)]).await;
    assert_eq!(project.read("cart.py"), TEXT.replace(" + 1", ""), "{}", ran.outcome);
    let last = &ran.asked[2];
    assert!(last.contains("return sum(self.costs)") && last.contains("\"costs\""), "{last}");
    assert!(last.contains("does not define `total`") && !last.contains("+ 1"), "{last}");
    assert_ne!(ran.asked[1], *last, "the same words would bring the same answer");
    assert_eq!(ran.outcome["ok"], true, "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_things_worse_three_times_is_taken_back_and_no_success() {
    let project = cart();
    let wrong = |name: &str| fence(&format!("def total(self) -> float:\n    return sum(self.{name})"));
    let ran = ask(&project, "total is one too much", vec![wrong("costs"), wrong("sums"), wrong("all")]).await;
    assert_eq!(project.read("cart.py"), TEXT, "{}", ran.outcome);
    assert_eq!((ran.asked.len(), &ran.outcome["ok"]), (3, &json!(false)), "{}", ran.outcome);
    assert!(!ran.output.status.success());
    assert!(ran.summary().contains("not done after 3 tries, everything was taken back"), "{}", ran.summary());
    assert!(ran.summary().contains("\"all\""), "{}", ran.summary());
    assert_eq!(ran.outcome["files"], json!([]), "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_of_three_texts_is_kept_where_it_is_better_than_the_old_one() {
    let text = "def f(x: int) -> str:\n    y: str = x\n    z: str = x + 1\n    return y + z + x\n";
    let project = Project::new(&[("a.py", text)]);
    let better = "def f(x: int) -> str:\n    y: str = str(x)\n    z: str = x + 1\n    return y + z + str(x)";
    let worse = "def f(x: int) -> str:\n    return x + wrong + worse + worst + least";
    let replies = vec![fence(worse), fence(better), fence(worse)];
    let ran = ask_with(&project, "", "fix the type errors in f", &["--file", "a.py:1"], replies).await;
    assert_eq!(project.read("a.py"), format!("{better}\n"), "{}", ran.outcome);
    assert!(ran.asked[0].contains("Reported in it:\n- `y: str = x`:"), "{}", ran.asked[0]);
    assert_eq!(ran.outcome["ok"], false, "one error is left: {}", ran.outcome);
    assert!(ran.summary().contains("the best text is kept: still there"), "{}", ran.summary());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_mends_of_a_new_text_is_not_asked_for_again() {
    let project = cart();
    let reply = fence("def total(self, tax: float = None) -> float:\n    return sum(self.prices) + (tax or 0)");
    let ran = ask(&project, "total takes a tax, none is added by default", vec![reply, fence(TOTAL)]).await;
    let wanted = TEXT.replace("total(self)", "total(self, tax: float | None = None)").replace("+ 1", "+ (tax or 0)");
    assert_eq!(project.read("cart.py"), wanted, "{}", ran.outcome);
    assert_eq!((ran.asked.len(), &ran.outcome["ok"]), (1, &json!(true)), "{}", ran.outcome);
    assert_eq!(ran.outcome["new_diagnostics"], json!([]), "{}", ran.outcome);
    assert!(sextant(&project, &["undo"]).status.success());
    assert_eq!(project.read("cart.py"), TEXT, "one undo takes the server's part back too");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_server_mends_goes_back_with_the_text_as_the_server_left_it() {
    let project = cart();
    let wrong = fence("def total(self, tax: float = None) -> float:\n    return sum(self.costs) + (tax or 0)");
    let right = fence("def total(self, tax: float | None = None) -> float:\n    return sum(self.prices) + (tax or 0)");
    let ran = ask(&project, "total takes a tax, none is added by default", vec![wrong, right]).await;
    let again = &ran.asked[1];
    assert!(again.contains("tax: float | None = None") && again.contains("\"costs\""), "{again}");
    assert!(!again.contains("PEP 484"), "{again}");
    assert!(project.read("cart.py").contains("sum(self.prices) + (tax or 0)"), "{}", ran.outcome);
    assert_eq!((ran.asked.len(), &ran.outcome["ok"]), (2, &json!(true)), "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_forgot_to_use_is_asked_about_and_not_removed() {
    let project = cart();
    let forgot = fence("def total(self) -> float:\n    rate = 2\n    return sum(self.prices)");
    let right = fence("def total(self) -> float:\n    rate = 2\n    return sum(self.prices) * rate");
    let ran = ask(&project, "total is twice the sum", vec![forgot, right]).await;
    assert!(ran.asked.get(1).is_some_and(|again| again.contains("- `rate = 2`: ")), "{:#?}", ran.asked);
    assert!(project.read("cart.py").contains("return sum(self.prices) * rate"), "{}", ran.outcome);
    assert_eq!((ran.asked.len(), &ran.outcome["ok"]), (2, &json!(true)), "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_text_is_kept_with_what_a_server_mended_of_it() {
    let text = "def f(x: int) -> str:\n    y: str = x\n    z: str = x + 1\n    return y + z + x\n";
    let project = Project::new(&[("a.py", text)]);
    let better = "def f(x: int = None) -> str:\n    y: str = str(x)\n    z: str = str(x)\n    return y + z + 1";
    let worse = "def f(x: int) -> str:\n    return x + wrong + worse + worst + least";
    let replies = vec![fence(worse), fence(better), fence(worse)];
    let ran = ask_with(&project, "", "fix the type errors in f", &["--file", "a.py:1"], replies).await;
    assert_eq!(project.read("a.py"), format!("{}\n", better.replace("int =", "int | None =")), "{}", ran.outcome);
    assert_eq!((ran.asked.len(), &ran.outcome["ok"]), (3, &json!(false)), "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_was_to_be_mended_and_stayed_is_mended_by_its_server() {
    let project = Project::new(&[("a.py", "def f(x: int = None) -> int:\n    return x or 0\n")]);
    let beside = fence("def f(x: int = None) -> int:\n    return x or 1");
    let ran = ask_with(&project, "", "fix the errors reported in f", &["--file", "a.py:1"], vec![beside]).await;
    assert_eq!(project.read("a.py"), "def f(x: int | None = None) -> int:\n    return x or 1\n", "{}", ran.outcome);
    assert_eq!((ran.asked.len(), &ran.outcome["ok"]), (1, &json!(true)), "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_stays_as_it_was_is_asked_for_once_more_and_is_no_success() {
    let project = cart();
    let same = || fence("def total(self) -> float:\n    return sum(self.prices) + 1");
    let ran = ask(&project, "total is one too much", vec![same(), same(), fence(TOTAL)]).await;
    assert_eq!((ran.asked.len(), project.read("cart.py").as_str()), (2, TEXT), "{}", ran.outcome);
    assert_eq!(ran.outcome["ok"], false);
    assert!(ran.summary().contains("nothing was changed"), "{}", ran.summary());
    assert!(ran.asked[1].contains("Write the body of `total` anew"), "{}", ran.asked[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_in_prose_and_edits_nothing() {
    let project = cart();
    let answer = "It adds the prices, and one.\n```python\ndef total(self): return 0\n```";
    let ran = ask(&project, "what does total return?", vec![Reply::Text(answer.to_owned())]).await;
    assert_eq!((project.read("cart.py").as_str(), ran.asked.len()), (TEXT, 1));
    assert_eq!((ran.outcome["answer"].as_str(), &ran.outcome["ok"]), (Some(answer), &json!(true)));
    assert!(ran.asked[0].contains("Question: what does total") && ran.asked[0].contains("+ 1"), "{}", ran.asked[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spanish_request_is_worked_on_and_answered_in_english() {
    let project = cart();
    let ran = ask(&project, "corrige total, suma uno de más", vec![fence(TOTAL)]).await;
    assert_eq!(project.read("cart.py"), TEXT.replace(" + 1", ""), "{}", ran.outcome);
    let wrong = || fence("def total(self) -> float:\n    return sum(self.costs)");
    let project = cart();
    let ran = ask(&project, "corrige total, suma uno de más", vec![wrong(), wrong(), wrong()]).await;
    assert!(ran.summary().contains("not done after 2 tries, everything was taken back"), "{}", ran.summary());
    assert_eq!(project.read("cart.py"), TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn line_ends_and_tabs_stay_what_they_are() {
    let text = "class A:\n\tdef f(self) -> int:\n\t\treturn 1\n\n\tdef g(self) -> int:\n\t\treturn 2\n";
    for (name, ends) in [("tabs", "\n"), ("CRLF", "\r\n")] {
        let project = Project::new(&[("a.py", &text.replace('\n', ends))]);
        let reply = fence("def f(self) -> int:\n    return 10");
        let ran = ask_with(&project, "", "f returns ten", &["--file", "a.py:3"], vec![reply]).await;
        let wanted = text.replace("return 1\n", "return 10\n").replace('\n', ends);
        assert_eq!(project.read("a.py"), wanted, "{name}: {}", ran.outcome);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_file_is_given_whole_and_a_large_one_by_the_symbols_that_are_named() {
    let project = cart();
    let whole = fence(TEXT.replace(" + 1", "").trim_end());
    let ran = ask_with(&project, "", "total is one too much", &["--file", "cart.py"], vec![whole]).await;
    assert_eq!(project.read("cart.py"), TEXT.replace(" + 1", ""), "{}", ran.outcome);
    assert!(ran.asked[0].contains("The file cart.py:"), "{}", ran.asked[0]);

    let more: String = (0..80).map(|n| format!("\n\ndef other{n}() -> int:\n    return {n} + {n} + {n}\n")).collect();
    let large = format!("{TEXT}{more}");
    let project = Project::new(&[("cart.py", &large)]);
    let place = &["--file", "cart.py"];
    let ran = ask_with(&project, "", "`total` is one too much", place, vec![fence(TOTAL)]).await;
    assert_eq!(project.read("cart.py"), large.replace("prices) + 1", "prices)"), "{}", ran.outcome);
    let ran = ask_with(&project, "", "make it nicer", place, vec![fence(TOTAL)]).await;
    assert_eq!(ran.asked.len(), 0, "nothing can be chosen: {:?}", ran.asked);
    let said = String::from_utf8_lossy(&ran.output.stdout).into_owned();
    assert!(said.contains("put the cursor into a function, or name one in the request"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_of_a_large_file_are_mended_symbol_by_symbol() {
    let filler: String = (0..80).map(|n| format!("\n\ndef other{n}() -> int:\n    return {n} + {n} + {n}\n")).collect();
    let text = format!("def a() -> int:\n    return \"1\"\n\n\ndef b() -> str:\n    return 2\n{filler}");
    let project = Project::new(&[("a.py", &text)]);
    let replies = vec![fence("def a() -> int:\n    return 1"), fence("def b() -> str:\n    return \"2\"")];
    let ran = ask_with(&project, "", "fix the type errors", &["--file", "a.py"], replies).await;
    let wanted = text.replace("return \"1\"", "return 1").replace("    return 2\n", "    return \"2\"\n");
    assert_eq!(project.read("a.py"), wanted, "{}", ran.outcome);
    assert_eq!((&ran.outcome["ok"], &ran.outcome["fixed"]), (&json!(true), &json!(2)), "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_the_request_names_is_run_and_its_failure_goes_back() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    project.write("check_f.py", "import a\n\nassert a.f() == 3, f\"it is {a.f()}\"\n");
    let replies = vec![fence("def f() -> int:\n    return 2"), fence("def f() -> int:\n    return 3")];
    let allowed = "commands_allowed = [\"python3 -B check_f.py\"]";
    let request = "f returns three, and `python3 -B check_f.py` passes";
    let ran = ask_with(&project, allowed, request, &["--file", "a.py:1"], replies).await;
    assert_eq!(project.read("a.py"), "def f() -> int:\n    return 3\n", "{}", ran.outcome);
    assert!(ran.asked[1].contains("it is 2"), "{}", ran.asked[1]);
    assert_eq!(ran.outcome["ok"], true, "{}", ran.outcome);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_in_between_leaves_the_file_as_it_was() {
    let project = cart();
    let wrong = fence("def total(self) -> float:\n    return sum(self.costs)");
    let dead = Reply::Status(500, Vec::new(), "gone".to_owned());
    let ran = ask(&project, "total is one too much", vec![wrong, dead]).await;
    assert_eq!(project.read("cart.py"), TEXT, "a try that was not good enough does not stay");
    assert!(!ran.output.status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_made_as_ever_and_its_steps_are_worked_on_by_the_fence() {
    let plan = |title: &str| {
        let step =
            json!({"title": title, "symbols": ["cart.py::Cart::total"], "because": "asked", "expect": "the sum"});
        Reply::Json(json!({"title": "T", "reason": "R", "confidence": 0.9, "steps": [step]}))
    };
    let project = cart();
    let server = ModelServer::start([plan("mend the sum of total"), fence(TOTAL)]).await;
    configured(&project, "", &server.url());
    let run = |project: &Project| {
        let arguments = ["plan", "total is one too much", "--file", "cart.py", "--approve", "--json"];
        tokio::task::block_in_place(|| sextant(project, &arguments))
    };
    let output = run(&project);
    assert_eq!(project.read("cart.py"), TEXT.replace(" + 1", ""), "{}", outcome(&output));
    assert!(output.status.success());
    let asked = server.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].body.get("response_format").is_some() && asked[1].body.get("response_format").is_none());
    assert!(asked[1].said_by("user").contains("Request: mend the sum of total"), "{}", asked[1].said_by("user"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_does_not_hold_asks_a_small_model_for_the_same_change_no_second_time() {
    let step = json!({"title": "mend the sum of total", "symbols": ["cart.py::Cart::total"], "because": "asked",
        "expect": "the sum", "check": ["symbol cart.py::Cart::total gone"]});
    let plan = |steps: &[Value]| Reply::Json(json!({"title": "T", "reason": "R", "confidence": 0.9, "steps": steps}));
    let project = cart();
    let server = ModelServer::start([plan(&[step]), fence(TOTAL), plan(&[])]).await;
    configured(&project, "", &server.url());
    let arguments = ["plan", "total is one too much", "--file", "cart.py", "--approve", "--json"];
    let output = tokio::task::block_in_place(|| sextant(&project, &arguments));
    let asked = server.requests();
    let for_text = asked.iter().filter(|request| request.body.get("response_format").is_none()).count();
    assert_eq!((for_text, asked.len() > 2), (1, true), "then a new plan: {}", outcome(&output));
}
