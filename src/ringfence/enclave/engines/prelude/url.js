// `URL`, as the URL Standard describes it, for the schemes of the web and for those with a path of their own.
//
// `file:` is not there: a script has no files. `hosts.js` reads hosts, `query.js` has the parameters and the encoding.

const DEFAULT_PORTS = { __proto__: null, http: 80, https: 443, ws: 80, wss: 443, ftp: 21 };
const MAX_PORT = 65535;

// characters to encode in each part, beside controls and what is not ASCII
const IN_FRAGMENT = ' "<>`';
const IN_QUERY = ' "#<>';
const IN_SPECIAL_QUERY = " \"#<>'";
const IN_PATH = ' "#<>?^`{}';
const IN_USER = ' "#<>?^`{}/:;=@[\\]|';

const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):/;

function invalidUrl(text, why) {
  const error = new TypeErrorC(why === undefined ? "Invalid URL" : `Invalid URL: ${why}`);
  hide(error, "code", "ERR_INVALID_URL");
  hide(error, "input", text);
  return error;
}

function emptyRecord(scheme) {
  return {
    __proto__: null,
    scheme,
    username: "",
    password: "",
    host: null,
    port: null,
    path: [], // text: a path that has no parts, as in `mailto:`
    query: null,
    fragment: null,
  };
}

function isSpecial(record) {
  return DEFAULT_PORTS[record.scheme] !== undefined;
}

// `base`: a record or null
function parseUrl(given, base) {
  const text = cleaned(given);
  const { body, query, fragment } = splitTail(text);
  const scheme = regExpMatch(SCHEME, body);
  const record = scheme === null ? relativeUrl(body, base, given) : absoluteUrl(scheme, body, base, given);
  if (record.inheritsQuery && typeof record.path === "string" && (query !== null || fragment === null)) {
    throw invalidUrl(given); // of a path without parts only the fragment can change
  }
  if (query !== null) record.query = percentEncoded(query, isSpecial(record) ? IN_SPECIAL_QUERY : IN_QUERY);
  else if (record.inheritsQuery) record.query = base.query;
  if (fragment !== null) record.fragment = percentEncoded(fragment, IN_FRAGMENT);
  return record;
}

// without spaces around it, and line ends and tabs within
function cleaned(given) {
  let from = 0;
  let end = given.length;
  while (from < end && stringCharCodeAt(given, from) <= 32) from++;
  while (end > from && stringCharCodeAt(given, end - 1) <= 32) end--;
  return withoutBreaks(stringSlice(given, from, end));
}

function withoutBreaks(given) {
  let text = given;
  const breaks = ["\t", "\n", "\r"];
  for (let i = 0; i < 3; i++) {
    if (stringIncludes(text, breaks[i])) text = arrayJoin(stringSplit(text, breaks[i]), "");
  }
  return text;
}

function splitTail(text) {
  const hash = stringIndexOf(text, "#");
  const head = hash < 0 ? text : stringSlice(text, 0, hash);
  const mark = stringIndexOf(head, "?");
  return {
    __proto__: null,
    body: mark < 0 ? head : stringSlice(head, 0, mark),
    query: mark < 0 ? null : stringSlice(head, mark + 1),
    fragment: hash < 0 ? null : stringSlice(text, hash + 1),
  };
}

function absoluteUrl(match, body, base, given) {
  const record = emptyRecord(stringToLowerCase(match[1]));
  const rest = stringSlice(body, match[0].length);
  if (record.scheme === "file") throw invalidUrl(given, "the scheme file is not available here");
  if (!isSpecial(record)) {
    if (stringStartsWith(rest, "//")) addAuthority(record, stringSlice(rest, 2), given);
    else if (rest[0] === "/") addPath(record, stringSlice(rest, 1));
    else record.path = percentEncoded(rest, "");
    return record;
  }
  const isRelative = base !== null && base.scheme === record.scheme && !stringStartsWith(rest, "//");
  if (isRelative) return relativeUrl(rest, base, given);
  addAuthority(record, withoutSlashes(rest), given);
  return record;
}

function withoutSlashes(text) {
  let from = 0;
  while (text[from] === "/" || text[from] === "\\") from++;
  return stringSlice(text, from);
}

function relativeUrl(body, base, given) {
  if (base === null) throw invalidUrl(given);
  if (typeof base.path === "string") {
    if (body !== "") throw invalidUrl(given);
    return { ...base, __proto__: null, fragment: null, inheritsQuery: true };
  }
  const record = { ...base, __proto__: null, query: null, fragment: null };
  const text = isSpecial(record) ? arrayJoin(stringSplit(body, "\\"), "/") : body;
  if (stringStartsWith(text, "//")) {
    const fresh = emptyRecord(record.scheme);
    addAuthority(fresh, isSpecial(fresh) ? withoutSlashes(text) : stringSlice(text, 2), given);
    return fresh;
  }
  if (text === "") record.inheritsQuery = true;
  else if (text[0] === "/") addPath(record, stringSlice(text, 1));
  else {
    const kept = [];
    for (let i = 0; i < base.path.length - 1; i++) kept[i] = base.path[i];
    addPath(record, text, kept);
  }
  return record;
}

function addAuthority(record, text, given) {
  const special = isSpecial(record);
  let end = 0;
  while (end < text.length && text[end] !== "/" && !(special && text[end] === "\\")) end++;
  const authority = stringSlice(text, 0, end);
  const at = stringLastIndexOf(authority, "@");
  if (at >= 0) addUser(record, stringSlice(authority, 0, at));
  const place = stringSlice(authority, at + 1);
  const colon = portColon(place);
  const name = colon < 0 ? place : stringSlice(place, 0, colon);
  if (name === "" && (special || at >= 0 || colon >= 0)) throw invalidUrl(given);
  record.host = hostOf(name, special, given);
  record.port = colon < 0 ? null : portOf(stringSlice(place, colon + 1), record.scheme, given);
  if (end < text.length) addPath(record, stringSlice(text, end + 1));
  else if (special) record.path = [""];
}

function addUser(record, text) {
  const colon = stringIndexOf(text, ":");
  record.username = percentEncoded(colon < 0 ? text : stringSlice(text, 0, colon), IN_USER);
  record.password = colon < 0 ? "" : percentEncoded(stringSlice(text, colon + 1), IN_USER);
}

function portColon(place) {
  let inBrackets = false;
  for (let i = 0; i < place.length; i++) {
    if (place[i] === "[") inBrackets = true;
    else if (place[i] === "]") inBrackets = false;
    else if (place[i] === ":" && !inBrackets) return i;
  }
  return -1;
}

const DIGITS = /^[0-9]*$/;

function portOf(text, scheme, given) {
  if (regExpMatch(DIGITS, text) === null || +text > MAX_PORT) throw invalidUrl(given);
  return text === "" || +text === DEFAULT_PORTS[scheme] ? null : +text;
}

function addPath(record, text, parts = []) {
  const special = isSpecial(record);
  const segments = stringSplit(special ? arrayJoin(stringSplit(text, "\\"), "/") : text, "/");
  for (let i = 0; i < segments.length; i++) {
    const dots = dotsOf(segments[i]);
    const isLast = i === segments.length - 1;
    if (dots === 2 && parts.length > 0) parts.length -= 1;
    if (dots === 0) parts[parts.length] = percentEncoded(segments[i], IN_PATH);
    else if (isLast) parts[parts.length] = "";
  }
  record.path = parts;
}

const DOTS = /^(?:\.|%2e){1,2}$/i;

function dotsOf(segment) {
  if (regExpMatch(DOTS, segment) === null) return 0;
  return segment.length === 1 || segment.length === 3 ? 1 : 2;
}

// Parts as text

function hostText(record) {
  if (record.host === null) return "";
  return record.port === null ? record.host : `${record.host}:${record.port}`;
}

function pathText(record) {
  if (typeof record.path === "string") return record.path;
  return record.path.length === 0 ? "" : `/${arrayJoin(record.path, "/")}`;
}

function originText(record) {
  return isSpecial(record) ? `${record.scheme}://${hostText(record)}` : "null";
}

function hrefText(record) {
  const parts = [record.scheme, ":"];
  if (record.host !== null) {
    const { username, password } = record;
    const user = password === "" ? username : `${username}:${password}`;
    parts[2] = `//${user === "" ? "" : `${user}@`}${hostText(record)}`;
  } else if (typeof record.path !== "string" && record.path.length > 1 && record.path[0] === "") {
    parts[2] = "/."; // or the path would look like a host
  }
  parts[parts.length] = pathText(record);
  if (record.query !== null) parts[parts.length] = `?${record.query}`;
  if (record.fragment !== null) parts[parts.length] = `#${record.fragment}`;
  return arrayJoin(parts, "");
}

// A setter that cannot take its value leaves the URL as it was
function attempt(change) {
  try {
    return change();
  } catch (error) {
    if (error instanceof TypeErrorC) return undefined;
    throw error;
  }
}

class URL {
  #record;
  #params = null;

  constructor(url, base = undefined) {
    const above = base === undefined ? null : parseUrl(wellFormed(base), null);
    this.#record = parseUrl(wellFormed(url), above);
  }

  static canParse(url, base = undefined) {
    return URL.parse(url, base) !== null;
  }

  static parse(url, base = undefined) {
    try {
      return new URL(url, base);
    } catch (error) {
      if (error instanceof TypeErrorC) return null;
      throw error;
    }
  }

  static has(value) {
    return #record in value;
  }

  #hasHost() {
    const { host } = this.#record;
    return host !== null && host !== "";
  }

  get href() {
    return hrefText(this.#record);
  }

  set href(value) {
    this.#record = parseUrl(wellFormed(value), null);
    if (this.#params !== null) replaceParams(this.#params, this.#record.query ?? "");
  }

  get origin() {
    return originText(this.#record);
  }

  get protocol() {
    return `${this.#record.scheme}:`;
  }

  // only from one scheme of the web to another
  set protocol(value) {
    const match = regExpMatch(SCHEME, `${wellFormed(value)}:`);
    if (match === null) return;
    const record = { ...this.#record, __proto__: null, scheme: stringToLowerCase(match[1]) };
    if (isSpecial(record) !== isSpecial(this.#record) || record.scheme === "file") return;
    if (record.port === DEFAULT_PORTS[record.scheme]) record.port = null;
    this.#record = record;
  }

  get username() {
    return this.#record.username;
  }

  set username(value) {
    if (this.#hasHost()) this.#record.username = percentEncoded(wellFormed(value), IN_USER);
  }

  get password() {
    return this.#record.password;
  }

  set password(value) {
    if (this.#hasHost()) this.#record.password = percentEncoded(wellFormed(value), IN_USER);
  }

  get host() {
    return hostText(this.#record);
  }

  set host(value) {
    this.#setHost(value, true);
  }

  get hostname() {
    return this.#record.host ?? "";
  }

  set hostname(value) {
    this.#setHost(value, false);
  }

  #setHost(value, withPort) {
    if (typeof this.#record.path === "string") return;
    const text = headOfAuthority(withoutBreaks(wellFormed(value)), isSpecial(this.#record));
    const colon = portColon(text);
    if (colon === 0 || (colon > 0 && !withPort)) return;
    attempt(() => {
      this.#record.host = hostOf(colon < 0 ? text : stringSlice(text, 0, colon), isSpecial(this.#record), text);
      const port = colon < 0 ? "" : leadingDigits(stringSlice(text, colon + 1));
      if (port !== "") this.#record.port = portOf(port, this.#record.scheme, text);
    });
  }

  get port() {
    const { port } = this.#record;
    return port === null ? "" : numberToString(port);
  }

  set port(value) {
    if (!this.#hasHost()) return;
    const text = withoutBreaks(wellFormed(value));
    const digits = leadingDigits(text);
    if (digits === "" && text !== "") return;
    attempt(() => {
      this.#record.port = portOf(digits, this.#record.scheme, text);
    });
  }

  get pathname() {
    return pathText(this.#record);
  }

  set pathname(value) {
    if (typeof this.#record.path === "string") return;
    const text = withoutBreaks(wellFormed(value));
    const isRooted = text[0] === "/" || (isSpecial(this.#record) && text[0] === "\\");
    if (text === "" && !isSpecial(this.#record)) this.#record.path = [];
    else addPath(this.#record, isRooted ? stringSlice(text, 1) : text);
  }

  get search() {
    const { query } = this.#record;
    return query === null || query === "" ? "" : `?${query}`;
  }

  set search(value) {
    const text = withoutBreaks(wellFormed(value));
    const query = text[0] === "?" ? stringSlice(text, 1) : text;
    const unsafe = isSpecial(this.#record) ? IN_SPECIAL_QUERY : IN_QUERY;
    this.#record.query = text === "" ? null : percentEncoded(query, unsafe);
    if (this.#params !== null) replaceParams(this.#params, query);
  }

  get searchParams() {
    this.#params ??= paramsOf(this.#record.query ?? "", (text) => {
      this.#record.query = text === "" ? null : text;
    });
    return this.#params;
  }

  get hash() {
    const { fragment } = this.#record;
    return fragment === null || fragment === "" ? "" : `#${fragment}`;
  }

  set hash(value) {
    const text = withoutBreaks(wellFormed(value));
    const fragment = text[0] === "#" ? stringSlice(text, 1) : text;
    this.#record.fragment = text === "" ? null : percentEncoded(fragment, IN_FRAGMENT);
  }

  toString() {
    return hrefText(this.#record);
  }

  toJSON() {
    return hrefText(this.#record);
  }
}

const LEADING_DIGITS = /^[0-9]*/;

function leadingDigits(text) {
  return regExpMatch(LEADING_DIGITS, text)[0];
}

// the part of a setter's text that is an authority
function headOfAuthority(text, special) {
  let end = 0;
  while (end < text.length && !stringIncludes("/?#", text[end]) && !(special && text[end] === "\\")) end++;
  return stringSlice(text, 0, end);
}

const { has: isUrl } = URL;
delete URL.has;
defineProperty(URL.prototype, toStringTag, { __proto__: null, value: "URL", configurable: true });
provide("URL", URL);

// as Node.js shows them
const SHOWN_PARTS = stringSplit(
  "href origin protocol username password host hostname port pathname search searchParams hash",
  " ",
);
const urlGetters = create(null);
for (let i = 0; i < SHOWN_PARTS.length; i++) urlGetters[SHOWN_PARTS[i]] = getter(URL.prototype, SHOWN_PARTS[i]);
mapSet(KINDS, URL.prototype, "URL");
BRANDS.URL = (value) => demand(isUrl(value));
FORMS.URL = (form, value, owner) => {
  filledForm(form, owner, "URL", fillUrl);
};

function fillUrl(view, value, parts, level) {
  for (let i = 0; i < SHOWN_PARTS.length; i++) {
    const part = urlGetters[SHOWN_PARTS[i]](value);
    parts[i] = within(view, () => `${SHOWN_PARTS[i]}: ${shown(view, part, level)}`);
  }
}
