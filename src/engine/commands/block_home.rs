//! Finds the file that a code block is for, where that is not the file at the cursor: the one that its first line names,
//! or the only one that defines its symbol.

use crate::commands::block_edit::BlockRequest;
use crate::run::request_names;
use sextant_store::workspace::root::Root;
use sextant_text::symbols::language::{self, LANGUAGES, Language};
use sextant_text::symbols::outline::Outline;
use sextant_text::symbols::whole_word::holds_word;

/// The languages that a fence's word names; none for an unknown word.
pub(super) fn fence_languages(word: &str) -> Vec<&'static Language> {
    let word = word.to_lowercase();
    LANGUAGES.iter().filter(|known| known.name == word || known.extensions.contains(&word.as_str())).collect()
}

/// True if two languages use each other's names.
pub(super) fn are_kin(one: &Language, other: &Language) -> bool {
    one.name == other.name || !one.kin.is_empty() && one.kin == other.kin
}

/// The block without a first line that is a comment with nothing but the path of a file, for that file. A target that
/// the user has named decides the file alone.
pub(super) fn named(root: &Root, request: &BlockRequest) -> Option<BlockRequest> {
    let (first, rest) = request.block.split_once('\n')?;
    let is_comment = |language: &&Language| language.line_comments.iter().any(|mark| first.trim().starts_with(mark));
    let language = LANGUAGES.iter().find(is_comment)?;
    let mark = language.line_comments.iter().find(|mark| first.trim().starts_with(**mark))?;
    let path = root.resolve(first.trim().trim_start_matches(mark).trim().trim_start_matches("./")).ok()?;
    let own = language::of_path(&path)?;
    let is_there = own.line_comments.contains(mark) && root.join(&path).is_file();
    is_there.then(|| BlockRequest { path, block: rest.trim_start_matches(['\r', '\n']).to_owned(), ..request.clone() })
}

/// The block for the only file that defines its symbol. A block that its own file could take is for that, unless the file
/// uses the name from elsewhere. Blocks.
pub(super) fn defined(root: &Root, request: &BlockRequest, own: Option<&str>) -> Option<BlockRequest> {
    let here = language::of_path(&request.path);
    let languages = match fence_languages(&request.language) {
        known if known.is_empty() => here.into_iter().collect(),
        known => known,
    };
    let found = languages.into_iter().find_map(|language| {
        let outline = Outline::parse(language, &request.block);
        let mut outer = outline.symbols.iter().filter(|symbol| symbol.parent.is_none());
        let only = outer.next().filter(|_| !outline.has_errors)?;
        outer.next().is_none().then(|| (language, only.name.clone()))
    });
    let (language, name) = found?;
    if own.is_some_and(|text| !holds_word(text, &name))
        || own.is_none() && here.is_some_and(|here| here.name == language.name)
    {
        return None;
    }
    let mut places = request_names::symbols_named(root, None, &name);
    places.retain(|place| {
        let there = language::of_path(&place.file);
        place.names == name && place.file != request.path && there.is_some_and(|there| are_kin(there, language))
    });
    let [place] = places.as_slice() else { return None };
    Some(BlockRequest { path: place.file.clone(), target: place.to_string(), ..request.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::new(dir.path()).unwrap();
        (dir, root)
    }

    fn block(language: &str, path: &str, block: &str) -> BlockRequest {
        let (language, path, block) = (language.into(), path.into(), block.into());
        BlockRequest { language, path, block, ..BlockRequest::default() }
    }

    #[test]
    fn a_first_line_that_is_the_path_of_a_file_names_it() {
        let (_dir, root) = root(&[("src/money.ts", "export const zero = 0;\n"), ("cart.py", "x = 1\n")]);
        let found = named(&root, &block("ts", "src/cart.ts", "// src/money.ts\n\nexport const zero = 1;\n")).unwrap();
        assert_eq!((found.path.as_str(), found.block.as_str()), ("src/money.ts", "export const zero = 1;\n"));
        assert_eq!(named(&root, &block("", "a.py", "# ./cart.py\nx = 2\n")).unwrap().path, "cart.py");
        let confirmed = BlockRequest { target: "a.py::x".into(), ..block("", "a.py", "# cart.py\nx = 2\n") };
        assert_eq!(named(&root, &confirmed).unwrap().block, "x = 2\n");
        for other in ["// src/none.ts\nx\n", "// see src/money.ts\nx\n", "# src/money.ts\nx\n", "x\n// src/money.ts\n"]
        {
            assert_eq!(named(&root, &block("ts", "src/cart.ts", other)), None, "{other}");
        }
    }

    #[test]
    fn a_symbol_that_one_other_file_defines_is_meant_where_it_is_used_or_cannot_stand_here() {
        let cart = "import { Rates } from './money';\n\nexport const rate = Rates.of;\n";
        let files = [
            ("src/cart.ts", cart),
            ("src/money.ts", "export namespace Rates {\n  export const of = 1;\n}\nexport const zero = 0;\n"),
            ("src/app.tsx", "export const Row = () => <li>a</li>;\n"),
            ("src/two.ts", "export const zero = 0;\n"),
        ];
        let (_dir, root) = root(&files);
        let target = |language: &str, text: &str, own: Option<&str>| {
            defined(&root, &block(language, "src/cart.ts", text), own).map(|found| found.target)
        };
        let rates = "export namespace Rates {\n  export const of = 2;\n}\n";
        assert_eq!(target("typescript", rates, Some(cart)).as_deref(), Some("src/money.ts::Rates"));
        assert_eq!(target("typescript", rates, Some("const a = 1;\n")), None, "the file does not use it");
        let row = "export const Row = () => <li>b</li>;\n";
        assert_eq!(target("tsx", row, None).as_deref(), Some("src/app.tsx::Row"), "no code of the file at the cursor");
        assert_eq!(target("typescript", "export const zero = 1;\n", Some("zero")), None, "two files define it");
        assert_eq!(target("typescript", "const a = 1;\nconst b = 2;\n", Some("a b")), None, "two symbols");
    }
}
