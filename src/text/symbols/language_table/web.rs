//! The rows of languages for browsers and Node.js.

use super::{BRACES, Language};
use crate::symbols::spelled_text::Escape;
use crate::symbols::symbol_kind::SymbolKind;

const NEVER: &str = r"\bif\s*\(\s*(?:false|0)\s*\)";
const SWALLOWED: &str =
    r"\.catch\(\s*(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:\{\s*\}|undefined|null|void 0)\s*\)|\.catch\(\s*noop\s*\)";
/// A value that is declared to be there, or to have a type.
const ASSERTED: &str =
    r"[\w)\]]!\s*[.;,)\]]|[\w)\]]\s+as\s+(?:[A-Z][\w.<>\[\]]*|string|number|boolean|bigint|object)(?:\[\])*\s*[;)]";
/// A type that no checker holds to anything, or a cast through one that leads everywhere.
const ANY: &str = r"\bas\s+(?:any|never)\b|:\s*any\b|<(?:any|unknown)>|\bas\s+unknown\s*\)*\s*as\b";

/// The types of literals and functions. Any text can add to them.
#[cfg(feature = "lang-web")]
const LITERALS: &[&str] = &[
    "Array",
    "ReadonlyArray",
    "String",
    "Number",
    "Boolean",
    "BigInt",
    "Symbol",
    "RegExp",
    "Object",
    "Function",
    "CallableFunction",
    "NewableFunction",
    "IArguments",
    "TemplateStringsArray",
    "Promise",
    "Generator",
    "AsyncGenerator",
];
/// The types by which elements are checked.
#[cfg(feature = "lang-web")]
const ELEMENTS: &[&str] = &[
    "JSX",
    "Element",
    "ElementClass",
    "ElementType",
    "ElementAttributesProperty",
    "ElementChildrenAttribute",
    "IntrinsicElements",
    "IntrinsicAttributes",
    "IntrinsicClassAttributes",
    "LibraryManagedAttributes",
];
/// The words of the modules that make elements: `jsx-runtime`, `jsx-dev-runtime`.
#[cfg(feature = "lang-web")]
const ELEMENT_MODULES: &[&str] = &["jsx", "dev", "runtime"];

#[cfg(feature = "lang-web")]
pub(super) const JAVASCRIPT: Language = Language {
    name: "javascript",
    extensions: &["js", "mjs", "cjs"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    query: concat!(
        include_str!("../../../../queries/ecmascript/symbols.scm"),
        include_str!("../../../../queries/javascript/symbols.scm")
    ),
    imports: include_str!("../../../../queries/ecmascript/imports.scm"),
    hidden: concat!(
        include_str!("../../../../queries/ecmascript/hidden.scm"),
        include_str!("../../../../queries/javascript/hidden.scm")
    ),
    modifiers: include_str!("../../../../queries/ecmascript/modifiers.scm"),
    unchecked: include_str!("../../../../queries/ecmascript/unchecked.scm"),
    import_words: &["import", "from", "require", "mock", "declare"],
    module_words: &["import", "export"],
    global_marks: &["declare global", "declare module", "export as namespace"],
    implied_names: &[LITERALS, ELEMENTS],
    library_types: include_str!("library_types.txt"),
    implied_imports: ELEMENT_MODULES,
    package_folder: Some("node_modules"),
    package_file: Some("package.json"),
    escapes: &[Escape::Unicode, Escape::Braces, Escape::Hex, Escape::Octal, Escape::Splice],
    line_ends: &['\u{2028}', '\u{2029}'],
    kin: "javascript",
    folder_files: &["index"],
    structural_kinds: &[SymbolKind::Class, SymbolKind::Interface, SymbolKind::Type, SymbolKind::Variable],
    asked_types: Some(crate::symbols::language::AskedTypes {
        mark: "@ts-check",
        settings: &["tsconfig.json", "jsconfig.json"],
        option: "checkJs",
    }),
    typed_comments: true,
    exact_strings: &["template_string", "string"],
    cheats: &[("dead_code", NEVER), ("error_swallowed", SWALLOWED)],
    blocks: &[
        "program",
        "statement_block",
        "class_body",
        "object",
        "class_static_block",
        "switch_body",
        "switch_case",
        "switch_default",
        "named_imports",
    ],
    ..BRACES
};

#[cfg(feature = "lang-web")]
pub(super) const JSX: Language = Language { name: "javascriptreact", extensions: &["jsx"], ..JAVASCRIPT };

#[cfg(feature = "lang-web")]
pub(super) const TYPESCRIPT: Language = Language {
    name: "typescript",
    extensions: &["ts", "mts", "cts"],
    embedded_in: &["vue", "svelte", "astro"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    query: concat!(
        include_str!("../../../../queries/ecmascript/symbols.scm"),
        include_str!("../../../../queries/typescript/symbols.scm")
    ),
    hidden: concat!(
        include_str!("../../../../queries/ecmascript/hidden.scm"),
        include_str!("../../../../queries/typescript/hidden.scm")
    ),
    modifiers: concat!(
        include_str!("../../../../queries/ecmascript/modifiers.scm"),
        include_str!("../../../../queries/typescript/modifiers.scm")
    ),
    implied_names: &[LITERALS],
    implied_imports: &[],
    asked_types: None,
    typed_comments: false,
    cheats: &[
        ("dead_code", NEVER),
        ("error_swallowed", SWALLOWED),
        ("type_asserted", ASSERTED),
        ("any_annotation", ANY),
    ],
    blocks: &[
        "program",
        "statement_block",
        "class_body",
        "interface_body",
        "enum_body",
        "object_type",
        "object",
        "class_static_block",
        "switch_body",
        "switch_case",
        "switch_default",
        "named_imports",
    ],
    ..JAVASCRIPT
};

/// The grammar of its own: `<T>x` is a cast in TypeScript, and an element here.
#[cfg(feature = "lang-web")]
pub(super) const TSX: Language = Language {
    name: "typescriptreact",
    extensions: &["tsx"],
    embedded_in: &[],
    implied_names: &[LITERALS, ELEMENTS],
    implied_imports: ELEMENT_MODULES,
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    ..TYPESCRIPT
};
