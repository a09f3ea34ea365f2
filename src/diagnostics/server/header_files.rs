//! The files that clangd reads beside a text and keeps: the headers, and the settings of the compiler.

/// The endings of headers of C, C++ and CUDA, and of what is included in the middle of a file.
const HEADERS: &[&str] = &["h", "hh", "hpp", "hxx", "h++", "inc", "inl", "ipp", "tcc", "tpp", "cuh"];
const SETTINGS: &[&str] = &["compile_commands.json", "compile_flags.txt", ".clangd", ".clang-tidy"];

/// A file that other files of C or C++ include, or that says how they are compiled.
pub(super) fn is_header(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    is_compiler_settings(path) || name.rsplit_once('.').is_some_and(|(_, ending)| HEADERS.contains(&ending))
}

/// A file that says how files of C or C++ are compiled or checked. clangd reads it again every 5 s, when it parses a text.
pub fn is_compiler_settings(path: &str) -> bool {
    SETTINGS.contains(&path.rsplit_once('/').map_or(path, |(_, name)| name))
}

/// Recognizes a text that includes a file of any name, as a test may include the source that it looks into.
pub(super) fn includes(text: &str, path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    text.lines()
        .map(str::trim_start)
        .any(|line| line.starts_with('#') && line.contains("include") && line.contains(name))
}

/// The lines of a C or C++ file that make up its preamble.
pub(super) fn directives(text: &str) -> Vec<String> {
    text.lines().map(str::trim_start).filter(|line| line.starts_with('#')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_settings_are_known_by_their_names() {
        let known = ["a.h", "lib/a.hpp", "table.inc", "build/compile_commands.json", ".clangd"];
        assert!(known.iter().all(|path| is_header(path)), "{known:?}");
        let others = ["a.c", "h", "lib.h/a.cc", "package.json"];
        assert!(!others.iter().any(|path| is_header(path)), "{others:?}");
        assert!(includes("int x;\n  #include \"../src/cart.c\"\n", "src/cart.c"));
        assert!(!includes("// cart.c\n#include \"cart.h\"\n", "src/cart.c"));
    }
}
