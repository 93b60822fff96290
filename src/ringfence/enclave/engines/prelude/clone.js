// `structuredClone`: a copy of data with its shared and cyclic references, as the HTML Standard describes it.
//
// Plain objects, lists, maps, sets, dates, regular expressions, errors, buffers and boxed values. Instances of classes
// become plain objects. Functions, symbols, promises and what else is no data are refused. `world.js` has its place.

const ERROR_CLASSES = {
  __proto__: null,
  EvalError: EvalErrorC,
  RangeError: RangeErrorC,
  ReferenceError: ReferenceErrorC,
  SyntaxError: SyntaxErrorC,
  TypeError: TypeErrorC,
  URIError: URIErrorC,
};

function structuredClone(value, options = undefined) {
  const transfer = isObject(options) ? options.transfer : undefined;
  if (transfer !== undefined && !(isArray(transfer) && transfer.length === 0)) {
    throw new DOMExceptionC("structuredClone: transfer is not supported", "DataCloneError");
  }
  return cloned(value, new MapC());
}

// `seen`: originals to their copies
function cloned(value, seen) {
  if (!isObject(value)) {
    if (typeof value === "symbol") refuseClone(symbolText(value));
    return value;
  }
  const copy = mapGet(seen, value);
  if (copy !== undefined) return copy;
  const kind = kindOf(value);
  const clone = CLONERS[kind];
  if (clone === undefined) refuseClone(kind === "Function" ? inspect(value) : `#<${kind}>`);
  return clone(value, seen);
}

function refuseClone(what) {
  throw new DOMExceptionC(`${what} could not be cloned.`, "DataCloneError");
}

function keep(seen, value, copy) {
  mapSet(seen, value, copy);
  return copy;
}

function cloneMembers(value, copy, seen) {
  const names = keys(value);
  for (let i = 0; i < names.length; i++) {
    const { [names[i]]: member } = value; // a getter's value, as everywhere
    const copied = cloned(member, seen);
    defineProperty(copy, names[i], {
      __proto__: null,
      value: copied,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
}

function cloneObject(value, seen) {
  const tag = objectToString(value);
  if (tag === "[object Generator]" || tag === "[object AsyncGenerator]") refuseClone(`#<${stringSlice(tag, 8, -1)}>`);
  return cloneMembers(value, keep(seen, value, {}), seen);
}

function cloneMap(value, seen) {
  const copy = keep(seen, value, new MapC());
  const entries = mapEntries(value);
  const pairs = []; // first, as a getter may change the map
  for (let step; !(step = mapIteratorNext(entries)).done;) pairs[pairs.length] = step.value;
  for (let i = 0; i < pairs.length; i++) mapSet(copy, cloned(pairs[i][0], seen), cloned(pairs[i][1], seen));
  return copy;
}

function cloneSet(value, seen) {
  const copy = keep(seen, value, new SetC());
  const values = setValues(value);
  const items = [];
  for (let step; !(step = setIteratorNext(values)).done;) items[items.length] = step.value;
  for (let i = 0; i < items.length; i++) setAdd(copy, cloned(items[i], seen));
  return copy;
}

function cloneError(value, seen) {
  const name = dataOf(value, "name");
  const kind = (typeof name === "string" && ERROR_CLASSES[name]) || ErrorC;
  const message = getOwnPropertyDescriptor(value, "message")?.value;
  const copy = keep(seen, value, message === undefined ? new kind() : new kind(`${message}`));
  const stack = getOwnPropertyDescriptor(value, "stack");
  hide(copy, "stack", stack === undefined ? errorStack(value) : stack.value);
  const cause = getOwnPropertyDescriptor(value, "cause");
  if (cause !== undefined) hide(copy, "cause", cloned(cause.value, seen));
  return copy;
}

function cloneBuffer(value, seen) {
  return keep(seen, value, arrayBufferSlice(value, 0));
}

function cloneTyped(value, seen) {
  const kind = TYPED[typedArrayTag(value)];
  const buffer = cloned(typedArrayBuffer(value), seen);
  return keep(seen, value, new kind(buffer, typedArrayByteOffset(value), typedArrayLength(value)));
}

function cloneView(value, seen) {
  const buffer = cloned(dataViewBuffer(value), seen);
  return keep(seen, value, new DataViewC(buffer, dataViewByteOffset(value), dataViewByteLength(value)));
}

function cloneList(value, seen) {
  const copy = keep(seen, value, []);
  copy.length = value.length;
  return cloneMembers(value, copy, seen);
}

const CLONERS = {
  __proto__: null,
  Object: cloneObject,
  Arguments: cloneObject,
  Array: cloneList,
  Map: cloneMap,
  Set: cloneSet,
  Error: cloneError,
  ArrayBuffer: cloneBuffer,
  TypedArray: cloneTyped,
  DataView: cloneView,
  Date: (value, seen) => keep(seen, value, new DateC(dateGetTime(value))),
  RegExp: (value, seen) => keep(seen, value, new RegExpC(regExpSource(value), regExpFlags(value))),
  Number: (value, seen) => keep(seen, value, ObjectC(numberValueOf(value))),
  String: (value, seen) => keep(seen, value, ObjectC(stringValueOf(value))),
  Boolean: (value, seen) => keep(seen, value, ObjectC(booleanValueOf(value))),
  BigInt: (value, seen) => keep(seen, value, ObjectC(bigIntValueOf(value))),
};

provide("structuredClone", structuredClone);
