//! The part of a conversation that goes where it is longer than its model reads: old messages first, then long texts.

use serde_json::{Value, json};

use crate::state::transcript::Transcript;
use sextant_base::plural::counted;
use sextant_model::chat::{ChatMessage, ChatReply};
use sextant_model::token_estimate::{self, head_and_tail};

/// Below this, in tokens, a text is not cut: its mark would be as long.
const LEAST: usize = 24;

impl Transcript {
    /// Makes it no longer than the budget in tokens. The first message stays, what came after it is summed up in
    /// `so_far`, and the newest messages stay whole; where they alone are more than the budget, their long texts are
    /// cut. Whether anything was left out.
    pub(crate) fn shorten(&mut self, budget: usize, so_far: impl FnOnce() -> String) -> bool {
        if self.tokens() <= budget {
            return false;
        }
        self.sum_up(budget, so_far);
        self.cut(budget);
        true
    }

    fn sum_up(&mut self, budget: usize, so_far: impl FnOnce() -> String) {
        // What stays begins with an answer of the model: a result needs the call that it belongs to.
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
            // What stood in for older messages before goes: this stands in for them as well.
            let opening = self.opening.unwrap_or(first.len());
            first.truncate(floor(first, opening));
            self.opening = Some(first.len());
        }
        self.tell(so_far());
        self.messages.extend(kept);
    }

    /// Cuts the longest texts: those of the model and of its tools before what it was told.
    fn cut(&mut self, budget: usize) {
        for told_too in [false, true] {
            let mut most = budget / 2;
            while self.tokens() > budget && most >= LEAST {
                for message in self.messages.iter_mut().rev() {
                    cut_message(message, most, told_too);
                }
                most /= 2;
            }
            while self.tokens() > budget && self.drop_calls() {}
        }
        if let Some(ChatMessage::User(first)) = self.messages.first() {
            self.opening = self.opening.map(|opening| opening.min(first.len()));
        }
    }

    /// Leaves out the first half of the calls of the answer that has most, with their results; whether there was one.
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
        // What a provider wants back names the calls that it was said with.
        reply.opaque.clear();
        if let Some(ChatMessage::Results(results)) = self.messages.get_mut(at + 1) {
            results.drain(..gone.min(results.len()));
        }
        true
    }
}

fn cut_message(message: &mut ChatMessage, most: usize, told_too: bool) {
    match message {
        ChatMessage::User(told) if told_too => *told = head(told, most),
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

/// The beginning of what a model was told. An end without its beginning could stand outside of the fence that data
/// stands in.
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
