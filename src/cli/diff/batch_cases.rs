//! `sextant diff --batch`: cases on standard input, one answer a line as soon as it is known.

use std::io::{BufRead, Read, Write};

use serde_json::{Value, json};

use crate::cli::terminal::json_to;
use sextant_base::failure::{Failure, FailureKind};
use sextant_diagnostics::benchmark_case::answer;

/// Bytes of the longest case: matching takes some 70 bytes of memory for each.
const LONGEST: usize = 8 << 20;

/// Answers every line of the input until its end, or until the answers are no longer read.
///
/// # Errors
/// The input cannot be read. A line that is not a case gets an answer that names its fault.
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
        if input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(());
        }
        let answer = if line.len() > LONGEST {
            if line.last() != Some(&b'\n') {
                input.skip_until(b'\n').map_err(failed)?;
            }
            let limit = LONGEST >> 20;
            Some(json!({"id": null, "error": format!("the line has more than {limit} MB, and cases of up to that are answered")}).to_string())
        } else {
            reply(&line)
        };
        let Some(answer) = answer else { continue };
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
    fn a_line_that_is_too_long_is_refused_and_the_next_one_answered() {
        let long = "x".repeat(LONGEST + 10);
        let input = format!("{long}\n{{\"id\":2,\"files\":{{}},\"before\":[],\"after\":[]}}\n");
        let mut output = Vec::new();
        run(input.as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 2 && lines[0].contains("more than 8 MB") && lines[1].contains("\"id\":2"), "{text}");
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
