//! Cuts an editing step whose sources do not fit into one prompt into several, file by file.

use crate::step_executors::module::ModuleContext;
use sextant_text::symbols::symbol_path::SymbolPath;

/// A part of an edit, with the symbols that it may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Portion {
    pub(crate) title: String,
    pub(crate) symbols: Vec<SymbolPath>,
}

/// Cuts a step into parts that each fit into one prompt. `size` is the bytes of a symbol's source, `room` those of a
/// prompt. A step that fits stays whole, over several files too: related code is best seen together. A step that
/// changes the module level of a file beside another file also stays whole. A definition and its imports move at once.
pub(crate) fn portions(context: &ModuleContext, size: impl Fn(&SymbolPath) -> usize, room: usize) -> Vec<Portion> {
    let whole: usize = context.symbols.iter().map(&size).sum();
    let over_files = context.symbols.iter().any(|symbol| symbol.file != context.symbols[0].file);
    let imports = over_files && context.symbols.iter().any(|symbol| symbol.names.is_empty());
    if whole <= room || context.symbols.len() < 2 || imports {
        return vec![Portion { title: context.title.clone(), symbols: context.symbols.clone() }];
    }
    let mut groups: Vec<(usize, Vec<SymbolPath>)> = Vec::new();
    let mut files: Vec<&str> = Vec::new();
    context.symbols.iter().for_each(|symbol| {
        if !files.contains(&symbol.file.as_str()) {
            files.push(&symbol.file);
        }
    });
    for file in files {
        let mut open = false;
        for symbol in context.symbols.iter().filter(|symbol| symbol.file == file) {
            let bytes = size(symbol);
            match groups.last_mut() {
                Some((used, group)) if open && *used + bytes <= room => {
                    *used += bytes;
                    group.push(symbol.clone());
                }
                _ => groups.push((bytes, vec![symbol.clone()])),
            }
            open = true;
        }
    }
    let count = groups.len();
    let title = |number: usize, symbols: &[SymbolPath]| {
        let names: Vec<String> = symbols.iter().map(ToString::to_string).collect();
        format!("part {number} of {count}, in {}", names.join(", "))
    };
    (1..).zip(groups).map(|(number, (_, symbols))| Portion { title: title(number, &symbols), symbols }).collect()
}

/// True if the parts make up the step: every symbol is in exactly one of them.
pub(crate) fn covers(context: &ModuleContext, portions: &[Portion]) -> bool {
    let parts: Vec<&SymbolPath> = portions.iter().flat_map(|portion| &portion.symbols).collect();
    parts.len() == context.symbols.len() && context.symbols.iter().all(|symbol| parts.contains(&symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_from_file_to_file_stays_whole() {
        let moved = context(&["a.py::f", "b.py", "c.py::g"]);
        assert_eq!(portions(&moved, |_| 3000, 2400).len(), 1);
        assert_eq!(portions(&context(&["a.py::f", "b.py::h"]), |_| 3000, 2400).len(), 2);
    }

    fn context(symbols: &[&str]) -> ModuleContext {
        let symbols = symbols.iter().map(|text| SymbolPath::parse(text)).collect();
        ModuleContext { title: "rename".into(), symbols, ..ModuleContext::default() }
    }

    fn names(portions: &[Portion]) -> Vec<Vec<String>> {
        portions.iter().map(|portion| portion.symbols.iter().map(ToString::to_string).collect()).collect()
    }

    #[test]
    fn what_fits_stays_together_and_the_rest_goes_file_by_file() {
        let context = context(&["a.py::f", "b.py::g", "a.py::h", "a.py::i"]);
        let whole = portions(&context, |_| 100, 400);
        assert_eq!((whole.len(), whole[0].title.as_str()), (1, "rename"));
        let cut = portions(&context, |_| 100, 399);
        assert_eq!(names(&cut), [vec!["a.py::f", "a.py::h", "a.py::i"], vec!["b.py::g"]]);
        assert_eq!(cut[1].title, "part 2 of 2, in b.py::g");
        let small = portions(&context, |_| 100, 150);
        assert_eq!(small.len(), 4, "more than one prompt holds of one file is cut again");
        for portions in [whole, cut, small] {
            assert!(covers(&context, &portions));
        }
        assert!(!covers(&context, &[]));
    }

    #[test]
    fn a_single_symbol_is_never_cut() {
        assert_eq!(portions(&context(&["a.py::f"]), |_| 100_000, 10).len(), 1);
    }
}
