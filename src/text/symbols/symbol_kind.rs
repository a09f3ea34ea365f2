//! The kinds of symbols. A query names each by a capture of its name.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    Class,
    /// A module, a namespace, a package.
    Module,
    /// A structure, an enumeration, a union, an alias.
    Type,
    /// An interface, a trait, a protocol.
    Interface,
    /// A block that adds members to a type.
    Impl,
    Function,
    Method,
    Constructor,
    Field,
    Constant,
    Variable,
    Macro,
    /// A test, or a group of tests, with a title.
    Test,
    /// A heading with its text.
    Section,
    /// A key of a data file.
    Key,
}

impl SymbolKind {
    pub const ALL: [(&'static str, Self); 15] = [
        ("class", Self::Class),
        ("module", Self::Module),
        ("type", Self::Type),
        ("interface", Self::Interface),
        ("impl", Self::Impl),
        ("function", Self::Function),
        ("method", Self::Method),
        ("constructor", Self::Constructor),
        ("field", Self::Field),
        ("constant", Self::Constant),
        ("variable", Self::Variable),
        ("macro", Self::Macro),
        ("test", Self::Test),
        ("section", Self::Section),
        ("key", Self::Key),
    ];

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("symbol", |(name, _)| name)
    }

    /// True if it stands in a type: a method, a field, a constant.
    pub fn is_member(self) -> bool {
        self.is_callable() || matches!(self, Self::Field | Self::Constant | Self::Variable)
    }

    /// True if it has a body that runs.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor | Self::Test)
    }

    /// True if its members can be named from outside: a class, and no function.
    pub fn holds_members(self) -> bool {
        !matches!(self, Self::Function | Self::Method | Self::Constructor | Self::Field | Self::Constant | Self::Macro)
    }

    /// True if a function in it is a method.
    pub fn has_methods(self) -> bool {
        matches!(self, Self::Class | Self::Type | Self::Interface | Self::Impl)
    }

    /// True if it is a body that runs: what is defined inside concerns only itself.
    pub fn is_code(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor | Self::Test)
    }

    /// True if it is usually one line among others of its kind, without blank lines between them.
    pub fn is_compact(self) -> bool {
        matches!(self, Self::Field | Self::Constant | Self::Variable | Self::Key)
    }
}
