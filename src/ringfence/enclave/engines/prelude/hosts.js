// Hosts of URLs as the URL Standard reads them: names, IPv4 in its many spellings, IPv6.
//
// A name that is not ASCII is refused: the tables that it takes to write it in ASCII are not here. `url.js` calls it.

const FORBIDDEN_IN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
const FORBIDDEN_IN_DOMAIN = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/;
const NOT_ASCII = /[^\0-\x7f]/;

function hostOf(text, special, given) {
  if (text[0] === "[") {
    if (text[text.length - 1] !== "]") throw invalidUrl(given);
    return `[${parseV6(stringSlice(text, 1, -1), given)}]`;
  }
  if (!special) {
    if (regExpMatch(FORBIDDEN_IN_HOST, text) !== null) throw invalidUrl(given);
    return percentEncoded(text, "");
  }
  const name = stringToLowerCase(percentDecoded(text));
  if (regExpMatch(NOT_ASCII, name) !== null) {
    throw invalidUrl(given, 'a host that is not ASCII is not available here; write its "xn--" form');
  }
  if (name === "" || regExpMatch(FORBIDDEN_IN_DOMAIN, name) !== null) throw invalidUrl(given);
  return endsInNumber(name) ? parseV4(name, given) : name;
}

const NUMBER_PART = /^(?:[0-9]+|0x[0-9a-f]*)$/;

function hostParts(name) {
  const parts = stringSplit(name, ".");
  if (parts.length > 1 && parts[parts.length - 1] === "") parts.length -= 1;
  return parts;
}

function endsInNumber(name) {
  const parts = hostParts(name);
  return regExpMatch(NUMBER_PART, parts[parts.length - 1]) !== null;
}

function parseV4(name, given) {
  const parts = hostParts(name);
  if (parts.length > 4) throw invalidUrl(given);
  let address = 0;
  for (let i = 0; i < parts.length; i++) {
    const number = numberOfPart(parts[i]);
    const isLast = i === parts.length - 1;
    if (!(number < (isLast ? 256 ** (5 - parts.length) : 256))) throw invalidUrl(given);
    address += isLast ? number : number * 256 ** (3 - i);
  }
  const bytes = [];
  for (let i = 0; i < 4; i++) bytes[i] = floor(address / 256 ** (3 - i)) % 256;
  return arrayJoin(bytes, ".");
}

const OCTAL = /^0[0-7]*$/;

// not a number where it is none
function numberOfPart(part) {
  if (regExpMatch(NUMBER_PART, part) === null) return NaN;
  if (stringStartsWith(part, "0x")) return part.length === 2 ? 0 : +part;
  if (part.length > 1 && part[0] === "0") return regExpMatch(OCTAL, part) === null ? NaN : parseIntC(part, 8);
  return +part;
}

const V6_PIECE = /^[0-9a-fA-F]{1,4}$/;
const V4_TAIL = /^(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})$/;

function parseV6(text, given) {
  const halves = stringSplit(text, "::");
  if (halves.length > 2) throw invalidUrl(given);
  const pieces = v6Pieces(halves[0], halves.length === 1, given);
  if (halves.length === 2) {
    const tail = v6Pieces(halves[1], true, given);
    if (pieces.length + tail.length > 7) throw invalidUrl(given);
    while (pieces.length + tail.length < 8) pieces[pieces.length] = 0;
    for (let i = 0; i < tail.length; i++) pieces[pieces.length] = tail[i];
  }
  if (pieces.length !== 8) throw invalidUrl(given);
  return v6Text(pieces);
}

function v6Pieces(text, isEnd, given) {
  const pieces = [];
  if (text === "") return pieces;
  const parts = stringSplit(text, ":");
  for (let i = 0; i < parts.length; i++) {
    if (regExpMatch(V6_PIECE, parts[i]) !== null) {
      pieces[pieces.length] = parseIntC(parts[i], 16);
    } else if (isEnd && i === parts.length - 1 && regExpMatch(V4_TAIL, parts[i]) !== null) {
      const bytes = stringSplit(parts[i], ".");
      for (let j = 0; j < 4; j++) if (+bytes[j] > 255) throw invalidUrl(given);
      pieces[pieces.length] = +bytes[0] * 256 + +bytes[1];
      pieces[pieces.length] = +bytes[2] * 256 + +bytes[3];
    } else throw invalidUrl(given);
  }
  return pieces;
}

// the first longest run of zeros, of two at least, is left out
function v6Text(pieces) {
  let start = -1;
  let longest = 1;
  for (let i = 0; i < 8; i++) {
    let run = 0;
    while (i + run < 8 && pieces[i + run] === 0) run++;
    if (run > longest) {
      longest = run;
      start = i;
    }
  }
  const texts = [];
  for (let i = 0; i < 8; i++) texts[i] = numberToString(pieces[i], 16);
  if (start < 0) return arrayJoin(texts, ":");
  const head = [];
  const tail = [];
  for (let i = 0; i < start; i++) head[i] = texts[i];
  for (let i = start + longest; i < 8; i++) tail[tail.length] = texts[i];
  return arrayJoin([arrayJoin(head, ":"), arrayJoin(tail, ":")], "::");
}
