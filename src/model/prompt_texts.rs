//! The texts that open every prompt: our own, and the user's in their place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use sextant_base::failure::{Failure, FailureKind};
use sextant_base::plural::counted;

/// Every text by name.
pub const TEXTS: &[(&str, &str)] = &[
    ("step", include_str!("prompt/step.txt")),
    ("plan", include_str!("prompt/plan.txt")),
    ("compact", include_str!("prompt/compact.txt")),
    ("compact_answer", include_str!("prompt/compact_answer.txt")),
    ("conversation", include_str!("prompt/conversation.txt")),
    ("planning", include_str!("prompt/planning.txt")),
];

/// Bytes of the longest text of a user's own: about 2,300 tokens, more than a whole simple prompt may have.
pub const LONGEST: usize = 8 * 1024;

/// The placeholders that a text must hold, since it is filled in for each question: the tools, and the name of the
/// data's fence. The tools of a conversation are sent beside its text.
fn places(name: &str) -> &'static [&'static str] {
    match name {
        "conversation" => &["{data}"],
        "compact" | "compact_answer" | "planning" => &[],
        _ => &["{tools}", "{data}"],
    }
}

static OWN: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// The text of a name in use; empty for an unknown name.
pub fn text(name: &str) -> &str {
    let own = OWN.get().and_then(|own| own.get(name)).map(String::as_str);
    own.or_else(|| TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)).unwrap_or_default()
}

/// Reads `NAME.txt` for every name from a folder, which need not exist. A file that cannot be used is an error that
/// names it, never skipped: the user would believe that it is in force.
pub fn read(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut own = BTreeMap::new();
    for (name, _) in TEXTS {
        let path = folder.join(format!("{name}.txt"));
        let refused = |why: String| {
            let hint = "fix or remove the file; `sextant prompts NAME` prints the text that it replaces";
            Err(Failure::new(FailureKind::Config, format!("the prompt {} cannot be used: {why}", path.display()), hint))
        };
        match std::fs::read(&path) {
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {}
            Err(error) => return refused(error.to_string()),
            Ok(bytes) => match check(name, &bytes) {
                Ok(text) => {
                    own.insert((*name).to_owned(), text);
                }
                Err(why) => return refused(why),
            },
        }
    }
    Ok(own)
}

fn check(name: &str, bytes: &[u8]) -> Result<String, String> {
    if bytes.len() > LONGEST {
        return Err(format!("it has {}, {LONGEST} at most", counted(bytes.len(), "byte")));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())?;
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        return Err("it has control characters in it".to_owned());
    }
    match places(name).iter().find(|place| !text.contains(**place)) {
        Some(place) => Err(format!("it does not hold {place}, which every question fills in")),
        None => Ok(text.to_owned()),
    }
}

/// Puts the user's texts in force for this process. Only the first call counts.
pub fn use_own(own: BTreeMap<String, String>) {
    // A second call is a second greeting of the same editor, with the same folder.
    let _ = OWN.set(own);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_texts_obey_the_rules_for_the_user_s() {
        for (name, text) in TEXTS {
            assert_eq!(check(name, text.as_bytes()).as_deref(), Ok(*text), "{name}");
        }
        assert_eq!(text("nothing"), "");
    }

    #[test]
    fn a_file_of_the_user_s_is_taken_or_refused_with_its_name() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(&dir.path().join("nowhere")).unwrap(), BTreeMap::new());
        let file = dir.path().join("step.txt");
        std::fs::write(&file, "Short. {tools} {data}").unwrap();
        assert_eq!(read(dir.path()).unwrap()["step"], "Short. {tools} {data}");
        let long = format!("{{tools}} {{data}} {}", "x".repeat(LONGEST));
        for (bad, why) in
            [("", "empty"), (" \n", "empty"), ("{tools}", "{data}"), (long.as_str(), "at most"), ("\u{1b}", "control")]
        {
            std::fs::write(&file, bad).unwrap();
            let failure = read(dir.path()).unwrap_err();
            assert!(failure.message.contains(why) && failure.message.contains("step.txt"), "{failure}");
        }
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(read(dir.path()).unwrap_err().message.contains("UTF-8"));
        std::fs::remove_file(&file).unwrap();
        std::fs::write(dir.path().join("compact.txt"), "Reply with code.").unwrap();
        assert_eq!(read(dir.path()).unwrap()["compact"], "Reply with code.", "nothing is filled in there");
    }
}
