; Finds what only JavaScript hides: an assignment anywhere can make a member.
(assignment_expression left: (member_expression)) @result
(_ parameters: (formal_parameters (identifier) @own)) @scope
(arrow_function parameter: (identifier) @own) @scope
((comment) @comment (#match? @comment "^//"))
