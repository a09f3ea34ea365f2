; Finds the sections of Markdown by their headings.
(section (atx_heading heading_content: (_) @name)) @section
(section (setext_heading heading_content: (_) @name)) @section
