// What the engine gives, taken before any script runs: later files use these, so that a script that replaces or extends
// built-ins changes its own world only. Methods take what they are called on as their first argument.

const { apply, construct, getPrototypeOf, ownKeys } = Reflect;
const { isRawJSON, parse, rawJSON, stringify } = JSON;
const {
  create,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getOwnPropertyNames,
  getOwnPropertySymbols,
  hasOwn,
  keys,
  prototype: objectPrototype,
  setPrototypeOf,
  values,
} = Object;
const { isArray, from: arrayFrom } = Array;
const { isInteger, isSafeInteger } = Number;
const { abs, floor, imul, max, min, round, sqrt } = Math;
const { isError } = Error;
const { prototype: arrayPrototype } = Array;
const { fromCodePoint: stringFromCodePoint } = String;
const { iterator: iteratorSymbol, toStringTag } = Symbol;

const ArrayC = Array;
const ArrayBufferC = ArrayBuffer;
const BigIntC = BigInt;
const BooleanC = Boolean;
const DataViewC = DataView;
const DateC = Date;
const DOMExceptionC = DOMException;
const ErrorC = Error;
const EvalErrorC = EvalError;
const MapC = Map;
const NumberC = Number;
const ObjectC = Object;
const PromiseC = Promise;
const RangeErrorC = RangeError;
const ReferenceErrorC = ReferenceError;
const RegExpC = RegExp;
const SetC = Set;
const StringC = String;
const SymbolC = Symbol;
const SyntaxErrorC = SyntaxError;
const TypeErrorC = TypeError;
const Uint8ArrayC = Uint8Array;
const URIErrorC = URIError;
const WeakMapC = WeakMap;
const WeakSetC = WeakSet;
const parseFloatC = parseFloat;
const parseIntC = parseInt;

const TYPED = {
  __proto__: null,
  BigInt64Array,
  BigUint64Array,
  Float16Array,
  Float32Array,
  Float64Array,
  Int16Array,
  Int32Array,
  Int8Array,
  Uint16Array,
  Uint32Array,
  Uint8Array,
  Uint8ClampedArray,
};

const { bind, call } = Function.prototype;
const uncurry = (method) => apply(bind, call, [method]);
const getter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);

const arrayJoin = uncurry(Array.prototype.join);
const arraySort = uncurry(Array.prototype.sort);
const arrayBufferByteLength = getter(ArrayBuffer.prototype, "byteLength");
const arrayBufferSlice = uncurry(ArrayBuffer.prototype.slice);
const bigIntToString = uncurry(BigInt.prototype.toString);
const bigIntValueOf = uncurry(BigInt.prototype.valueOf);
const booleanValueOf = uncurry(Boolean.prototype.valueOf);
const dataViewBuffer = getter(DataView.prototype, "buffer");
const dataViewByteLength = getter(DataView.prototype, "byteLength");
const dataViewByteOffset = getter(DataView.prototype, "byteOffset");
const dateGetTime = uncurry(Date.prototype.getTime);
const dateGetUTCDate = uncurry(Date.prototype.getUTCDate);
const dateGetUTCDay = uncurry(Date.prototype.getUTCDay);
const dateGetUTCFullYear = uncurry(Date.prototype.getUTCFullYear);
const dateGetUTCHours = uncurry(Date.prototype.getUTCHours);
const dateGetUTCMilliseconds = uncurry(Date.prototype.getUTCMilliseconds);
const dateGetUTCMinutes = uncurry(Date.prototype.getUTCMinutes);
const dateGetUTCMonth = uncurry(Date.prototype.getUTCMonth);
const dateGetUTCSeconds = uncurry(Date.prototype.getUTCSeconds);
const { toJSON: dateToJSON } = Date.prototype;
const dateToISOString = uncurry(Date.prototype.toISOString);
const dateToString = uncurry(Date.prototype.toString);
const domExceptionMessage = getter(DOMException.prototype, "message");
const domExceptionName = getter(DOMException.prototype, "name");
const errorStack = getter(Error.prototype, "stack");
const functionToString = uncurry(Function.prototype.toString);
const isPrototypeOf = uncurry(Object.prototype.isPrototypeOf);
const mapDelete = uncurry(Map.prototype.delete);
const mapEntries = uncurry(Map.prototype.entries);
const mapGet = uncurry(Map.prototype.get);
const mapHas = uncurry(Map.prototype.has);
const mapSet = uncurry(Map.prototype.set);
const mapSize = getter(Map.prototype, "size");
const mapIteratorNext = uncurry(getPrototypeOf(new Map().entries()).next);
const numberToFixed = uncurry(Number.prototype.toFixed);
const numberToString = uncurry(Number.prototype.toString);
const numberValueOf = uncurry(Number.prototype.valueOf);
const objectToString = uncurry(Object.prototype.toString);
const propertyIsEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
const promiseThen = Promise.prototype.then;
const regExpExec = RegExp.prototype.exec;
const regExpMatch = uncurry(regExpExec);
const regExpFlags = getter(RegExp.prototype, "flags");
const regExpSource = getter(RegExp.prototype, "source");
const setAdd = uncurry(Set.prototype.add);
const setDelete = uncurry(Set.prototype.delete);
const setHas = uncurry(Set.prototype.has);
const setSize = getter(Set.prototype, "size");
const setValues = uncurry(Set.prototype.values);
const setIteratorNext = uncurry(getPrototypeOf(new Set().values()).next);
const stringCharCodeAt = uncurry(String.prototype.charCodeAt);
const stringCodePointAt = uncurry(String.prototype.codePointAt);
const stringIncludes = uncurry(String.prototype.includes);
const stringIndexOf = uncurry(String.prototype.indexOf);
const stringIsWellFormed = uncurry(String.prototype.isWellFormed);
const stringLastIndexOf = uncurry(String.prototype.lastIndexOf);
const stringNormalize = uncurry(String.prototype.normalize);
const stringPadEnd = uncurry(String.prototype.padEnd);
const stringPadStart = uncurry(String.prototype.padStart);
const stringRepeat = uncurry(String.prototype.repeat);
const stringReplace = uncurry(String.prototype.replace);
const stringSlice = uncurry(String.prototype.slice);
const stringSplit = uncurry(String.prototype.split);
const stringStartsWith = uncurry(String.prototype.startsWith);
const stringToLowerCase = uncurry(String.prototype.toLowerCase);
const stringToUpperCase = uncurry(String.prototype.toUpperCase);
const stringToWellFormed = uncurry(String.prototype.toWellFormed);
const stringTrim = uncurry(String.prototype.trim);
const stringValueOf = uncurry(String.prototype.valueOf);
const symbolToString = uncurry(Symbol.prototype.toString);
const symbolValueOf = uncurry(Symbol.prototype.valueOf);
const uint8ToBase64 = uncurry(Uint8Array.prototype.toBase64);
const uint8FromBase64 = Uint8Array.fromBase64;
const weakMapHas = uncurry(WeakMap.prototype.has);
const weakSetHas = uncurry(WeakSet.prototype.has);

const iteratorPrototype = Iterator.prototype;
const asyncIteratorPrototype = getPrototypeOf(getPrototypeOf(async function* () {}).prototype);
const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
const typedArrayBuffer = getter(typedArrayPrototype, "buffer");
const typedArrayByteLength = getter(typedArrayPrototype, "byteLength");
const typedArrayByteOffset = getter(typedArrayPrototype, "byteOffset");
const typedArrayLength = getter(typedArrayPrototype, "length");
// the name of its constructor; undefined for what is no typed array
const typedArrayTag = getter(typedArrayPrototype, toStringTag);

// Prototypes of the four kinds of function, through whose `constructor` text becomes code
const functionPrototypes = [
  Function.prototype,
  getPrototypeOf(async () => {}),
  getPrototypeOf(function* () {}),
  getPrototypeOf(async function* () {}),
];
const internalErrorPrototype = InternalError.prototype;
