//! Finds the file that a misspelt path may mean.

/// The most letters that a misspelt path has wrong; two that changed places count as one.
const WRONG: usize = 2;

/// The file of a list that is nearest to a path. At most one letter in three of the file's own name is wrong, and its
/// ending is right.
pub fn nearest<'a>(wanted: &str, files: impl IntoIterator<Item = &'a String>) -> Option<&'a str> {
    let (stem, ending) = parts(wanted);
    let most = (stem.chars().count() / 3).min(WRONG);
    let near = |file: &'a String| {
        let distance = (parts(file).1 == ending).then(|| strsim::osa_distance(wanted, file))?;
        (1..=most).contains(&distance).then_some((distance, file.as_str()))
    };
    files.into_iter().filter_map(near).min().map(|(_, file)| file)
}

/// The name of a file without its folders and its ending, and the ending.
fn parts(path: &str) -> (&str, &str) {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').unwrap_or((name, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_path_is_near_to_one_file_and_another_name_to_none() {
        let files = ["src/shop/cart.py", "src/shop/report.py", "a.py", "src/shop/cart.rs"].map(str::to_owned);
        for (path, wanted) in [
            ("src/shop/crat.py", Some("src/shop/cart.py")),
            ("src/shop/reprot.py", Some("src/shop/report.py")),
            ("src/shp/report.py", Some("src/shop/report.py")),
            ("src/shop/cart.py", None),
            ("src/shop/cash.py", None),
            ("src/shop/nope.py", None),
            ("src/shop/cart.md", None),
            ("b.py", None),
        ] {
            assert_eq!(nearest(path, &files), wanted, "{path}");
        }
    }
}
