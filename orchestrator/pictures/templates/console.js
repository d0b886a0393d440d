// The operator's console: the bar that stays in view, limits as bars, what happened, and what may be asked of a
// rig now. All of it follows from the last answer of the server and from the time since then.

const AMBER_S = 0.5, RED_S = 2;
const at = (id) => document.getElementById(id);

// Set a text only where it is another one: readers of the screen are told of changes.
function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

// --- State ---------------------------------------------------------------------------------------

const STOPPING = "The rig comes to rest.";

// Word, look, reason and next step of a rig; waits: the run has not done its first step.
function lookOf(rig, waits, isOver) {
  const cause = rig.latched?.[0] ?? rig.present?.[0] ?? "";
  const found = (word, look, why, next = "") => ({word, look, why, next});
  switch (rig.state) {
    case "OFF": return isOver ? found("OFF", cause ? "red" : "grey", cause || "The run is over.", "The next run begins with the rig held.")
      : Number.isFinite(rig.engaged_s ?? NaN) ? found("OFF", cause ? "red" : "grey", cause || "The run is over.", "The rig is at rest, and its devices are closed.")
      : found("OFF", "grey", rig.missing?.length ? `Waits for ${rig.missing.join(", ")}.` : "Waits for its devices.");
    case "SHADOW":
      if (isOver) return found("SHADOW", "grey", "The run is over; the devices were held.");
      if (rig.armed) return found("ARMED", "amber", rig.armed.by ? `Armed by ${rig.armed.by === rig.operator ? "you" : rig.armed.by}.` : "Armed.", "Engage now, or let it lapse.");
      return waits ? found("HELD", "grey", "SHADOW: devices are read and held; the run waits.", "Arm, then engage.")
        : found("SHADOW", "grey", "Devices are read and held; they do not follow the simulation.", "Arm, then engage.");
    case "BLEND": return found("BLEND", "active", "Devices begin to follow the simulation.");
    case "ACTIVE": return found("ACTIVE", "active", engagedBy(rig));
    case "FALLBACK": case "QUICKSTOP": return found(rig.state, "red", cause, STOPPING);
    case "ESTOP": return found("ESTOP", "red", cause, rig.refusals?.reset || "Close the hard-wired stop, then reset.");
    case "SAFE": return found("SAFE", "red", cause, isOver ? "The run is over; the next one begins with the rig held." : rig.refusals?.reset || "Reset, then arm and engage.");
    default: return found(rig.state, "grey", cause);
  }
}

function engagedBy(rig) {
  const change = (rig.changes ?? []).findLast(({event}) => event === "engage");
  return change ? `Engaged ${change.by ? `by ${change.by} ` : ""}at ${clock(change.at_s)}.` : "Devices follow the simulation.";
}

const clock = (seconds) => new Date(1000 * seconds).toLocaleTimeString([], {hour12: false});

function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  return `${String(minutes).padStart(2, "0")}:${(seconds - 60 * minutes).toFixed(1).padStart(4, "0")}`;
}

// --- Age -----------------------------------------------------------------------------------------

// How old what is shown is, s; null: it is not about now. sinceAnswer: time since the last answer.
function ageOf({recorded, ended}, one, shownEnd, shownNow, rig, sinceAnswer) {
  if (recorded || ended) return null;
  const ages = [sinceAnswer];
  const isStepping = one?.rows > 1 && one.state === "running";
  if (isStepping && one.age_s !== null && one.age_s !== undefined) ages.push(Math.max(one.age_s, 0) + sinceAnswer);
  if (isStepping && one.factor) ages.push(sinceAnswer + (shownEnd - shownNow) / one.factor);
  if (rig) ages.push((rig.age_s ?? Infinity) + sinceAnswer);
  return Math.max(...ages);
}

function levelOf(age, isLost) {
  if (age === null) return "none";
  if (isLost || age >= RED_S) return "red";
  return age >= AMBER_S ? "amber" : "fresh";
}

function ageText(age, isLost) {
  if (age === null) return "";
  const old = !Number.isFinite(age) ? "" : age < 1 ? `${Math.round(100 * age) * 10} ms old` : `${age.toFixed(1)} s old`;
  if (isLost) return `NOT CURRENT: connection lost, ${old}`;
  return age >= RED_S ? `NOT CURRENT ${old}`.trim() : old;
}

// --- Limits --------------------------------------------------------------------------------------

function withUnit(value, unit, digits = 3) {
  return value === null || value === undefined ? "–" : `${written(value, digits)} ${unit === "1" ? "" : unit}`.trim();
}

// All limits that the supervisor watches. The supervisor decides which of them are near.
const isNear = ({level}) => level === "amber" || level === "red";
const byNearness = (limits) => [...limits].sort((a, b) => (b.used ?? -Infinity) - (a.used ?? -Infinity));

// What a limit says: its value, its range in words, and how near it is for a reader of the screen.
function limitTexts(one) {
  const hasBoth = one.minimum !== null && one.maximum !== null;
  const range = hasBoth ? `${written(one.minimum, 3)} to ${withUnit(one.maximum, one.unit)}`
    : one.maximum === null ? `at least ${withUnit(one.minimum, one.unit)}` : withUnit(one.maximum, one.unit);
  const value = one.value === null ? "–" : withUnit(one.value, one.unit);
  const near = {amber: ", near its limit", red: ", beyond its limit"}[one.level] ?? "";
  return {value, range: hasBoth || one.maximum === null ? range : `of ${range}`,
    label: `${one.where} ${one.quantity}: ${one.value === null ? "not checked now" : value}, limit ${range}${near}`};
}

function setAttribute(node, name, value) { if (node.getAttribute(name) !== value) node.setAttribute(name, value); }

// A bar that is filled from 0, or from the middle of a range of two ends, to the value.
function newBar(one) {
  const root = element("div", "limit"), track = element("div", "track"), name = element("span", "name", `${one.where} `);
  name.append(element("small", "", one.quantity));
  track.append(element("div", "fill"));
  root.setAttribute("role", "img");
  root.append(name, track, element("span", "value"), element("span", "left"));
  return root;
}

function fillBar(root, one) {
  const [, track, value, left] = root.children, texts = limitTexts(one);
  const hasBoth = one.minimum !== null && one.maximum !== null, from = hasBoth ? 0.5 : 0;
  const share = one.used === null ? from : hasBoth ? (one.value - one.minimum) / (one.maximum - one.minimum) : one.used;
  const to = Math.min(Math.max(share, 0), 1);
  Object.assign(track.firstChild.style, {left: `${100 * Math.min(from, to)}%`, width: `${100 * Math.abs(to - from)}%`});
  track.classList.toggle("both", hasBoth);
  root.dataset.level = one.level;
  setAttribute(root, "aria-label", texts.label);
  setText(value, texts.value);
  setText(left, texts.range);
}

// Fill a place with bars; one that stays is changed in place, so that nothing is read out or lost anew.
function showBars(place, limits) {
  const before = place.bars ?? new Map(), bars = new Map();
  for (const one of limits) {
    const key = `${one.where}\n${one.quantity}\n${one.unit}`, bar = before.get(key) ?? newBar(one);
    fillBar(bar, one);
    bars.set(key, bar);
  }
  const nodes = [...bars.values()];
  if (nodes.length !== place.children.length || nodes.some((node, i) => node !== place.children[i])) place.replaceChildren(...nodes);
  place.bars = bars;
}

// Say which limits are near, when others are: one that was near lately still counts, so that noise is not read out.
const WARNED_MS = 5000, warnedAt = new Map();
function warnOf(limits) {
  const now = performance.now();
  for (const one of limits) if (isNear(one)) warnedAt.set(`${one.where} ${one.quantity}`, now);
  for (const [name, time] of warnedAt) if (now - time > WARNED_MS) warnedAt.delete(name);
  setText(at("warned"), warnedAt.size ? `Near a limit: ${[...warnedAt.keys()].sort().join(", ")}.` : "");
}

// The list: what matters always and what is near its limit; the others are folded.
function showLimits(limits) {
  const [list, fold] = [at("limited").querySelector("div"), at("limited").querySelector("details")];
  const others = limits.filter((one) => !one.main && !isNear(one));
  at("limited").hidden = !limits.length;
  showBars(list, limits.filter((one) => one.main || isNear(one)));
  fold.hidden = !others.length;
  setText(fold.querySelector("summary"), `${others.length} others, none near its limit`);
  showBars(fold.querySelector("div"), fold.open ? others : []);
}

// The least margin that is known: tracked, else that of arming.
function marginText(rig, one) {
  const tracked = Object.entries(rig?.margins ?? {}).filter(([, {delay_s: delay}]) => Number.isFinite(delay ?? NaN));
  if (tracked.length) {
    const [name, least] = tracked.reduce((a, b) => (b[1].delay_s < a[1].delay_s ? b : a));
    return [`${written(1000 * least.delay_s, 3)} ms`, `delay margin of ${name}, tracked; gain margin ${written(least.gain, 3)}`];
  }
  if (Number.isFinite(one?.margin_s ?? NaN)) return [`${written(1000 * one.margin_s, 3)} ms`, "least delay margin, computed when the rig was armed"];
  return ["", ""];
}

const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

// --- The bar -------------------------------------------------------------------------------------

function showBar(rig, one, isOver, word) {
  const isRig = Boolean(rig), waits = !(one?.rows > 1);
  const shown = isRig ? lookOf(rig, waits, isOver) : {word, look: "grey", why: "", next: ""};
  document.body.dataset.look = shown.look;
  document.body.classList.toggle("rigged", isRig);
  setText(at("state"), shown.word);
  at("state").dataset.state = shown.word;
  const since = isRig ? (["ACTIVE", "BLEND"].includes(rig.state) ? rig.engaged_s : rig.in_state_s) : null;
  setText(at("since"), since === null || since === undefined || isOver ? "" : duration(since));
  setText(at("why"), [shown.why, shown.next].filter(Boolean).map(sentence).join(" "));
  const [margin, meaning] = marginText(rig, one);
  at("margin").hidden = !margin;
  setText(at("margin").querySelector("strong"), margin);
  at("margin").title = meaning;
  const limits = rig?.limits ?? [];
  showBars(at("near"), byNearness(limits).filter(({used}) => used !== null).slice(0, 2));
  showLimits(limits);
  warnOf(limits);
  at("halt").hidden = !isRig;
  showOperations(rig, isOver);
}

// Between two answers: the countdown of arming, and the age of what is shown.
function showMoment(rig, sinceAnswer, age, isLost) {
  const left = rig?.armed ? Math.max(rig.armed.left_s - sinceAnswer, 0) : null;
  at("countdown").hidden = left === null;
  if (left !== null) {
    at("countdown").querySelector("div").style.width = `${100 * left / (rig.armed.of_s ?? Math.max(left, 1e-9))}%`;
    setText(at("countdown").querySelector("span"), `${left.toFixed(0)} s to engage`);
  }
  const level = levelOf(age, isLost);
  document.body.dataset.age = level;
  setText(at("age"), ageText(age, isLost));
  setText(at("stale"), level === "red" ? "What is shown is not current." : "");
}

// --- What may be asked ---------------------------------------------------------------------------

// Why a wish would be refused; empty: it may be asked.
function refusalOf(wish, rig, isOver) {
  if (isOver) return "The run is over.";
  if (!rig) return "There is no supervisor.";
  return rig.refusals?.[wish] ?? "";
}

function showOperations(rig, isOver) {
  at("operate").hidden = !rig;
  for (const button of document.querySelectorAll("#operate button, #halt button")) {
    const why = refusalOf(button.dataset.wish, rig, isOver);
    button.setAttribute("aria-disabled", String(Boolean(why)));
    button.title = why || button.dataset.title || "";
  }
}

// --- What happened -------------------------------------------------------------------------------

function eventRows(rig) {
  const rows = (rig?.changes ?? []).map((one) => [
    clock(one.at_s), one.before === one.after ? `${one.event} in ${one.after}` : `${one.before} → ${one.after}`,
    one.why || (one.by ? `${one.event} by ${one.by}` : one.event), one.advice || ""]);
  return rows.reverse();
}

function showEvents(rig) {
  at("events").hidden = !rig;
  if (!rig) return;
  const rows = eventRows(rig), key = JSON.stringify(rows);
  const alarms = (rig.alarms ?? []).map((text) => `alarm: ${text}`);
  const now = [...(rig.present ?? []).map((text) => `now: ${text}`), ...alarms];
  setText(at("present"), now.join("; "));
  if (at("events").dataset.key === key) return;
  at("events").dataset.key = key;
  const columns = ["Time", "What", "Why", "What to do"];
  at("events").querySelector("div").replaceChildren(...(rows.length ? [tableOf({heading: "Newest first", columns, rows, isNamed: false})] : []));
}

// --- Keys ----------------------------------------------------------------------------------------

const TEXT_FIELDS = "input:not([type=range], [type=checkbox], [type=radio], [type=button]), textarea, [contenteditable]";

// Whether a key is the quick stop: Space wherever the focus is, and Escape where Space is a letter.
function isQuickStop(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return false;
  const isText = event.target.matches?.(TEXT_FIELDS) ?? false;
  return event.key === (isText ? "Escape" : " ");
}

function onQuickStop(mayStop, act) {
  for (const kind of ["keydown", "keyup"])
    document.addEventListener(kind, (event) => {
      if (!isQuickStop(event) || !mayStop()) return;
      event.preventDefault();  // no button is pressed by it, and nothing scrolls
      event.stopImmediatePropagation();
      if (kind === "keydown" && !event.repeat) act();
    }, true);
}

// --- Channels that are chosen --------------------------------------------------------------------

const COLOURS = 7, STRIP = 150;
let chosen = null, strips = null, channels = new Map();  // chosen: names; null: nobody has chosen yet

// All signals, with the curve and unit that their figure gives them; those that devices count stand apart.
function showChannels(described) {
  channels = new Map();
  const groups = [new Map(), new Map()];
  for (const figure of described)
    for (const panel of figure.panels)
      for (const curve of panel.curves) {
        channels.set(curve.label, {curve, unit: unitOf(panel.ylabel)});
        const names = groups[Number(COUNTS.test(curve.label))], owner = curve.label.split(".")[0];
        names.set(owner, [...(names.get(owner) ?? []), curve.label]);
      }
  const options = [new Option("a signal ..", "")];
  for (const [i, names] of groups.entries())
    for (const [owner, labels] of names) {
      const group = element("optgroup");
      group.label = i ? `${owner}: what is counted` : owner;
      group.append(...labels.map((label) => new Option(label, label)));
      options.push(group);
    }
  at("add").replaceChildren(...options);
  at("charts").hidden = !channels.size;
  strips = null;
  showStrips();
}

// A strip for each unit, with the limits that the supervisor watches.
function showStrips() {
  const limits = state?.rig?.signals ?? {};
  if (chosen === null && Object.keys(limits).some((name) => channels.has(name)))
    chosen = Object.keys(limits).filter((name) => channels.has(name)).slice(0, 4);
  const names = (chosen ?? []).filter((name) => channels.has(name)), key = names.join("\n");
  if (strips?.key === key) return;
  figures = figures.filter((one) => one !== strips?.figure);
  const units = new Map();
  for (const name of names) units.set(channels.get(name).unit, [...(units.get(channels.get(name).unit) ?? []), name]);
  const panels = [...units].map(([unit, sharing]) => ({
    xlabel: "", limits: null, ylabel: sharing.length > 1 ? `[${unit}]` : `${sharing[0]} [${unit}]`,
    lines: sharing.flatMap((name) => ["minimum", "maximum"].filter((end) => Number.isFinite(limits[name]?.[end] ?? NaN))
      .map((end) => [`limit ${withUnit(limits[name][end], unit)}`, limits[name][end], "y", [6, 4]])),
    curves: sharing.map((name, i) => ({...channels.get(name).curve, colour: i % COLOURS, dash: []}))}));
  const place = at("charts").querySelector(".strips"), root = element("div", "chart");
  place.replaceChildren(...(panels.length ? [root] : []));
  strips = {key, figure: null};
  if (panels.length) {
    const described = {kind: "time", title: "", xlabel: "time [s]", columns: 1, log: "", ticks: null, spans: [], height: STRIP, panels};
    figures.push(strips.figure = new LiveFigure(root, described, "strips"));
    if (kept) strips.figure.feed(...kept);
  }
  at("chosen").replaceChildren(...names.map((name) => {
    const button = element("button", "", `${name} ×`);
    Object.assign(button, {type: "button", title: `Take ${name} away`});
    button.addEventListener("click", () => { chosen = names.filter((one) => one !== name); showStrips(); turn(); });
    return button;
  }));
}
