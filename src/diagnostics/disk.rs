//! Checks whether the disk holds a text, for tools that read the disk and not the editor's text.

use std::path::Path;

/// Line ends and the byte order mark are the editor's business. A file that cannot be read has no text.
pub async fn has(file: &Path, text: &str) -> bool {
    let Ok(bytes) = tokio::fs::read(file).await else { return false };
    let Ok(there) = std::str::from_utf8(&bytes) else { return false };
    let there = there.strip_prefix('\u{feff}').unwrap_or(there);
    there == text || there.replace("\r\n", "\n") == text
}

/// The text of a file as an editor has it; `None` if it cannot be read.
pub async fn text(file: &Path) -> Option<String> {
    let there = tokio::fs::read_to_string(file).await.ok()?;
    Some(there.strip_prefix('\u{feff}').unwrap_or(&there).replace("\r\n", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn line_ends_and_the_mark_are_no_other_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        assert!(!has(&file, "").await, "it is not there");
        for (bytes, same) in [("a\nb\n", true), ("\u{feff}a\r\nb\r\n", true), ("a\nb", false)] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(has(&file, "a\nb\n").await, same, "{bytes:?}");
        }
    }
}
