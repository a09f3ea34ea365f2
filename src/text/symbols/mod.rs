//! Code as symbols: languages, the outline of a text, symbol paths both ways.

pub(crate) mod header_spelling;
pub mod import_place;
pub mod imports;
pub mod interface;
pub mod language;
mod language_table;
pub mod member_form;
pub mod modifiers;
pub mod nearest_file;
pub mod outline;
pub mod overloads;
pub mod path_spelling;
mod recent_texts;
pub mod spelled_text;
pub mod symbol_kind;
pub mod symbol_path;
pub mod unchecked_code;
pub mod whole_word;

#[cfg(test)]
mod language_tests;
