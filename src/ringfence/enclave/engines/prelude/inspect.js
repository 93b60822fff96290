// What a value looks like in print, as Node.js shows it: nested two deep, a hundred items of a list, cycles marked.
//
// Looking runs no code of the script: members are read through their descriptors, methods are the captured ones, and
// only the traps of a Proxy cannot be avoided. Every text is bounded, whatever the value claims to be, and nothing is
// thrown. `console.js` prints with it, `main.js` describes what a script threw. Knows the layout of lines no more than
// `layout.js` tells.

const DEPTH = 2;
const MAX_DEPTH = 60; // also where the script asks for no bound
const MAX_ITEMS = 100;
const MAX_MEMBERS = 1000;
const MAX_STRING = 10000;
const MAX_BYTES_SHOWN = 50;
const MAX_SHOWN = 1 << 18; // characters of one value in all, about
const UNREADABLE = "<cannot be shown>";

function inspect(value, depth = DEPTH, width = LINE_WIDTH, items = MAX_ITEMS) {
  const view = { __proto__: null, depth: min(depth, MAX_DEPTH), width, items, room: MAX_SHOWN };
  view.indent = 0;
  view.deepest = 0; // level of the object that was shown last
  view.parents = [];
  view.circular = null; // objects that hold themselves, to their number
  try {
    return shown(view, value, 0);
  } catch {
    return UNREADABLE; // no stack or memory is left to look at it
  }
}

function shown(view, value, level) {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) {
    const text = shownPrimitive(view, value);
    view.room -= text.length + 2;
    return text;
  }
  for (let i = 0; i < view.parents.length; i++) {
    if (view.parents[i] === value) return `[Circular *${circularNumber(view, value)}]`;
  }
  const { indent } = view;
  const above = view.parents.length;
  let text;
  try {
    text = shownObject(view, value, level);
  } catch {
    text = UNREADABLE; // a trap of the script's Proxy raised
  }
  view.indent = indent;
  view.parents.length = above;
  view.room -= 4;
  return text;
}

function circularNumber(view, value) {
  if (view.circular === null) view.circular = new MapC();
  if (!mapHas(view.circular, value)) mapSet(view.circular, value, mapSize(view.circular) + 1);
  return mapGet(view.circular, value);
}

function shownPrimitive(view, value) {
  if (typeof value === "string") return shownString(view, value);
  if (typeof value === "number") return shownNumber(value);
  if (typeof value === "bigint") return shownBigInt(value);
  if (typeof value === "symbol") return symbolText(value);
  return `${value}`;
}

function shownNumber(value) {
  return value === 0 && 1 / value < 0 ? "-0" : numberToString(value);
}

function shownBigInt(value) {
  return `${bigIntToString(value)}n`;
}

// long text breaks after its own ends of lines
function shownString(view, value) {
  const cut = value.length > MAX_STRING ? value.length - MAX_STRING : 0;
  const text = cut === 0 ? value : stringSlice(value, 0, MAX_STRING);
  const tail = cut === 0 ? "" : `... ${cut} more character${cut > 1 ? "s" : ""}`;
  if (text.length <= 16 || text.length <= view.width - view.indent - 4 || !stringIncludes(text, "\n")) {
    return arrayJoin([quoted(text), tail], "");
  }
  const lines = stringSplit(text, "\n");
  const last = lines.length - 1;
  const parts = [];
  for (let i = 0; i <= last; i++) {
    if (i < last) parts[i] = quoted(`${lines[i]}\n`);
    else if (lines[i] !== "") parts[i] = quoted(lines[i]);
  }
  return arrayJoin([arrayJoin(parts, ` +\n${spaces(view.indent + 2)}`), tail], "");
}

// Objects

function shownObject(view, value, level) {
  const form = formOf(view, value, level);
  const parts = form.isBare && form.keys.length === 0 ? null : [];
  if (parts === null) return form.base === "" ? `${form.open}${form.close}` : form.base;
  if (level > view.depth) return stringStartsWith(form.label, "[") ? form.label : `[${form.label}]`;
  view.deepest = level;
  view.parents[view.parents.length] = value;
  form.fill?.(view, value, parts, level + 1, form);
  addMembers(view, value, parts, level + 1, form);
  if (view.circular !== null && mapHas(view.circular, value)) {
    const mark = `<ref *${mapGet(view.circular, value)}>`;
    if (form.base === "") form.open = `${mark} ${form.open}`;
    else form.base = `${mark} ${form.base}`;
  }
  return arranged(parts, form, view.indent, view.deepest - level, view.width);
}

// How one object is written: text before its braces, the braces, what fills in between, whether nothing would, and
// for lists whether all items are numbers and whether some are left out
function formOf(view, value, level) {
  const kind = kindOf(value);
  const owner = ownerOf(value);
  const form = { __proto__: null, base: "", open: "{", close: "}", isBare: true, isList: false };
  form.isNumeric = false;
  form.hasMore = false;
  form.fill = null;
  form.keys = keysOf(value, kind);
  form.label = prefixOf(owner, tagOf(value, owner), kind === "Array" ? "Array" : "Object", "");
  if (kind !== "Object") {
    FORMS[kind](form, value, owner, view, level);
  } else if (owner !== "Object" || form.label !== "Object") {
    form.open = `${form.label} {`;
  }
  return form;
}

const FORMS = {
  __proto__: null,
  Array(form, value, owner) {
    listForm(form, dataOf(value, "length"), fillArray);
    const prefix = prefixOf(owner, tagOf(value, owner), "Array", `(${form.size})`);
    form.open = owner === "Array" && form.label === "Array" ? "[" : `${prefix} [`;
  },
  Arguments(form, value) {
    listForm(form, dataOf(value, "length"), fillArray);
    form.open = "[Arguments] [";
  },
  TypedArray(form, value, owner) {
    const tag = typedArrayTag(value);
    listForm(form, typedArrayLength(value), fillTypedArray);
    form.open = `${prefixOf(owner, tag, tag, `(${form.size})`)} [`;
    form.isNumeric = true;
  },
  Map(form, value, owner) {
    collectionForm(form, value, owner, "Map", mapSize(value), fillMap);
  },
  Set(form, value, owner) {
    collectionForm(form, value, owner, "Set", setSize(value), fillSet);
  },
  Function(form, value, owner) {
    form.base = functionText(value, owner);
  },
  Error(form, value, owner, view) {
    form.base = errorText(view, value, form, headOfError(value, owner));
  },
  DOMException(form, value, owner, view) {
    form.base = errorText(view, value, form, headOf(domExceptionName(value), domExceptionMessage(value)));
  },
  Date(form, value, owner) {
    const time = dateGetTime(value);
    const text = time === time ? dateToISOString(value) : "Invalid Date";
    form.base = owner === "Date" ? text : `${prefixOf(owner, null, "Date", "")} ${text}`;
  },
  RegExp(form, value, owner) {
    const text = `/${regExpSource(value)}/${regExpFlags(value)}`;
    form.base = owner === "RegExp" ? text : `${prefixOf(owner, null, "RegExp", "")} ${text}`;
  },
  // whether it is settled cannot be seen from outside
  Promise: (form, value, owner) => opaqueForm(form, owner, "Promise", "<not awaited>"),
  WeakMap: (form, value, owner) => opaqueForm(form, owner, "WeakMap", "<items unknown>"),
  WeakSet: (form, value, owner) => opaqueForm(form, owner, "WeakSet", "<items unknown>"),
  ArrayBuffer(form, value, owner) {
    filledForm(form, owner, "ArrayBuffer", fillArrayBuffer);
  },
  DataView(form, value, owner) {
    filledForm(form, owner, "DataView", fillDataView);
  },
  Number: (form, value, owner) => boxedForm(form, owner, "Number", shownNumber(numberValueOf(value))),
  String: (form, value, owner) =>
    boxedForm(form, owner, "String", quoted(stringSlice(stringValueOf(value), 0, MAX_STRING))),
  Boolean: (form, value, owner) => boxedForm(form, owner, "Boolean", `${booleanValueOf(value)}`),
  Symbol: (form, value, owner) => boxedForm(form, owner, "Symbol", symbolText(symbolValueOf(value))),
  BigInt: (form, value, owner) => boxedForm(form, owner, "BigInt", shownBigInt(bigIntValueOf(value))),
};

function listForm(form, size, fill) {
  form.size = typeof size === "number" ? size : 0;
  form.close = "]";
  form.isList = true;
  form.isBare = form.size === 0;
  form.fill = fill;
}

function collectionForm(form, value, owner, kind, size, fill) {
  form.size = size;
  form.open = `${prefixOf(owner, tagOf(value, owner), kind, `(${size})`)} {`;
  form.isBare = size === 0;
  form.fill = fill;
}

function filledForm(form, owner, kind, fill) {
  form.open = `${prefixOf(owner, null, kind, "")} {`;
  form.isBare = false;
  form.fill = fill;
}

function opaqueForm(form, owner, kind, text) {
  filledForm(form, owner, kind, (view, value, parts) => {
    parts[0] = text;
  });
}

function boxedForm(form, owner, kind, text) {
  form.base = owner === kind ? `[${kind}: ${text}]` : `[${kind} (${owner ?? "null prototype"}): ${text}]`;
}

// What is inside

function fillArray(view, value, parts, level, form) {
  let at = 0;
  let present = null; // what is there, once an item is missing
  let next = 0;
  form.isNumeric = true;
  while (at < form.size && parts.length < view.items && view.room > 0) {
    const found = getOwnPropertyDescriptor(value, at);
    if (found !== undefined) {
      if (typeof found.value !== "number" && typeof found.value !== "bigint") form.isNumeric = false;
      parts[parts.length] = within(view, () => shownMember(view, found, level));
      at++;
      continue;
    }
    form.isNumeric = false;
    present ??= keys(value);
    while (next < present.length && isIndex(present[next]) && +present[next] < at) next++;
    const end = next < present.length && isIndex(present[next]) ? min(+present[next], form.size) : form.size;
    const missing = max(end - at, 1);
    parts[parts.length] = `<${missing} empty item${missing > 1 ? "s" : ""}>`;
    at += missing;
  }
  addMore(parts, form, form.size - at);
}

function fillTypedArray(view, value, parts, level, form) {
  let at = 0;
  for (; at < form.size && at < view.items && view.room > 0; at++) parts[at] = shown(view, value[at], level);
  addMore(parts, form, form.size - at);
}

function fillMap(view, value, parts, level, form) {
  const entries = mapEntries(value);
  let at = 0;
  for (; at < form.size && at < view.items && view.room > 0; at++) {
    const { value: entry, done } = mapIteratorNext(entries);
    if (done) break;
    parts[at] = within(view, () => {
      const key = shown(view, entry[0], level);
      return arrayJoin([key, " => ", shown(view, entry[1], level)], "");
    });
  }
  addMore(parts, form, form.size - at);
}

function fillSet(view, value, parts, level, form) {
  const values = setValues(value);
  let at = 0;
  for (; at < form.size && at < view.items && view.room > 0; at++) {
    const { value: item, done } = setIteratorNext(values);
    if (done) break;
    parts[at] = within(view, () => shown(view, item, level));
  }
  addMore(parts, form, form.size - at);
}

function fillArrayBuffer(view, value, parts) {
  parts[0] = `[Uint8Contents]: <${bytesText(value)}>`;
  parts[1] = `byteLength: ${arrayBufferByteLength(value)}`;
}

function fillDataView(view, value, parts, level) {
  parts[0] = `byteLength: ${dataViewByteLength(value)}`;
  parts[1] = `byteOffset: ${dataViewByteOffset(value)}`;
  parts[2] = arrayJoin(["buffer: ", within(view, () => shown(view, dataViewBuffer(value), level))], "");
}

// the end of a list
function addMore(parts, form, count) {
  form.hasMore = count > 0;
  if (count > 0) parts[parts.length] = `... ${count} more item${count > 1 ? "s" : ""}`;
}

function addMembers(view, value, parts, level, form) {
  const list = form.keys;
  let at = 0;
  for (; at < list.length && at < MAX_MEMBERS && view.room > 0; at++) {
    const key = list[at];
    const found = getOwnPropertyDescriptor(value, key);
    const name = memberName(key, found === undefined || found.enumerable);
    view.room -= name.length;
    parts[parts.length] = arrayJoin([name, ": ", within(view, () => shownMember(view, found, level))], "");
  }
  if (at < list.length) parts[parts.length] = `... ${list.length - at} more members`;
}

function within(view, show) {
  view.indent += 2;
  const text = show();
  view.indent -= 2;
  return text;
}

function shownMember(view, found, level) {
  if (found === undefined) return "undefined";
  if (hasOwn(found, "value")) return shown(view, found.value, level);
  if (found.get === undefined) return found.set === undefined ? "undefined" : "[Setter]";
  return found.set === undefined ? "[Getter]" : "[Getter/Setter]";
}

// Texts of single kinds

function functionText(value, owner) {
  const source = stringSlice(functionToString(value), 0, 6);
  const own = dataOf(value, "name");
  const name = typeof own === "string" && own !== "" ? own : null;
  if (regExpMatch(CLASS_SOURCE, source) !== null) {
    const above = getPrototypeOf(value);
    const parent = typeof above === "function" ? dataOf(above, "name") : null;
    const tail = typeof parent === "string" && parent !== "" ? ` extends ${parent}` : "";
    return `[class ${name ?? "(anonymous)"}${tail}]`;
  }
  const kind = owner !== null && stringIncludes(owner, "Function") ? owner : "Function";
  return name === null ? `[${kind} (anonymous)]` : `[${kind}: ${name}]`;
}

const CLASS_SOURCE = /^class[\s{]/;

function bytesText(buffer) {
  const size = arrayBufferByteLength(buffer);
  const bytes = new Uint8ArrayC(buffer, 0, min(size, MAX_BYTES_SHOWN));
  const parts = [];
  for (let i = 0; i < min(size, MAX_BYTES_SHOWN); i++) parts[i] = stringPadStart(numberToString(bytes[i], 16), 2, "0");
  const more = size - MAX_BYTES_SHOWN;
  if (more > 0) parts[parts.length] = `... ${more} more byte${more > 1 ? "s" : ""}`;
  return arrayJoin(parts, " ");
}

// Name, message and the script's own frames; in brackets where there are none. Members whose text this has already
// said are dropped, those that hold other errors added.
function errorText(view, error, form, said) {
  const frames = framesOfError(error);
  const hasHead = frames !== "" && stringStartsWith(frames, said);
  const text = hasHead ? frames : frames === "" ? said : arrayJoin([said, "\n", frames], "");
  const kept = [];
  for (let i = 0; i < form.keys.length; i++) {
    const key = form.keys[i];
    const isSaid = key === "name" || key === "message" || key === "stack";
    const value = isSaid ? dataOf(error, key) : undefined;
    if (typeof value !== "string" || !stringIncludes(text, value)) kept[kept.length] = key;
  }
  form.keys = kept;
  addHidden(error, form, "cause");
  addHidden(error, form, "errors");
  if (frames === "") return `[${text}]`;
  return view.indent === 0 ? text : arrayJoin(stringSplit(text, "\n"), `\n${spaces(view.indent)}`);
}

function addHidden(error, form, key) {
  const found = getOwnPropertyDescriptor(error, key);
  if (found !== undefined && !found.enumerable) form.keys[form.keys.length] = key;
}

// an error's own class names it, unless the error has a name
function headOfError(error, owner) {
  let name = dataOf(error, "name");
  if (typeof name !== "string" || (name === "Error" && owner !== null)) name = owner ?? "Error";
  const message = dataOf(error, "message");
  return headOf(name, typeof message === "string" ? message : "");
}

function headOf(name, message) {
  return message === "" ? name : arrayJoin([name, ": ", stringSlice(message, 0, MAX_STRING)], "");
}

function framesOfError(error) {
  const own = getOwnPropertyDescriptor(error, "stack");
  const stack = own === undefined ? errorStack(error) : own.value;
  if (typeof stack !== "string") return "";
  return stringIncludes(stack, "<input>:") ? scriptLines(stack) : trimmedEnd(stringSlice(stack, 0, MAX_STRING));
}

function trimmedEnd(text) {
  let end = text.length;
  while (end > 0 && stringCharCodeAt(text, end - 1) <= 32) end--;
  return stringSlice(text, 0, end);
}
