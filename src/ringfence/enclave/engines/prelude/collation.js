// The order of texts as English dictionaries have it: what `localeCompare` gives.
//
// The engine compares code units, which puts "Zoe" before "adam" and "é" behind "z". Here the order is that of the
// Unicode collation as far as Latin script goes: spaces, punctuation, symbols, digits, letters; then accents; then
// small letters before capitals. Other scripts follow by code point. Reads options as `numerals.js` does.

const ORDER = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";
const WEIGHTS = new Uint8ArrayC(128); // of ASCII; 0: does not count
for (let i = 0; i < ORDER.length; i++) {
  WEIGHTS[ORDER.charCodeAt(i)] = i + 1;
  WEIGHTS[ORDER[i].toUpperCase().charCodeAt(0)] = i + 1;
}
const SYMBOLS = WEIGHTS[36]; // symbols that are not ASCII follow the last that is
const ZERO = WEIGHTS[48];
const NINE = WEIGHTS[57];
const Z = WEIGHTS[122];
// letters that stand for others with a mark
const SPELLINGS = { __proto__: null, ß: "ss", æ: "ae", œ: "oe", ø: "o\u0338", đ: "d\u0335", ł: "l\u0335", ı: "i" };
const SPELLED = /[ßæœøđłı]/iu;

const SENSITIVITIES = ["base", "accent", "case", "variant"];
const UNKNOWN_ORDER_OPTIONS = ["ignorePunctuation"];

function compareTexts(first, second, sensitivity, isNumeric) {
  if (first === second) return 0;
  const order = comparePlain(first, second, sensitivity === "case" || sensitivity === "variant", isNumeric);
  return order ?? compareElements(elementsOf(first), elementsOf(second), sensitivity, isNumeric);
}

// ASCII: without making anything, since sorting compares often. Null: one of the texts is not, where it would count.
function comparePlain(first, second, byCase, isNumeric) {
  const size = first.length;
  const otherSize = second.length;
  let byCapital = 0;
  let i = 0;
  let j = 0;
  while (i < size && j < otherSize) {
    const code = stringCharCodeAt(first, i);
    const other = stringCharCodeAt(second, j);
    if (code > 127 || other > 127) return null;
    const weight = WEIGHTS[code];
    const otherWeight = WEIGHTS[other];
    if (weight === 0) i++;
    else if (otherWeight === 0) j++;
    else if (isNumeric && isDigit(weight) && isDigit(otherWeight)) {
      const end = digitsEnd(first, i);
      const otherEnd = digitsEnd(second, j);
      const order = compareNumbers(stringSlice(first, i, end), stringSlice(second, j, otherEnd));
      if (order !== 0) return order;
      i = end;
      j = otherEnd;
    } else {
      if (weight !== otherWeight) return weight < otherWeight ? -1 : 1;
      if (byCapital === 0 && code !== other) byCapital = code > other ? -1 : 1; // capitals have the smaller codes
      i++;
      j++;
    }
  }
  if (!isAscii(first, i) || !isAscii(second, j)) return null;
  return restOrder(first, i, 1) || restOrder(second, j, -1) || (byCase ? byCapital : 0);
}

// a text that goes on where the other has ended comes second
function restOrder(text, from, order) {
  for (let i = from; i < text.length; i++) if (WEIGHTS[stringCharCodeAt(text, i)] !== 0) return order;
  return 0;
}

function isAscii(text, from) {
  for (let i = from; i < text.length; i++) if (stringCharCodeAt(text, i) > 127) return false;
  return true;
}

function isDigit(weight) {
  return weight >= ZERO && weight <= NINE;
}

function digitsEnd(text, from) {
  let end = from;
  while (end < text.length && isDigit(WEIGHTS[stringCharCodeAt(text, end)])) end++;
  return end;
}

function compareNumbers(first, second) {
  const one = withoutZeros(first);
  const other = withoutZeros(second);
  if (one.length !== other.length) return one.length < other.length ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}

function withoutZeros(digits) {
  let from = 0;
  while (from < digits.length - 1 && digits[from] === "0") from++;
  return stringSlice(digits, from);
}

// Any text: a list of characters that count, each with its weight, its marks and its case
function elementsOf(text) {
  const plain = stringNormalize(spelledOut(text), "NFD");
  const elements = [];
  for (let i = 0; i < plain.length; i++) {
    const code = stringCodePointAt(plain, i);
    if (code > 0xffff) i++;
    if (code >= 0x300 && code <= 0x36f) {
      const last = elements[elements.length - 1];
      if (last !== undefined) last.marks = arrayJoin([last.marks, stringFromCodePoint(code)], "");
      continue;
    }
    const weight = weightOf(code);
    if (weight === 0) continue;
    const letter = stringFromCodePoint(code);
    elements[elements.length] = {
      __proto__: null,
      weight,
      marks: "",
      isCapital: stringToLowerCase(letter) !== letter,
      digit: isDigit(weight) ? letter : "",
    };
  }
  return elements;
}

function spelledOut(text) {
  if (regExpMatch(SPELLED, text) === null) return text;
  const parts = [];
  for (let i = 0; i < text.length; i++) {
    const small = stringToLowerCase(text[i]);
    const spelling = SPELLINGS[small];
    parts[i] = spelling === undefined ? text[i] : small === text[i] ? spelling : stringToUpperCase(spelling);
  }
  return arrayJoin(parts, "");
}

function weightOf(code) {
  if (code < 128) return WEIGHTS[code];
  if ((code >= 0x80 && code < 0xa0) || (code >= 0x200b && code <= 0x200f) || code === 0xfeff) return 0;
  if (code === 0xa0) return WEIGHTS[32];
  if (isSymbol(code)) return SYMBOLS + code / 0x200000;
  return Z + stringCodePointAt(stringToLowerCase(stringFromCodePoint(code)), 0);
}

function isSymbol(code) {
  if (code < 0x2000) return code < 0xc0 || code === 0xd7 || code === 0xf7;
  return code < 0x2c00 || (code >= 0x3000 && code < 0x3040) || (code >= 0x1f000 && code < 0x20000);
}

function compareElements(first, second, sensitivity, isNumeric) {
  const byWeight = compareWeights(isNumeric ? withNumbers(first) : first, isNumeric ? withNumbers(second) : second);
  if (byWeight !== 0 || sensitivity === "base") return byWeight;
  const count = min(first.length, second.length);
  if (sensitivity !== "case") {
    for (let i = 0; i < count; i++) {
      if (first[i].marks !== second[i].marks) return first[i].marks < second[i].marks ? -1 : 1;
    }
  }
  if (sensitivity === "accent") return 0;
  for (let i = 0; i < count; i++) {
    if (first[i].isCapital !== second[i].isCapital) return first[i].isCapital ? 1 : -1;
  }
  return 0;
}

function compareWeights(first, second) {
  for (let i = 0; i < first.length && i < second.length; i++) {
    const { weight, digit } = first[i];
    if (digit !== "" && second[i].digit !== "") {
      const order = compareNumbers(digit, second[i].digit);
      if (order !== 0) return order;
    } else if (weight !== second[i].weight) return weight < second[i].weight ? -1 : 1;
  }
  return first.length === second.length ? 0 : first.length < second.length ? -1 : 1;
}

// runs of digits as one element
function withNumbers(elements) {
  const joined = [];
  for (let i = 0; i < elements.length; i++) {
    const last = joined[joined.length - 1];
    if (elements[i].digit === "" || last === undefined || last.digit === "") joined[joined.length] = elements[i];
    else
      joined[joined.length - 1] = { ...last, __proto__: null, digit: arrayJoin([last.digit, elements[i].digit], "") };
  }
  return joined;
}

const stringTexts = {
  localeCompare(that, locales = undefined, options = undefined) {
    if (this === undefined || this === null) throw new TypeErrorC("localeCompare called on null or undefined");
    requireLocale(locales, "localeCompare");
    if (options === undefined) return compareTexts(`${this}`, `${that}`, "variant", false);
    const given = optionsOf(options);
    refuseOptions(given, UNKNOWN_ORDER_OPTIONS);
    choice(given, "caseFirst", ["false", "lower"], "false");
    const sensitivity = choice(given, "sensitivity", SENSITIVITIES, "variant");
    return compareTexts(`${this}`, `${that}`, sensitivity, !!given.numeric);
  },
};

hide(StringC.prototype, "localeCompare", stringTexts.localeCompare);
