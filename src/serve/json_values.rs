//! Limits the number of values in a message of JSON before it is parsed: each takes some hundred bytes, however short.

/// The most values, members and items counted, of one message. A call has some hundred; texts count as one each.
const MOST: usize = 100_000;

/// True if a message has too many values. It is read once, and nothing is kept.
pub(crate) fn are_too_many(message: &[u8]) -> bool {
    let (mut values, mut in_text, mut escaped) = (0usize, false, false);
    for byte in message {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > MOST
}

/// The words of a refusal.
pub(crate) fn limit() -> String {
    format!("a message may have {MOST} values at most")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_texts() {
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(",")).into_bytes();
        assert!(are_too_many(&list("1", MOST + 1)) && !are_too_many(&list("1", MOST / 2)));
        assert!(are_too_many(&list("{}", MOST / 2 + 1)));
        let text = format!(r#"{{"text": "a\"{}"}}"#, ",[{".repeat(MOST));
        assert!(!are_too_many(text.as_bytes()), "a text is one value");
    }
}
