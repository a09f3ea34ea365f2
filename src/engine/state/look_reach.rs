//! How far a look over the workspace came.

use sextant_base::plural::counted;

/// The reach of a look over the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LookReach {
    /// Files with a report of a provider.
    pub(crate) looked_at: usize,
    /// Files to look at.
    pub(crate) of: usize,
    /// The files without such a report.
    pub(crate) unlooked: Vec<String>,
}

/// Most files without a report that are named.
const NAMED: usize = 3;

impl LookReach {
    /// The text for a summary.
    pub(crate) fn words(&self) -> String {
        let (looked_at, of) = (self.looked_at, counted(self.of, "file"));
        if self.of == 1 && looked_at == 1 {
            return "looked at the one file of the workspace".to_owned();
        }
        if looked_at == self.of {
            return format!("looked at all {of} of the workspace");
        }
        if (1..=NAMED).contains(&self.unlooked.len()) {
            return format!("looked at {looked_at} of the {of} of the workspace, not at {}", self.unlooked.join(", "));
        }
        format!("looked at {looked_at} of the {of} of the workspace, those changed last first")
    }
}

/// Endings of files that use each other's names.
const FAMILIES: &[&[&str]] = &[
    &[
        "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "inl", "ipp", "inc", "def", "tcc", "tpp", "m", "mm", "cu",
        "cuh",
    ],
    &["ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs", "vue", "svelte", "astro"],
    &["java", "kt", "kts", "scala", "groovy"],
];

/// The ending of a file's name: its language, where a provider may report on it.
pub(crate) fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// The ending that stands for all files that may use this one's names.
pub(crate) fn family(path: &str) -> &str {
    let ending = ending(path);
    let family = FAMILIES.iter().find(|family| family.contains(&ending));
    family.and_then(|family| family.first()).unwrap_or(&ending)
}
