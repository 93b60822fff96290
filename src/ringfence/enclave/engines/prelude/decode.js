// The value table (docs/values.md) in this language, the other way: values of the host as JSON text with tags beside it,
// and what a script gets for them. The host is trusted to send tags that fit.
//
// Integers that no number says exactly become BigInt, dates with an offset Date, bytes Uint8Array; the other kinds stay
// text. `bridge.js` reads answers and data of `globals`, `main.js` inputs and variables.

const INTEGER = /^-?\d+$/;
const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/;
const LEAST_LONG = 16; // digits of the shortest integer that a number may not say exactly

function holds(pattern, text) {
  return apply(regExpExec, pattern, [text]) !== null;
}

// JSON text of the host's; integers that no number says exactly become BigInt
function parseAnswer(text) {
  return hasLongInteger(text) ? parse(text, exactly) : parse(text);
}

function exactly(key, value, context) {
  const isLong = typeof value === "number" && !isSafeInteger(value) && holds(INTEGER, context.source);
  return isLong ? BigIntC(context.source) : value;
}

// Whether JSON text could hold an integer of so many digits. A run of as many has one at a sixteenth place, and another
// eight places from there: looking at these only takes half of a pattern's time.
function hasLongInteger(text) {
  const { length } = text;
  let judged = -1; // digit of the last run that was looked at
  for (let i = LEAST_LONG - 1; i < length; i += LEAST_LONG) {
    const code = stringCharCodeAt(text, i);
    if (code > 57 || code < 48) continue; // as `isDigitAt` says it, at half the price
    if (!isDigitAt(text, i - 8) && !isDigitAt(text, i + 8)) continue;
    let from = i;
    while (from - 1 !== judged && isDigitAt(text, from - 1)) from--;
    const isNew = from - 1 !== judged || from === 0;
    judged = i;
    // digits of a fraction follow a point, those of a text mostly a quotation mark or a letter
    if (!isNew || !(from === 0 || stringIncludes(":,[- ", text[from - 1]))) continue;
    while (i - from + 1 < LEAST_LONG && isDigitAt(text, i + 1)) i++;
    if (i - from + 1 >= LEAST_LONG) return true;
    judged = i;
  }
  return false;
}

function isDigitAt(text, at) {
  const code = stringCharCodeAt(text, at);
  return code >= 48 && code <= 57;
}

// The value with what its tags name restored, in place; kinds that this language lacks keep their text.
function decode(value, tags) {
  const root = [value];
  restoreAll(root, tags.datetime, restoredDate);
  restoreAll(root, tags.bytes, restoredBytes);
  return root[0];
}

function restoreAll(root, paths, restored) {
  if (paths === undefined) return;
  for (let i = 0; i < paths.length; i++) {
    let holder = root;
    let key = 0;
    for (let j = 0; j < paths[i].length; j++) {
      holder = holder[key];
      key = paths[i][j];
    }
    holder[key] = restored(holder[key]);
  }
}

// without an offset it is no point in time, and stays text
function restoredDate(text) {
  if (!holds(OFFSET, text)) return text;
  const date = new DateC(text);
  return dateGetTime(date) === dateGetTime(date) ? date : text;
}

function restoredBytes(text) {
  return apply(uint8FromBase64, Uint8ArrayC, [text, BASE64]);
}

// The same data, whose lists and objects cannot be changed. Dates and bytes can, which the language does not freeze;
// they are this script's own.
function deepFreeze(value) {
  if (typeof value !== "object" || value === null || typedArrayTag(value) !== undefined) return value;
  const members = values(value);
  for (let i = 0; i < members.length; i++) deepFreeze(members[i]);
  return freeze(value);
}
