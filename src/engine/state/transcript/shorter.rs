//! Shortens a conversation that is longer than its model reads: old messages first, then long texts.

use serde_json::{Value, json};

use crate::state::transcript::Transcript;
use sextant_base::plural::counted;
use sextant_base::token_estimate::{self, head_and_tail};
use sextant_model::chat::{ChatMessage, ChatReply};

/// Below this, in tokens, a text is not cut: its mark would be as long.
const LEAST: usize = 24;

impl Transcript {
    /// Makes it no longer than the budget in tokens. The first message stays, `so_far` sums up the following ones, and
    /// the newest messages stay whole. Where they alone are more than the budget, their long texts are cut. Returns
    /// whether anything was left out.
    pub(crate) fn shorten(&mut self, budget: usize, so_far: impl FnOnce() -> String) -> bool {
        if self.tokens() <= budget {
            return false;
        }
        self.sum_up(budget, so_far);
        self.cut(budget);
        true
    }

    fn sum_up(&mut self, budget: usize, so_far: impl FnOnce() -> String) {
        // The rest begins with an answer of the model: a result needs the call that it belongs to.
        let mut left = budget / 3;
        let mut from = self.messages.len();
        for (at, message) in self.messages.iter().enumerate().skip(1).rev() {
            let cost = message.tokens();
            if cost > left && from < self.messages.len() {
                break;
            }
            left = left.saturating_sub(cost);
            if matches!(message, ChatMessage::Model(_)) {
                from = at;
            }
        }
        if from <= 1 || from == self.messages.len() {
            return;
        }
        let kept = self.messages.split_off(from);
        self.messages.truncate(1);
        if let Some(ChatMessage::User(first)) = self.messages.first_mut() {
            // An earlier replacement for older messages goes: this one replaces those messages as well.
            let opening = self.opening.unwrap_or(first.len());
            first.truncate(floor(first, opening));
            self.opening = Some(first.len());
        }
        self.tell(so_far());
        self.messages.extend(kept);
    }

    /// Cuts the longest texts: those of the model and of its tools before the messages to the model.
    fn cut(&mut self, budget: usize) {
        for also_user in [false, true] {
            let mut most = budget / 2;
            while self.tokens() > budget && most >= LEAST {
                for message in self.messages.iter_mut().rev() {
                    cut_message(message, most, also_user);
                }
                most /= 2;
            }
            while self.tokens() > budget && self.drop_calls() {}
        }
        if let Some(ChatMessage::User(first)) = self.messages.first() {
            self.opening = self.opening.map(|opening| opening.min(first.len()));
        }
    }

    /// Leaves out the first half of the calls of the answer with the most calls, with their results. Returns whether
    /// there was one.
    fn drop_calls(&mut self) -> bool {
        let calls = |message: &ChatMessage| match message {
            ChatMessage::Model(reply) => reply.uses.len(),
            ChatMessage::User(_) | ChatMessage::Results(_) => 0,
        };
        let Some(at) = (0..self.messages.len()).max_by_key(|at| calls(&self.messages[*at])) else { return false };
        let Some(ChatMessage::Model(reply)) = self.messages.get_mut(at).filter(|message| calls(message) > 1) else {
            return false;
        };
        let gone = reply.uses.len() / 2;
        reply.uses.drain(..gone);
        // The opaque data for a provider names the calls that it came with.
        reply.opaque.clear();
        if let Some(ChatMessage::Results(results)) = self.messages.get_mut(at + 1) {
            results.drain(..gone.min(results.len()));
        }
        true
    }
}

fn cut_message(message: &mut ChatMessage, most: usize, also_user: bool) {
    match message {
        ChatMessage::User(text) if also_user => *text = head(text, most),
        ChatMessage::User(_) => {}
        ChatMessage::Model(reply) => cut_reply(reply, most),
        ChatMessage::Results(results) => {
            results.iter_mut().for_each(|result| result.text = head_and_tail(&result.text, most));
        }
    }
}

fn cut_reply(reply: &mut ChatReply, most: usize) {
    reply.text = head_and_tail(&reply.text, most);
    for used in &mut reply.uses {
        if token_estimate::estimate(&used.parameters.to_string()) <= most {
            continue;
        }
        cut_value(&mut used.parameters, most / 2);
        let left = used.parameters.to_string();
        if token_estimate::estimate(&left) > most {
            used.parameters = json!({"left_out": counted(left.len(), "byte")});
        }
    }
    if reply.opaque.iter().map(|value| token_estimate::estimate(&value.to_string())).sum::<usize>() > most {
        reply.opaque.clear();
    }
}

fn cut_value(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => *text = head_and_tail(text, most),
        Value::Array(values) => values.iter_mut().for_each(|value| cut_value(value, most)),
        Value::Object(values) => values.values_mut().for_each(|value| cut_value(value, most)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The beginning of a message to a model. An end without its beginning could stand outside the fence around the data.
fn head(text: &str, most: usize) -> String {
    if token_estimate::estimate(text) <= most {
        return text.to_owned();
    }
    let end = floor(text, (most as f64 * token_estimate::BYTES_PER_TOKEN) as usize);
    let end = text[..end].rfind('\n').unwrap_or(end);
    format!("{}\n… the rest is left out here …", &text[..end])
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
