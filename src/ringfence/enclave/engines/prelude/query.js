// `URLSearchParams`, as the URL Standard describes it, and the percent-encoding that it shares with `url.js`.
//
// Names and values in order, read from and written to `application/x-www-form-urlencoded` text. Knows nothing of URLs
// but whom to tell of a change.

const FORM_SAFE = /^[a-zA-Z0-9*\-._]*$/;

function percentByte(code) {
  return arrayJoin(["%", stringPadStart(stringToUpperCase(numberToString(code, 16)), 2, "0")], "");
}

// Encode what is not ASCII or a control, and the characters of `unsafe`
function percentEncoded(text, unsafe) {
  const parts = [];
  for (let i = 0; i < text.length; i++) {
    const code = stringCharCodeAt(text, i);
    if (code > 31 && code < 127) {
      parts[parts.length] = stringIncludes(unsafe, text[i]) ? percentByte(code) : text[i];
      continue;
    }
    const wide = stringCodePointAt(text, i);
    const bytes = encodeUtf8(stringFromCodePoint(wide));
    for (let at = 0; at < typedArrayLength(bytes); at++) parts[parts.length] = percentByte(bytes[at]);
    if (wide > 0xffff) i++;
  }
  return arrayJoin(parts, "");
}

const ESCAPED = /%[0-9a-fA-F]{2}/;

function percentDecoded(text) {
  if (regExpMatch(ESCAPED, text) === null) return text;
  const bytes = encodeUtf8(text);
  const size = typedArrayLength(bytes);
  let end = 0;
  for (let i = 0; i < size; i++, end++) {
    const code = bytes[i] === 37 ? hexByte(text, bytes, i) : -1;
    bytes[end] = code < 0 ? bytes[i] : code;
    if (code >= 0) i += 2;
  }
  return decodeUtf8(new Uint8ArrayC(typedArrayBuffer(bytes), 0, end), freshState(), false, true);
}

function hexByte(text, bytes, at) {
  const high = hexDigit(bytes[at + 1]);
  const low = hexDigit(bytes[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code) {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 70) return code - 55;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}

function formDecoded(text) {
  return percentDecoded(arrayJoin(stringSplit(text, "+"), " "));
}

function formEncoded(text) {
  if (regExpMatch(FORM_SAFE, text) !== null) return text;
  return arrayJoin(stringSplit(percentEncoded(text, "!\"#$%&'()+,/:;<=>?@[\\]^`{|}~"), " "), "+");
}

// [[name, value], …] of text without its question mark
function parseQuery(text) {
  const pairs = [];
  const parts = stringSplit(text, "&");
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === "") continue;
    const at = stringIndexOf(parts[i], "=");
    const name = at < 0 ? parts[i] : stringSlice(parts[i], 0, at);
    pairs[pairs.length] = [formDecoded(name), at < 0 ? "" : formDecoded(stringSlice(parts[i], at + 1))];
  }
  return pairs;
}

function queryText(pairs) {
  const parts = [];
  for (let i = 0; i < pairs.length; i++) parts[i] = `${formEncoded(pairs[i][0])}=${formEncoded(pairs[i][1])}`;
  return arrayJoin(parts, "&");
}

// what a script may pass to the constructor
function pairsOf(init) {
  if (!isObject(init)) {
    const text = wellFormed(init);
    return parseQuery(text[0] === "?" ? stringSlice(text, 1) : text);
  }
  const pairs = [];
  if (init[iteratorSymbol] === undefined) {
    const names = keys(init);
    for (let i = 0; i < names.length; i++) pairs[i] = [wellFormed(names[i]), wellFormed(init[names[i]])];
    return pairs;
  }
  const given = arrayFrom(init);
  for (let i = 0; i < given.length; i++) {
    const pair = isObject(given[i]) ? arrayFrom(given[i]) : [];
    if (pair.length !== 2) throw new TypeErrorC("URLSearchParams: each pair has a name and a value");
    pairs[i] = [wellFormed(pair[0]), wellFormed(pair[1])];
  }
  return pairs;
}

function wellFormed(value) {
  return stringToWellFormed(`${value}`);
}

class URLSearchParams {
  #pairs;
  #changed = null; // of the URL that these belong to

  constructor(init = "") {
    this.#pairs = init === null ? [] : pairsOf(init);
  }

  // of a URL: `changed` hears the text of every change
  static belonging(text, changed) {
    const made = new URLSearchParams(text);
    made.#changed = changed;
    return made;
  }

  static replace(params, text) {
    params.#pairs = parseQuery(text);
  }

  static pairs(params) {
    return params.#pairs;
  }

  #change(pairs) {
    this.#pairs = pairs;
    if (this.#changed !== null) this.#changed(queryText(pairs));
  }

  // the pairs of a name, or of a name and a value; or all others
  #pick(name, value, wanted) {
    const found = [];
    for (let i = 0; i < this.#pairs.length; i++) {
      const isOne = this.#pairs[i][0] === name && (value === undefined || this.#pairs[i][1] === value);
      if (isOne === wanted) found[found.length] = this.#pairs[i];
    }
    return found;
  }

  get size() {
    return this.#pairs.length;
  }

  append(name, value) {
    this.#pairs[this.#pairs.length] = [wellFormed(name), wellFormed(value)];
    this.#change(this.#pairs);
  }

  delete(name, value = undefined) {
    this.#change(this.#pick(wellFormed(name), value === undefined ? value : wellFormed(value), false));
  }

  get(name) {
    const found = this.#pick(wellFormed(name), undefined, true);
    return found.length === 0 ? null : found[0][1];
  }

  getAll(name) {
    const found = this.#pick(wellFormed(name), undefined, true);
    for (let i = 0; i < found.length; i++) found[i] = found[i][1];
    return found;
  }

  has(name, value = undefined) {
    return this.#pick(wellFormed(name), value === undefined ? value : wellFormed(value), true).length > 0;
  }

  set(name, value) {
    const key = wellFormed(name);
    const text = wellFormed(value);
    const kept = [];
    let isSet = false;
    for (let i = 0; i < this.#pairs.length; i++) {
      if (this.#pairs[i][0] !== key) kept[kept.length] = this.#pairs[i];
      else if (!isSet) {
        kept[kept.length] = [key, text];
        isSet = true;
      }
    }
    if (!isSet) kept[kept.length] = [key, text];
    this.#change(kept);
  }

  sort() {
    const order = (one, other) => (one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0);
    this.#change(arraySort(this.#pairs, order));
  }

  forEach(callback, self = undefined) {
    if (typeof callback !== "function") throw new TypeErrorC("URLSearchParams: forEach takes a function");
    for (let i = 0; i < this.#pairs.length; i++) apply(callback, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
  }

  *entries() {
    for (let i = 0; i < this.#pairs.length; i++) yield [this.#pairs[i][0], this.#pairs[i][1]];
  }

  *keys() {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][0];
  }

  *values() {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][1];
  }

  toString() {
    return queryText(this.#pairs);
  }
}

const { belonging: paramsOf, replace: replaceParams, pairs: pairsIn } = URLSearchParams;
delete URLSearchParams.belonging;
delete URLSearchParams.replace;
delete URLSearchParams.pairs;
hide(URLSearchParams.prototype, iteratorSymbol, URLSearchParams.prototype.entries);
defineProperty(URLSearchParams.prototype, toStringTag, {
  __proto__: null,
  value: "URLSearchParams",
  configurable: true,
});
provide("URLSearchParams", URLSearchParams);

// as Node.js shows them
mapSet(KINDS, URLSearchParams.prototype, "URLSearchParams");
BRANDS.URLSearchParams = pairsIn;
FORMS.URLSearchParams = (form, value, owner) => {
  form.open = `${prefixOf(owner, null, "URLSearchParams", "")} {`;
  form.isBare = pairsIn(value).length === 0;
  form.fill = fillParams;
};

function fillParams(view, value, parts, level) {
  const pairs = pairsIn(value);
  for (let i = 0; i < pairs.length && i < view.items && view.room > 0; i++) {
    parts[i] = within(view, () => `${shown(view, pairs[i][0], level)} => ${shown(view, pairs[i][1], level)}`);
  }
}
