// How what `inspect` shows of a value is written: names and text in quotes, and lists that fit into a line or do not.
//
// The widths and the shape of columns are those that Node.js prints, which is what models expect to read back. Pure:
// text and numbers in, text out. Only `inspect.js` and `console.js` call it.

const LINE_WIDTH = 80;
const ROW_WIDTH = 72; // what fits into one row, with the braces and some air
const INNER_LEVELS = 3; // so many levels may share a row
const MOST_COLUMNS = 15;
const LONG_LIST = 6; // longer ones are set in columns

const ESCAPES = { __proto__: null, 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };

// text as a literal: in the first kind of quotes that needs no escape
function quoted(text) {
  let quote = "'";
  if (stringIncludes(text, "'")) {
    if (!stringIncludes(text, '"')) quote = '"';
    else if (!stringIncludes(text, "`") && !stringIncludes(text, "${")) quote = "`";
  }
  if (regExpMatch(PLAIN_TEXT, text) !== null) return arrayJoin([quote, text, quote], "");
  const parts = [quote];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const escape = escaped(text, i, quote);
    if (escape === "") continue;
    parts[parts.length] = stringSlice(text, from, i);
    parts[parts.length] = escape;
    from = i + 1;
  }
  parts[parts.length] = stringSlice(text, from);
  parts[parts.length] = quote;
  return arrayJoin(parts, "");
}

const PLAIN_TEXT = /^[ !#-&(-[\]-_a-~\xA0-\uD7FF\uE000-\uFFFF]*$/;

// what stands for one code unit inside quotes; empty: itself
function escaped(text, at, quote) {
  const code = stringCharCodeAt(text, at);
  if (code === 92 || (code < 32 && ESCAPES[code] !== undefined)) return ESCAPES[code];
  if (code < 32 || (code >= 127 && code < 160))
    return `\\x${stringPadStart(stringToUpperCase(numberToString(code, 16)), 2, "0")}`;
  if (code === 39) return quote === "'" ? "\\'" : "";
  if (code < 0xd800 || code > 0xdfff) return "";
  const lead = code < 0xdc00;
  const other = stringCharCodeAt(text, lead ? at + 1 : at - 1);
  const paired = lead ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
  return paired ? "" : `\\u${numberToString(code, 16)}`;
}

const PLAIN_NAME = /^[a-zA-Z_][a-zA-Z_0-9]*$/;

// name of a member
function memberName(key, isEnumerable) {
  if (typeof key === "symbol") return `[${symbolText(key)}]`;
  if (!isEnumerable) return `[${key}]`;
  if (key === "__proto__") return "['__proto__']";
  return regExpMatch(PLAIN_NAME, key) !== null ? key : quoted(key);
}

function symbolText(symbol) {
  return symbolToString(symbol);
}

function spaces(count) {
  return stringRepeat(" ", count);
}

// columns of a terminal that a text takes: two for wide East Asian characters and emoji, none for marks
function widthOf(text) {
  if (regExpMatch(NARROW_TEXT, text) !== null) return text.length;
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    const code = stringCodePointAt(text, i);
    if (code > 0xffff) i++;
    width += isMark(code) ? 0 : isWide(code) ? 2 : 1;
  }
  return width;
}

const NARROW_TEXT = /^[ -~\xA0-\u02FF]*$/;

function isMark(code) {
  return (code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || (code >= 0xfe00 && code <= 0xfe0f);
}

function isWide(code) {
  if (code < 0x1100) return false;
  if (code <= 0x115f || (code >= 0x2e80 && code <= 0xa4cf && code !== 0x303f)) return true;
  if ((code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff)) return true;
  if ((code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) || (code >= 0xffe0 && code <= 0xffe6)) {
    return true;
  }
  return (
    (code >= 0x1f300 && code <= 0x1f64f) || (code >= 0x1f900 && code <= 0x1f9ff) || (code >= 0x20000 && code <= 0x3fffd)
  );
}

// One value's parts between its braces, in a row where they fit, else a line each.
// `form`: { base, open, close, isList, isNumeric, hasMore }; `inner`: levels below this one that the parts show
function arranged(parts, form, indent, inner, width) {
  const { base, open, close } = form;
  const head = base === "" ? open : `${base} ${open}`;
  const count = parts.length;
  const lines = form.isList && count > LONG_LIST ? inColumns(parts, form, indent, width) : parts;
  if (inner < INNER_LEVELS && lines.length === count && fits(lines, open, base, indent, width)) {
    const row = arrayJoin(lines, ", ");
    if (!stringIncludes(row, "\n")) return arrayJoin([head, " ", row, " ", close], "");
  }
  const line = `\n${spaces(indent)}`;
  return arrayJoin([head, line, "  ", arrayJoin(lines, `,${line}  `), line, close], "");
}

function fits(parts, open, base, indent, width) {
  if (stringIncludes(base, "\n")) return false;
  const air = LINE_WIDTH - ROW_WIDTH + 2;
  let total = parts.length * 2 + indent + open.length + base.length + air;
  for (let i = 0; i < parts.length && total <= width; i++) total += parts[i].length;
  return total <= width;
}

// Many short items: as many in a line as look like a block two and a half times as wide as high
function inColumns(parts, form, indent, width) {
  const count = form.hasMore ? parts.length - 1 : parts.length; // without "... more items"
  const widths = [];
  let total = 0;
  let widest = 0;
  for (let i = 0; i < count; i++) {
    widths[i] = widthOf(parts[i]);
    total += widths[i] + 2;
    if (widths[i] > widest) widest = widths[i];
  }
  const cell = widest + 2;
  if (cell * 3 + indent >= width || (total / cell <= 5 && widest > 6)) return parts;
  const bias = max(cell - 3 - sqrt(cell - total / parts.length), 1);
  const columns = min(
    round(sqrt(2.5 * bias * count) / bias),
    floor((width - indent) / cell),
    INNER_LEVELS * 4,
    MOST_COLUMNS,
  );
  if (columns <= 1) return parts;
  const lines = rows(parts, widths, count, columns, form.isNumeric);
  if (form.hasMore) lines[lines.length] = parts[count];
  return lines;
}

// numbers stand to the right of their column, everything else to the left
function rows(parts, widths, count, columns, isNumeric) {
  const columnWidths = [];
  for (let column = 0; column < columns; column++) {
    let widest = 0;
    for (let i = column; i < count; i += columns) if (widths[i] > widest) widest = widths[i];
    columnWidths[column] = widest;
  }
  const lines = [];
  for (let start = 0; start < count; start += columns) {
    const end = min(start + columns, count);
    const cells = [];
    for (let i = start; i < end; i++) {
      const pad = spaces(columnWidths[i - start] - widths[i]);
      const comma = i < end - 1 ? ", " : "";
      if (isNumeric) cells[i - start] = arrayJoin([pad, parts[i], comma], "");
      else cells[i - start] = comma === "" ? parts[i] : arrayJoin([parts[i], comma, pad], "");
    }
    lines[lines.length] = arrayJoin(cells, "");
  }
  return lines;
}
