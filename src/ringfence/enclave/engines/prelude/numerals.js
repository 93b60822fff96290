// Numbers as people write them in English (United States): what `toLocaleString` of numbers and big integers gives.
//
// The engine has no locales, and scripts that report money or counts expect `1,234.50`. Digits come from the shortest
// text of a number and are rounded in decimals, as `Intl.NumberFormat` does. Other locales are refused, not ignored.

const FRACTION_MOST = 100;
const SIGNIFICANT_MOST = 21;
const NO_BREAK = "\xa0";

const CURRENCY_SIGNS = {
  __proto__: null,
  AUD: "A$",
  BRL: "R$",
  CAD: "CA$",
  CNY: "CN¥",
  EUR: "€",
  GBP: "£",
  HKD: "HK$",
  ILS: "₪",
  INR: "₹",
  JPY: "¥",
  KRW: "₩",
  MXN: "MX$",
  NZD: "NZ$",
  PHP: "₱",
  TWD: "NT$",
  USD: "$",
  VND: "₫",
};
const NARROW_SIGNS = {
  __proto__: null,
  AUD: "$",
  CAD: "$",
  CNY: "¥",
  HKD: "$",
  MXN: "$",
  NZD: "$",
  TWD: "$",
  RUB: "₽",
  TRY: "₺",
  UAH: "₴",
  PLN: "zł",
  SEK: "kr",
  NOK: "kr",
  DKK: "kr",
  CZK: "Kč",
  HUF: "Ft",
};
// decimals of currencies that do not have two
const CURRENCY_DIGITS = { __proto__: null, CLP: 0, ISK: 0, JPY: 0, KRW: 0, PYG: 0, UGX: 0, VND: 0, XAF: 0, XOF: 0 };
const THREE_DIGITS = ["BHD", "JOD", "KWD", "LYD", "OMR", "TND"];
for (let i = 0; i < THREE_DIGITS.length; i++) CURRENCY_DIGITS[THREE_DIGITS[i]] = 3;

const SHORT_POWERS = ["", "K", "M", "B", "T"];
const LONG_POWERS = ["", " thousand", " million", " billion", " trillion"];

const EN_US = ["", "en", "en-us", "default"];

// the locale that a caller asks for; empty: none
function localeName(locales, where) {
  let first = locales;
  if (isArray(locales)) first = locales.length === 0 ? undefined : locales[0];
  if (first === undefined) return "";
  if (typeof first !== "string") throw new TypeErrorC(`${where}: a locale is text, such as "en-US"`);
  return first;
}

// which has to be the one that there is
function requireLocale(locales, where) {
  const name = localeName(locales, where);
  const small = stringToLowerCase(name);
  for (let i = 0; i < EN_US.length; i++) if (small === EN_US[i]) return;
  throw new RangeErrorC(`${where}: the locale ${quoted(name)} is not available here; there is "en-US"`);
}

// one option of a caller's: text of a given set
function choice(options, name, allowed, fallback) {
  const value = options[name];
  if (value === undefined) return fallback;
  const text = `${value}`;
  for (let i = 0; i < allowed.length; i++) if (text === allowed[i]) return text;
  throw new RangeErrorC(`${name}: ${quoted(text)} is not available here; there is ${arrayJoin(allowed, ", ")}`);
}

// options that would change the text, but are not known here
function refuseOptions(options, names) {
  for (let i = 0; i < names.length; i++) {
    if (options[names[i]] !== undefined) throw new RangeErrorC(`the option ${names[i]} is not available here`);
  }
}

function digitsOption(options, name, least, most) {
  const value = options[name];
  if (value === undefined) return undefined;
  const number = +value;
  if (!(number >= least && number <= most)) throw new RangeErrorC(`${name} value is out of range.`);
  return floor(number);
}

function optionsOf(options) {
  if (options === undefined) return create(null);
  if (options === null) throw new TypeErrorC("options: null is no object");
  return ObjectC(options);
}

// What a caller's options come to
function numberStyle(options) {
  refuseOptions(options, UNKNOWN_NUMBER_OPTIONS);
  const style = { __proto__: null, kind: choice(options, "style", ["decimal", "percent", "currency"], "decimal") };
  const currency = options.currency === undefined ? undefined : stringToUpperCase(`${options.currency}`);
  if (currency !== undefined && regExpMatch(CURRENCY_CODE, currency) === null) {
    throw new RangeErrorC(`Invalid currency code : ${currency}`);
  }
  if (style.kind === "currency" && currency === undefined) {
    throw new TypeErrorC("Currency code is required with currency style.");
  }
  style.currency = currency;
  style.display = choice(options, "currencyDisplay", ["symbol", "narrowSymbol", "code"], "symbol");
  style.isAccounting = choice(options, "currencySign", ["standard", "accounting"], "standard") === "accounting";
  style.isCompact = choice(options, "notation", ["standard", "compact"], "standard") === "compact";
  style.powers = choice(options, "compactDisplay", ["short", "long"], "short") === "long" ? LONG_POWERS : SHORT_POWERS;
  style.sign = choice(options, "signDisplay", ["auto", "always", "exceptZero", "never", "negative"], "auto");
  style.grouping = groupingOf(options.useGrouping, style.isCompact);
  addDigits(style, options);
  return style;
}

const UNKNOWN_NUMBER_OPTIONS = ["roundingIncrement", "roundingMode", "roundingPriority", "trailingZeroDisplay"];
const CURRENCY_CODE = /^[A-Z]{3}$/;

// digits before the first comma from which there is one; infinity: none
function groupingOf(value, isCompact) {
  if (value === undefined) return isCompact ? 5 : 4;
  if (value === false || value === "false") return Infinity;
  if (value === true || value === "true" || value === "always" || value === "auto") return 4;
  if (value === "min2") return 5;
  throw new RangeErrorC(`Value ${quoted(`${value}`)} out of range for options property useGrouping`);
}

function addDigits(style, options) {
  style.integers = digitsOption(options, "minimumIntegerDigits", 1, 21) ?? 1;
  const least = digitsOption(options, "minimumFractionDigits", 0, FRACTION_MOST);
  const most = digitsOption(options, "maximumFractionDigits", 0, FRACTION_MOST);
  const significantLeast = digitsOption(options, "minimumSignificantDigits", 1, SIGNIFICANT_MOST);
  const significantMost = digitsOption(options, "maximumSignificantDigits", significantLeast ?? 1, SIGNIFICANT_MOST);
  style.isSignificant = significantLeast !== undefined || significantMost !== undefined;
  style.least = significantLeast ?? 1;
  style.most = significantMost ?? SIGNIFICANT_MOST;
  style.isRounded = style.isCompact && !style.isSignificant && least === undefined && most === undefined;
  if (style.isSignificant || style.isRounded) return;
  const money = style.kind === "currency";
  const usualLeast = money ? (CURRENCY_DIGITS[style.currency] ?? 2) : 0;
  const usualMost = money ? usualLeast : style.kind === "percent" ? 0 : 3;
  if (least !== undefined && most !== undefined && least > most) {
    throw new RangeErrorC("maximumFractionDigits value is out of range.");
  }
  style.least = least ?? min(usualLeast, most ?? usualLeast);
  style.most = most ?? max(usualMost, style.least);
}

// Decimal digits: { digits, point }, which mean 0.digits * 10 ** point, without zeros at either end

function decimalOf(text) {
  const exponentAt = stringIndexOf(text, "e");
  const mantissa = exponentAt < 0 ? text : stringSlice(text, 0, exponentAt);
  const exponent = exponentAt < 0 ? 0 : +stringSlice(text, exponentAt + 1);
  const dot = stringIndexOf(mantissa, ".");
  const whole = dot < 0 ? mantissa : stringSlice(mantissa, 0, dot);
  const all = dot < 0 ? whole : arrayJoin([whole, stringSlice(mantissa, dot + 1)], "");
  let from = 0;
  while (from < all.length && all[from] === "0") from++;
  let end = all.length;
  while (end > from && all[end - 1] === "0") end--;
  return decimal(stringSlice(all, from, end), from === all.length ? 0 : whole.length + exponent - from);
}

function decimal(digits, point) {
  return { __proto__: null, digits, point: digits === "" ? 0 : point };
}

// halves go away from zero
function roundedDecimal(value, places) {
  const kept = value.point + places;
  if (kept >= value.digits.length) return value;
  const isUp = kept >= 0 && value.digits[kept] >= "5";
  let at = kept;
  let head = kept > 0 ? stringSlice(value.digits, 0, kept) : "";
  if (isUp) {
    while (at > 0 && head[at - 1] === "9") at--;
    if (at <= 0) return decimal("1", value.point + 1);
    head = arrayJoin([stringSlice(head, 0, at - 1), numberToString(+head[at - 1] + 1)], "");
  } else {
    while (at > 0 && head[at - 1] === "0") at--;
    head = at > 0 ? stringSlice(head, 0, at) : "";
  }
  return decimal(head, value.point);
}

function roundedFor(value, style) {
  if (style.isSignificant) return roundedDecimal(value, style.most - value.point);
  if (style.isRounded) return roundedDecimal(value, max(0, 2 - value.point));
  return roundedDecimal(value, style.most);
}

function digitsText(value, style) {
  const { digits, point } = value;
  let whole = point <= 0 ? "" : stringPadEnd(stringSlice(digits, 0, point), point, "0");
  let fraction = arrayJoin([stringRepeat("0", max(0, -point)), stringSlice(digits, max(0, point))], "");
  if (digits === "") fraction = "";
  whole = stringPadStart(whole, style.integers, "0");
  const least = style.isRounded
    ? 0
    : style.isSignificant
      ? style.least - max(point, digits === "" ? 1 : point)
      : style.least;
  fraction = stringPadEnd(fraction, least, "0");
  whole = grouped(whole, style.grouping);
  return fraction === "" ? whole : arrayJoin([whole, ".", fraction], "");
}

function grouped(whole, from) {
  if (whole.length < from) return whole;
  const parts = [];
  const first = whole.length % 3;
  if (first > 0) parts[0] = stringSlice(whole, 0, first);
  for (let at = first; at < whole.length; at += 3) parts[parts.length] = stringSlice(whole, at, at + 3);
  return arrayJoin(parts, ",");
}

// thousands that a compact number leaves out, after rounding: 999,999 is a million
function powerOf(value, style) {
  let power = max(0, min(floor((value.point - 1) / 3), SHORT_POWERS.length - 1));
  const scaled = roundedFor(decimal(value.digits, value.point - power * 3), style);
  if (scaled.point > 3 && power < SHORT_POWERS.length - 1) power++;
  return power;
}

// `text`: digits of a number without its sign
function formatNumber(text, isNegative, style) {
  let isZero = false;
  let body;
  let tail = "";
  if (text === "Infinity") body = "∞";
  else if (text === "NaN") body = "NaN";
  else {
    let value = decimalOf(text);
    if (style.kind === "percent") value = decimal(value.digits, value.point + 2);
    if (style.isCompact) {
      const power = powerOf(value, style);
      value = decimal(value.digits, value.point - power * 3);
      tail = style.powers[power];
    }
    value = roundedFor(value, style);
    isZero = value.digits === "";
    body = digitsText(value, style);
  }
  return signed(
    affixed(arrayJoin([body, tail], ""), style),
    isNegative && text !== "NaN",
    isZero || text === "NaN",
    style,
  );
}

function affixed(body, style) {
  if (style.kind === "percent") return `${body}%`;
  if (style.kind !== "currency") return body;
  const { currency, display } = style;
  let sign = display === "code" ? undefined : CURRENCY_SIGNS[currency];
  if (display === "narrowSymbol") sign = NARROW_SIGNS[currency] ?? sign;
  return arrayJoin(
    sign === undefined || regExpMatch(LETTERS_LAST, sign) ? [sign ?? currency, NO_BREAK, body] : [sign, body],
    "",
  );
}

const LETTERS_LAST = /[a-zč]$/i;

function signed(text, isNegative, isZero, style) {
  const { sign } = style;
  const hasMinus = isNegative && sign !== "never" && !(isZero && (sign === "exceptZero" || sign === "negative"));
  if (hasMinus) return style.isAccounting && style.kind === "currency" ? `(${text})` : `-${text}`;
  const hasPlus = !isNegative && (sign === "always" || (sign === "exceptZero" && !isZero));
  return hasPlus ? `+${text}` : text;
}

const numberTexts = {
  toLocaleString(locales = undefined, options = undefined) {
    const value = numberValueOf(this);
    requireLocale(locales, "toLocaleString");
    const isNegative = value < 0 || (value === 0 && 1 / value < 0);
    return formatNumber(numberToString(isNegative ? -value : value), isNegative, numberStyle(optionsOf(options)));
  },
};

const bigIntTexts = {
  toLocaleString(locales = undefined, options = undefined) {
    const value = bigIntValueOf(this);
    requireLocale(locales, "toLocaleString");
    const text = bigIntToString(value);
    const isNegative = text[0] === "-";
    return formatNumber(isNegative ? stringSlice(text, 1) : text, isNegative, numberStyle(optionsOf(options)));
  },
};

hide(NumberC.prototype, "toLocaleString", numberTexts.toLocaleString);
hide(BigIntC.prototype, "toLocaleString", bigIntTexts.toLocaleString);
