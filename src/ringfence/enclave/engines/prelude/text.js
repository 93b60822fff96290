// `TextEncoder` and `TextDecoder`, for UTF-8, as the Encoding Standard describes them.
//
// Knows bytes and text only. `world.js` has the place of both among a script's globals.

const MAX_CODES = 4096; // characters that become text at once
const UTF8_LABELS = {
  __proto__: null,
  "utf-8": 1,
  utf8: 1,
  "unicode-1-1-utf-8": 1,
  unicode11utf8: 1,
  unicode20utf8: 1,
};
UTF8_LABELS["x-unicode20utf8"] = 1;
const REPLACEMENT = 0xfffd;

function encodeUtf8(text) {
  const bytes = new Uint8ArrayC(byteLength(text));
  writeUtf8(text, bytes);
  return bytes;
}

// as many whole characters as there is room for: how many code units were read and bytes written
function writeUtf8(text, bytes) {
  const room = typedArrayLength(bytes);
  let read = 0;
  let at = 0;
  while (read < text.length) {
    let code = stringCodePointAt(text, read);
    const units = code > 0xffff ? 2 : 1;
    if (code >= 0xd800 && code <= 0xdfff) code = REPLACEMENT;
    const size = bytesOf(code);
    if (at + size > room) break;
    if (size === 1) bytes[at] = code;
    else writeSequence(bytes, at, code, size);
    at += size;
    read += units;
  }
  return { read, written: at };
}

function writeSequence(bytes, at, code, size) {
  const lead = size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0;
  for (let i = size - 1; i > 0; i--) {
    bytes[at + i] = 0x80 | (code & 0x3f);
    code >>>= 6;
  }
  bytes[at] = lead | code;
}

// One decoder's state between pieces of a stream: what is left of a sequence that has begun
function freshState() {
  return { __proto__: null, code: 0, needed: 0, low: 0x80, high: 0xbf, isStarted: false };
}

// Text of bytes. Invalid sequences become U+FFFD, one for each that could have begun a character, or raise.
function decodeUtf8(bytes, state, isFatal, isLast) {
  const parts = [];
  let codes = [];
  const add = (code) => {
    if (codes.length >= MAX_CODES) {
      parts[parts.length] = apply(stringFromCodePoint, undefined, codes);
      codes = [];
    }
    codes[codes.length] = code;
  };
  const fail = () => {
    if (isFatal) throw new TypeErrorC("The encoded data was not valid for encoding utf-8");
    add(REPLACEMENT);
  };
  const size = typedArrayLength(bytes);
  for (let i = 0; i < size; i++) {
    const byte = bytes[i];
    if (state.needed === 0) {
      if (byte < 0x80 && codes.length < MAX_CODES) codes[codes.length] = byte;
      else if (byte < 0x80) add(byte);
      else if (!begins(state, byte)) fail();
    } else if (byte < state.low || byte > state.high) {
      state.needed = 0;
      fail();
      i--; // it may begin a character itself
    } else {
      state.low = 0x80;
      state.high = 0xbf;
      state.code = (state.code << 6) | (byte & 0x3f);
      if (--state.needed === 0) add(state.code);
    }
  }
  if (isLast && state.needed > 0) {
    state.needed = 0;
    fail();
  }
  parts[parts.length] = apply(stringFromCodePoint, undefined, codes);
  return arrayJoin(parts, "");
}

// whether a byte begins a sequence; some lead bytes narrow what may follow
function begins(state, byte) {
  state.low = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
  state.high = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
  if (byte >= 0xc2 && byte <= 0xdf) state.needed = 1;
  else if (byte >= 0xe0 && byte <= 0xef) state.needed = 2;
  else if (byte >= 0xf0 && byte <= 0xf4) state.needed = 3;
  else return false;
  state.code = byte & (0x3f >> state.needed);
  return true;
}

// the bytes of a buffer or of a view of one
function bytesIn(input) {
  if (input === undefined) return new Uint8ArrayC(0);
  const kind = isObject(input) ? kindOf(input) : "";
  if (kind === "ArrayBuffer") return new Uint8ArrayC(input);
  if (kind === "TypedArray") {
    return new Uint8ArrayC(typedArrayBuffer(input), typedArrayByteOffset(input), typedArrayByteLength(input));
  }
  if (kind === "DataView") {
    return new Uint8ArrayC(dataViewBuffer(input), dataViewByteOffset(input), dataViewByteLength(input));
  }
  throw new TypeErrorC("TextDecoder: decode takes an ArrayBuffer or a view of one");
}

class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(input = "") {
    return encodeUtf8(`${input}`);
  }

  encodeInto(source, destination) {
    if (!isObject(destination) || typedArrayTag(destination) !== "Uint8Array") {
      throw new TypeErrorC("TextEncoder: encodeInto writes into a Uint8Array");
    }
    return writeUtf8(`${source}`, destination);
  }
}

class TextDecoder {
  #isFatal;
  #ignoresMark;
  #state = freshState();

  constructor(label = "utf-8", options = undefined) {
    if (UTF8_LABELS[stringToLowerCase(stringTrim(`${label}`))] === undefined) {
      throw new RangeErrorC(`TextDecoder: the encoding ${quoted(`${label}`)} is not supported; there is utf-8`);
    }
    this.#isFatal = !!options?.fatal;
    this.#ignoresMark = !!options?.ignoreBOM;
  }

  get encoding() {
    return "utf-8";
  }

  get fatal() {
    return this.#isFatal;
  }

  get ignoreBOM() {
    return this.#ignoresMark;
  }

  decode(input = undefined, options = undefined) {
    const continues = !!options?.stream;
    const state = this.#state;
    if (!continues) this.#state = freshState();
    const text = decodeUtf8(bytesIn(input), state, this.#isFatal, !continues);
    if (state.isStarted || text === "") return text;
    state.isStarted = true;
    const hasMark = !this.#ignoresMark && stringCharCodeAt(text, 0) === 0xfeff;
    return hasMark ? stringSlice(text, 1) : text;
  }
}

defineProperty(TextEncoder.prototype, toStringTag, { __proto__: null, value: "TextEncoder", configurable: true });
defineProperty(TextDecoder.prototype, toStringTag, { __proto__: null, value: "TextDecoder", configurable: true });
provide("TextEncoder", TextEncoder);
provide("TextDecoder", TextDecoder);
