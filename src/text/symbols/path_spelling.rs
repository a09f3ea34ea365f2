//! Names as parts of a symbol path: how one is written, split off, and compared forgivingly.

use crate::symbols::header_spelling::named_parts;

/// A name as a part of a path. In backticks if it would read as something else there: as a file, as two parts, or as
/// a name with its number.
pub fn spelled(name: &str) -> String {
    let numbered = name.rsplit_once('#').is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let is_plain = !name.is_empty()
        && !numbered
        && name.trim() == name
        && !name.contains(['.', '/', '`', ','])
        && !name.contains("::");
    if is_plain { name.to_owned() } else { format!("`{name}`") }
}

/// A name without what a path cannot hold: backticks, line ends, and blanks that only lay it out.
pub(crate) fn tidy(name: &str) -> String {
    name.replace('`', "'").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The parts of `` a::`b::c`::d ``; what stands in backticks is one part.
pub fn parts(path: &str) -> Vec<&str> {
    let (mut out, mut start, mut quoted) = (Vec::new(), 0, false);
    let bytes = path.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'`' => quoted = !quoted,
            b':' if !quoted && bytes.get(at + 1) == Some(&b':') => {
                out.push(&path[start..at]);
                start = at + 2;
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push(&path[start..]);
    out
}

/// The last part of a path, without its number and its backticks: the name itself.
pub fn last_name(path: &str) -> &str {
    parts(path).last().map_or("", |last| part(last).0)
}

/// The name itself, of a path in any spelling; of a header its last word.
pub fn loose_name(path: &str) -> String {
    let last = named_parts(path).pop().unwrap_or_default();
    part(&last).0.trim_end_matches('!').to_owned()
}

/// Splits `total#2` into name and number. A `#` without a number is part of the name.
pub(crate) fn part(text: &str) -> (&str, Option<usize>) {
    let text = text.trim();
    if let Some((name, rest)) = text.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        return (name, rest.strip_prefix('#').and_then(|n| n.parse().ok()));
    }
    match text.rsplit_once('#').and_then(|(name, n)| Some((name, n.parse().ok()?))) {
        Some((name, ordinal)) => (name, Some(ordinal)),
        None => (text, None),
    }
}

/// The parts of a path that is written as code or in another tool's way: `Cart.total`, `Cart/total`, `Cart->total()`,
/// `Cart#total`, `impl Cart::total`, `<Cart<T> as Total>::total`.
pub fn loose_parts(path: &str) -> Vec<String> {
    let path = path.trim();
    let path = path.split_once('(').filter(|(_, rest)| rest.ends_with(')')).map_or(path, |(name, _)| name);
    // `empty?` is a name in some languages.
    if let Some(name) = path.strip_suffix('?') {
        let mut out = loose_parts(name);
        out.last_mut().filter(|last| !last.starts_with('`')).into_iter().for_each(|last| last.push('?'));
        return out;
    }
    let mut out = Vec::new();
    for part in parts(&of_type(path)) {
        if part.starts_with('`') {
            out.push(part.to_owned());
            continue;
        }
        let pieces = part.split(['.', '/', ':', '\\']).flat_map(|piece| piece.split("->")).flat_map(member_of);
        out.extend(pieces.map(|piece| owner(piece.trim())).filter(|piece| !piece.is_empty()));
    }
    out
}

/// True if a module's name stands for the root of the project, or leads on from the present module.
pub fn is_root_module(name: &str) -> bool {
    matches!(name, "crate" | "self" | "super" | "this" | "root" | "@" | "~")
}

/// A class and its member, as documentation of Ruby and JavaScript writes them: `Cart#total`. The `#` of a number or of
/// a private name stays.
fn member_of(piece: &str) -> Vec<&str> {
    let is_member = |(class, member): &(&str, &str)| {
        !class.is_empty() && !member.is_empty() && !member.starts_with(|c: char| c.is_ascii_digit())
    };
    piece.split_once('#').filter(is_member).map_or_else(|| vec![piece], |(class, member)| vec![class, member])
}

/// `<Cart as Total>::total` and `impl Total for Cart::total` as `Cart::total`.
fn of_type(path: &str) -> String {
    if let Some((before, rest)) = path.strip_prefix('<').and_then(|rest| rest.split_once(" as "))
        && let Some((_, rest)) = rest.split_once(">::")
    {
        return format!("{before}::{rest}");
    }
    let bare = path.strip_prefix("impl<").map(|_| without_parameters(path));
    let Some(rest) = bare.as_deref().unwrap_or(path).strip_prefix("impl ") else { return path.to_owned() };
    rest.split_once(" for ").map_or(rest, |(_, held)| held).to_owned()
}

/// The owner that a piece of code names, as the parts of a path: without type parameters, pointers, references and
/// the path of its own module (`*pkg.Cart[T]`, `&a::Cart<T>`).
pub(crate) fn owner(code: &str) -> String {
    let bare = without_parameters(code);
    let bare = bare.trim().trim_start_matches(['*', '&', '(']).trim_end_matches([')', '?']);
    let bare =
        ["mut ", "dyn ", "const "].iter().fold(bare.trim(), |bare, word| bare.strip_prefix(word).unwrap_or(bare));
    tidy(bare)
}

/// Code without what stands between `<` and `>` or `[` and `]`.
pub(crate) fn without_parameters(code: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::with_capacity(code.len());
    let mut before = ' ';
    for c in code.chars() {
        match c {
            '<' | '[' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            '>' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_from_its_path() {
        for name in [
            "total",
            "#priv",
            "m!",
            "operator==",
            "impl Total for Cart",
            "adds 1.5 to a/b",
            "a::b",
            "x#2",
            "$a",
            "a, b",
        ] {
            let path = format!("A::{}", spelled(name));
            let last = parts(&path);
            assert_eq!((last.len(), part(last[1])), (2, (name, None)), "{path}");
            assert_eq!(last_name(&format!("{path}#3")), name);
        }
        assert_eq!(spelled("adds 1.5 to a/b"), "`adds 1.5 to a/b`");
        assert_eq!(parts("`a::b`::c#2"), ["`a::b`", "c#2"]);
    }

    #[test]
    fn a_path_in_another_spelling_has_the_same_parts() {
        for path in [
            "Cart::total",
            "Cart.total",
            "Cart/total",
            "Cart->total()",
            "Cart:total",
            "Cart#total",
            "Cart.total(a, b)",
            "impl Cart::total",
            "impl Total for Cart<T>::total",
            "<Cart<T> as Total>::total",
            "*Cart.total",
        ] {
            assert_eq!(loose_parts(path), ["Cart", "total"], "{path}");
        }
        assert_eq!(loose_parts("Cart.empty?"), ["Cart", "empty?"]);
        assert_eq!(loose_parts("Cart.#priv"), ["Cart", "#priv"]);
        assert_eq!(loose_parts("Cart.total#2"), ["Cart", "total#2"]);
        assert_eq!(loose_parts("shop::`Suite.Name`"), ["shop", "`Suite.Name`"]);
    }
}
