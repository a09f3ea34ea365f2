// Checks or mends the layout of Lua files: node lua_layout.cjs STYLUA_FOLDER CONFIG [--write] FILES
'use strict';

const fs = require('fs');
const path = require('path');

const [folder, configFile, ...rest] = process.argv.slice(2);
const stylua = require(path.join(folder, 'node_modules', '@johnnymorganz', 'stylua'));
const write = rest[0] === '--write';
const files = write ? rest.slice(1) : rest;

const enums = {
  call_parentheses: stylua.CallParenType,
  collapse_simple_statement: stylua.CollapseSimpleStatement,
  indent_type: stylua.IndentType,
  line_endings: stylua.LineEndings,
  quote_style: stylua.QuoteStyle,
  syntax: stylua.LuaVersion,
};
const numbers = ['column_width', 'indent_width'];

function configuration() {
  const config = stylua.Config.new();
  for (const line of fs.readFileSync(configFile, 'utf8').split('\n')) {
    const found = line.match(/^\s*(\w+)\s*=\s*"?(\w+)"?\s*$/);
    if (!found) {
      continue;
    }
    const [, key, value] = found;
    if (numbers.includes(key)) {
      config[key] = Number(value);
    } else if (enums[key] && value in enums[key]) {
      config[key] = enums[key][value];
    } else {
      throw new Error(`${configFile}: ${key} = ${value} is not understood`);
    }
  }
  return config;
}

let bad = 0;
for (const file of files) {
  const before = fs.readFileSync(file, 'utf8');
  let after;
  try {
    // The configuration is consumed by the call.
    after = stylua.formatCode(before, configuration(), undefined, stylua.OutputVerification.None);
  } catch (error) {
    console.error(`${file}: ${error}`);
    bad += 1;
    continue;
  }
  if (after === before) {
    continue;
  }
  if (write) {
    fs.writeFileSync(file, after);
    console.log(`${file}: laid out`);
    continue;
  }
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  const line = old.findIndex((text, i) => text !== fresh[i]);
  console.error(`${file}:${line + 1}: should read: ${fresh[line]}`);
  bad += 1;
}
if (bad) {
  console.error(`${bad} Lua files are not in order; make fmt mends the layout`);
  process.exit(1);
}
