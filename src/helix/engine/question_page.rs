//! Asks a question of the work: its places, its form, and the answer that the user's words mean.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::engine::EngineHost;
use crate::engine::links::{EngineLink, INFO};
use crate::engine::plan_page_text::PlanQuestion;
use crate::engine::typing_pause::REST;
use crate::engine::{commands, plan_page_text};
use crate::link::{EngineSays, OwnActions};
use crate::message_line;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_base::one_line::headline;
use sextant_engine::api::UserAnswer;

/// The first choice of a message: it decides nothing, and a stray key takes it.
const LATER: &str = "Later";

/// The beginning of a question in the conversation.
pub(super) const QUESTION: &str = "? ";

/// A question with its options. `shows` is the change or the command in full, where it is about one.
#[derive(Clone, Debug, Default)]
pub(super) struct AskedQuestion {
    pub(super) text: String,
    pub(super) options: Vec<String>,
    pub(super) shows: Option<String>,
}

impl AskedQuestion {
    /// The block of the conversation.
    fn block(&self) -> String {
        let list: String = (1..).zip(&self.options).map(|(number, option)| format!("{number}. {option}\n")).collect();
        let shows = self.change().map(|change| format!("{change}\n\n")).unwrap_or_default();
        format!("{QUESTION}{}\n\n{shows}{list}", self.text)
    }

    /// The change that it is about, as Markdown.
    fn change(&self) -> Option<String> {
        let shows = self.shows.as_deref().filter(|shows| !shows.trim().is_empty())?;
        // A line of the change may begin a fence itself.
        let ticks = shows.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat((ticks + 1).max(3));
        Some(format!("{fence}diff\n{}\n{fence}", shows.trim_end()))
    }

    /// The page to read before the answer, for a line that has no room for the change.
    fn page(&self) -> &'static str {
        if self.change().is_some() { "; agent.show: the change" } else { "" }
    }
}

/// The question that is open.
#[derive(Debug, Default)]
pub(super) struct QuestionAsked {
    held: std::sync::Mutex<Option<AskedQuestion>>,
    /// The words of the user's own that were given as the answer.
    words: std::sync::Mutex<String>,
    /// The count of questions: an answer to an earlier question is not accepted.
    number: AtomicU64,
}

impl QuestionAsked {
    pub(super) fn options(&self) -> Option<Vec<String>> {
        lock(&self.held).as_ref().map(|asked| asked.options.clone())
    }

    /// A refusal of another task, which names the open question.
    pub(super) fn busy(&self) -> Option<Failure> {
        let message = format!("a question is open: {}", headline(&lock(&self.held).as_ref()?.text));
        Some(Failure::new(FailureKind::Busy, message, "space a: answers, agent.stop ends it"))
    }

    /// The page of the change that the open question is about; `None` where it is about none.
    pub(super) fn proposed(&self) -> Option<String> {
        let asked = lock(&self.held);
        let asked = asked.as_ref()?;
        asked.change().map(|change| format!("# What would be changed\n\n{}\n\n{change}", asked.text))
    }

    /// Shows a question in the plan, in the conversation, and in the file that the user asked from. If the editor has
    /// such messages and no user types, it is a message too.
    pub(super) fn ask(&self, engine: &Arc<EngineHost>, asked: AskedQuestion) {
        *lock(&self.held) = Some(asked.clone());
        let number = self.number.fetch_add(1, Ordering::SeqCst) + 1;
        self.offer(engine);
        if engine.plan.stands() {
            let AskedQuestion { text, options, .. } = asked.clone();
            engine.plan.set(engine, |shown| shown.question = Some(PlanQuestion { text, options, number }));
        }
        engine.answers.block(&engine.buffers, &asked.block());
        let Some(link) = engine.buffers.links.used_last() else { return };
        let list: Vec<String> =
            (1..).zip(&asked.options).map(|(number, option)| format!("{number} {option}")).collect();
        // A narrow screen shows the beginning: the way to answer comes first.
        let line = format!("(space a: answers{}) {} {}", asked.page(), asked.text, list.join(", "));
        link.message(INFO, &message_line::fit(&line, message_line::ALL));
        let typing = engine.buffers.mirror.rested_anywhere().is_some_and(|rested| rested < REST);
        if !typing && link.can("/window/showMessage") {
            tokio::spawn(ask_in_message(Arc::clone(engine), link, number, asked));
        }
    }

    /// Keeps the words of an answer for the conversation.
    pub(super) fn answered_with(&self, answer: &UserAnswer) {
        if let UserAnswer::Words(words) = answer {
            words.clone_into(&mut lock(&self.words));
        }
    }

    /// Withdraws the question. Its answer stands in the conversation, if there is one: `choice` counts from 1.
    pub(super) fn close(&self, engine: &EngineHost, choice: Option<usize>) {
        let was = lock(&self.held).take();
        self.number.fetch_add(1, Ordering::SeqCst);
        if let Some(AskedQuestion { options, .. }) = was {
            self.offer(engine);
            engine.plan.set(engine, |shown| shown.question = None);
            let words = std::mem::take(&mut *lock(&self.words));
            let chosen = choice.map(|choice| choice.checked_sub(1).and_then(|at| options.get(at)).unwrap_or(&words));
            if let Some(answer) = chosen.filter(|answer| !answer.is_empty()) {
                engine.answers.block(&engine.buffers, &format!("→ {}", headline(answer)));
            }
        }
    }

    /// Offers the answers as code actions, or withdraws them if no question is open: in the conversation and in each
    /// open file, wherever the user looks.
    fn offer(&self, engine: &EngineHost) {
        let open = engine.buffers.mirror.uris();
        let places = open.iter().map(String::as_str).chain([engine.answers.page.uri()]);
        places.for_each(|uri| engine.offer(uri));
    }

    fn is(&self, number: u64) -> bool {
        self.number() == number
    }

    fn number(&self) -> u64 {
        self.number.load(Ordering::SeqCst)
    }

    /// # Errors
    /// The question of this number is not open any more: its answer could mean a consent to something else.
    pub(super) fn still_open(&self, number: Option<u64>) -> Result<(), Failure> {
        match number.filter(|number| !self.is(*number)) {
            Some(_) => {
                Err(Failure::user("the question of this answer is closed", "space a shows the open one's answers"))
            }
            None => Ok(()),
        }
    }

    /// The meaning of an answer: an option by its number, its words or their beginning, else words of the user's own.
    pub(super) fn answer(&self, number: Option<usize>, words: &str) -> Result<UserAnswer, Failure> {
        if let Some(number) = number.filter(|_| words.is_empty()).or_else(|| words.parse().ok()) {
            return Ok(UserAnswer::Option(number));
        }
        let options = self.options();
        if words.is_empty() {
            let list = (1..).zip(options.iter().flatten()).map(|(number, option)| format!("{number} {option}"));
            let list: Vec<String> = list.collect();
            let hint = if list.is_empty() { "write agent.answer 1".to_owned() } else { list.join(", ") };
            return Err(Failure::user("the answer is empty", hint));
        }
        let (low, options) = (words.to_lowercase(), options.unwrap_or_default());
        let whole = options.iter().position(|option| option.to_lowercase() == low);
        let begins = |option: &String| option.to_lowercase().starts_with(&low);
        let only = options.iter().position(begins).filter(|_| options.iter().filter(|one| begins(one)).count() == 1);
        let words = || UserAnswer::Words(words.to_owned());
        Ok(whole.or(only).map_or_else(words, |index| UserAnswer::Option(index + 1)))
    }
}

impl EngineHost {
    /// Offers the actions of a file. The plan's page has its own.
    pub(super) fn offer(&self, uri: &str) {
        if uri == self.plan.page.uri() {
            return;
        }
        let options = self.question.options().unwrap_or_default();
        let mut items = plan_page_text::answers(&options, self.question.number());
        if uri == self.answers.page.uri() {
            items.extend(self.answers.blocks.actions());
        }
        items.extend(self.changes.actions(uri));
        self.tell_all(&EngineSays::Actions(OwnActions { uri: uri.to_owned(), items }));
    }
}

/// The safe choice comes first, the answers follow in the order of their numbers. A missing answer, and one to an
/// earlier question, do not count.
async fn ask_in_message(engine: Arc<EngineHost>, link: Arc<EngineLink>, number: u64, asked: AskedQuestion) {
    let titles = std::iter::once(LATER).chain(asked.options.iter().map(String::as_str));
    let titles: Vec<Value> = titles.map(|title| json!({"title": title})).collect();
    let message = message_line::line(&format!("{}{}", asked.text, asked.page()));
    let params = json!({"type": INFO, "message": message, "actions": titles});
    let Ok(answer) = link.ask("window/showMessageRequest", params, None).await else { return };
    let title = answer["title"].as_str();
    let chosen = asked.options.iter().position(|option| Some(option.as_str()) == title);
    if let Some(index) = chosen.filter(|_| engine.question.is(number)) {
        commands::answer(&engine, &link, (index + 1).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_a_change_holds_all_of_it_and_other_questions_hold_none() {
        let question = QuestionAsked::default();
        let asked = AskedQuestion {
            text: "Write it?".into(),
            options: vec!["write it".into(), "no".into()],
            shows: Some("a.md, line 1:\n- a\n+ ```rust".into()),
        };
        let change = "````diff\na.md, line 1:\n- a\n+ ```rust\n````";
        assert_eq!(asked.block(), format!("? Write it?\n\n{change}\n\n1. write it\n2. no\n"));
        assert_eq!(asked.page(), "; agent.show: the change");
        *lock(&question.held) = Some(asked.clone());
        assert_eq!(question.proposed(), Some(format!("# What would be changed\n\nWrite it?\n\n{change}")));
        let plain = AskedQuestion { shows: None, ..asked };
        assert_eq!((plain.block().as_str(), plain.page()), ("? Write it?\n\n1. write it\n2. no\n", ""));
        *lock(&question.held) = Some(plain);
        assert_eq!(question.proposed(), None);
    }

    #[test]
    fn an_answer_is_a_number_the_beginning_of_one_option_or_words() {
        let question = QuestionAsked::default();
        assert!(question.answer(None, "").unwrap_err().hint.text().contains("agent.answer 1"));
        assert_eq!(question.answer(Some(2), ""), Ok(UserAnswer::Option(2)), "the asker may be another process");
        let options = ["run it once", "run it always", "no"].map(str::to_owned).to_vec();
        *lock(&question.held) = Some(AskedQuestion { text: "Run?".into(), options, shows: None });
        for (words, option) in [("No", 3), ("run it o", 1), ("2", 2)] {
            assert_eq!(question.answer(None, words), Ok(UserAnswer::Option(option)), "{words}");
        }
        for words in ["run", "no, run the tests first", "yes"] {
            assert_eq!(question.answer(None, words), Ok(UserAnswer::Words(words.into())));
        }
        assert_eq!(question.answer(Some(3), "tries"), Ok(UserAnswer::Words("tries".into())));
        assert!(question.answer(None, "").unwrap_err().hint.text().contains("1 run it once"));
    }
}
