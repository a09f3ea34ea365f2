//! The questions to a remote model and the reading of its answers: a step and a plan as one JSON object, a conversation
//! with the provider's own tools.

use serde_json::Value;

use crate::answer::{AnswerEnd, AnswerParts};
use crate::chat::{ChatInput, ChatMessage, ChatReply};
use crate::prompt::{self, Prompt};
use crate::reply::{self, ReplyReading, tool_objects};
use crate::reply_schema;
use crate::stream_filter::Hearing;
use crate::tools::ToolSpec;
use sextant_base::token_estimate;

/// One question in a form without a provider.
#[derive(Clone, Debug)]
pub(crate) struct Posed<'a> {
    pub(crate) system: String,
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) tools: &'a [ToolSpec],
    pub(crate) schema: Option<(&'static str, Value)>,
    /// True if more messages will follow these.
    pub(crate) grows: bool,
}

impl Posed<'_> {
    /// Estimated tokens, for providers that count none.
    pub(crate) fn tokens(&self) -> usize {
        let tools = self.tools.iter().map(|tool| token_estimate::estimate(&tool.signature()) + 30).sum::<usize>();
        token_estimate::estimate(&self.system) + tools + self.messages.iter().map(ChatMessage::tokens).sum::<usize>()
    }
}

/// A kind of question.
pub(crate) trait Asking: Send + Sync {
    type Reply: Send;

    /// The question, with the provider's own tools or without.
    fn posed(&self, native: bool) -> Posed<'_>;

    fn hearing(&self, native: bool, reasoning: bool) -> Hearing;

    fn read(&self, parts: AnswerParts, native: bool, ending: AnswerEnd) -> ReplyReading<Self::Reply>;

    /// The message to the model after an unusable answer.
    fn again(&self, problems: &[String], native: bool) -> String;

    /// The words of a reply, if none of them was passed on while it came.
    fn unheard<'r>(&self, _: &'r Self::Reply) -> &'r str {
        ""
    }
}

/// A question whose answer is one JSON object.
pub(crate) struct Structured<T> {
    pub(crate) prompt: Prompt,
    pub(crate) schema_name: &'static str,
    pub(crate) schema: Value,
    pub(crate) tools: &'static [ToolSpec],
    pub(crate) read: fn(&str, &[ToolSpec]) -> ReplyReading<T>,
    /// The strings that hold words for the reader.
    pub(crate) wanted: &'static [&'static str],
}

impl<T: Send> Asking for Structured<T> {
    type Reply = T;

    fn posed(&self, _: bool) -> Posed<'_> {
        Posed {
            system: self.prompt.system.clone(),
            messages: vec![ChatMessage::User(self.prompt.user.clone())],
            tools: &[],
            schema: Some((self.schema_name, self.schema.clone())),
            grows: false,
        }
    }

    fn hearing(&self, _: bool, reasoning: bool) -> Hearing {
        Hearing::json(self.wanted, reasoning)
    }

    fn read(&self, parts: AnswerParts, _: bool, _: AnswerEnd) -> ReplyReading<T> {
        (self.read)(&parts.text, self.tools)
    }

    fn again(&self, problems: &[String], _: bool) -> String {
        prompt::ask_again(problems)
    }
}

/// A conversation.
pub(crate) struct Talk<'a> {
    pub(crate) input: ChatInput<'a>,
    /// The identity of the model that may get kept parts of an answer back.
    pub(crate) tag: String,
}

impl Asking for Talk<'_> {
    type Reply = ChatReply;

    fn posed(&self, native: bool) -> Posed<'_> {
        let ChatInput { system, messages, tools } = self.input;
        if native {
            let (system, messages) = (system.to_owned(), messages.to_vec());
            return Posed { system, messages, tools, schema: None, grows: true };
        }
        let schema = (!tools.is_empty()).then(|| (reply_schema::CHAT_NAME, reply_schema::chat(tools)));
        let (system, messages) = (tool_objects::rules(system, tools), tool_objects::messages(messages));
        Posed { system, messages, tools: &[], schema, grows: true }
    }

    fn hearing(&self, native: bool, reasoning: bool) -> Hearing {
        // Without tools the answer can only be prose.
        let plain = native || self.input.tools.is_empty();
        if plain { Hearing::plain(reasoning) } else { Hearing::json(&["text"], reasoning) }
    }

    fn read(&self, parts: AnswerParts, native: bool, ending: AnswerEnd) -> ReplyReading<ChatReply> {
        let ChatInput { messages, tools, .. } = self.input;
        if !native && !tools.is_empty() {
            return tool_objects::read(&parts.text, tools, ending, messages);
        }
        let reply = parts.reply(&self.tag, tools, ending, messages);
        let prose = reply.as_ref().filter(|reply| reply.uses.is_empty());
        let written = prose.and_then(|reply| tool_objects::written(&reply.text, tools, messages));
        let broken = prose.filter(|reply| written.is_none() && !reply.cut);
        if let Some(problem) = broken.and_then(|reply| tool_objects::broken_call(&reply.text, tools)) {
            return ReplyReading { value: None, problems: vec![problem] };
        }
        let reply = reply.map(|mut reply| {
            match written {
                Some(uses) => (reply.text, reply.uses) = (String::new(), uses),
                None => reply.text = reply::without_thinking(&reply.text).trim().to_owned(),
            }
            reply
        });
        match reply {
            // If all tokens went into thinking, the limit is the only thing to report.
            Some(reply) if !reply.uses.is_empty() || !reply.text.is_empty() || reply.cut => {
                ReplyReading { value: Some(reply), problems: Vec::new() }
            }
            _ => ReplyReading { value: None, problems: vec!["the answer is empty".to_owned()] },
        }
    }

    fn again(&self, problems: &[String], native: bool) -> String {
        if !native && !self.input.tools.is_empty() {
            return prompt::ask_again(problems);
        }
        format!("Your answer could not be used: {}. Answer again.", problems.join("; "))
    }

    fn unheard<'r>(&self, reply: &'r ChatReply) -> &'r str {
        &reply.text
    }
}
