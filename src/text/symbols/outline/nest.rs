//! Definitions as symbols: what holds what, and the owners.

use std::ops::Range;

use super::definitions::{Definitions, FoundDefinition};
use super::ordinals::Ordinals;
use super::{Symbol, joined};
use crate::symbols::symbol_kind::SymbolKind;

pub(super) fn symbols(text: &str, found: Definitions) -> Vec<Symbol> {
    let mut out: Vec<Symbol> = Vec::with_capacity(found.all.len());
    // The paths by which the members of each are named.
    let mut holders: Vec<String> = Vec::with_capacity(found.all.len());
    let mut open: Vec<usize> = Vec::new();
    let mut ordinals = Ordinals::default();
    for one in found.all {
        while open.last().is_some_and(|top| out[*top].declaration.end < one.node.end) {
            open.pop();
        }
        let parent = open.last().copied();
        let around = parent.map(|parent| out[parent].kind);
        if is_local(&one, parent.map(|parent| &out[parent])) {
            continue;
        }
        let starts = found.leading.starts(text, one.node.clone());
        let is_method = one.kind == SymbolKind::Function && around.is_some_and(SymbolKind::has_methods);
        let kind = if is_method { SymbolKind::Method } else { one.kind };
        let above = parent.map_or("", |parent| holders[parent].as_str());
        let owner = joined(above, &one.owner);
        let members = one.members.as_deref().map(|members| joined(above, members));
        give_up(text, &mut out, parent, starts.extent);
        let end = with_tail(text, one.node.clone(), one.tail.or(one.separator.map(|separator| separator.mark)));
        let mut symbol = Symbol {
            kind,
            ordinal: 0,
            parent,
            owner,
            extent: starts.extent..end,
            declaration: starts.declaration..end,
            header: starts.header,
            name_range: one.name_range,
            tail: one.tail,
            separator: one.separator,
            is_declaration: one.is_declaration,
            name: one.name,
        };
        if !symbol.is_declaration {
            symbol.ordinal = ordinals.next(&symbol);
        }
        holders.push(members.unwrap_or_else(|| symbol.path()));
        out.push(symbol);
        open.push(out.len() - 1);
    }
    // The name alone means the definition, so a mere declaration is numbered behind it.
    for symbol in out.iter_mut().filter(|symbol| symbol.is_declaration) {
        symbol.ordinal = ordinals.next(symbol);
    }
    out
}

/// The end of a definition with the mark that ends it, if it stands on the same line. Two of them are another mark, as
/// the `;;` of a shell's `case`.
fn with_tail(text: &str, node: Range<usize>, tail: Option<char>) -> usize {
    let Some(tail) = tail else { return node.end };
    let rest = &text[node.end..];
    let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let behind = rest[gap..].strip_prefix(tail).filter(|behind| !behind.starts_with(tail));
    behind.map_or(node.end, |behind| text.len() - behind.len())
}

/// Ends the symbol before another where the comments of that one start: some grammars count them as its own.
fn give_up(text: &str, out: &mut [Symbol], parent: Option<usize>, start: usize) {
    let first = parent.map_or(0, |parent| parent + 1);
    for symbol in out[first..].iter_mut().rev() {
        if symbol.extent.end > start && symbol.extent.start < start {
            let end = text[..start].trim_end().len();
            (symbol.extent.end, symbol.declaration.end) = (end, end);
        }
        if symbol.parent == parent {
            break;
        }
    }
}

/// True if nobody can name a definition: a variable of a function, a member of a class or a value without a name. The
/// structure inside of a type definition of the same name is one with it.
fn is_local(one: &FoundDefinition, parent: Option<&Symbol>) -> bool {
    use SymbolKind::{Class, Constant, Constructor, Field, Method, Type, Variable};
    let Some(parent) = parent else { return one.is_member };
    let is_plain = matches!(one.kind, Variable | Constant | Field | Method | Constructor);
    // `struct S { … } s;` is the type with what it declares.
    let is_declared_with = one.kind == Variable && matches!(parent.kind, Type | Class);
    let is_value = matches!(parent.kind, Variable | Constant);
    is_plain && (parent.kind.is_code() || parent.kind == Field)
        || one.is_member && !is_value
        || is_declared_with
        || one.kind == Type && parent.kind == Type && parent.name == one.name
}
