-- The files and commands of a project are read from its folder.
DROP TABLE project_files;
DROP TABLE project_commands;
