// What a script finds around it: a clock and randomness that the host gives, and no way to look at the machine. What
// else of other runtimes scripts expect is in `text.js`, `clone.js`, `numerals.js`, `calendar.js`, `collation.js` and
// `url.js`.
//
// Time starts where the host says and runs on or stands still. Random numbers and ids are two streams of one seed, so
// that a script which is run again sees the same ones, and ids do not depend on how often `Math.random` was called.
// `main.js` begins it. Nothing here is the wall: that is the kernel's.

const COARSE = 10; // parts of a millisecond that a script can tell apart
const MAX_RANDOM_BYTES = 65536;
const STACK_FRAMES = 10; // of the engine, whatever a script sets

const engineNow = performance.now; // needs no `this`
let isFrozen = false;
let startTime = 0; // milliseconds since the epoch
let startTick = 0;

function beginWorld({ clock, frozen, seed }) {
  // nanoseconds, which as a number are off by some hundred: half a microsecond keeps whole milliseconds whole
  startTime = floor(NumberC(clock) / 1e6 + 0.0005);
  isFrozen = frozen;
  startTick = engineNow();
  streamSeed = seed;
  randomStream = idStream = null;
}

// milliseconds since the run began
function monotonic() {
  return isFrozen ? 0 : floor((engineNow() - startTick) * COARSE) / COARSE;
}

function now() {
  return startTime + floor(monotonic());
}

// A global of ours: as those of the language, it can be replaced, and does not show when globals are listed
function provide(name, value) {
  hide(globalThis, name, value);
}

// Clock

// Takes the place of the engine's, whose prototype it shares: nothing leads back to that one.
const ScriptDate = function Date(year, month, date, hours, minutes, seconds, ms) {
  if (new.target === undefined) return dateToString(new DateC(now()));
  return construct(DateC, arguments.length === 0 ? [now()] : arguments, new.target);
};

function installClock() {
  const statics = { now: () => now(), parse: DateC.parse, UTC: DateC.UTC };
  const names = keys(statics);
  for (let i = 0; i < names.length; i++) hide(ScriptDate, names[i], statics[names[i]]);
  const { prototype } = DateC;
  defineProperty(ScriptDate, "prototype", { __proto__: null, value: prototype, writable: false });
  hide(prototype, "constructor", ScriptDate);
  provide("Date", ScriptDate);
  const clock = { now: () => monotonic() };
  defineProperty(clock, "timeOrigin", { __proto__: null, get: () => startTime, enumerable: true });
  defineProperty(clock, toStringTag, { __proto__: null, value: "Performance" });
  provide("performance", freeze(clock));
}

// Randomness: sfc32, a small generator of 32-bit numbers with a state of 128 bits that passes the usual test batteries.
// For chance, not for secrets.

let streamSeed = "";
let randomStream = null; // made when a script first asks, which most never do
let idStream = null;

// `purpose` separates streams of one seed
function streamOf(purpose, seed) {
  const state = { __proto__: null, a: 0x9e3779b9, b: 0x243f6a88, c: 0xb7e15162, d: 1 };
  absorb(state, purpose);
  absorb(state, seed);
  for (let i = 0; i < 12; i++) next32(state);
  return state;
}

// each character stirs the whole state
function absorb(state, text) {
  for (let i = 0; i < text.length; i++) {
    state.a = imul(state.a ^ stringCharCodeAt(text, i), 0x85ebca6b);
    state.a ^= state.a >>> 15;
    next32(state);
  }
}

function next32(state) {
  const result = (((state.a + state.b) | 0) + state.d) | 0;
  state.d = (state.d + 1) | 0;
  state.a = state.b ^ (state.b >>> 9);
  state.b = (state.c + (state.c << 3)) | 0;
  state.c = (((state.c << 21) | (state.c >>> 11)) + result) | 0;
  return result >>> 0;
}

// [0, 1) with 53 random bits
function nextFraction(state) {
  const high = next32(state) >>> 5;
  return (high * 67108864 + (next32(state) >>> 6)) / 9007199254740992;
}

function fillRandom(bytes) {
  for (let i = 0; i < bytes.length;) {
    const number = next32((idStream ??= streamOf("id", streamSeed)));
    for (let shift = 0; shift < 32 && i < bytes.length; shift += 8) bytes[i++] = number >>> shift;
  }
}

const INTEGERS = {
  __proto__: null,
  Int8Array: 1,
  Uint8Array: 1,
  Uint8ClampedArray: 1,
  Int16Array: 1,
  Uint16Array: 1,
  Int32Array: 1,
  Uint32Array: 1,
  BigInt64Array: 1,
  BigUint64Array: 1,
};

const randomness = {
  getRandomValues(array) {
    if (!isObject(array) || INTEGERS[typedArrayTag(array)] === undefined) {
      throw new DOMExceptionC("getRandomValues: pass a typed array of integers", "TypeMismatchError");
    }
    const size = typedArrayByteLength(array);
    if (size > MAX_RANDOM_BYTES) {
      throw new DOMExceptionC(`getRandomValues: at most ${MAX_RANDOM_BYTES} bytes at once`, "QuotaExceededError");
    }
    fillRandom(new Uint8ArrayC(typedArrayBuffer(array), typedArrayByteOffset(array), size));
    return array;
  },
  randomUUID() {
    const bytes = new Uint8ArrayC(16);
    fillRandom(bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x40; // version 4
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const parts = [];
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) parts[parts.length] = "-";
      parts[parts.length] = stringPadStart(numberToString(bytes[i], 16), 2, "0");
    }
    return arrayJoin(parts, "");
  },
};

function installRandomness() {
  hide(Math, "random", { random: () => nextFraction((randomStream ??= streamOf("random", streamSeed))) }.random);
  defineProperty(randomness, toStringTag, { __proto__: null, value: "Crypto" });
  provide("crypto", freeze(randomness));
}

// Absent: what shares memory, watches the collector, or tells the machine's time

function removeForeign() {
  const names = ["SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry"];
  for (let i = 0; i < names.length; i++) delete globalThis[names[i]];
}

// Dynamic code, at the levels that forbid it. `onViolation` hears what was tried; then the call fails.
function lockDynamicCode(onViolation) {
  const refuse = (what) => {
    onViolation(what);
    throw new EvalErrorC(`${what}: scripts may not make code from text`);
  };
  provide("eval", { eval: () => refuse("eval()") }.eval);
  for (let i = 0; i < functionPrototypes.length; i++) {
    const prototype = functionPrototypes[i];
    const { name } = prototype.constructor;
    const locked = function () {
      return refuse(`${name}()`);
    };
    hide(locked, "name", name);
    defineProperty(locked, "length", { __proto__: null, value: 1 });
    defineProperty(locked, "prototype", { __proto__: null, value: prototype, writable: false });
    defineProperty(prototype, "constructor", { __proto__: null, value: locked, writable: false, configurable: false });
    if (name === "Function") provide("Function", locked);
  }
}

// Stacks are text, of the engine's own making: a formatter would be handed the functions on them, ours among them
function fixStacks() {
  const fixed = (get) => ({ __proto__: null, get, set() {}, enumerable: false, configurable: false });
  defineProperty(ErrorC, "prepareStackTrace", fixed(() => undefined));
  defineProperty(ErrorC, "stackTraceLimit", fixed(() => STACK_FRAMES));
}

fixStacks();
installClock();
installRandomness();
removeForeign();
