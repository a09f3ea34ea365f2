//! Random edits, asked about before they are made and after: the same is reported.
//!
//! `SEXTANT_EDITS=100` makes a hundred of them with each server in place of ten.

use std::time::{Duration, Instant};

use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::Report;
use sextant::engine::Engine;

use super::Place;
use super::before::{change, own_engine, with_text};
use crate::support::helix_client::{HelixClient, HelixVersion};
use crate::support::servers::{PATIENCE_MS, tool};

/// How long an answer may take that counts as known.
const LIMIT: Duration = Duration::from_secs(10);

const OTHER: &str = "from a import Cart, label\n\n\ndef show(cart: Cart) -> str:\n    return label(cart.total())\n";

fn base() -> String {
    let mut text =
        "import os\n\n\nclass Cart:\n    def __init__(self) -> None:\n        self.prices: list[int] = []\n\n    \
        def total(self) -> int:\n        return sum(self.prices)\n\n\ndef label(amount: int) -> str:\n    \
        return f\"{amount} in {os.sep}\"\n"
            .to_owned();
    for number in 0..12 {
        text += &format!("\n\ndef f{number}(given: int) -> int:\n    kept = given + {number}\n    return kept\n");
    }
    text
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end.max(1)
    }

    /// Another text of the file: one change of one of many kinds.
    fn edit(&mut self, text: &str, number: usize) -> String {
        let at = self.below(12);
        let (body, kept) = (format!("    kept = given + {at}\n"), format!("f{at}(given: int)"));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let line = self.below(lines.len());
        match self.below(11) {
            0 => text.replace(&body, &format!("    kept = missing{number} + {at}\n")),
            1 => text.replace(&body, &format!("    kept = given + \"{number}\"\n")),
            2 => text.replace(&body, "    kept = (given + \n"),
            3 => lines.iter().enumerate().filter(|(index, _)| *index != line).map(|(_, line)| *line).collect(),
            4 => format!("import json\n{text}"),
            5 => format!("# line {number}\n\n{text}"),
            6 => text.replace("def total", &format!("def total{number}")),
            7 => text.replace("amount: int", "amount: str").replace(&kept, &format!("f{at}(given: str)")),
            8 => format!("{text}\n\ndef added{number}() -> str:\n    return f{at}({number})\n"),
            9 => text.replace(&body, &format!("    kept = given + {at}  # é{number}\n")),
            _ => base(),
        }
    }
}

/// What is reported of these files, in an order of its own; `None` where somebody has not answered.
fn reported(reports: &[Report]) -> Option<Vec<String>> {
    if reports.is_empty() || !reports.iter().all(|report| report.freshness.is_fresh()) {
        return None;
    }
    let found = reports.iter().flat_map(|report| &report.diagnostics);
    let mut found: Vec<String> = found
        .map(|one| format!("{} {:?} {:?} {:?} {}", one.source, one.location, one.severity, one.code, one.message))
        .collect();
    found.sort();
    Some(found)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Makes the edits with one server; says how many were foreseen wrongly.
async fn foresee(program: &str, arguments: &[&str]) {
    let wanted = std::env::var("SEXTANT_EDITS").ok().and_then(|count| count.parse().ok()).unwrap_or(10);
    let place = Place::new(&[("a.py", &base()), ("b.py", OTHER)]);
    let mut own = own_engine(&place);
    let mut command = vec![tool(program).display().to_string()];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    let helix = HelixClient::start(HelixVersion::Master, &mut place.proxy(&[], &command), &place.root);
    let agent = (&mut own.agent).await.expect("a session");
    let uri = helix.open("a.py", "python");
    helix.open("b.py", "python");
    opened(&agent, &["a.py", "b.py"]).await;
    let (a, b) = (["a.py".to_owned()], ["b.py".to_owned()]);
    let (mut dice, mut text) = (Dice(7), base());
    let (mut right, mut unknown, mut wrong, mut changed) = (0, 0, Vec::new(), 0);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    warm(&agent, &text).await;
    let mut last = None;
    for number in 0..wanted {
        let mut next = dice.edit(&text, number);
        // Some kinds have nothing to change in some texts.
        while next == text {
            next = dice.edit(&text, number);
        }
        let document = with_text(&agent, "a.py", &text).await;
        let edit = change(&document, 0..text.len(), &next);
        let start = Instant::now();
        let foreseen = reported(&agent.editor().probe(&[edit], Deadline::after(LIMIT)).await.expect("reports"));
        before.push(start.elapsed());
        helix.edit(&uri, 0..text.len(), &next);
        with_text(&agent, "a.py", &next).await;
        let start = Instant::now();
        let truth = agent.editor().diagnostics(&a, &b, Deadline::after_ms(PATIENCE_MS)).await;
        after.push(start.elapsed());
        let truth = reported(&truth).expect("the editor's server answers");
        match foreseen {
            None => unknown += 1,
            Some(foreseen) if foreseen == truth => right += 1,
            Some(foreseen) => wrong.push(format!("#{number}:\n{foreseen:#?}\nand then\n{truth:#?}\nof\n{next}")),
        }
        changed += usize::from(last.replace(truth.clone()) != Some(truth));
        text = next;
    }
    println!(
        "{program}: {right} right, {unknown} unknown, {} wrong of {wanted} ({changed} changed what is reported); \
         median before {:?}, after {:?}",
        wrong.len(),
        median(before),
        median(after)
    );
    helix.quit();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown * 20 <= wanted, "{unknown} of {wanted} are unknown");
    assert!(changed * 3 > wanted, "the edits do little: {changed}");
}

/// The engine has heard of these files.
async fn opened(agent: &Engine, files: &[&str]) {
    let waiting = async {
        loop {
            let loaded = agent.editor().loaded().await;
            if files.iter().all(|file| loaded.iter().any(|known| known == file)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_millis(PATIENCE_MS), waiting).await.expect("they are open");
}

/// Both servers are there, and have read the project.
async fn warm(agent: &Engine, text: &str) {
    let document = with_text(agent, "a.py", text).await;
    let edit = change(&document, 0..0, "");
    let patience = Deadline::after_ms(PATIENCE_MS);
    let reports = agent.editor().probe(&[edit], patience).await.expect("reports");
    assert!(reported(&reports).is_some(), "{reports:?}");
    let reports = agent.editor().diagnostics(&["a.py".to_owned()], &["b.py".to_owned()], patience).await;
    assert!(reported(&reports).is_some(), "{reports:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ruff_says_of_random_edits_before_they_are_made_it_says_after() {
    foresee("ruff", &["server"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_basedpyright_says_of_random_edits_before_they_are_made_it_says_after() {
    foresee("basedpyright-langserver", &["--stdio"]).await;
}
