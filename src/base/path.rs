//! Paths and URIs: the workspace names files by path relative to its root, with `/`.

use std::path::{Component, Path, PathBuf};

use url::Url;

/// True if a character makes a name another one than it looks. Such are control characters, those that turn the
/// direction of a line, and invisible ones (Unicode's category Cf, and the fillers that have no width).
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}')
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Removes `.` and resolves `..` without asking the disk.
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    out.push("..");
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// A path without links, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    let whole = |folder: &Path| {
        let (real, rest) = (folder.canonicalize().ok()?, path.strip_prefix(folder).ok()?);
        // Joining nothing would add a `/` at the end, which is another name for a caller that compares texts.
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    };
    path.ancestors().find_map(whole).unwrap_or_else(|| path.to_owned())
}

/// The path relative to the root, with `/`; `None` when it lies outside.
pub fn relative(root: &Path, path: &Path) -> Option<String> {
    let path = normalize(path);
    let inside = path.strip_prefix(root).ok()?;
    let parts: Option<Vec<&str>> = inside.components().map(|c| c.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

/// The same, and for a path outside the root the path itself, which is absolute.
pub fn relative_or_absolute(root: &Path, path: &Path) -> Option<String> {
    relative(root, path).or_else(|| normalize(path).to_str().map(str::to_owned))
}

pub fn to_uri(path: &Path) -> Option<String> {
    Url::from_file_path(path).ok().map(String::from)
}

/// Recognizes a URI of a part of a file, such as a notebook's cell. Positions there are not those of the file.
pub fn is_part(uri: &str) -> bool {
    Url::parse(uri).is_ok_and(|url| url.fragment().is_some())
}

/// The path of a `file:` URI; `None` for every other scheme and for text that is not a URI.
pub fn from_uri(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok()?;
    if url.scheme() == "file" { url.to_file_path().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_outside_the_root_has_no_relative_form() {
        let root = Path::new("/w");
        assert_eq!(relative(root, Path::new("/w/a/../b.py")), Some("b.py".into()));
        assert_eq!(relative(root, Path::new("/w/../etc/passwd")), None);
        assert_eq!(relative(root, Path::new("/wx/b.py")), None, "components are compared, not characters");
        let named = |path: &str| relative_or_absolute(root, Path::new(path));
        assert_eq!((named("/w/a.py"), named("/w/../b.py")), (Some("a.py".into()), Some("/b.py".into())));
    }

    #[test]
    fn a_path_goes_through_no_link_and_ends_in_no_slash() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("inner")).unwrap();
        std::fs::write(base.join("inner/a.py"), "").unwrap();
        std::os::unix::fs::symlink(base.join("inner"), base.join("link")).unwrap();
        for (given, is) in
            [("inner/a.py", "inner/a.py"), ("link/a.py", "inner/a.py"), ("link/new/b.py", "inner/new/b.py")]
        {
            assert_eq!(real(&base.join(given)).as_os_str(), base.join(is).as_os_str(), "{given}");
        }
        assert_eq!(real(Path::new("/no such/a")), Path::new("/no such/a"));
    }

    #[test]
    fn uris_survive_spaces_and_umlauts() {
        let path = Path::new("/w/a b/ü.py");
        let uri = to_uri(path).expect("absolute");
        assert_eq!(from_uri(&uri).as_deref(), Some(path));
        assert_eq!(from_uri("untitled:1"), None);
        assert!(is_part("file:///w/n.ipynb#cell1") && !is_part("file:///w/n.ipynb"));
        assert!(!is_part(&to_uri(Path::new("/w/c#/a.py")).expect("absolute")), "a name may have the mark");
        assert_eq!(from_uri("not a uri"), None);
    }
}
