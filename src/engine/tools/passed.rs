//! Shortens the output of a passed test run to its end, without dots and the warnings of unrelated code.

/// The line that stands for the warnings.
const LEFT_OUT: &str = "[the warnings summary of a run that passed is left out]";

/// The output of a command that passed, shorter where it is pytest's.
pub(crate) fn shortened(command: &[String], text: &str) -> String {
    if !is_pytest(command) {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let begins = lines.iter().position(|line| is_rule(line) && line.contains(" warnings summary "));
    let ends = lines.iter().position(|line| line.starts_with("-- Docs: https://docs.pytest.org/"));
    let warnings = begins.zip(ends).filter(|(from, to)| from < to);
    let mut out: Vec<&str> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        match warnings {
            Some((from, _)) if number == from => out.push(LEFT_OUT),
            Some((from, to)) if (from..=to).contains(&number) => {}
            _ if is_progress(line) => {}
            _ => out.push(line),
        }
    }
    out.join("\n").trim_start_matches('\n').to_owned()
}

fn is_pytest(command: &[String]) -> bool {
    let module = command.windows(2).any(|pair| pair[0] == "-m" && pair[1] == "pytest");
    module || command.first().is_some_and(|name| name.rsplit('/').next() == Some("pytest"))
}

fn is_rule(line: &str) -> bool {
    line.starts_with("===") && line.ends_with("===")
}

/// `tests/test_a.py ..s..   [ 12%]`: a mark a test, and the progress of the run.
fn is_progress(line: &str) -> bool {
    let Some(rest) = line.trim_end().strip_suffix("%]") else { return false };
    let Some((marks, percent)) = rest.rsplit_once('[') else { return false };
    let marks = marks.trim_end().rsplit(' ').next().unwrap_or_default();
    percent.trim().parse::<u8>().is_ok() && !marks.is_empty() && marks.chars().all(|mark| ".sxX".contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    const RUN: &str = "..s.x [ 50%]\ntests/test_a.py ..... [100%]\n\n\
        === warnings summary ===\ntests/test_a.py::test_f\n  a.py:3: DeprecationWarning: old\n\
        -- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html\n10 passed, 1 warning in 0.10s";

    #[test]
    fn a_run_that_passed_shows_its_end() {
        for command in ["pytest -q", "python3 -m pytest", ".venv/bin/pytest"] {
            let shown = shortened(&argv(command), RUN);
            assert_eq!(shown, format!("{LEFT_OUT}\n10 passed, 1 warning in 0.10s"), "{command}");
        }
        assert_eq!(shortened(&argv("make test"), RUN), RUN, "whose words these are is not known");
    }

    #[test]
    fn what_is_no_progress_and_no_warning_stays() {
        for text in ["1 passed in 0.01s", "value [ 50%]", "=== warnings summary ===\nno end of it", "printed . [x%]"] {
            assert_eq!(shortened(&argv("pytest"), text), text, "{text}");
        }
    }
}
