//! Finds the id and the method of a message without reading the rest of it.

use std::borrow::Cow;

/// The nesting that is followed; no meaningful member is deeper.
const DEPTH: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Peeked<'a> {
    /// The id as it stands in the text: `7`, `"a"`. `None` also for a null.
    pub(super) id: Option<&'a str>,
    pub(super) method: Option<Cow<'a, str>>,
}

/// `None` if the body is not an object with readable members. Reading stops once both are known.
pub(super) fn peek(body: &[u8]) -> Option<Peeked<'_>> {
    let mut at = Cursor { bytes: body, at: 0 };
    at.space();
    at.expect(b'{')?;
    let (mut id, mut method, mut answers) = (None, None, false);
    at.space();
    if at.peek()? == b'}' {
        return Some(Peeked { id, method });
    }
    loop {
        at.space();
        let key = at.string()?;
        at.space();
        at.expect(b':')?;
        at.space();
        match key {
            b"id" => {
                let text = at.value()?;
                id = (text != b"null").then(|| std::str::from_utf8(text)).transpose().ok()?;
            }
            b"method" if at.peek()? == b'"' => {
                let text = at.value()?;
                method = Some(unescaped(text)?);
            }
            b"result" | b"error" => {
                answers = true;
                if id.is_none() {
                    at.value()?;
                }
            }
            _ => drop(at.value()?),
        }
        if id.is_some() && (method.is_some() || answers) {
            return Some(Peeked { id, method });
        }
        at.space();
        match at.next()? {
            b',' => {}
            b'}' => return Some(Peeked { id, method }),
            _ => return None,
        }
    }
}

fn unescaped(quoted: &[u8]) -> Option<Cow<'_, str>> {
    let text = std::str::from_utf8(quoted).ok()?;
    if text.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        text.get(1..text.len() - 1).map(Cow::Borrowed)
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// A string without its quotes, its escapes as they are.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let found = memchr::memchr2(b'"', b'\\', self.bytes.get(self.at..)?)?;
            self.at += found;
            if self.next()? == b'"' {
                return self.bytes.get(start..self.at - 1);
            }
            self.next()?;
        }
    }

    /// Any value, as it stands.
    fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        match self.peek()? {
            b'"' => drop(self.string()?),
            b'{' | b'[' => self.nested()?,
            _ => {
                while self.peek().is_some_and(|byte| !matches!(byte, b',' | b'}' | b']') && !byte.is_ascii_whitespace())
                {
                    self.at += 1;
                }
            }
        }
        self.bytes.get(start..self.at).filter(|value| !value.is_empty())
    }

    fn nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
            if depth > DEPTH {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn of(body: &str) -> Option<(Option<String>, Option<String>)> {
        let peeked = peek(body.as_bytes())?;
        Some((peeked.id.map(str::to_owned), peeked.method.map(Cow::into_owned)))
    }

    fn both(id: Option<&str>, method: Option<&str>) -> Option<(Option<String>, Option<String>)> {
        Some((id.map(str::to_owned), method.map(str::to_owned)))
    }

    #[test]
    fn id_and_method_are_found_wherever_they_stand() {
        let request = r#" { "jsonrpc":"2.0", "method":"a\/b","params":{"id":1,"method":"x","s":"}\"]"}, "id" : "q" } "#;
        assert_eq!(of(request), both(Some("\"q\""), Some("a/b")));
        assert_eq!(of(r#"{"id":7,"result":[1,"#), both(Some("7"), None), "it stops where it knows enough");
        assert_eq!(of(r#"{"result":{"id":3},"id":-7}"#), both(Some("-7"), None));
        assert_eq!(of(r#"{"id":null,"method":"m"}"#), both(None, Some("m")));
        assert_eq!(of("{}"), both(None, None));
        for bad in ["", "[]", "{", "{\"id\"", "{\"method\":\"m\"", "{\"a\":}", "{\"a\" 1}", "nul", "{\"id\":\"\\"] {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert_eq!(of(&format!("{{\"a\":{}", "[".repeat(100_000))), None, "no stack is used up");
    }

    proptest! {
        #[test]
        fn what_serde_reads_is_read_the_same(id in any::<i64>(), method in ".{0,12}", text in ".{0,30}", order in 0..3) {
            let (first, second) = (json!({"a": [text, {"id": text}]}), Value::from(method.clone()));
            let members = match order {
                0 => format!("\"id\":{id},\"params\":{first},\"method\":{second}"),
                1 => format!("\"params\":{first},\"method\":{second},\"id\":{id}"),
                _ => format!("\"method\":{second},\"id\":{id},\"params\":{first}"),
            };
            prop_assert_eq!(of(&format!("{{{members}}}")), both(Some(&id.to_string()), Some(&method)));
        }

        #[test]
        fn any_bytes_are_peeked_at_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = peek(&bytes);
            let mut object = b"{\"id\":1,\"x\":".to_vec();
            object.extend(bytes);
            let _ = peek(&object);
        }
    }
}
