; Finds the code of Go that a check may leave out; `src/text/symbols/unchecked_code.rs` explains the captures.
((comment) @conditional.around (#match? @conditional.around "^(//go:build|//\\s*\\+build)\\s")
  (#not-match? @conditional.around "^//go:build\\s+(unix|!(windows|js|wasm|wasip1|plan9))$"))
((source_file) @conditional (#set! parts
  "aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows"))
((source_file) @conditional (#set! parts
  "zos 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm"))
