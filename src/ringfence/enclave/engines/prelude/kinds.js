// What a value is, found without running code of the script's: which built-in made it, what its class is called, which
// members it has.
//
// Members are read through descriptors and only where they are data; built-ins are known by what only they can answer,
// so that neither `Symbol.toStringTag` nor a changed prototype deceives. Traps of a Proxy may raise; callers expect it.
// `inspect.js` and `clone.js` call it.

const MAX_CHAIN = 100; // prototypes that are looked at
const MAX_LISTED = 1000; // longer lists: other members than items are not looked for

// What a prototype makes of objects below it, if they are what it says (`BRANDS`)
const KINDS = new MapC([
  [ErrorC.prototype, "Error"],
  [DOMExceptionC.prototype, "DOMException"],
  [MapC.prototype, "Map"],
  [SetC.prototype, "Set"],
  [DateC.prototype, "Date"],
  [RegExpC.prototype, "RegExp"],
  [PromiseC.prototype, "Promise"],
  [WeakMapC.prototype, "WeakMap"],
  [WeakSetC.prototype, "WeakSet"],
  [ArrayBufferC.prototype, "ArrayBuffer"],
  [DataViewC.prototype, "DataView"],
  [typedArrayPrototype, "TypedArray"],
  [NumberC.prototype, "Number"],
  [StringC.prototype, "String"],
  [BooleanC.prototype, "Boolean"],
  [SymbolC.prototype, "Symbol"],
  [BigIntC.prototype, "BigInt"],
]);

// raise unless the object is one
const BRANDS = {
  __proto__: null,
  Map: mapSize,
  Set: setSize,
  Date: dateGetTime,
  RegExp: regExpSource,
  WeakMap: (value) => weakMapHas(value, value),
  WeakSet: (value) => weakSetHas(value, value),
  ArrayBuffer: arrayBufferByteLength,
  DataView: dataViewByteLength,
  Number: numberValueOf,
  String: stringValueOf,
  Boolean: booleanValueOf,
  Symbol: symbolValueOf,
  BigInt: bigIntValueOf,
  Error: (value) => demand(isError(value)),
  DOMException: domExceptionName,
  TypedArray: (value) => demand(typedArrayTag(value) !== undefined),
  Promise: (value) => demand(objectToString(value) === "[object Promise]"),
};

function demand(holds) {
  if (!holds) throw new TypeErrorC("not what its prototype says");
}

function kindOf(value) {
  if (typeof value === "function") return "Function";
  if (isArray(value)) return "Array";
  let above = getPrototypeOf(value);
  if (above === objectPrototype) return isArguments(value) ? "Arguments" : "Object";
  for (let hops = 0; above !== null && hops < MAX_CHAIN; hops++) {
    const kind = mapGet(KINDS, above);
    if (kind !== undefined) return isOfKind(value, kind) ? kind : "Object";
    above = getPrototypeOf(above);
  }
  return "Object";
}

function isOfKind(value, kind) {
  try {
    BRANDS[kind](value);
    return true;
  } catch {
    return false; // it has the prototype, but was not made by the constructor
  }
}

function isArguments(value) {
  return hasOwn(value, "callee") && objectToString(value) === "[object Arguments]";
}

// the value of a member that is data, its own or inherited
function dataOf(value, key) {
  let owner = value;
  for (let hops = 0; owner !== null && hops < MAX_CHAIN; hops++) {
    const found = getOwnPropertyDescriptor(owner, key);
    if (found !== undefined) return found.value;
    owner = getPrototypeOf(owner);
  }
  return undefined;
}

// name of the class that made an object; null: none did
function ownerOf(value) {
  let owner = value;
  for (let hops = 0; owner !== null && hops < MAX_CHAIN; hops++) {
    const maker = getOwnPropertyDescriptor(owner, "constructor")?.value;
    if (typeof maker === "function" && getOwnPropertyDescriptor(maker, "prototype")?.value === owner) {
      const name = getOwnPropertyDescriptor(maker, "name")?.value;
      if (typeof name === "string" && name !== "") return name;
    }
    owner = getPrototypeOf(owner);
  }
  return null;
}

// what an object calls itself, where that says more than its class does
function tagOf(value, owner) {
  const tag = dataOf(value, toStringTag);
  if (typeof tag !== "string" || tag === "" || tag === owner) return null;
  return propertyIsEnumerable(value, toStringTag) ? null : tag;
}

function prefixOf(owner, tag, fallback, size) {
  const name = owner === null ? `[${fallback}${size}: null prototype]` : `${owner}${size}`;
  return tag === null || tag === owner ? name : `${name} [${tag}]`;
}

// Enumerable members other than a list's items, symbols last
function keysOf(value, kind) {
  const isList = kind === "Array" || kind === "Arguments" || kind === "TypedArray" || kind === "String";
  let found = [];
  if (!isList) {
    found = keys(value);
  } else if (sizeOf(value, kind) <= MAX_LISTED) {
    const all = keys(value); // items come first
    let from = all.length;
    while (from > 0 && !isIndex(all[from - 1])) from--;
    for (let i = from; i < all.length; i++) found[found.length] = all[i];
  }
  const symbols = getOwnPropertySymbols(value);
  for (let i = 0; i < symbols.length; i++) {
    if (propertyIsEnumerable(value, symbols[i])) found[found.length] = symbols[i];
  }
  return found;
}

function sizeOf(value, kind) {
  if (kind === "TypedArray") return typedArrayLength(value);
  return kind === "String" ? stringValueOf(value).length : dataOf(value, "length");
}

const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;

function isIndex(key) {
  return regExpMatch(INDEX, key) !== null && +key < 4294967295;
}
