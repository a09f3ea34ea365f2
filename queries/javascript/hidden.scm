; Finds what only JavaScript hides: an assignment anywhere can make a member.
(assignment_expression left: (member_expression)) @result
(formal_parameters (identifier) @own)
(arrow_function parameter: (identifier) @own)
((comment) @comment (#match? @comment "^//"))
