// The value table (docs/values.md) in this language, one way: a value that leaves a script, as JSON text with tags beside
// it. `decode.js` has the other way.
//
// A value is copied into plain lists and objects without prototypes, each member read once, and the engine makes text of
// the copy, so that no getter, `toJSON` or patched prototype can change what was looked at. Members are copied by the
// engine, and judged in one loop that looks up no names: a row of five fields takes 2 us so. What a hostile structure can
// make this do is bounded by the limits. `bridge.js` encodes arguments, `main.js` results and variables.

const SURROGATE = "\\ud"; // how the engine writes a lone one; or text that only looks like it
const FIRST_DAY = -62135596800000; // the host's dates begin with the year 1
const LAST_DAY = 253402300799999; // and end with 9999
const MAX_PLACE = 200;
const MAX_STEPS = 8; // of the place of a value that is nested too deeply
const MOST_DIGITS = 4300; // of one whole number, as for the host (`table.MOST_DIGITS`)
const TOO_WHOLE = 10n ** 4300n;
const NEGATIVE_TOO_WHOLE = -TOO_WHOLE;
const LONG = 400; // digits of whole numbers that take the host longer than short ones
const MOST_LONG = 100_000; // digits of all of these (`values.MOST_DIGITS`)
const MOST_TAGGED = 100_000; // dates and bytes of one value, as for the host (`received.MOST_TAGGED`)
const BASE64 = { __proto__: null, alphabet: "base64url" };
const CYCLE = "contains itself; leave the way back out, or name what it leads to by an id";
const LONE_SURROGATE = "text with a lone surrogate, which is not Unicode; use toWellFormed()";
const PROMISE = "is a promise; use await";
const TOO_MANY = "dates, decimals, ids and bytes; send some of them as text";

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

// The walk. What is counted is counted as the host does it, by commas and brackets; a member that is left out counts.
let limits = null; // null: there is no walk
let nodes = 0;
let characters = 0;
let longParts = 0; // of long whole numbers, `LONG` digits each
let tags = 0;
let tagNodes = 0; // values in the JSON text of the tags, at most
let tagged = null; // kind to paths
let path = []; // key or position at each depth, on the way to where the walk is
let above = []; // the containers on that way

// A value as JSON text and tags, `""` for none. What was counted can be read until the next one: nodes, tags, tagNodes.
// `most`: size (bytes of both texts), nodes, depth, members of one object or null, tags, tagNodes, and `anyKeys`, whether
// keys of a Map may be numbers and the like.
function encode(value, most) {
  if (limits !== null) return encodeInside(value, most);
  limits = most;
  nodes = 1;
  characters = longParts = tags = 0;
  tagNodes = 5; // around the paths of two kinds
  tagged = null;
  try {
    return written(copied(value, 0));
  } finally {
    limits = null;
    above.length = 0;
  }
}

// A getter or a `toJSON` of a value that is being encoded calls a tool itself.
function encodeInside(value, most) {
  const outer = [limits, nodes, characters, longParts, tags, tagNodes, tagged, path, above];
  limits = null;
  path = [];
  above = [];
  try {
    return encode(value, most);
  } finally {
    limits = outer[0];
    nodes = outer[1];
    characters = outer[2];
    longParts = outer[3];
    tags = outer[4];
    tagNodes = outer[5];
    tagged = outer[6];
    path = outer[7];
    above = outer[8];
  }
}

function written(copy) {
  if ("toJSON" in arrayPrototype) {
    unpatch(copy);
    unpatch(tagged);
  }
  const text = stringify(copy) ?? "null";
  if (stringIncludes(text, SURROGATE)) refuseSurrogates(copy, 0);
  const made = { __proto__: null, text, tags: tagged === null ? "" : stringify(tagged) };
  // counted only where it could be too much: no unit of a text has more than three bytes
  if ((text.length + made.tags.length) * 3 > limits.size) {
    const size = sizeOfEncoded(made);
    if (size > limits.size) refuseWhole(`${size} bytes of JSON, more than ${limits.size}`);
  }
  return made;
}

// bytes of text and tags
function sizeOfEncoded(made) {
  return byteLength(made.text) + (made.tags === "" ? 0 : byteLength(made.tags));
}

// Take lists of ours out of the reach of a `toJSON` that a script gave to all of them.
function unpatch(copy) {
  if (typeof copy !== "object" || copy === null) return;
  if (isArray(copy)) setPrototypeOf(copy, null);
  const members = values(copy);
  for (let i = 0; i < members.length; i++) unpatch(members[i]);
}

// What is wrong

function refuse(depth, reason, large = false) {
  throw new NotData(placeAt(depth), reason, large);
}

function refuseWhole(reason) {
  throw new NotData("", reason, true, true);
}

// `items[3].price`
function placeAt(depth) {
  const parts = [];
  for (let i = 0; i < depth; i++) {
    const step = path[i];
    if (typeof step === "number") parts[i] = `[${step}]`;
    else parts[i] = arrayJoin([i === 0 ? "" : ".", stringSlice(step, 0, MAX_PLACE)], "");
  }
  return stringToWellFormed(stringSlice(arrayJoin(parts, ""), 0, MAX_PLACE));
}

// There is more than the limits let through, as seen at a depth: because it has no end, or because it is so much.
function refuseMuch(depth, reason) {
  refuseCycle(depth);
  refuseWhole(reason);
}

function refuseDepth(depth) {
  refuseCycle(depth);
  refuse(min(depth, MAX_STEPS), `is nested deeper than ${limits.depth} levels`, true);
}

function refuseCycle(depth) {
  for (let i = 1; i <= depth; i++) {
    for (let j = 0; j < i; j++) if (above[j] === above[i]) refuse(i, CYCLE);
  }
}

// Some text of the copy has a lone surrogate, or only looks so.
function refuseSurrogates(copy, depth) {
  if (typeof copy === "string") {
    if (!stringIsWellFormed(copy)) refuse(depth, `is ${LONE_SURROGATE}`);
    return;
  }
  if (typeof copy !== "object" || copy === null) return;
  const isList = isArray(copy);
  const names = keys(copy);
  for (let i = 0; i < names.length; i++) {
    const member = copy[names[i]];
    if (member === undefined) continue;
    if (!isList && !stringIsWellFormed(names[i])) refuse(depth, `has a key that is ${LONE_SURROGATE}`);
    path[depth] = isList ? i : names[i];
    refuseSurrogates(member, depth + 1);
  }
}

// What is written for a value at a depth; `undefined` where a member is left out

function copied(value, depth) {
  switch (typeof value) {
    case "string":
      characters += value.length;
      return value;
    case "number":
      if (value - value !== 0) refuse(depth, `is ${value}, which no JSON number says; use null`);
      return value;
    case "boolean":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : copiedObject(value, depth, true);
    case "bigint":
      return rawJSON(wholeText(value, depth, "is"));
    case "symbol":
      return refuse(depth, "is a symbol; use its description");
    default:
      return refuseFunction(value, depth);
  }
}

function refuseFunction(value, depth) {
  const isClass = stringStartsWith(functionToString(value), "class");
  refuse(depth, isClass ? "is a class; use the fields of an instance" : "is a function; use what it returns");
}

// digits of a BigInt; `verb`: what a refusal begins with
function wholeText(value, depth, verb) {
  if (value >= TOO_WHOLE || value <= NEGATIVE_TOO_WHOLE) {
    refuse(depth, `${verb} a whole number of more than ${MOST_DIGITS} digits; use text`);
  }
  const text = bigIntToString(value);
  if (text.length > LONG) {
    longParts += floor((text.length - (text[0] === "-" ? 1 : 0)) / LONG);
    if (longParts * LONG > MOST_LONG) refuseMuch(depth - 1, `more than ${MOST_LONG} digits in long whole numbers`);
  }
  return text;
}

// `asks`: whether the object may say itself what is written, by `toJSON`; what that returns is not asked again.
function copiedObject(value, depth, asks) {
  above[depth] = value;
  const method = asks ? value.toJSON : undefined;
  if (typeof method === "function" && method !== dateToJSON) return copiedAnswer(value, method, depth);
  if (isArray(value)) return copiedList(value, depth, value.length);
  const prototype = getPrototypeOf(value);
  if (prototype === objectPrototype) return copiedMembers(value, depth);
  if (prototype !== null) return copiedKind(value, depth);
  return isRawJSON(value) ? copied(parseAnswer(value.rawJSON), depth) : copiedMembers(value, depth);
}

function copiedAnswer(value, method, depth) {
  const answer = apply(method, value, [depth === 0 ? "" : `${path[depth - 1]}`]);
  return typeof answer === "object" && answer !== null ? copiedObject(answer, depth, false) : copied(answer, depth);
}

function refuseNodes(depth) {
  refuseMuch(depth, `more than ${limits.nodes} values`);
}

function refuseSize(depth) {
  refuseMuch(depth, `more than ${limits.size} bytes of JSON`);
}

// `list`: an array, or a typed one
function copiedList(list, depth, length) {
  if (depth >= limits.depth) refuseDepth(depth);
  if ((nodes += length || 1) > limits.nodes) refuseNodes(depth);
  const made = [];
  for (let i = 0; i < length; i++) {
    const item = list[i];
    switch (typeof item) {
      case "object":
        if (item === null) break;
        path[depth] = i;
        made[i] = copiedObject(item, depth + 1, true) ?? null;
        continue;
      case "number":
        if (item - item !== 0) break;
        made[i] = item;
        continue;
      case "string":
        characters += item.length;
      // falls through
      case "boolean":
        made[i] = item;
        continue;
    }
    path[depth] = i;
    made[i] = copied(item, depth + 1) ?? null;
  }
  if (characters > limits.size) refuseSize(depth); // texts are shared until one is made of them all
  return made;
}

function copiedMembers(value, depth) {
  const made = { __proto__: null, ...value };
  const members = values(made);
  const { length } = members;
  if (depth >= limits.depth) refuseDepth(depth);
  if ((nodes += length || 1) > limits.nodes) refuseNodes(depth);
  if (limits.members !== null && length > limits.members) checkMembers(members, depth);
  let names = null;
  for (let i = 0; i < length; i++) {
    const member = members[i];
    switch (typeof member) {
      case "string":
        characters += member.length;
        continue;
      case "number":
        if (member - member === 0) continue;
        break;
      case "object":
        if (member === null) continue;
        break;
      case "boolean":
      case "undefined":
        continue;
    }
    names ??= keys(made);
    path[depth] = names[i];
    made[names[i]] = copied(member, depth + 1);
  }
  if (characters > limits.size) refuseSize(depth); // texts are shared until one is made of them all
  return made;
}

function checkMembers(members, depth) {
  let present = 0;
  for (let i = 0; i < members.length; i++) if (members[i] !== undefined) present++;
  if (present > limits.members) refuse(depth, `is an object of more than ${limits.members} members`, true);
}

// Everything that was not written as a literal
function copiedKind(value, depth) {
  const kind = kindOf(value);
  switch (kind) {
    case "Date":
      return taggedAs("datetime", isoText(value, depth, "is"), depth);
    case "Map":
      return copiedMembers(membersOfMap(value, depth), depth);
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
    case "Symbol":
      return copied(symbolValueOf(value), depth);
    case "Promise":
      return refuse(depth, PROMISE);
    case "RegExp":
      return refuse(depth, "is a regular expression; use its source");
    case "WeakMap":
    case "WeakSet":
      return refuse(depth, `is a ${kind}, whose members nobody can list; use a ${stringSlice(kind, 4)}`);
    default:
      return copiedInstance(value, depth);
  }
}

// An object of a class, the script's own or the engine's: its own fields
function copiedInstance(value, depth) {
  if (isPrototypeOf(iteratorPrototype, value)) refuse(depth, "is an iterator; use [...iterator]");
  if (isPrototypeOf(asyncIteratorPrototype, value)) {
    refuse(depth, "is an asynchronous iterator; use await Array.fromAsync(iterator)");
  }
  if (typeof value.then === "function") refuse(depth, PROMISE);
  const made = copiedMembers(value, depth);
  if (keys(made).length === 0) {
    const owner = stringSlice(ownerOf(value) ?? "Object", 0, MAX_PLACE);
    refuse(depth, `is an instance of ${owner} without fields of its own; use its parts, or give the class a toJSON method`);
  }
  return made;
}

// `verb`: what a refusal begins with
function isoText(date, depth, verb) {
  const time = dateGetTime(date);
  if (time !== time) refuse(depth, `${verb} an invalid date; use null`);
  if (time < FIRST_DAY || time > LAST_DAY) refuse(depth, `${verb} a date outside the years 1 to 9999; use its text`);
  return dateToISOString(date);
}

function taggedAs(kind, text, depth) {
  if (++tags > limits.tags) refuseWhole(`more than ${limits.tags} ${TOO_MANY}`);
  if ((tagNodes += depth + 2) > limits.tagNodes) refuseWhole(`too many ${TOO_MANY}`);
  tagged ??= { __proto__: null };
  const paths = (tagged[kind] ??= []);
  const steps = [];
  for (let i = 0; i < depth; i++) {
    const step = (steps[i] = path[i]);
    if (typeof step === "string") characters += step.length;
  }
  paths[paths.length] = steps;
  characters += text.length;
  return text;
}

// A map as an object without a prototype
function membersOfMap(map, depth) {
  const made = { __proto__: null };
  const entries = mapEntries(map);
  for (let step; !(step = mapIteratorNext(entries)).done; ) {
    const name = keyText(step.value[0], depth);
    if (hasOwn(made, name)) {
      refuse(depth, `is a Map with two keys that become the text ${stringify(name)}; use keys that differ as text`);
    }
    made[name] = step.value[1];
  }
  return made;
}

const KEY_NAMES = { __proto__: null, bigint: "a BigInt", function: "a function", object: "an object", symbol: "a symbol" };

function keyText(key, depth) {
  if (typeof key === "string") return key;
  if (limits.anyKeys) {
    if (key === null || typeof key === "boolean" || (typeof key === "number" && key - key === 0)) return `${key}`;
    if (typeof key === "bigint") return wholeText(key, depth, "is a Map with a key that is");
    if (typeof key === "object" && kindOf(key) === "Date") return isoText(key, depth, "is a Map with a key that is");
  }
  const what = typeof key === "number" || typeof key === "boolean" || key == null ? `${key}` : KEY_NAMES[typeof key];
  return refuse(depth, `is a Map with a key that is ${what}, not text; use text as keys: String(key)`);
}

function copiedSet(set, depth) {
  const items = [];
  const members = setValues(set);
  for (let step; !(step = setIteratorNext(members)).done; ) items[items.length] = step.value;
  return copiedList(items, depth, items.length);
}

function copiedBuffer(value, kind, depth) {
  const tag = kind === "TypedArray" ? typedArrayTag(value) : "";
  if (kind === "TypedArray" && tag !== "Uint8Array") return copiedList(value, depth, typedArrayLength(value));
  let bytes;
  try {
    bytes = kind === "ArrayBuffer" ? new Uint8ArrayC(value) : bytesOfView(value, kind);
  } catch {
    refuse(depth, "is a buffer that was transferred away; use a copy");
  }
  if ((characters += typedArrayLength(bytes)) > limits.size) refuseSize(depth);
  return taggedAs("bytes", uint8ToBase64(bytes, BASE64), depth);
}

function bytesOfView(view, kind) {
  return kind === "DataView"
    ? new Uint8ArrayC(dataViewBuffer(view), dataViewByteOffset(view), dataViewByteLength(view))
    : new Uint8ArrayC(typedArrayBuffer(view), typedArrayByteOffset(view), typedArrayByteLength(view));
}
