// The value table (docs/values.md) in this language: how a value leaves a script as JSON text with tags beside it, and
// how the host's values become the script's.
//
// A value is copied into plain arrays and objects without prototypes, each member read once, and the engine makes text of
// the copy, so that no getter, `toJSON` or patched prototype can change what was looked at. Everything that a hostile
// structure can make this do is bounded by the budget. `bridge.js` encodes arguments, `main.js` results.

const SURROGATE = "\\ud"; // how the engine writes a lone one; or text that only looks like it
const LONG_INTEGER = /\d{16}/;
const INTEGER = /^-?\d+$/;
const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/;
const FIRST_DAY = -62135596800000; // the host's dates begin with the year 1
const LAST_DAY = 253402300799999; // and end with 9999
const MAX_PLACE = 200;

// Why a value cannot cross. Never seen by scripts.
class NotData {
  // `path`: of the place inside the value; `large`: it is too much; `excess`: it is too much as a whole
  constructor(path, reason, large = false, excess = false) {
    this.path = path;
    this.reason = reason;
    this.large = large;
    this.excess = excess;
  }
}

let budget = null;
let nodes = 0;
let characters = 0;
let tagged = null; // kind to paths
const path = []; // key or position at each depth, where the walk is
const above = []; // the containers that it is in

// JSON text, tags and size of a value. `limits`: size (bytes of both), nodes, depth, members, and `anyKeys`, whether keys
// of a Map may be numbers.
function encode(value, limits) {
  budget = limits;
  nodes = 1;
  characters = 0;
  tagged = null;
  const text = stringify(copied(value, 0)) ?? "null";
  if (stringIncludes(text, SURROGATE)) refuseSurrogates(value);
  const tags = tagged === null ? "" : stringify(tagged);
  const size = byteSize(text, limits.size) + byteSize(tags, limits.size);
  if (size > limits.size) throw new NotData("", `${size} bytes of JSON, more than ${limits.size}`, true, true);
  return { __proto__: null, text, tags, size };
}

function holds(pattern, text) {
  return apply(regExpExec, pattern, [text]) !== null;
}

// bytes of UTF-8, counted only where they could be more than `most`: looking at every character takes its time
function byteSize(text, most) {
  return text.length * 3 <= most ? text.length : byteLength(text);
}

function refuse(depth, reason, large = false) {
  throw new NotData(placeAt(depth), reason, large);
}

// `items[3].price`
function placeAt(depth) {
  const parts = [];
  for (let i = 0; i < depth; i++) {
    const step = path[i];
    parts[i] = typeof step === "number" ? `[${step}]` : i === 0 ? step : `.${step}`;
  }
  return stringSlice(stringToWellFormed(arrayJoin(parts, "")), 0, MAX_PLACE);
}

// What is written for a value at this depth; `undefined` where a member is left out.
function copied(value, depth) {
  switch (typeof value) {
    case "string":
      if ((characters += value.length) > budget.size) refuseSize();
      return value;
    case "number":
      if (value - value !== 0) refuse(depth, `is ${value}, which no JSON number says; use null`);
      return value;
    case "boolean":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : copiedObject(value, depth);
    case "bigint":
      return rawJSON(bigIntToString(value));
    case "symbol":
      return refuse(depth, "is a symbol, which is no data");
    default:
      return refuse(depth, "is a function, which is no data; return what it computes");
  }
}

function refuseSize() {
  throw new NotData("", `more than ${budget.size} bytes of JSON`, true, true);
}

function copiedObject(value, depth) {
  if (depth > budget.depth) refuseDepth(value, depth);
  above[depth] = value;
  if (isArray(value)) return copiedList(value, depth, value.length);
  const prototype = getPrototypeOf(value);
  if (prototype !== objectPrototype && prototype !== null) return copiedKind(value, depth);
  return typeof value.toJSON === "function" ? copied(value.toJSON(keyAt(depth)), depth) : copiedMembers(value, depth);
}

function keyAt(depth) {
  return depth === 0 ? "" : `${path[depth - 1]}`;
}

function refuseDepth(value, depth) {
  for (let i = 0; i < depth; i++) if (above[i] === value) refuse(min(depth, 8), "contains itself");
  refuse(8, `goes more than ${budget.depth} levels deep`, true);
}

function count(members) {
  if ((nodes += members) > budget.nodes) {
    throw new NotData("", `more than ${budget.nodes} values`, true, true);
  }
}

function copiedList(list, depth, length) {
  count(length);
  const made = [];
  if (arrayPrototype.toJSON !== undefined) setPrototypeOf(made, null);
  for (let i = 0; i < length; i++) {
    path[depth] = i;
    const item = copied(list[i], depth + 1);
    made[i] = item === undefined ? null : item;
  }
  return made;
}

function copiedMembers(value, depth) {
  const names = keys(value);
  checkMembers(names.length, depth);
  const made = { __proto__: null };
  for (let i = 0; i < names.length; i++) {
    const name = (path[depth] = names[i]);
    characters += name.length;
    const member = value[name];
    if (typeof member === "boolean" || (typeof member === "number" && member - member === 0)) made[name] = member;
    else if (member !== undefined) defined(made, name, copied(member, depth + 1));
  }
  return made;
}

// `toJSON` may leave a member out
function defined(made, name, member) {
  if (member !== undefined) made[name] = member;
}

function checkMembers(length, depth) {
  count(length);
  if (budget.members !== null && length > budget.members) {
    refuse(depth, `an object of ${length} members, more than ${budget.members}`, true);
  }
}

// Everything that was not written as a literal
function copiedKind(value, depth) {
  const kind = kindOf(value);
  switch (kind) {
    case "Date":
      return taggedAs("datetime", isoText(value, depth), depth);
    case "Map":
      return copiedMap(value, depth);
    case "Set":
      return copiedSet(value, depth);
    case "TypedArray":
    case "ArrayBuffer":
    case "DataView":
      return copiedBuffer(value, kind, depth);
    case "Error":
    case "DOMException":
      return copiedMembers({ __proto__: null, name: `${value.name}`, message: `${value.message}` }, depth);
    case "Number":
      return copied(numberValueOf(value), depth);
    case "String":
      return copied(stringValueOf(value), depth);
    case "Boolean":
      return booleanValueOf(value);
    case "BigInt":
      return copied(bigIntValueOf(value), depth);
    case "Promise":
      return refuse(depth, "is a promise; await it first");
    case "RegExp":
      return refuse(depth, "is a regular expression; use its source");
    case "Symbol":
    case "WeakMap":
    case "WeakSet":
      return refuse(depth, `is a ${kind}, which is no data`);
    default:
      return copiedInstance(value, depth);
  }
}

// An object of a class, the script's own or the engine's: its own fields, unless it says itself what is written.
function copiedInstance(value, depth) {
  if (typeof value.toJSON === "function") return copied(value.toJSON(keyAt(depth)), depth);
  if (typeof value.next === "function") refuse(depth, "is an iterator; write [...it] to have its items");
  if (typeof value.then === "function") refuse(depth, "is a promise; await it first");
  return copiedMembers(value, depth);
}

function isoText(date, depth) {
  const time = dateGetTime(date);
  if (time !== time) refuse(depth, "is an invalid date; use null");
  if (time < FIRST_DAY || time > LAST_DAY) refuse(depth, "is a date outside the years 1 to 9999; send it as text");
  return dateToISOString(date);
}

function taggedAs(kind, text, depth) {
  tagged ??= { __proto__: null };
  const paths = (tagged[kind] ??= []);
  const steps = [];
  for (let i = 0; i < depth; i++) steps[i] = path[i];
  paths[paths.length] = steps;
  characters += text.length;
  return text;
}

function copiedMap(map, depth) {
  checkMembers(mapSize(map), depth);
  const made = { __proto__: null };
  const entries = mapEntries(map);
  for (let step; !(step = mapIteratorNext(entries)).done; ) {
    const [key, value] = step.value;
    const name = typeof key === "string" || (budget.anyKeys && typeof key === "number") ? `${key}` : null;
    if (name === null || (typeof key === "number" && hasOwn(made, name))) {
      refuse(depth, "is a Map whose keys are not text; use Object.fromEntries with text keys");
    }
    path[depth] = name;
    characters += name.length;
    const member = copied(value, depth + 1);
    if (member !== undefined) made[name] = member;
  }
  return made;
}

function copiedSet(set, depth) {
  const items = [];
  count(setSize(set));
  const values = setValues(set);
  for (let step; !(step = setIteratorNext(values)).done; ) items[items.length] = step.value;
  nodes -= items.length;
  return copiedList(items, depth, items.length);
}

function copiedBuffer(value, kind, depth) {
  const tag = kind === "TypedArray" ? typedArrayTag(value) : "";
  if (kind === "TypedArray" && tag !== "Uint8Array" && tag !== "Uint8ClampedArray") {
    return copiedList(value, depth, typedArrayLength(value));
  }
  const bytes = kind === "ArrayBuffer" ? new Uint8ArrayC(value) : bytesOfView(value, kind);
  if ((characters += typedArrayLength(bytes)) > budget.size) refuseSize();
  return taggedAs("bytes", uint8ToBase64(bytes, { __proto__: null, alphabet: "base64url" }), depth);
}

function bytesOfView(view, kind) {
  return kind === "DataView"
    ? new Uint8ArrayC(dataViewBuffer(view), dataViewByteOffset(view), dataViewByteLength(view))
    : new Uint8ArrayC(typedArrayBuffer(view), typedArrayByteOffset(view), typedArrayByteLength(view));
}

// Which text has a lone surrogate; returns when it only looked so.
function refuseSurrogates(value) {
  const text = stringify(copied(value, 0), (key, item) => {
    if (!stringIsWellFormed(key)) throw new NotData(stringToWellFormed(key), "is a key with a lone surrogate");
    if (typeof item === "string" && !stringIsWellFormed(item)) {
      throw new NotData(key, "is text with a lone surrogate, which is no Unicode; use toWellFormed()");
    }
    return item;
  });
  return text;
}

// From the host

// JSON text of the host's; integers that no number says exactly become BigInt
function parseAnswer(text) {
  return holds(LONG_INTEGER, text) ? parse(text, exactly) : parse(text);
}

function exactly(key, value, { source }) {
  return typeof value === "number" && !isSafeInteger(value) && holds(INTEGER, source) ? BigIntC(source) : value;
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

function restoredDate(text) {
  if (!holds(OFFSET, text)) return text;
  const date = new DateC(text);
  return dateGetTime(date) === dateGetTime(date) ? date : text;
}

function restoredBytes(text) {
  return apply(uint8FromBase64, Uint8ArrayC, [text, { __proto__: null, alphabet: "base64url" }]);
}

// The same data, which cannot be changed
function deepFreeze(value) {
  if (typeof value !== "object" || value === null || typedArrayTag(value) !== undefined) return value;
  const names = keys(value);
  for (let i = 0; i < names.length; i++) deepFreeze(value[names[i]]);
  return freeze(value);
}
