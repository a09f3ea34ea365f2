"""What the edits need to know of a language: the kinds of nodes, and a line that is wrong."""

import dataclasses
import functools
import importlib
import typing

import tree_sitter


@dataclasses.dataclass(frozen=True)
class Grammar:
    name: str
    module: str
    function: str
    extension: str
    # Definitions at the outermost level, or in a module or namespace.
    items: "frozenset[str]"
    # What may be moved as one of the items, but has no name to change.
    containers: "frozenset[str]"
    # Bodies of containers.
    member_lists: "frozenset[str]"
    members: "frozenset[str]"
    functions: "frozenset[str]"
    # Lists of statements.
    blocks: "frozenset[str]"
    statements: "frozenset[str]"
    names: "frozenset[str]"
    # Attributes and decorators that stand before a definition as nodes of their own.
    prefixes: "frozenset[str]"
    argument_lists: "frozenset[str]"
    comment: str
    # Statements with one error, `N` is a number.
    wrong: "tuple[str, ...]"
    right: str
    # A statement around others: before and behind them.
    around: "tuple[str, str]"
    # A container around items; empty where there is none.
    module_around: "tuple[str, str]"
    # A function named `N`: before and behind its statements.
    function_around: "tuple[str, str]"
    call: str
    # Statements whose errors stop the compiler early, by stage from the earliest.
    stages: "tuple[str, ...]" = ()
    # What may stand at the end of a line behind an item.
    tails: str = ";,"


def kinds(words: str) -> "frozenset[str]":
    return frozenset(words.split())


RUST = Grammar(
    name="rust",
    module="tree_sitter_rust",
    function="language",
    extension="rs",
    items=kinds("function_item struct_item enum_item trait_item impl_item const_item static_item type_item"),
    containers=kinds("impl_item trait_item"),
    member_lists=kinds("declaration_list"),
    members=kinds("function_item const_item function_signature_item"),
    functions=kinds("function_item"),
    blocks=kinds("block"),
    statements=kinds("let_declaration expression_statement"),
    names=kinds("identifier type_identifier field_identifier shorthand_field_identifier"),
    prefixes=kinds("attribute_item"),
    argument_lists=kinds("arguments parameters"),
    comment="//",
    wrong=("undefined_N();", "let _ = undefined_N;", 'let added_N: u8 = "a";', "let added_N = 1_u8 + undefined_N;"),
    right="let _ = N_u8;",
    around=("if 1 < 2 {", "}"),
    module_around=("mod inner_N {", "}"),
    function_around=("fn extracted_N() {", "}"),
    call="extracted_N();",
    stages=(
        "let _ = ;",
        "use_of_nothing_N();",
        'let added_N: u8 = "a"; drop(added_N);',
        "let moved_N = String::new(); drop(moved_N); drop(moved_N);",
    ),
)
TYPESCRIPT = Grammar(
    name="typescript",
    module="tree_sitter_typescript",
    function="language_typescript",
    extension="ts",
    items=kinds(
        "function_declaration class_declaration interface_declaration type_alias_declaration enum_declaration "
        "lexical_declaration export_statement abstract_class_declaration"
    ),
    containers=kinds("class_declaration abstract_class_declaration"),
    member_lists=kinds("class_body"),
    members=kinds("method_definition public_field_definition"),
    functions=kinds("function_declaration method_definition"),
    blocks=kinds("statement_block"),
    statements=kinds(
        "lexical_declaration expression_statement if_statement for_statement for_in_statement variable_declaration"
    ),
    names=kinds(
        "identifier type_identifier property_identifier shorthand_property_identifier shorthand_property_identifier_pattern"
    ),
    prefixes=kinds("decorator"),
    argument_lists=kinds("arguments formal_parameters"),
    comment="//",
    wrong=("undefinedN();", "const addedN: number = 'a';", "let addedN = undefinedN + 1;", "Math.undefinedN(1);"),
    right="console.log(N);",
    around=("if (Date.now() > 1) {", "}"),
    module_around=("namespace InnerN {", "}"),
    function_around=("function extractedN() {", "}"),
    call="extractedN();",
)
GO = Grammar(
    name="go",
    module="tree_sitter_go",
    function="language",
    extension="go",
    items=kinds("function_declaration method_declaration type_declaration const_declaration var_declaration"),
    containers=kinds(""),
    member_lists=kinds(""),
    members=kinds(""),
    functions=kinds("function_declaration method_declaration"),
    blocks=kinds("statement_list"),
    statements=kinds(
        "expression_statement short_var_declaration assignment_statement if_statement for_statement var_declaration "
        "inc_statement defer_statement"
    ),
    names=kinds("identifier type_identifier field_identifier"),
    prefixes=kinds(""),
    argument_lists=kinds("argument_list"),
    comment="//",
    wrong=("undefinedN()", "_ = undefinedN", 'var addedN int = "a"; _ = addedN', "addedN := N"),
    right="println(N)",
    around=("if 1 < 2 {", "}"),
    module_around=("", ""),
    function_around=("func extractedN() {", "}"),
    call="extractedN()",
    stages=("_ = ;", "useOfNothingN()"),
)
CPP = Grammar(
    name="cpp",
    module="tree_sitter_cpp",
    function="language",
    extension="cpp",
    items=kinds(
        "function_definition class_specifier struct_specifier enum_specifier template_declaration declaration "
        "type_definition alias_declaration"
    ),
    containers=kinds("class_specifier struct_specifier namespace_definition"),
    member_lists=kinds("field_declaration_list declaration_list"),
    members=kinds("function_definition field_declaration template_declaration declaration"),
    functions=kinds("function_definition"),
    blocks=kinds("compound_statement"),
    statements=kinds("expression_statement declaration if_statement for_statement while_statement"),
    names=kinds("identifier type_identifier field_identifier namespace_identifier"),
    prefixes=kinds("attribute_declaration"),
    argument_lists=kinds("argument_list parameter_list"),
    comment="//",
    wrong=("undefined_N();", 'int added_N = "a";', "int added_N = undefined_N;", "(void)undefined_N;"),
    right="(void)N;",
    around=("if (1 < 2) {", "}"),
    module_around=("namespace inner_N {", "}"),
    function_around=("static void extracted_N() {", "}"),
    call="extracted_N();",
)
LUA = Grammar(
    name="lua",
    module="tree_sitter_lua",
    function="language",
    extension="lua",
    items=kinds("function_declaration"),
    containers=kinds(""),
    member_lists=kinds(""),
    members=kinds(""),
    functions=kinds("function_declaration"),
    blocks=kinds("block"),
    statements=kinds("variable_declaration assignment_statement function_call if_statement for_statement while_statement"),
    names=kinds("identifier"),
    prefixes=kinds(""),
    argument_lists=kinds("arguments"),
    comment="--",
    wrong=("undefinedN()", "local addedN = undefinedN", "local addedN = N", "addedN = N"),
    right="print(N)",
    around=("if 1 < 2 then", "end"),
    module_around=("", ""),
    function_around=("local function extractedN()", "end"),
    call="extractedN()",
)
GRAMMARS = {grammar.name: grammar for grammar in (RUST, TYPESCRIPT, GO, CPP, LUA)}


@functools.lru_cache(maxsize=None)
def parser(grammar: Grammar) -> tree_sitter.Parser:
    language = getattr(importlib.import_module(grammar.module), grammar.function)()
    return tree_sitter.Parser(tree_sitter.Language(language))


def parse(grammar: Grammar, string: str) -> tree_sitter.Node:
    return parser(grammar).parse(string.encode()).root_node


def walk(node: tree_sitter.Node) -> "typing.Iterator[tree_sitter.Node]":
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        stack.extend(reversed(at.children))
