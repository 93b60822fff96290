// `console` as scripts find it, and the run's output: text that is collected until a frame takes it to the host.
//
// Every method prints to the same output, since the host has one. What is printed has a limit in bytes; beyond it the
// run ends (`overflow` in `main.js`). Formats as Node.js does, through `inspect.js`, with the script's clock.

const MAX_GROUPS = 40;
const MAX_PIECE = 1 << 18; // characters of a print frame
const MAX_COLUMNS = 50;
const MAX_ROWS = 1000;
const CELL_ITEMS = 3;

const printed = []; // what no frame has taken yet
let outputRoom = 0; // bytes that may still be printed
let isFull = false;
let indentation = "";
const counts = new MapC();
const timers = new MapC();

function beginConsole({ maxOutput }) {
  outputRoom = maxOutput;
}

// Collect text. Of what exceeds the limit only as much is kept as shows the host that it does.
function print(text) {
  if (isFull) return;
  const size = byteLength(text);
  outputRoom -= size;
  if (outputRoom >= 0) {
    printed[printed.length] = text;
    return;
  }
  isFull = true;
  printed[printed.length] = stringSlice(text, 0, charactersWithin(text, outputRoom + size + 1));
  overflow();
}

// The text since the last time, in pieces that are whole Unicode text
function takeOutput() {
  if (printed.length === 0) return [];
  const text = stringToWellFormed(arrayJoin(printed, ""));
  printed.length = 0;
  const pieces = [];
  for (let at = 0; at < text.length;) {
    let end = min(at + MAX_PIECE, text.length);
    const code = stringCharCodeAt(text, end - 1);
    if (code >= 0xd800 && code < 0xdc00) end--; // the other half of a pair comes next
    pieces[pieces.length] = stringSlice(text, at, end);
    at = end;
  }
  return pieces;
}

const ASCII_TEXT = /^[\0-\x7f]*$/;

// bytes of UTF-8; a lone surrogate becomes U+FFFD, which has three
function byteLength(text) {
  if (regExpMatch(ASCII_TEXT, text) !== null) return text.length;
  let size = 0;
  for (let i = 0; i < text.length; i++) {
    const code = stringCodePointAt(text, i);
    size += bytesOf(code);
    if (code > 0xffff) i++;
  }
  return size;
}

function bytesOf(code) {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

// the least number of characters that has so many bytes
function charactersWithin(text, bytes) {
  let at = 0;
  for (let size = 0; at < text.length && size < bytes; at++) {
    const code = stringCodePointAt(text, at);
    size += bytesOf(code);
    if (code > 0xffff) at++;
  }
  return at;
}

function printLine(text) {
  const indented =
    indentation === "" ? text : arrayJoin([indentation, arrayJoin(stringSplit(text, "\n"), `\n${indentation}`)], "");
  print(arrayJoin([indented, "\n"], ""));
}

// Arguments to text

function formatted(args) {
  const parts = [];
  let next = 0;
  if (args.length > 1 && typeof args[0] === "string" && stringIncludes(args[0], "%")) {
    const filled = fillTemplate(args);
    parts[0] = filled.text;
    next = filled.used;
  }
  for (; next < args.length; next++) parts[parts.length] = topLevel(args[next]);
  return arrayJoin(parts, " ");
}

function topLevel(value) {
  return typeof value === "string" ? value : inspect(value);
}

// `%s` and its like in the first argument, filled with those that follow while there are any
function fillTemplate(args) {
  const template = args[0];
  const parts = [];
  let used = 1;
  let from = 0;
  for (
    let at = stringIndexOf(template, "%");
    at >= 0 && at < template.length - 1;
    at = stringIndexOf(template, "%", at)
  ) {
    const letter = template[at + 1];
    const fill = FILLS[letter];
    if (letter === "%" || (fill !== undefined && used < args.length)) {
      parts[parts.length] = stringSlice(template, from, at);
      parts[parts.length] = letter === "%" ? "%" : fill(args[used++]);
      from = at + 2;
    }
    at += 2;
  }
  parts[parts.length] = stringSlice(template, from);
  return { __proto__: null, text: arrayJoin(parts, ""), used };
}

const FILLS = {
  __proto__: null,
  s: (value) => (typeof value === "string" ? value : inspect(value, 0)),
  d: (value) => asNumber(value, (plain) => +plain),
  i: (value) => asNumber(value, (plain) => parseIntC(plain)),
  f: (value) => (typeof value === "symbol" || isObject(value) ? "NaN" : shownNumber(parseFloatC(value))),
  j: asJson,
  o: (value) => inspect(value, 4),
  O: (value) => inspect(value),
  c: () => "", // a style, which text has none of
};

// objects are no numbers here: asking them would run code of the script
function asNumber(value, convert) {
  if (typeof value === "bigint") return shownBigInt(value);
  return typeof value === "symbol" || isObject(value) ? "NaN" : shownNumber(convert(value));
}

function isObject(value) {
  return typeof value === "function" || (typeof value === "object" && value !== null);
}

// runs `toJSON` and getters, as the script asks
function asJson(value) {
  try {
    const text = stringify(value);
    return text === undefined ? "undefined" : text;
  } catch {
    return inspect(value);
  }
}

function prepended(first, list) {
  const all = [first];
  for (let i = 0; i < list.length; i++) all[i + 1] = list[i];
  return all;
}

// Tables

// members whose text makes a row of cells
function cell(value) {
  const isLarge =
    typeof value === "object" && value !== null && !isArray(value) && keysOf(value, kindOf(value)).length > 2;
  return inspect(value, isLarge ? -1 : 0, Infinity, CELL_ITEMS);
}

function safeCell(value) {
  try {
    return cell(value);
  } catch {
    return UNREADABLE; // a trap of the script's Proxy raised
  }
}

function tableOf(data, chosen) {
  const table = { __proto__: null, head: "(index)", rows: [], columns: [], values: [], hasValues: false };
  table.at = new MapC(); // name of a column to its place
  if (isArray(chosen)) for (let i = 0; i < chosen.length; i++) columnAt(table, `${chosen[i]}`);
  table.isOpen = !isArray(chosen);
  const kind = kindOf(data);
  if (kind === "Map" || kind === "Set") addEntries(table, data, kind);
  else {
    const names = keys(data);
    for (let i = 0; i < names.length && i < MAX_ROWS; i++) addRow(table, names[i], dataOf(data, names[i]));
  }
  return table;
}

function addEntries(table, data, kind) {
  table.head = "(iteration index)";
  table.isOpen = false;
  const isMap = kind === "Map";
  const entries = isMap ? mapEntries(data) : setValues(data);
  for (let i = 0; i < MAX_ROWS; i++) {
    const { value, done } = isMap ? mapIteratorNext(entries) : setIteratorNext(entries);
    if (done) break;
    const row = startRow(table, `${i}`);
    if (isMap) row[columnAt(table, "Key")] = safeCell(value[0]);
    table.values[table.rows.length - 1] = safeCell(isMap ? value[1] : value);
    table.hasValues = true;
  }
}

function startRow(table, name) {
  const row = [];
  table.rows[table.rows.length] = { __proto__: null, name, row };
  return row;
}

function addRow(table, name, item) {
  const row = startRow(table, name);
  if (!isObject(item) || typeof item === "function") {
    table.values[table.rows.length - 1] = safeCell(item);
    table.hasValues = true;
    return;
  }
  const names = keys(item);
  for (let i = 0; i < names.length; i++) {
    const at = table.isOpen ? columnAt(table, names[i]) : mapGet(table.at, names[i]);
    if (at !== undefined) row[at] = safeCell(dataOf(item, names[i]));
  }
}

function columnAt(table, name) {
  let at = mapGet(table.at, name);
  if (at === undefined && table.columns.length < MAX_COLUMNS) {
    at = table.columns.length;
    table.columns[at] = name;
    mapSet(table.at, name, at);
  }
  return at;
}

function tableText(table) {
  const lines = [prepended(table.head, table.columns)];
  const count = table.columns.length + 1;
  if (table.hasValues) lines[0][count] = "Values";
  for (let i = 0; i < table.rows.length; i++) {
    const { name, row } = table.rows[i];
    const line = [name];
    for (let column = 1; column < count; column++) line[column] = row[column - 1] ?? "";
    if (table.hasValues) line[count] = table.values[i] ?? "";
    lines[i + 1] = line;
  }
  const widths = [];
  for (let column = 0; column < lines[0].length; column++) {
    widths[column] = 0;
    for (let i = 0; i < lines.length; i++) widths[column] = max(widths[column], widthOf(lines[i][column]) + 2);
  }
  const text = [rule(widths, "┌", "┬", "┐"), tableLine(lines[0], widths), rule(widths, "├", "┼", "┤")];
  for (let i = 1; i < lines.length; i++) text[text.length] = tableLine(lines[i], widths);
  text[text.length] = rule(widths, "└", "┴", "┘");
  return arrayJoin(text, "\n");
}

function rule(widths, left, middle, right) {
  const parts = [];
  for (let i = 0; i < widths.length; i++) parts[i] = stringRepeat("─", widths[i]);
  return arrayJoin([left, arrayJoin(parts, middle), right], "");
}

function tableLine(line, widths) {
  const parts = [];
  for (let i = 0; i < line.length; i++) parts[i] = ` ${line[i]}${spaces(widths[i] - widthOf(line[i]) - 1)}`;
  return arrayJoin(["│", arrayJoin(parts, "│"), "│"], "");
}

// Labels of counters and timers

function labelOf(label) {
  return typeof label === "string" ? label : inspect(label);
}

function elapsed(label, what) {
  const since = mapGet(timers, label);
  if (since === undefined) {
    printLine(`Warning: No such label '${label}' for console.${what}()`);
    return null;
  }
  const milliseconds = monotonic() - since;
  if (milliseconds < 1000) return `${label}: ${roundedTo(milliseconds, 3)}ms`;
  return `${label}: ${numberToFixed(milliseconds / 1000, 3)}s`;
}

function roundedTo(value, digits) {
  return numberToString(+numberToFixed(value, digits));
}

// The object. Methods need no `this`, so that scripts may pass them on.

const consoleMethods = {
  log: (...args) => printLine(formatted(args)),
  info: (...args) => printLine(formatted(args)),
  debug: (...args) => printLine(formatted(args)),
  warn: (...args) => printLine(formatted(args)),
  error: (...args) => printLine(formatted(args)),
  trace: (...args) => {
    const head = args.length === 0 ? "Trace" : `Trace: ${formatted(args)}`;
    printLine(arrayJoin([head, "\n", scriptLines(new ErrorC("").stack)], ""));
  },
  dir: (value, options = undefined) => printLine(inspect(value, depthOf(options))),
  dirxml: (...args) => printLine(formatted(args)),
  table: (data = undefined, columns = undefined) => printLine(tableTextOf(data, columns)),
  assert: (condition = false, ...args) => {
    if (condition) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args = prepended("Assertion failed", args);
    printLine(formatted(args));
  },
  count: (label = "default") => {
    const name = labelOf(label);
    const count = (mapGet(counts, name) ?? 0) + 1;
    mapSet(counts, name, count);
    printLine(`${name}: ${count}`);
  },
  countReset: (label = "default") => {
    mapDelete(counts, labelOf(label));
  },
  group: (...args) => {
    if (args.length > 0) printLine(formatted(args));
    if (indentation.length < MAX_GROUPS * 2) indentation = `${indentation}  `;
  },
  groupCollapsed: (...args) => apply(consoleMethods.group, undefined, args),
  groupEnd: () => {
    indentation = stringSlice(indentation, 2);
  },
  time: (label = "default") => {
    mapSet(timers, labelOf(label), monotonic());
  },
  timeLog: (label = "default", ...args) => {
    const text = elapsed(labelOf(label), "timeLog");
    if (text !== null) printLine(formatted(prepended(text, args)));
  },
  timeEnd: (label = "default") => {
    const text = elapsed(labelOf(label), "timeEnd");
    if (text !== null) printLine(text);
    mapDelete(timers, labelOf(label));
  },
};

function depthOf(options) {
  if (typeof options !== "object" || options === null) return DEPTH;
  const depth = dataOf(options, "depth");
  if (depth === null) return MAX_DEPTH;
  return typeof depth === "number" && depth === depth ? depth : DEPTH;
}

function tableTextOf(data, columns) {
  if (!isObject(data) || typeof data === "function") return topLevel(data);
  try {
    return tableText(tableOf(data, columns));
  } catch {
    return inspect(data); // a trap of the script's Proxy raised
  }
}

defineProperty(consoleMethods, toStringTag, { __proto__: null, value: "console" });
const consoleObject = freeze(consoleMethods);
