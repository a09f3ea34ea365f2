//! Takes the new text of the requested piece out of a reply, or reports why the reply has none.

use crate::run::compact_loop::{elided, fits_place, kept_modifiers};
use crate::state::task_scope::source;
use sextant_model::compact_reply::{CompactFault, ReplyPieces, pieces};
use sextant_text::edits::added_imports::{added, with_imports};
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::symbol::{self as symbol_edit, SymbolAction, edit};
use sextant_text::symbols::imports;
use sextant_text::symbols::language::Language;
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::path_spelling;

/// The answer to a text that equals the old one.
const UNCHANGED: &str = "nothing was changed: it is the text as it was, and the change is still missing";

/// The piece that was asked about: a symbol of a text, or all of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedPiece<'t> {
    pub(crate) text: &'t str,
    /// `None` where there is no grammar: the piece is the whole text then.
    pub(crate) language: Option<&'static Language>,
    /// The path of the symbol inside its file; empty for the whole text.
    pub(crate) names: &'t str,
    pub(crate) request: &'t str,
}

/// The new text of the requested piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenText {
    /// The text of the symbol, or of the whole file.
    pub(crate) content: String,
    /// Imports that the reply adds to those of the file.
    pub(crate) imports: Vec<String>,
    /// The modifiers of the old text that the reply had lost.
    pub(crate) kept: Vec<String>,
}

/// Takes the new text out of a reply; `cut` means that the limit of tokens ended it.
pub(crate) fn take(asked: AskedPiece<'_>, reply: &str, cut: bool) -> Result<TakenText, CompactFault> {
    let ReplyPieces { fenced, open, bare } = pieces(reply);
    if fenced.is_empty() && (open || cut) {
        return Err(unread("it ends in the middle: the code fence is not closed. Reply with the code alone"));
    }
    let parts = if fenced.is_empty() { vec![bare] } else { fenced };
    let mut first: Option<CompactFault> = None;
    let mut last: Option<TakenText> = None;
    for part in &parts {
        let taken = match asked.language {
            Some(language) if !asked.names.is_empty() => symbol(asked, language, part),
            Some(language) => file(asked, language, part),
            None => whole(asked, part),
        };
        match taken {
            // The last new text counts: earlier ones may quote the old text.
            Ok(taken) if last.is_none() || !unchanged(asked, &taken) => last = Some(taken),
            Ok(_) => {}
            Err(fault) => first = first.or(Some(fault)),
        }
    }
    match last {
        Some(taken) if unchanged(asked, &taken) => Err(CompactFault { unchanged: true, ..unread(UNCHANGED) }),
        Some(taken) => Ok(taken),
        None => Err(first.unwrap_or_else(|| unread("it holds no code"))),
    }
}

/// A fault of an answer from which no text was taken.
pub(crate) fn unread(problem: &str) -> CompactFault {
    CompactFault { problems: vec![problem.to_owned()], ..CompactFault::default() }
}

fn unchanged(asked: AskedPiece<'_>, taken: &TakenText) -> bool {
    let old = old(asked);
    let bare =
        |text: &str| dedented(text).lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    taken.imports.is_empty() && bare(old.trim_end()) == bare(taken.content.trim_end())
}

/// The present text of the requested piece.
fn old(asked: AskedPiece<'_>) -> &str {
    let Some(language) = asked.language.filter(|_| !asked.names.is_empty()) else { return asked.text };
    let outline = Outline::parse(language, asked.text);
    outline.known(asked.names).map_or("", |symbol| source(asked.text, &outline, symbol))
}

/// A text without the indentation of its first line.
fn dedented(text: &str) -> String {
    let text = text.trim_matches('\n');
    let indent = &text[..text.len() - text.trim_start_matches([' ', '\t']).len()];
    text.lines().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// The requested symbol, out of a piece of code that may hold more.
fn symbol(asked: AskedPiece<'_>, language: &'static Language, part: &str) -> Result<TakenText, CompactFault> {
    let part = dedented(part);
    let plain = path_spelling::last_name(asked.names);
    let outline = outline_of(asked, language, &part, plain);
    // Its full path where the reply has that much, or else the outermost symbol of its name.
    let outermost = || outline.symbols.iter().position(|symbol| symbol.name == plain);
    let renamed = || renamed(asked.request, &outline);
    let found = outline.known(asked.names).or_else(outermost).or_else(renamed);
    let Some(found) = found else {
        let imports = added(language, asked.text, &part);
        if !imports.is_empty() && imports::only_imports_differ(language, "", &part) {
            return Ok(TakenText { content: old(asked).to_owned(), imports, kept: Vec::new() });
        }
        let others: Vec<&str> = outline.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        return Err(match others.as_slice() {
            [] => unread(&format!("it does not define `{plain}`: the complete definition is needed")),
            [other, ..] => unread(&format!("it defines `{other}` and not `{plain}`")),
        });
    };
    let content = source(&part, &outline, found).to_owned();
    let fault = |text: &str| language.tree(&dedented(text)).is_none_or(|tree| tree.root_node().has_error());
    // A mark that closes too much leaves the rest of the symbol behind it.
    let behind = &part[outline.symbols[found].extent.end..];
    if outline.has_errors && (fault(&content) || fault(behind)) {
        let text = Some(format!("{content}{}", behind.trim_end()));
        return Err(CompactFault { text, ..unread(&does_not_parse(language, &part)) });
    }
    if let Some(header) = lost_owner(asked, language, &outline, found) {
        return Err(unread(&format!("`{plain}` belongs to its holder: it has to begin with `{header}`")));
    }
    if let Some(line) = elided::elided(&content, old(asked)) {
        return Err(unread(&format!("`{line}` stands for code that was left out: every line is needed")));
    }
    if let Some(other) = beside(asked, language, &outline, &content, plain) {
        let problem = format!("it uses `{other}`, which is defined outside of `{plain}`: all has to be in `{plain}`");
        return Err(CompactFault { text: Some(content), ..unread(&problem) });
    }
    let content = fits_place::as_member(asked, language, content);
    if let Some(problem) = fits_place::misfit(asked, language, &content) {
        return Err(CompactFault { text: Some(content), ..unread(&problem) });
    }
    let kept_modifiers::KeptModifiers { text, kept } = kept_modifiers::of_symbol(asked, language, content);
    Ok(TakenText { content: text, imports: added(language, asked.text, &part), kept })
}

/// A syntax error with the line that it is in, where the piece can be read by itself.
fn does_not_parse(language: &Language, part: &str) -> String {
    let tree = language.tree(part);
    let mut node = tree.as_ref().map(|tree| tree.root_node());
    while let Some(one) = node.filter(|one| !one.is_error() && !one.is_missing()) {
        let mut cursor = one.walk();
        node = one.children(&mut cursor).find(|child| child.has_error() || child.is_missing());
    }
    let line = node.and_then(|node| part.lines().nth(node.start_position().row)).map(str::trim);
    match line.filter(|line| !line.is_empty()) {
        Some(line) => format!("it does not parse: syntax error at `{line}`"),
        None => "it does not parse: syntax error".to_owned(),
    }
}

/// The first line of the old header, where it names the holder of the symbol (`function M.split`, `func (c *Cart) Total`)
/// and the new one does not.
fn lost_owner(asked: AskedPiece<'_>, language: &Language, outline: &Outline, found: usize) -> Option<String> {
    let known = Outline::parse(language, asked.text);
    let old = &known.symbols[known.known(asked.names)?];
    let header = asked.text.get(old.header..old.name_range.start)?;
    let owner = path_spelling::last_name(&old.owner);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let names_owner = !owner.is_empty() && header.split(|c| !is_word(c)).any(|word| word == owner);
    let is_lost = names_owner && outline.symbols[found].owner.is_empty();
    is_lost.then(|| asked.text[old.header..].lines().next().unwrap_or_default().trim().to_owned())
}

/// The symbols of a piece of code. A member that means nothing by itself is read in its place.
fn outline_of(asked: AskedPiece<'_>, language: &'static Language, part: &str, plain: &str) -> Outline {
    let alone = Outline::parse(language, part);
    let defines = |outline: &Outline| outline.symbols.iter().any(|symbol| symbol.name == plain);
    if language.members_stand_alone || defines(&alone) {
        return alone;
    }
    let known = Outline::parse(language, asked.text);
    let Some(symbol) = known.known(asked.names) else { return alone };
    let in_place = symbol_edit::outline_in_place(asked.text, language, &known.symbols[symbol], part);
    if defines(&in_place) { in_place } else { alone }
}

/// The only outermost symbol of a reply, where the request gives it that name.
fn renamed(request: &str, outline: &Outline) -> Option<usize> {
    let mut outermost = (0..outline.symbols.len()).filter(|index| outline.symbols[*index].parent.is_none());
    let only = outermost.next().filter(|_| outermost.next().is_none())?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    request.split(|c: char| !is_word(c)).any(|word| word == outline.symbols[only].name).then_some(only)
}

/// A new symbol that the reply defines beside the requested one and uses in it.
fn beside(asked: AskedPiece<'_>, language: &Language, outline: &Outline, content: &str, plain: &str) -> Option<String> {
    let known = Outline::parse(language, asked.text);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let used = |name: &str| content.split(|c: char| !is_word(c)).any(|word| word == name);
    let inside = Outline::parse(language, &dedented(content));
    let new = outline.symbols.iter().find(|symbol| {
        symbol.name != plain
            && !known.symbols.iter().chain(&inside.symbols).any(|old| old.name == symbol.name)
            && used(&symbol.name)
    });
    new.map(|symbol| symbol.name.clone())
}

/// The whole file, or the file with the symbols that a piece of code defines in their places.
fn file(asked: AskedPiece<'_>, language: &'static Language, part: &str) -> Result<TakenText, CompactFault> {
    let (before, after) = (Outline::parse(language, asked.text), Outline::parse(language, part));
    let names = |outline: &Outline| -> Vec<String> {
        let outermost = (0..outline.symbols.len()).filter(|index| outline.symbols[*index].parent.is_none());
        outermost.map(|index| outline.path_of(index)).collect()
    };
    let (old, new) = (names(&before), names(&after));
    let missing: Vec<&String> = old.iter().filter(|name| !new.contains(name)).collect();
    let removes = !sextant_model::request_kind::removals(asked.request).is_empty();
    if missing.is_empty() || removes && new.len() > 1 {
        let taken = whole(asked, part)?;
        let kept_modifiers::KeptModifiers { text, kept } = kept_modifiers::of_file(asked, language, taken.content);
        return Ok(TakenText { content: text, kept, ..taken });
    }
    if new.is_empty() || new.iter().any(|name| !old.contains(name)) {
        let first = missing.first().map_or("", |name| name.as_str());
        return Err(unread(&format!("`{first}` is missing in it: the complete text of the file is needed")));
    }
    // The reply holds only the changes: the rest stays as it is.
    let (mut text, mut kept) = (asked.text.to_owned(), Vec::new());
    for name in &new {
        let one = AskedPiece { text: &text, names: name, ..asked };
        let taken = symbol(one, language, part)?;
        text = placed(one, language, &taken)?;
        kept.extend(taken.kept);
    }
    Ok(TakenText { content: text, imports: Vec::new(), kept })
}

fn whole(asked: AskedPiece<'_>, part: &str) -> Result<TakenText, CompactFault> {
    if let Some(line) = elided::elided(part, asked.text) {
        return Err(unread(&format!("`{line}` stands for code that was left out: every line is needed")));
    }
    if part.trim().is_empty() {
        return Err(unread("it holds no code"));
    }
    Ok(TakenText { content: format!("{}\n", part.trim_end()), ..TakenText::default() })
}

/// The file with a taken text in it.
pub(crate) fn placed(
    asked: AskedPiece<'_>,
    language: &'static Language,
    taken: &TakenText,
) -> Result<String, CompactFault> {
    let fault = |problem: String| CompactFault { text: Some(taken.content.clone()), ..unread(&problem) };
    let outline = Outline::parse(language, asked.text);
    let gone = || fault(format!("`{}` is not there any more", asked.names));
    let symbol = outline.known(asked.names).ok_or_else(gone)?;
    let one = edit(asked.text, language, &outline, symbol, SymbolAction::Replace, &taken.content);
    let one = match one {
        Ok(one) => apply(asked.text, &[one]).map_err(|error| fault(error.to_string()))?,
        Err(sextant_text::edits::symbol::SymbolEditError::NoChange) => asked.text.to_owned(),
        Err(error) => return Err(fault(error.to_string())),
    };
    Ok(with_imports(&one, language, &taken.imports))
}

#[cfg(test)]
mod tests;
