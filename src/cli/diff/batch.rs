//! `sextant diff --batch`: cases on standard input, one answer a line as soon as it is known.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use crate::base::failure::{Failure, FailureKind};
use crate::cli::terminal::json_to;
use crate::diagnostics::batch::answer;

/// Answers every line of the input until its end, or until nobody reads the answers any more.
///
/// # Errors
/// The input cannot be read. A line that is no case is answered with what is wrong with it.
pub(super) fn run(input: impl BufRead, mut output: impl Write) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(
            FailureKind::Internal,
            format!("standard input cannot be read: {error}"),
            "give it cases as JSON lines",
        )
    };
    let mut input = input;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(());
        }
        let Some(answer) = reply(&line) else { continue };
        if json_to(&mut output, &answer).is_err() {
            return Ok(());
        }
    }
}

/// The answer to one line; `None` for an empty one.
fn reply(line: &[u8]) -> Option<String> {
    let error = |id: Value, why: String| json!({"id": id, "error": why}).to_string();
    let Ok(text) = std::str::from_utf8(line) else {
        return Some(error(Value::Null, "not a case: the line is not UTF-8".to_owned()));
    };
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    Some(answer(text).unwrap_or_else(|why| {
        let id = serde_json::from_str::<Value>(text).ok().and_then(|mut case| case.get_mut("id").map(Value::take));
        error(id.unwrap_or_default(), why)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_is_answered_and_the_next_one_too() {
        let input = b"{\"id\":\"a\",\"files\":{},\"before\":[],\"after\":[]}\r\n\n{\"id\":3}\n\xff\nno\n\
            {\"id\":2,\"files\":{},\"before\":[],\"after\":[]}";
        let mut output = Vec::new();
        run(&input[..], &mut output).unwrap();
        let answers: Vec<Value> =
            output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        assert_eq!(answers.len(), 5, "{answers:?}");
        assert_eq!((&answers[0]["id"], &answers[0]["new"]), (&json!("a"), &json!([])));
        assert_eq!(answers[1]["id"], 3);
        assert!(answers[1]["error"].as_str().unwrap().contains("missing field `files`"));
        assert!(answers[2]["id"].is_null() && answers[2]["error"].is_string());
        assert!(answers[3]["id"].is_null() && answers[3]["error"].is_string());
        assert_eq!(answers[4]["id"], 2);
    }

    #[test]
    fn a_reader_that_left_ends_the_run_and_is_no_error() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(run(&b"no\nno\n"[..], Gone), Ok(()));
    }
}
