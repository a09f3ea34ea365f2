//! Confines an edit of one file to the symbols that it may touch, and finds those that it puts beside them.

use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::Hint;
use sextant_text::edits::apply_text::{apply, offset_after};
use sextant_text::edits::hunks::hunks as lines_of;
use sextant_text::edits::{TextEdit, edit_zones as zones};
use sextant_text::symbols::imports::only_imports_differ;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The way out for the user. The one for a model is not theirs to take.
const WIDER: &str = "name it in the request, select more (a range, the file, the workspace), or make a plan";

/// The way out for a model.
const STAY: &str = "stay inside the scope (at a symbol also right beside it, and the import lines of its file, by \
                    edit_file), or ask for a wider one (a larger range, a name in the request, or a plan)";

pub(super) fn refused(message: String) -> Failure {
    Failure::new(FailureKind::Tool, message, Hint::from(STAY).but_for_person(WIDER))
}

/// Recognizes the refusal of a scope.
pub(crate) fn is_refusal(failure: &Failure) -> bool {
    failure.hint.text() == STAY
}

/// Refuses an edit of a file of which these symbols may change, the module level for the empty name.
pub(super) fn check(path: &str, text: &str, own: &[&str], hunks: &[TextEdit]) -> Result<(), Failure> {
    let module = own.contains(&"");
    let Some(language) = language::of_path(path) else {
        // The whole of such a file is its module level.
        return if module { Ok(()) } else { Err(refused(format!("{path} is in a language without symbols here"))) };
    };
    if module && language.is_document {
        return Ok(());
    }
    let outline = Outline::parse(language, text);
    let symbols: Vec<usize> = own.iter().filter_map(|names| outline.known(names)).collect();
    if symbols.is_empty() && !module {
        return Err(refused(format!("{} is not in {path} any more", own.join(", "))));
    }
    let inside = |hunk: &TextEdit| {
        let one = std::slice::from_ref(hunk);
        let inside = zones::check(text, &outline, &zones::EditScope::Symbols(symbols.clone()), one);
        inside.or_else(|error| {
            let free = module && zones::check(text, &outline, &zones::EditScope::Module, one).is_ok();
            if free { Ok(()) } else { Err(error) }
        })
    };
    let mut outside = Vec::new();
    let mut why = None;
    for hunk in hunks {
        let Err(error) = inside(hunk) else { continue };
        // One edit may quote much of the text between the places that it changes.
        let from = hunk.range.start;
        let lines = lines_of(text.get(hunk.range.clone()).unwrap_or_default(), &hunk.text);
        let lines =
            lines.into_iter().map(|line| TextEdit::new(from + line.range.start..from + line.range.end, line.text));
        outside.extend(lines.filter(|line| inside(line).is_err()));
        why.get_or_insert(error);
    }
    let Some(why) = why.filter(|_| !outside.is_empty()) else { return Ok(()) };
    match apply(text, &outside) {
        Ok(after) if only_imports_differ(language, text, &after) => Ok(()),
        _ => Err(refused(why.to_string())),
    }
}

/// The symbols that an edit has put beside those of the scope: later edits may go on with them.
pub(super) fn put_beside(
    path: &str,
    before: &Outline,
    after: &Outline,
    hunks: &[TextEdit],
    known: &[SymbolPath],
) -> Vec<SymbolPath> {
    let old: Vec<usize> = before.symbols.iter().map(|symbol| offset_after(symbol.name_range.start, hunks)).collect();
    let mut put = Vec::new();
    for (index, symbol) in after.symbols.iter().enumerate() {
        // An old name belongs to another symbol now where that symbol is still seen.
        let seen = |one: usize| after.symbols.iter().any(|symbol| symbol.name_range.start == old[one]);
        let was_there = before.known(&after.path_of(index)).is_some_and(|one| !seen(one));
        if old.contains(&symbol.name_range.start) || was_there {
            continue;
        }
        let own = SymbolPath::new(path, after.path_of(index));
        let holds = |known: &SymbolPath| {
            known.file == own.file && (known.names == own.names || own.names.starts_with(&format!("{}::", known.names)))
        };
        if !known.iter().chain(&put).any(holds) {
            put.push(own);
        }
    }
    put
}
