// How a script's calls reach the host, and how the answers come back to whoever awaits them.
//
// A call is a frame of text in the outbox, which the driver takes when no job is left to run, and a promise that the
// answer settles. Each carries its position (line, place of the call, number), which names the call again when the
// script is replayed. Functions of `globals` that are not asynchronous block instead, through `exchange`, the one
// function of the driver's that there is, and only where such functions are. Knows the frames of
// `enclave.protocol`; `main.js` begins and ends the run.

const MAX_NAME = 256;
const MAX_FAULT = 300;

const outbox = setPrototypeOf([], null); // so that no setter of a script's can stand in its places
const waiting = new MapC(); // id to the call that waits for this answer
let lastId = 0;
let sequence = 0;
let outstanding = 0;
let refusal = null; // the host's answer that ended the run
let exchange = null;
let bounds = null; // what one call's arguments may be

// The errors of calls, as scripts catch them. Made from the host's answer, which holds data only.

class CallError extends ErrorC {
  #id = null;

  constructor(message = "", options = undefined) {
    super(message);
    const given = typeof options === "object" && options !== null ? options : create(null);
    hide(this, "name", typeof given.name === "string" ? given.name : new.target.name);
    this.code = typeof given.code === "string" ? given.code : "script_raised";
    if (given.cause !== undefined) hide(this, "cause", given.cause);
  }

  static made(kind, answer, owner, stack) {
    const error = new kind(answer.message, { name: answer.name, code: answer.code });
    error.#id = answer.id;
    error[owner] = answer.tool;
    if (typeof answer.hint === "string") error.hint = answer.hint;
    if (stack !== undefined) hide(error, "stack", arrayJoin([error.name, ": ", answer.message, "\n", scriptLines(stack)], ""));
    return error;
  }

  // number of the call that an error is about, where the host said one
  static callOf(error) {
    return typeof error === "object" && error !== null && #id in error ? error.#id : null;
  }
}
const { callOf, made: madeError } = CallError;
delete CallError.callOf;
delete CallError.made;

class ToolError extends CallError {
  constructor(message = "", options = undefined) {
    super(message, options);
    this.toolName = typeof options?.toolName === "string" ? options.toolName : "";
  }
}

class GlobalFunctionError extends CallError {
  constructor(message = "", options = undefined) {
    super(message, options);
    this.functionName = typeof options?.functionName === "string" ? options.functionName : "";
  }
}

function hide(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

function toolError(answer, stack) {
  return madeError(ToolError, answer, "toolName", stack);
}

function functionError(answer, stack) {
  return answer.terminal
    ? madeError(ToolError, answer, "toolName", stack)
    : madeError(GlobalFunctionError, answer, "functionName", stack);
}

// what every further call gets once the host has refused one for good
function afterwards(name) {
  const message = `the run has already failed (${refusal.code}); no further call starts`;
  return toolError({ __proto__: null, ...refusal, message, hint: null, tool: name }, undefined);
}

function rejected(error) {
  return new PromiseC((_, reject) => reject(error));
}

// Where calls stand

// The first place of a stack that is the script's. The prelude stands at lines from 2,097,152 on (`PRELUDE_LINE`).
// A stack that was shown to the script already says `script.js`. Without a parenthesis it is a place in text that the
// script parsed, such as JSON.
const SCRIPT_PLACE = /\((?:<input>|script\.js):(\d{1,6}|1\d{6}):(\d+)/;

// [text, line, column] of the innermost place of the script in a stack, or null
function placeIn(stack) {
  return typeof stack === "string" ? apply(regExpExec, SCRIPT_PLACE, [stack]) : null;
}

// the lines of a stack that are about the script
function scriptLines(stack) {
  const lines = stringSplit(stack, "\n");
  const kept = [];
  for (let i = 0; i < lines.length; i++) {
    if (placeIn(lines[i]) !== null) kept[kept.length] = arrayJoin(stringSplit(lines[i], "<input>"), "script.js");
  }
  return arrayJoin(kept, "\n");
}

// the line of the script that runs, 0 for none
function lineNow() {
  const place = placeIn(errorStack(new ErrorC("")));
  return place === null ? 0 : +place[1];
}

// Tools

// One tool call. What is no call at all throws at once, since nobody may await it. Of the options only `throwOnError: false` says that the tool's failure is to come back as data.
function requestTool(name, args, options) {
  if (typeof name !== "string" || name === "") {
    throw new TypeErrorC("callTool: the tool's name must be text that is not empty");
  }
  if (options !== undefined && options !== null && typeof options !== "object") {
    throw new TypeErrorC("callTool: options must be an object, such as { throwOnError: false }");
  }
  if (refusal !== null) return rejected(afterwards(name));
  if (isOver()) return rejected(new ErrorC("the run has already ended"));
  const throws = options === undefined || options === null || options.throwOnError !== false;
  const tail = name.length > MAX_NAME ? fault(`a tool's name has at most ${MAX_NAME} characters`) : argumentsOf(args);
  const label = stringify(stringToWellFormed(stringSlice(name, 0, MAX_NAME)));
  return post(arrayJoin(['"t":"call","name":', label], ""), tail, throws ? toolReturned : toolAnswered);
}

function toolReturned(answer, stack) {
  if (answer.t !== "ok") throw toolError(answer, stack);
  return valueOf(answer);
}

function toolAnswered(answer, stack) {
  if (answer.t === "ok") return { success: true, data: valueOf(answer) };
  if (!answer.returnable) throw toolError(answer, stack);
  const { name, message, code, tool: toolName } = answer;
  return { success: false, error: { name, message, code, toolName } };
}

function valueOf(answer) {
  return answer.tags === undefined ? answer.value : decode(answer.value, answer.tags);
}

// The end of a frame: arguments with their tags, or why they are refused
function argumentsOf(args) {
  if (args === undefined) return fault("Tool arguments must be an object; pass an object, {} for none");
  if (typeof args !== "object" || args === null || isArray(args)) {
    const kind = args === null ? "null" : isArray(args) ? "an array" : typeof args;
    return fault(`Tool arguments must be an object, not ${kind}; pass an object`);
  }
  return encoded(args, "");
}

// `prefix`: what paths begin with that the script did not write
function encoded(args, prefix) {
  try {
    const made = encode(args, bounds);
    const tags = made.tags === "" ? "" : `,"tags":${made.tags}`;
    return arrayJoin(['"args":', made.text, tags], "");
  } catch (error) {
    if (!(error instanceof NotData)) throw error; // the script's own getter or toJSON
    if (error.path === undefined || error.excess) return fault(`arguments of ${error.reason}`);
    const place = placeOfArgument(error.path, prefix);
    return fault(place === "" ? `arguments: ${error.reason}` : `argument ${place}: ${error.reason}`);
  }
}

// positional arguments of functions are members of a list in a list: the first one is argument 1
function placeOfArgument(path, prefix) {
  if (prefix === "" || !stringStartsWith(path, prefix)) return path;
  const end = stringIndexOf(path, "]", prefix.length);
  return `${+stringSlice(path, prefix.length, end) + 1}${stringSlice(path, end + 1)}`;
}

function fault(reason) {
  return `"args":null,"fault":${stringify(stringToWellFormed(stringSlice(reason, 0, MAX_FAULT)))}`;
}

// Functions of `globals`

function callFunction(id, name, args) {
  if (refusal !== null) throw afterwards(name);
  if (isOver()) throw new ErrorC("the run has already ended");
  let answer = null;
  let place = null;
  const settle = (given, stack) => {
    answer = given;
    place = stack;
  };
  post(`"t":"global","function":${id}`, encoded([args, {}], "[0]["), settle);
  hear(exchange(takeFrames()));
  return functionReturned(answer, place);
}

function awaitFunction(id, name, args) {
  if (refusal !== null) return rejected(afterwards(name));
  if (isOver()) return rejected(new ErrorC("the run has already ended"));
  return post(`"t":"global","function":${id}`, encoded([args, {}], "[0]["), functionReturned);
}

function functionReturned(answer, stack) {
  if (answer.t !== "ok") throw functionError(answer, stack);
  return valueOf(answer);
}

// Frames

// Queue a call. Its promise is settled with what `finish` makes of the answer.
function post(head, tail, finish) {
  const id = ++lastId;
  const stack = errorStack(new ErrorC(""));
  const place = placeIn(stack);
  const line = place === null ? "0" : place[1]; // no pattern, which would ask the script's idea of iteration
  const column = place === null ? "0" : place[2];
  const at = `"id":${id},"line":${line},"site":"${line}:${column}","task":"","seq":${sequence++}`;
  flushOutput();
  outbox[outbox.length] = arrayJoin(["{", head, ",", at, ",", tail, "}"], "");
  outstanding++;
  return new PromiseC((resolve, reject) => mapSet(waiting, id, { __proto__: null, stack, finish, resolve, reject }));
}

function flushOutput() {
  const pieces = takeOutput();
  for (let i = 0; i < pieces.length; i++) outbox[outbox.length] = `{"t":"print","text":${stringify(pieces[i])}}`;
}

function takeFrames() {
  const text = arrayJoin(outbox, "\n");
  outbox.length = 0;
  return text;
}

// Hear the host's answers: JSON text of a list of frames.
function hear(text) {
  const answers = parseAnswer(text);
  for (let i = 0; i < answers.length; i++) {
    const answer = answers[i];
    if (answer.t === "err" && answer.terminal && refusal === null) refusal = answer;
    const one = mapGet(waiting, answer.id);
    mapDelete(waiting, answer.id);
    outstanding--;
    try {
      one.resolve(one.finish(answer, one.stack));
    } catch (error) {
      one.reject(error);
    }
  }
}

// Names that scripts find

const callTool = (name, args, options) => requestTool(name, args, options);

// namespace to method to tool, as the host describes them: frozen, without prototype, and so are the methods' own
function namespace(methods) {
  const made = create(null);
  const names = keys(methods);
  for (let i = 0; i < names.length; i++) {
    const tool = methods[names[i]];
    const { method } = { method: (args = {}, options = undefined) => requestTool(tool, args, options) };
    made[names[i]] = freeze(named(method, names[i]));
  }
  return freeze(made);
}

function named(method, name) {
  return defineProperty(method, "name", { __proto__: null, value: name });
}

// what a node of `enclave.globals` describes
function built(node) {
  if (node.k === "data") return deepFreeze(node.tags ? decode(node.v, node.tags) : node.v);
  if (node.k === "function") return freeze(builtFunction(node));
  const made = node.k === "mapping" ? {} : create(null);
  const names = keys(node.m);
  for (let i = 0; i < names.length; i++) {
    const value = built(node.m[names[i]]);
    defineProperty(made, names[i], { __proto__: null, value, enumerable: true });
  }
  return freeze(made);
}

function builtFunction(node) {
  const { id, name } = node;
  const last = stringSlice(name, stringLastIndexOf(name, ".") + 1);
  return named(
    node.async ? (...args) => awaitFunction(id, name, args) : (...args) => callFunction(id, name, args),
    last,
  );
}

// `parallel(items, fn)`: every item at once, awaited, in the order of the items (enclave catalogue, H6). With
// `{ concurrency }` as many at a time.
const parallel = async (items, fn, options = undefined) => {
  if (typeof fn !== "function") throw new TypeErrorC("parallel: the second argument must be a function of an item");
  const list = arrayFrom(items);
  const most = options?.concurrency ?? list.length;
  if (!(most >= 1) && list.length > 0) throw new RangeErrorC("parallel: concurrency must be at least 1");
  const results = [];
  results.length = list.length;
  let next = 0;
  const worker = async () => {
    while (next < list.length) {
      const at = next++;
      results[at] = await fn(list[at], at);
    }
  };
  const workers = [];
  for (let i = 0; i < most && i < list.length; i++) workers[i] = worker();
  for (let i = 0; i < workers.length; i++) await workers[i];
  return results;
};
