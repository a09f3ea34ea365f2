//! The workspace: its root and its record, which paths may be touched, its files, and searching them.

pub mod auto_executed;
mod bare_names;
mod disk_stamp;
mod git_folders;
mod hard_links;
mod ignore_rules;
pub mod import_lines;
pub mod importers;
mod known_folders;
mod module_alias;
mod module_settings;
pub mod open_beneath;
pub mod outside_changes;
pub mod record_folder;
pub mod root;
pub mod secret_files;
pub mod source_text;
pub mod text_search;
mod tracked_files;
pub mod unlisted_files;
pub mod unshown_files;
pub mod workspace_files;
