//! Tells symbols of one name apart by their parameters: overloads, a property's parts.

use crate::symbols::outline::{Outline, Symbol};
use crate::symbols::path_spelling::tidy;

/// The one of the twins in a text whose parameters are these, as `double by` or as types alone; `None` if none or
/// several fit. Empty parameters are no hint, since a call is spelled so too.
pub fn by_parameters(text: &str, outline: &Outline, twins: &[usize], wanted: &str) -> Option<usize> {
    let wanted = split(wanted);
    let fits = |index: &&usize| {
        let own = outline.symbols.get(**index).and_then(|symbol| parameters(text, symbol)).map(split);
        own.is_some_and(|own| own.len() == wanted.len() && own.iter().zip(&wanted).all(|(own, one)| is_of(own, one)))
    };
    one(twins.iter().filter(fits)).filter(|_| !wanted.is_empty()).copied()
}

/// The one of the twins whose parameters a new text of it has.
pub fn by_content(text: &str, outline: &Outline, twins: &[usize], content: (&str, &Outline)) -> Option<usize> {
    let name = &outline.symbols.get(*twins.first()?)?.name;
    let (new, defined) = content;
    // A member alone may be no code that the grammar knows: its header comes first.
    let wanted = match one(defined.symbols.iter().filter(|symbol| symbol.name == *name)) {
        Some(own) => parameters(new, own)?,
        None => in_parentheses(new.split_once(name.as_str())?.1)?,
    };
    let wanted = split(wanted);
    let has = |index: &&usize| {
        outline.symbols.get(**index).and_then(|symbol| parameters(text, symbol)).map(split).as_ref() == Some(&wanted)
    };
    one(twins.iter().filter(has)).copied()
}

/// The parameters that the names of a path have at their end: `double by` of `Shape::scale(double by)`.
pub fn of_path(path: &str) -> Option<&str> {
    let (_, behind) = path.split_once('(')?;
    behind.trim_end().strip_suffix(')')
}

/// The text between the parentheses behind a symbol's name.
fn parameters<'t>(text: &'t str, symbol: &Symbol) -> Option<&'t str> {
    in_parentheses(text.get(symbol.name_range.end..symbol.extent.end)?)
}

/// The text between the first parenthesis and its end.
fn in_parentheses(behind: &str) -> Option<&str> {
    let start = behind.find('(')?;
    let mut depth = 0;
    for (at, sign) in behind.char_indices().skip_while(|(at, _)| *at < start) {
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return behind.get(start + 1..at);
        }
    }
    None
}

fn split(parameters: &str) -> Vec<String> {
    let parts = parameters.split(',').map(tidy);
    parts.filter(|part| !part.is_empty()).collect()
}

/// True if a parameter is the wanted one, or one of this type: `int by`, `by: int`.
fn is_of(own: &str, wanted: &str) -> bool {
    let typed = own.split_once(':').map(|(_, kind)| kind.trim());
    let is_name = |name: &str| name.starts_with(' ') || wanted.ends_with(['*', '&']);
    own == wanted || typed == Some(wanted) || own.strip_prefix(wanted).is_some_and(is_name)
}

fn one<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::language;

    const SHAPE: &str = "struct Shape {};\nvoid Shape::scale(double by) { }\nvoid Shape::scale(int  by, int (*f)(int)) { }\nvoid Shape::name(const char *text) { }\n";
    const CART: &str = "class Cart {\n  get locked(): boolean { return true; }\n  set locked(on: boolean) {}\n}\n";

    fn outline(path: &str, text: &str) -> Outline {
        Outline::parse(language::of_path(path).expect(path), text)
    }

    #[test]
    fn parameters_or_their_types_name_an_overload() {
        let shape = outline("a.cpp", SHAPE);
        let twins = shape.find_all("Shape::scale").expect("two");
        let named = shape.find("Shape::name").expect("one");
        let twins = [twins, vec![named]].concat();
        for (given, expected) in [
            ("Shape::scale(double by)", Some(twins[0])),
            ("Shape::scale(double)", Some(twins[0])),
            ("Shape::scale(int by, int (*f)(int))", Some(twins[1])),
            ("Shape::scale(float)", None),
            ("Shape::scale()", None),
            ("Shape::name(const char *)", Some(named)),
        ] {
            let wanted = of_path(given).expect(given);
            assert_eq!(by_parameters(SHAPE, &shape, &twins, wanted), expected, "{given}");
        }
        assert_eq!(of_path("Shape::scale"), None);
    }

    #[test]
    fn a_new_text_names_the_overload_that_it_is_of() {
        let cart = outline("a.ts", CART);
        let twins = cart.find_all("Cart::locked").expect("two");
        let of = |content: &str| by_content(CART, &cart, &twins, (content, &outline("a.ts", content)));
        assert_eq!(of("class Cart { get locked(): boolean { return false; } }"), Some(twins[0]));
        assert_eq!(of("class Cart { set locked(on: boolean) { this.on = on; } }"), Some(twins[1]));
        assert_eq!(of("class Cart { set locked(on: string) {} }"), None);
        assert_eq!(of("get locked(): boolean {\n  return false;\n}"), Some(twins[0]));
        assert_eq!(of("class Cart { get other() { return 1; } }"), None);
    }
}
