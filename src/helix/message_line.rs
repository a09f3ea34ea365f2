//! Fits a message to the one line of a narrow screen: its fact, its way out, and the page that has all of it.

use sextant_base::printable::printable;

/// The columns of a narrow screen.
pub(crate) const NARROW: usize = 79;

/// The way to the whole of a message that was cut.
pub(crate) const ALL: &str = "agent.show: all";

/// The least characters of a message before its way out, where it does not fit whole.
const LEAST: usize = 24;

/// The characters that most facts need. A shorter tail is taken before they are cut.
const FACT: usize = 36;

/// The longest path that is shown whole in a message that does not fit.
const PATH: usize = 24;

/// The least characters of words that are a way out, where they do not fit whole.
const SHORT: usize = 14;

/// Marks of a way out that names a command or a place.
const COMMANDS: &[&str] = &["agent.", "space ", "`", ":"];

/// The most characters of one line on an editor's status line.
const LINE: usize = 700;

/// The longest word, in bytes, that a cut line is left without. A longer one is cut itself.
const WORD: usize = 60;

/// A text as one line that steers no terminal. Line ends become marks, since an editor may leave them out.
pub(crate) fn line(text: &str) -> String {
    let parts: Vec<&str> = text.lines().map(str::trim).filter(|part| !part.is_empty()).collect();
    let mut out = printable(&parts.join(" · ")).replace('\t', " ");
    if let Some((most, _)) = out.char_indices().nth(LINE) {
        let word = out[..most].rfind(' ').filter(|start| most - start <= WORD);
        out.truncate(word.map_or(most, |start| start + 1));
        out.push('…');
    }
    out
}

/// The beginning of a line of at most so many characters. It ends with a word, and leaves no bracket open.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most.saturating_sub(2)).map_or(text.len(), |(at, _)| at);
    let is_whole = text[end..].starts_with(' ');
    let word = text[..end].rfind(' ').filter(|start| !is_whole && end - start <= WORD).unwrap_or(end);
    let kept = &text[..word];
    let open = kept.rfind(" (").filter(|open| !kept[*open..].contains(')'));
    format!("{} …", kept[..open.unwrap_or(word)].trim_end_matches([',', ':', ';', ' ']))
}

/// The line of a message. A narrow screen cuts a longer one at its end, where the way out stands: the message gives way
/// to it. `all` names the page with the whole; empty without one.
pub(crate) fn fit(text: &str, all: &str) -> String {
    let text = line(text);
    if text.chars().count() <= NARROW {
        return text;
    }
    let all = if text.contains("agent.show") { "" } else { all };
    let (message, out) = way_out(&text);
    let message = &shortened(message);
    let last = out.rsplit("; ").next().unwrap_or(out);
    let either = last.rsplit(", or ").next().unwrap_or(last);
    let tail = |parts: [&str; 2]| {
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
    };
    let long = message.chars().count();
    let room = |tail: &String| NARROW.saturating_sub(tail.chars().count());
    let tails = [[out, all], [last, all], [out, ""], [last, ""], [either, ""]].map(tail);
    let whole = tails.iter().find(|tail| room(tail) >= long);
    // Words without a command are of use without their end.
    let rest = NARROW.saturating_sub(long + " ()".len());
    if whole.is_none() && rest >= SHORT && !out.is_empty() && !COMMANDS.iter().any(|mark| out.contains(mark)) {
        return format!("{message} ({})", cut(out, rest));
    }
    let with = |least: usize| tails.iter().find(|tail| room(tail) >= least);
    let fitting = whole.or_else(|| with(FACT)).or_else(|| with(LEAST));
    let Some(tail) = fitting else {
        // A way out of any length is cut too.
        let tail = tail(["", all]);
        return format!("{}{tail}", cut(&text, room(&tail)));
    };
    format!("{}{tail}", cut(message, room(tail)))
}

/// The message with the names of files instead of long paths, which would leave no room for the fact.
fn shortened(message: &str) -> String {
    let words = message.split(' ').map(|word| match word.rsplit_once('/') {
        Some((folder, name)) if word.len() > PATH && !folder.contains("://") && !name.is_empty() => format!("…/{name}"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<String>>().join(" ")
}

/// A message and its way out: the words in brackets at its end, else those behind its last semicolon.
fn way_out(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let bracket = text.strip_suffix(')').and_then(|inner| {
        inner.char_indices().rev().find_map(|(at, letter)| {
            depth += usize::from(letter == ')');
            let is_open = letter == '(' && depth == 0;
            depth -= usize::from(letter == '(' && depth > 0);
            is_open.then(|| (inner[..at].trim_end(), &inner[at + 1..]))
        })
    });
    bracket.or_else(|| text.rsplit_once("; ")).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(text: &str) -> String {
        let line = fit(text, ALL);
        assert!(line.chars().count() <= NARROW, "{line}");
        line
    }

    #[test]
    fn a_long_message_keeps_its_way_out_and_names_the_page_with_the_whole() {
        assert_eq!(fitted("no plan is there (agent.plan makes one)"), "no plan is there (agent.plan makes one)");
        assert_eq!(
            fitted(
                "a task is running already, for 13 s: “and what of count?”, asked for by Helix in this project (ask \
                 again when it is over; agent.stop stops it)"
            ),
            "a task is running already, for 13 s … (agent.stop stops it; agent.show: all)"
        );
        assert_eq!(
            fitted(
                "http://127.0.0.1:8931/helix/v1 refused the key (HTTP 401) (check the key and that its plan has it)"
            ),
            "http://127.0.0.1:8931/helix/v1 refused the key (HTTP 401) (check the key and …)"
        );
        assert_eq!(
            fitted(
                "sextant: the agent ended in the middle of its work; agent.resume goes on, agent.undo takes it back"
            ),
            "sextant: the agent ended in … (agent.resume goes on, agent.undo takes it back)"
        );
        assert_eq!(
            fitted("(space a: answers) Shall the line keep the quantity behind the sku? 1 Yes, keep it, 2 No, drop it"),
            "(space a: answers) Shall the line keep the quantity behind … (agent.show: all)"
        );
        assert_eq!(
            fitted(
                "the code block is rust, and cart.py is python (go to the file that it is for, or name the target as \
                 FILE::SYMBOL)"
            ),
            "the code block is rust, and cart.py is python (name the target as FILE::SYMBOL)"
        );
        assert_eq!(
            fitted(
                "/srv/somebody/elsewhere/other.py is outside of the workspace (start Helix in its folder, or add {\"workspace\": true})"
            ),
            "…/other.py is outside of the workspace (add {\"workspace\": true})"
        );
        let refused = "http://127.0.0.1:43053/v1 answered HTTP 401: no such key (agent.resume goes on with it)";
        assert_eq!(fitted(refused), "http://127.0.0.1:43053/v1 answered HTTP 401 … (agent.resume goes on with it)");
        let nested = format!("{} (write it as {} (f))", "one ".repeat(30), "x");
        assert!(fitted(&nested).ends_with(" … (write it as x (f); agent.show: all)"), "{nested}");
        for length in [10, 79, 80, 200] {
            fitted(&format!("{} ({})", "word ".repeat(length), "out ".repeat(length)));
            fitted(&format!("{}({})", "é".repeat(length), "ü".repeat(length)));
        }
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(line(" one \n\n two\u{1b}[0m\r\n"), "one · two␛[0m");
        assert_eq!(line(&"é".repeat(LINE + 9)).chars().count(), LINE + 1);
        let long = line(&"seven é ".repeat(LINE));
        assert!(long.ends_with("seven é …") || long.ends_with("é seven …"), "{long}");
        assert_eq!(cut("changed a.py. 2 new diagnostics, 1 fixed.", 35), "changed a.py. 2 new diagnostics …");
        assert_eq!(cut("changed a.py. 2 new diagnostics, 1 fixed.", 34), "changed a.py. 2 new diagnostics …");
        assert_eq!(cut("changed a.py.", 35), "changed a.py.");
        assert_eq!(cut("undone: ledger.cpp (the last request of all)", 40), "undone: ledger.cpp …");
    }
}
