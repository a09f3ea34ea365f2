; Finds what only JavaScript hides: an assignment anywhere can make a member.
(assignment_expression left: (member_expression)) @result
; A function that reads them takes any number of arguments.
((identifier) @result (#eq? @result "arguments"))
(_ parameters: (formal_parameters (identifier) @own)) @scope
(arrow_function parameter: (identifier) @own) @scope
((comment) @names (#match? @names "@(typedef|callback)\\b"))
((comment) @comment (#match? @comment "^//"))
