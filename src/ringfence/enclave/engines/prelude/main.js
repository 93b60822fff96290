// One run: what the host gives, the script's start, what leaves for the host, and how it ends.
//
// The driver calls `begin`, `start`, then in turn `drain` and `hear` until `drain` says that the run has ended. The
// first end wins: what a script does afterwards is not heard of. Knows the run frame of `enclave.protocol`.

const MAX_TEXT = 4000;
const MAX_NAME_OF_ERROR = 128;
const MAX_LOOP_FACTOR = 100; // turns in all, to those of one loop (enclave catalogue, H3; `limits.TOTAL_ITERATIONS`)
const MOST_UNKEPT = 500;
const MOST_CLASSES = 20; // of one error, each derived from the next
const THROWS_NULL = /\b(?:throw|reject)\b[\s(]*null\b/;

let config = null;
let end = null; // the last frame
let place = null; // of what the script failed with: [text, line, column]
let thunks = null; // name to a function that says its value, for session variables

// What a script's hidden calls go to (`agentscript.rewrite`)
const hidden = freeze({
  __proto__: null,
  // a loop, or with it all of them, has had its turns
  stop(isOne, line) {
    const { max_iterations: most } = config;
    const what = isOne
      ? `a loop took more than ${most} turns`
      : `all loops together took more than ${most * MAX_LOOP_FACTOR} turns`;
    finish("iterations", "LoopLimit", what, line);
    throw new ErrorC(what);
  },
  // the text that a computed key is, made once
  key(given) {
    if (typeof given === "number" || typeof given === "symbol") return given;
    const text = `${given}`;
    if (BLOCKED_KEYS[text] === true) {
      finish("violation", "ScriptViolation", violation(`the key ${text}`), lineNow());
      throw new TypeErrorC(`the key ${text} may not be used`);
    }
    return text;
  },
  keep(given) {
    thunks = given;
  },
});
const BLOCKED_KEYS = { __proto__: null, constructor: true, prototype: true };
defineProperty(BLOCKED_KEYS, "__proto__", { __proto__: null, value: true });

// `text`: the run frame; `send`: the driver's function for synchronous functions of `globals`, or null
function begin(text, send) {
  read(text, send);
  if (config.rules === "STRICT" || config.rules === "SECURE") {
    lockDynamicCode((what) => finish("violation", "ScriptViolation", violation(what), lineNow()));
  }
  give("inputs", given("inputs"));
  const spaces = keys(config.namespaces);
  for (let i = 0; i < spaces.length; i++) give(spaces[i], namespace(config.namespaces[spaces[i]]));
  const names = keys(config.globals);
  for (let i = 0; i < names.length; i++) give(names[i], built(config.globals[names[i]]));
}

function read(text, send) {
  config = parseAnswer(text);
  exchange = send;
  bounds = limitsOf(config.max_value, config.max_depth);
  beginWorld({ clock: config.clock, frozen: config.frozen, seed: config.seed });
  beginConsole({ maxOutput: config.max_output });
}

function limitsOf(size, depth) {
  const { max_nodes: nodes, max_members: members } = config;
  return { __proto__: null, size, nodes, depth, members, tags: MOST_TAGGED, tagNodes: nodes, anyKeys: false };
}

// Before a run: touch what a run needs, without leaving a trace of it. Gives the methods of a namespace to run with.
function rehearse(text) {
  read(text, null);
  return namespace(config.namespaces.tools);
}

// As if nothing had been called, printed or ended
function forget() {
  outbox.length = 0;
  lastId = sequence = outstanding = 0;
  refusal = end = thunks = null;
}

function give(name, value) {
  defineProperty(globalThis, name, { __proto__: null, value, writable: false, enumerable: false, configurable: false });
}

function given(what) {
  const tags = config[`${what}_tags`];
  return tags ? decode(config[what], tags) : config[what];
}

// `make`: the script (`agentscript.rewrite`), which is told what it may use of ours, then its session variables
function start(make, names) {
  try {
    const variables = given("variables");
    const values = [];
    const list = parse(names);
    for (let i = 0; i < list.length; i++) values[i] = variables[list[i]];
    apply(promiseThen, apply(apply(make, undefined, [hidden, ...values]), undefined, []), [succeed, fail]);
  } catch (error) {
    fail(error);
  }
}

// Frames for the driver, one a line; before them the number of calls that wait, or what says that the run is over.
function drain() {
  if (end === null && outstanding === 0) {
    finish("deadlock", "Deadlock", "the script waits for something that can never happen", undefined);
  }
  flushOutput();
  const head = end === null ? `${outstanding}` : "end";
  if (end !== null) outbox[outbox.length] = end;
  const frames = takeFrames();
  return frames === "" ? head : arrayJoin([head, frames], "\n");
}

// The end

// Whether the run has ended in the guest's own eyes: nothing that a script still does may reach the host
function isOver() {
  return end !== null;
}

function finish(kind, name, message, line, more) {
  if (end !== null) return;
  end = stringify({
    __proto__: null,
    t: "failed",
    kind,
    name: stringSlice(name, 0, MAX_NAME_OF_ERROR),
    message: stringToWellFormed(stringSlice(message, 0, MAX_TEXT)),
    line: line || undefined,
    ...more,
  });
}

function succeed(value) {
  if (end !== null) return;
  try {
    end = doneFrame(value);
  } catch (error) {
    if (error instanceof NotData) failValue(error);
    else fail(error); // the script's own getter or toJSON
  }
}

function failValue(error) {
  if (error.excess) finish("large", "ResultError", `the script's result has ${error.reason}`);
  else {
    const place = error.path ? `the result's ${error.path}` : "the result";
    finish(error.large ? "large" : "value", "ResultError", `${place}: ${error.reason}`);
  }
}

function doneFrame(value) {
  const made = encode(value, { ...bounds, __proto__: null, anyKeys: true });
  const parts = ['{"t":"done","value":', made.text];
  if (made.tags !== "") parts[parts.length] = `,"tags":${made.tags}`;
  if (config.keep_variables) parts[parts.length] = keptVariables(bounds.size - sizeOfEncoded(made));
  parts[parts.length] = "}";
  return arrayJoin(parts, "");
}

// What the script's top level holds, as far as it is data. What does not fit is left out, each for itself, and its
// name told, but for functions and classes, which every script has.
function keptVariables(room) {
  const kept = create(null);
  const left = [];
  const before = given("variables");
  const names = thunks === null ? [] : keys(thunks);
  const each = limitsOf(room - 2, config.max_depth - 1); // without the object around them
  each.nodes -= 2;
  let members = 0;
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (stringStartsWith(name, "_")) continue;
    const value = valueNow(thunks[name]);
    if (value === undefined && !hasOwn(before, name)) continue;
    if (value !== undefined && members !== config.max_members && takesPart(name, value, each)) {
      kept[name] = value;
      members++;
    } else if (typeof value !== "function" || hasOwn(before, name)) {
      if (left.length < MOST_UNKEPT && name.length <= 200) left[left.length] = name;
    }
  }
  return variableParts(kept, left);
}

// Whether a variable still fits; what it takes is then taken from what there is for all of them.
function takesPart(name, value, room) {
  let made;
  try {
    made = encode(value, room);
  } catch {
    return false; // no data, or its own getter raised
  }
  const label = byteLength(stringify(name)) + 1; // also in the path of each tag
  const size = sizeOfEncoded(made) + (tags + 1) * label + 1;
  if (size > room.size || tagNodes + tags > room.tagNodes) return false;
  room.size -= size;
  room.nodes -= nodes;
  room.tags -= tags;
  room.tagNodes -= tagNodes + tags;
  return true;
}

function variableParts(kept, left) {
  const made = encode(kept, { ...bounds, __proto__: null });
  const tags = made.tags === "" ? "" : `,"variable_tags":${made.tags}`;
  const unkept = left.length === 0 ? "" : `,"unkept":${stringify(left)}`;
  return arrayJoin([',"variables":', made.text, tags, unkept], "");
}

function valueNow(thunk) {
  try {
    return thunk();
  } catch {
    return undefined; // the script ended before it was declared
  }
}

function fail(error) {
  if (end !== null) return;
  const about = described(error);
  place = placeIn(about.stack);
  const line = place === null ? undefined : +place[1];
  if (about.isMemory) {
    finish("memory", about.name, about.message, line);
    return;
  }
  const trace = config.traces && place !== null ? traceOf(about) : undefined;
  finish("raised", about.name, about.message, line, { trace, call: callOf(error) ?? undefined });
}

// `line:column` of the failure, as the engine counts
function whereFailed() {
  return place === null ? "" : `${place[1]}:${place[2]}`;
}

function traceOf(about) {
  return stringToWellFormed(
    stringSlice(arrayJoin([about.name, ": ", stringSlice(about.message, 0, 500), "\n", scriptLines(about.stack)], ""), 0, MAX_TEXT),
  );
}

// Name, message and stack of anything that can be thrown, whatever looking at it does
function described(error) {
  const about = { __proto__: null, name: "Error", message: "", stack: "", isMemory: false };
  try {
    // what the engine throws when it has no memory left for an error
    if (error === null && !holds(THROWS_NULL, config.source)) {
      return { ...about, __proto__: null, name: "InternalError", message: "out of memory", isMemory: true };
    }
    if ((typeof error !== "object" && typeof error !== "function") || error === null) {
      about.message = typeof error === "string" ? error : `${inspect(error)} was thrown`;
      return about;
    }
    const { name, message, stack } = error;
    if (typeof name === "string" && name !== "") about.name = name;
    about.message = typeof message === "string" ? message : isError(error) ? "" : `${inspect(error)} was thrown`;
    if (typeof stack === "string") about.stack = withoutConstructors(stack, error);
    about.isMemory = getPrototypeOf(error) === internalErrorPrototype && message === "out of memory";
  } catch {
    about.message = about.message || "(the error's text cannot be made)";
  }
  return about;
}

// The stack from where an error was made: the constructors of its own classes are not the place that went wrong.
function withoutConstructors(stack, error) {
  const names = create(null);
  let prototype = getPrototypeOf(error);
  for (let i = 0; prototype !== null && i < MOST_CLASSES; i++) {
    const { constructor } = prototype;
    if (typeof constructor === "function") names[`    at ${constructor.name} (`] = true;
    prototype = getPrototypeOf(prototype);
  }
  let rest = stack;
  for (let end; (end = stringIndexOf(rest, "\n", 0)) > 0; rest = stringSlice(rest, end + 1)) {
    const head = stringSlice(rest, 0, stringIndexOf(rest, "(", 0) + 1);
    if (names[head] !== true) break;
  }
  return rest;
}

function violation(what) {
  return `the script's security level does not allow this: ${what}`;
}

// called by console.js when the script has printed more than it may: the host ends the run when it hears that
function overflow() {
  finish("raised", "OutputLimit", "the script printed more than it may", lineNow());
  throw new ErrorC("the script printed more than it may");
}

give("callTool", freeze(callTool));
give("parallel", parallel);
give("console", consoleObject);
give("ToolError", ToolError);
give("GlobalFunctionError", GlobalFunctionError);
