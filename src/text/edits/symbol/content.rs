//! New content as symbols: what it defines, and the parts in front of its first definition.

use crate::edits::symbol::layout::dedent;
use crate::symbols::language::Language;
use crate::symbols::outline::{Outline, Symbol, SymbolKind};

/// What new content defines, outermost symbols alone.
pub(super) struct Content {
    pub(super) kinds: Vec<SymbolKind>,
    /// The head of the first one.
    pub(super) head: Option<Head>,
}

/// The parts in front of a definition, in a text that starts with the content.
pub(super) struct Head {
    /// The content up to the header.
    pub(super) text: String,
    comments: usize,
    decorators: usize,
    header: usize,
}

impl Content {
    /// Content for the place of a symbol: as it was given, as it is laid out there, and the indentation there.
    pub(super) fn of(text: &str, language: &Language, target: &Symbol, content: (&str, &str, &str)) -> Self {
        let (given, laid_out, indent) = content;
        if language.members_stand_alone {
            let alone = dedent(laid_out, indent);
            let outline = Outline::parse(language, &alone);
            // A quote that is not indented at all reads better as it was given.
            let kinds = Outline::parse(language, given).symbols.iter().map(|symbol| symbol.kind).collect();
            return Self { kinds, head: outline.symbols.first().map(|symbol| Head::of(&alone, symbol)) };
        }
        let outline = outline_in_place(text, language, target, laid_out);
        let outermost: Vec<&Symbol> = outline.symbols.iter().filter(|symbol| symbol.parent.is_none()).collect();
        let head = outermost.first().map(|symbol| Head::of(laid_out, symbol));
        Self { kinds: outermost.iter().map(|symbol| symbol.kind).collect(), head }
    }
}

/// The symbols of content that takes the place of a symbol. A member means something in its class only, so it is read
/// there.
pub fn outline_in_place(text: &str, language: &Language, target: &Symbol, content: &str) -> Outline {
    let whole = text_in_place(text, target, content);
    let start = target.extent.start;
    let end = whole.len() - (text.len() - target.extent.end);
    Outline::parse(language, &whole).within(start..end, content.len())
}

/// A text with content in the place of a symbol, as it is written.
pub fn text_in_place(text: &str, target: &Symbol, content: &str) -> String {
    let (before, after) = (&text[..target.extent.start], &text[target.extent.end..]);
    format!("{before}{}{after}", super::separators::as_before(text, target, content))
}

impl Head {
    fn of(text: &str, symbol: &Symbol) -> Self {
        Self {
            text: text[..symbol.header].to_owned(),
            comments: symbol.extent.start,
            decorators: symbol.declaration.start,
            header: symbol.header,
        }
    }

    /// True if only comments stand above the definition. If other code does, the content takes the place of
    /// everything.
    pub(super) fn is_first(&self, language: &Language) -> bool {
        self.text.get(..self.comments).is_some_and(|above| language.is_only_comments(above))
    }

    pub(super) fn has_comments(&self) -> bool {
        self.decorators > 0
    }

    pub(super) fn has_decorators(&self) -> bool {
        self.header > self.decorators
    }

    /// The lines above the header.
    pub(super) fn header_row(&self) -> usize {
        self.text.matches('\n').count()
    }
}
