//! Asks a question of the work: its places, its form, and the answer that the user's words mean.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::engine::EngineHost;
use crate::engine::links::{EngineLink, INFO};
use crate::engine::typing_pause::REST;
use crate::engine::{commands, helix_wording, steps};
use crate::link::{EngineSays, OwnActions};
use sextant_base::failure::Failure;
use sextant_base::lock::lock;

/// The first choice of a message: it decides nothing, and a stray key takes it.
const LATER: &str = "Later";

/// The question that is open.
#[derive(Debug, Default)]
pub(super) struct QuestionAsked {
    held: std::sync::Mutex<Option<(String, Vec<String>)>>,
    /// The count of questions: an answer to an earlier question is not accepted.
    number: AtomicU64,
}

impl QuestionAsked {
    pub(super) fn options(&self) -> Option<Vec<String>> {
        lock(&self.held).as_ref().map(|(_, options)| options.clone())
    }

    /// Shows a question in the plan, in the conversation, and in the file that the user asked from. If the editor has
    /// such messages and no user types, it is a message too.
    pub(super) fn ask(&self, engine: &Arc<EngineHost>, text: &str, options: &[String]) {
        *lock(&self.held) = Some((text.to_owned(), options.to_vec()));
        let number = self.number.fetch_add(1, Ordering::SeqCst) + 1;
        self.offer(engine);
        if engine.plan.stands() {
            engine.plan.set(engine, |shown| shown.question = Some((text.to_owned(), options.to_vec())));
        }
        let list: String = (1..).zip(options).map(|(number, option)| format!("{number}. {option}\n")).collect();
        engine.answers.block(&engine.buffers, &format!("? {text}\n\n{list}"));
        let Some(link) = engine.buffers.links.used_last() else { return };
        let list: Vec<String> = (1..).zip(options).map(|(number, option)| format!("{number} {option}")).collect();
        // A narrow screen shows the beginning: the way to answer comes first.
        link.message(INFO, &helix_wording::line(&format!("(space a: answers) {text} {}", list.join(", "))));
        let typing = engine.buffers.mirror.rested_anywhere().is_some_and(|rested| rested < REST);
        if !typing && link.can("/window/showMessage") {
            tokio::spawn(ask_in_message(Arc::clone(engine), link, number, text.to_owned(), options.to_vec()));
        }
    }

    /// Withdraws the question. Its answer stands in the conversation, if there is one: `choice` counts from 1.
    pub(super) fn close(&self, engine: &EngineHost, choice: Option<usize>) {
        let was = lock(&self.held).take();
        self.number.fetch_add(1, Ordering::SeqCst);
        if let Some((_, options)) = was {
            self.offer(engine);
            engine.plan.set(engine, |shown| shown.question = None);
            if let Some(option) = choice.and_then(|choice| options.get(choice.checked_sub(1)?)) {
                engine.answers.block(&engine.buffers, &format!("→ {option}"));
            }
        }
    }

    /// Offers the answers as code actions, or withdraws them if no question is open.
    fn offer(&self, engine: &EngineHost) {
        self.places(engine).iter().for_each(|uri| engine.offer(uri));
    }

    /// The pages and files whose code actions answer it. The plan's page has its own.
    fn places(&self, engine: &EngineHost) -> Vec<String> {
        let places = [Some(engine.answers.page.uri().to_owned()), lock(&engine.asked_from).clone()];
        places.into_iter().flatten().filter(|uri| uri != engine.plan.page.uri()).collect()
    }

    fn is(&self, number: u64) -> bool {
        self.number.load(Ordering::SeqCst) == number
    }

    /// The number of an answer, by its number or its words.
    pub(super) fn choice(&self, number: Option<usize>, words: &str) -> Result<usize, Failure> {
        let options = self.options();
        if let Some(number) = number.or_else(|| words.parse().ok()) {
            return Ok(number);
        }
        let Some(options) = options else { return Err(Failure::user("no question is open", "")) };
        let words = words.to_lowercase();
        let whole = options.iter().position(|option| option.to_lowercase() == words);
        let begins = |option: &String| !words.is_empty() && option.to_lowercase().starts_with(&words);
        let only = options.iter().position(begins).filter(|_| options.iter().filter(|one| begins(one)).count() == 1);
        whole.or(only).map(|index| index + 1).ok_or_else(|| {
            let list: Vec<String> = (1..).zip(&options).map(|(number, option)| format!("{number} {option}")).collect();
            Failure::user("the answer has to be one of those offered", list.join(", "))
        })
    }
}

impl EngineHost {
    /// Offers the actions of a file.
    pub(super) fn offer(&self, uri: &str) {
        if uri == self.plan.page.uri() {
            return;
        }
        let answered = self.question.places(self).iter().any(|place| place == uri);
        let options = self.question.options().filter(|_| answered).unwrap_or_default();
        let mut items = steps::answers(&options);
        items.extend(self.changes.actions(uri));
        self.tell_all(&EngineSays::Actions(OwnActions { uri: uri.to_owned(), items }));
    }
}

/// The safe choice comes first; a missing answer, and one to an earlier question, do not count.
async fn ask_in_message(
    engine: Arc<EngineHost>,
    link: Arc<EngineLink>,
    number: u64,
    text: String,
    options: Vec<String>,
) {
    let titles = std::iter::once(LATER).chain(options.iter().rev().map(String::as_str));
    let titles: Vec<Value> = titles.map(|title| json!({"title": title})).collect();
    let params = json!({"type": INFO, "message": helix_wording::line(&text), "actions": titles});
    let Ok(answer) = link.ask("window/showMessageRequest", params, None).await else { return };
    let title = answer["title"].as_str();
    let chosen = options.iter().position(|option| Some(option.as_str()) == title);
    if let Some(index) = chosen.filter(|_| engine.question.is(number)) {
        commands::answer(&engine, &link, index + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_number_or_the_beginning_of_one_option() {
        let question = QuestionAsked::default();
        assert!(question.choice(None, "no").is_err(), "nothing is asked");
        assert_eq!(question.choice(Some(2), ""), Ok(2), "the asker may be another process");
        let options = ["run it once", "run it always", "no"].map(str::to_owned).to_vec();
        *lock(&question.held) = Some(("Run?".into(), options));
        assert_eq!(question.choice(None, "No"), Ok(3));
        assert_eq!(question.choice(None, "run it o"), Ok(1));
        assert_eq!(question.choice(None, "2"), Ok(2));
        for bad in ["run", "", "yes"] {
            let failure = question.choice(None, bad).unwrap_err();
            assert!(failure.hint.text().contains("1 run it once"), "{bad}");
        }
    }
}
