//! The user's words as the file keeps them: without tokens and passwords.
//!
//! Every write of a state, a conversation or a trace passes here. The contents of checkpoints do not: an undo needs
//! them byte for byte.

use serde_json::Value;

use sextant_base::given_secrets::GivenSecrets;

/// The fields of states and conversations that hold the user's own words.
const WORDS: [&str; 4] = ["request", "inputs", "escalations", "reason"];

/// A state and its conversation without the secrets that the user has written in them.
pub(in crate::memory) fn without_secrets(values: &mut [&mut Value]) {
    let (mut words, mut others) = (Vec::new(), Vec::new());
    values.iter().for_each(|value| collect(value, false, &mut words, &mut others));
    let given = GivenSecrets::beside(words, others);
    values.iter_mut().for_each(|value| given.hide_in(value));
}

/// A checkpoint's state without the secrets in the user's words of it. Positions and names of an undo hold none.
pub(in crate::memory) fn without_secrets_beside_texts(state: &mut Value) {
    let parts = ["run", "plan"];
    let Some(fields) = state.as_object_mut() else { return };
    let mut values: Vec<&mut Value> =
        fields.iter_mut().filter(|(name, _)| parts.contains(&name.as_str())).map(|(_, value)| value).collect();
    without_secrets(&mut values);
}

fn collect<'a>(value: &'a Value, is_words: bool, words: &mut Vec<&'a str>, others: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if is_words => words.push(text),
        Value::String(text) => others.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, is_words, words, others)),
        Value::Object(fields) => {
            let is_own = |name: &String| is_words || WORDS.contains(&name.as_str());
            fields.iter().for_each(|(name, field)| collect(field, is_own(name), words, others));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_and_its_conversation_have_no_secret_of_the_user_s_words_and_all_else() {
        let mut state = serde_json::json!({"request": "the password is swordfish", "step": 2});
        let mut said = serde_json::json!([
            "Do this: the password is swordfish",
            "The user answers: password: hunter2Super",
            "token = next_token(text)",
        ]);
        without_secrets(&mut [&mut state, &mut said]);
        assert_eq!(state, serde_json::json!({"request": "the password is [secret removed]", "step": 2}));
        let kept = ["Do this: the password is [secret removed]", "The user answers: password: [secret removed]"];
        assert_eq!(said, serde_json::json!([kept[0], kept[1], "token = next_token(text)"]));
    }

    #[test]
    fn what_an_undo_needs_of_a_checkpoint_stays() {
        let mut state = serde_json::json!({"marks": {"a.py": "password: hunter2Super"}, "run": {"request": "password: hunter2Super"}});
        without_secrets_beside_texts(&mut state);
        assert_eq!(state["marks"]["a.py"], "password: hunter2Super");
        assert_eq!(state["run"]["request"], "password: [secret removed]");
    }
}
