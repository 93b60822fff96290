// Dates as people write them in English (United States), in UTC: what the `toLocale…` methods of dates give.
//
// The engine has no locales and the jail no time zones, so one of each is all there is; others are refused, not
// ignored. Options and orders are those of `Intl.DateTimeFormat`. Reads options as `numerals.js` does.

const MONTHS = stringSplit(
  "January February March April May June July August September October November December",
  " ",
);
const WEEKDAYS = stringSplit("Sunday Monday Tuesday Wednesday Thursday Friday Saturday", " ");
const UTC_NAMES = ["utc", "gmt", "etc/utc", "etc/gmt"];

const UNKNOWN_DATE_OPTIONS = ["era", "dayPeriod"];

const NUMERIC = ["numeric", "2-digit"];
const NAMES = ["long", "short", "narrow"];
const DATE_PARTS = { __proto__: null, weekday: NAMES, year: NUMERIC, month: [...NUMERIC, ...NAMES], day: NUMERIC };
const TIME_PARTS = { __proto__: null, hour: NUMERIC, minute: NUMERIC, second: NUMERIC };

const DATE_STYLES = {
  __proto__: null,
  full: { __proto__: null, weekday: "long", year: "numeric", month: "long", day: "numeric" },
  long: { __proto__: null, year: "numeric", month: "long", day: "numeric" },
  medium: { __proto__: null, year: "numeric", month: "short", day: "numeric" },
  short: { __proto__: null, year: "2-digit", month: "numeric", day: "numeric" },
};
const TIME_STYLES = {
  __proto__: null,
  full: { __proto__: null, hour: "numeric", minute: "2-digit", second: "2-digit", zone: "long" },
  long: { __proto__: null, hour: "numeric", minute: "2-digit", second: "2-digit", zone: "short" },
  medium: { __proto__: null, hour: "numeric", minute: "2-digit", second: "2-digit" },
  short: { __proto__: null, hour: "numeric", minute: "2-digit" },
};
const STYLES = ["full", "long", "medium", "short"];

// What a caller's options come to. `needs`: which parts it wants at least ("date", "time", "any"); `usual`: which it
// gets when the options name none ("date", "time", "all")
function dateStyle(options, needs, usual) {
  refuseOptions(options, UNKNOWN_DATE_OPTIONS);
  const zone = options.timeZone;
  if (zone !== undefined && !isUtc(`${zone}`)) {
    throw new RangeErrorC(`timeZone: ${quoted(`${zone}`)} is not available here; there is "UTC"`);
  }
  const style = { __proto__: null };
  addParts(style, options, DATE_PARTS);
  addParts(style, options, TIME_PARTS);
  style.fraction = digitsOption(options, "fractionalSecondDigits", 1, 3);
  style.zone = choice(options, "timeZoneName", ["short", "long"], undefined);
  if (!addStyles(style, options, needs)) addUsual(style, needs, usual);
  style.isTwelve = isTwelve(options);
  return style;
}

function isUtc(zone) {
  const name = stringToLowerCase(zone);
  for (let i = 0; i < UTC_NAMES.length; i++) if (name === UTC_NAMES[i]) return true;
  return false;
}

function addParts(style, options, parts) {
  const names = keys(parts);
  for (let i = 0; i < names.length; i++) style[names[i]] = choice(options, names[i], parts[names[i]], undefined);
}

function isTwelve(options) {
  if (options.hour12 !== undefined) return !!options.hour12;
  return choice(options, "hourCycle", ["h12", "h23"], "h12") === "h12";
}

// `dateStyle` and `timeStyle`, which stand alone
function addStyles(style, options, needs) {
  const date = choice(options, "dateStyle", STYLES, undefined);
  const time = choice(options, "timeStyle", STYLES, undefined);
  if (date === undefined && time === undefined) return false;
  if (hasAny(style, DATE_PARTS) || hasTime(style) || style.zone !== undefined) {
    throw new TypeErrorC("dateStyle and timeStyle cannot be used with other parts of a date");
  }
  if (needs === "date" && time !== undefined) throw new TypeErrorC("timeStyle: toLocaleDateString gives a date only");
  if (needs === "time" && date !== undefined) throw new TypeErrorC("dateStyle: toLocaleTimeString gives a time only");
  if (date !== undefined) fillFrom(style, DATE_STYLES[date]);
  if (time !== undefined) fillFrom(style, TIME_STYLES[time]);
  return true;
}

function fillFrom(style, given) {
  const names = keys(given);
  for (let i = 0; i < names.length; i++) style[names[i]] = given[names[i]];
}

function hasAny(style, parts) {
  const names = keys(parts);
  for (let i = 0; i < names.length; i++) if (style[names[i]] !== undefined) return true;
  return false;
}

function hasTime(style) {
  return hasAny(style, TIME_PARTS) || style.fraction !== undefined;
}

function addUsual(style, needs, usual) {
  const wanted = (needs !== "time" && hasAny(style, DATE_PARTS)) || (needs !== "date" && hasTime(style));
  if (wanted) return;
  if (usual !== "time") style.year = style.month = style.day = "numeric";
  if (usual !== "date") style.hour = style.minute = style.second = "numeric";
}

// Texts

function padded(number, form) {
  return form === "2-digit" ? stringSlice(stringPadStart(numberToString(number), 2, "0"), -2) : numberToString(number);
}

function nameOf(list, index, form) {
  const name = list[index];
  return form === "long" ? name : stringSlice(name, 0, form === "short" ? 3 : 1);
}

function isNamed(form) {
  return form === "long" || form === "short" || form === "narrow";
}

function calendarText(date, style) {
  const { weekday, year, month, day } = style;
  const texts = {
    __proto__: null,
    weekday: weekday && nameOf(WEEKDAYS, dateGetUTCDay(date), weekday),
    year: year && yearText(dateGetUTCFullYear(date), year),
    day: day && padded(dateGetUTCDate(date), day),
  };
  const index = dateGetUTCMonth(date);
  if (month) texts.month = isNamed(month) ? nameOf(MONTHS, index, month) : padded(index + 1, month);
  const body =
    isNamed(month) || month === undefined ? namedDate(texts) : joinedParts([texts.month, texts.day, texts.year], "/");
  if (weekday === undefined) return body;
  if (body === "") return texts.weekday;
  return month !== undefined && day !== undefined ? `${texts.weekday}, ${body}` : `${body} ${texts.weekday}`;
}

// years before the first count from there backwards, without a sign
function yearText(year, form) {
  return padded(year > 0 ? year : 1 - year, form);
}

function namedDate({ month, day, year }) {
  if (month === undefined)
    return year !== undefined && day !== undefined ? `${year} (day: ${day})` : (year ?? day ?? "");
  const head = day === undefined ? month : `${month} ${day}`;
  if (year === undefined) return head;
  return day === undefined ? `${head} ${year}` : `${head}, ${year}`;
}

function joinedParts(parts, separator) {
  const present = [];
  for (let i = 0; i < parts.length; i++) if (parts[i] !== undefined) present[present.length] = parts[i];
  return arrayJoin(present, separator);
}

function timeText(date, style) {
  const { hour, minute, second, fraction } = style;
  const hours = dateGetUTCHours(date);
  const inGroup = hour !== undefined || (minute !== undefined && second !== undefined);
  const parts = [
    hour && hourText(hours, style),
    minute && padded(dateGetUTCMinutes(date), inGroup ? "2-digit" : "numeric"),
    second && padded(dateGetUTCSeconds(date), inGroup ? "2-digit" : "numeric"),
  ];
  let text = joinedParts(parts, ":");
  if (fraction !== undefined) {
    const digits = stringSlice(stringPadStart(numberToString(dateGetUTCMilliseconds(date)), 3, "0"), 0, fraction);
    text = second === undefined && text === "" ? digits : `${text}.${digits}`;
  }
  if (hour !== undefined && style.isTwelve) text = `${text} ${hours < 12 ? "AM" : "PM"}`;
  return text;
}

// a day of twenty-four hours that `hour12: false` asks for ends at 24:00 in this locale
function hourText(hours, style) {
  if (style.isTwelve) return padded(hours % 12 || 12, style.hour);
  return padded(hours === 0 && style.isLate ? 24 : hours, "2-digit");
}

function zoneText(zone) {
  return zone === "long" ? "Coordinated Universal Time" : "UTC";
}

function localeText(date, locales, options, needs, usual) {
  const time = dateGetTime(date); // raises unless it is a date
  requireLocale(locales, "dates");
  const given = optionsOf(options);
  const style = dateStyle(given, needs, usual);
  style.isLate = given.hour12 !== undefined;
  if (time !== time) return "Invalid Date";
  const day = hasAny(style, DATE_PARTS) ? calendarText(date, style) : "";
  const clock = joinedParts([timeText(date, style) || undefined, style.zone && zoneText(style.zone)], " ");
  if (day === "" || clock === "") return day === "" ? clock : day;
  const isLong = style.month === "long";
  const onlyWeekday = style.year === undefined && style.month === undefined && style.day === undefined;
  return arrayJoin([day, isLong ? " at " : onlyWeekday ? " " : ", ", clock], "");
}

// Locales that scripts name when they want `2026-01-31`; of them there is that form alone
const ISO_LOCALES = { __proto__: null, "en-ca": true, "sv-se": true, sv: true };

function isIsoDate(locales, options) {
  if (!ISO_LOCALES[stringToLowerCase(localeName(locales, "dates"))]) return false;
  const given = optionsOf(options);
  const names = keys(given);
  for (let i = 0; i < names.length; i++) {
    const value = given[names[i]];
    const isPart = names[i] === "year" || names[i] === "month" || names[i] === "day";
    if (!(isPart ? value === "numeric" || value === "2-digit" : names[i] === "timeZone" && isUtc(`${value}`)))
      return false;
  }
  return given.year !== "2-digit" && (given.year === undefined) === (given.day === undefined);
}

const dateTexts = {
  toLocaleString(locales = undefined, options = undefined) {
    return localeText(this, locales, options, "any", "all");
  },
  toLocaleDateString(locales = undefined, options = undefined) {
    if (isIsoDate(locales, options)) {
      return dateGetTime(this) === dateGetTime(this) ? stringSlice(dateToISOString(this), 0, -14) : "Invalid Date";
    }
    return localeText(this, locales, options, "date", "date");
  },
  toLocaleTimeString(locales = undefined, options = undefined) {
    return localeText(this, locales, options, "time", "time");
  },
};

hide(DateC.prototype, "toLocaleString", dateTexts.toLocaleString);
hide(DateC.prototype, "toLocaleDateString", dateTexts.toLocaleDateString);
hide(DateC.prototype, "toLocaleTimeString", dateTexts.toLocaleTimeString);
