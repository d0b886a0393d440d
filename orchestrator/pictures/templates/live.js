// A run while it goes on, or a recording as it is played. All texts are set as text; the diagram alone is
// markup, in which the server has escaped all names.

const PERIOD = 100;          // ms between two pictures
const NS = 1e9;
const MOST_KEPT = 4e6;       // samples, when the run has ended
const COUNTS = /^(.*)\.(sample_age|lost|late|repeated|malformed|restarts|clamped|valid|samples|command_taken|commands_missed)$/;
const PATIENCE = 5000;       // ms, in which an answer comes, or is asked for again
const token = new URLSearchParams(location.search).get("token") ?? "";
const viewer = Math.random().toString(36).slice(2);

// What is shown: the case, the time, how much before it, or a stretch that was zoomed into.
const view = {number: -1, version: -1, isPicked: false, isGoing: true, now: 0, begin: 0, end: 0, zoomed: null, range: [0, 1], shown: undefined, shownRange: null};
let state = null, about = null, kept = null, wires = [], figures = [], row = null, places = new Map(), tunables = new Map(), drawnAt = performance.now();

async function ask(path, given = {}, method = "GET") {
  const address = `${path}?${new URLSearchParams(token ? {...given, token} : given)}`;
  const signal = method === "GET" ? AbortSignal.timeout(PATIENCE) : undefined;
  const answer = await fetch(address, {cache: "no-store", method, signal});
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

// --- Figures -------------------------------------------------------------------------------------

const NOTHING = new Float64Array(0);

// A figure whose time is that of the page, and whose samples are asked for as they are seen.
class LiveFigure extends Figure {
  constructor(root, described, number) {
    super(root, described, () => NOTHING, number);
    for (const panel of this.panels) panel.described.lines.unshift(["", NaN, "x", [2, 2]]);
    this.isSeen = false;
    new IntersectionObserver((entries) => { this.isSeen = entries.at(-1).isIntersecting; }).observe(root);
  }

  whole() { return [view.begin, Math.max(view.end, view.begin + 1e-9)]; }
  view() { return {x: view.range, y: null, isZoomed: true}; }

  zoom(_panel, x) {
    view.zoomed = x;
    if (x !== null && !state.recorded) go(false);
    turn();
  }

  get labels() { return this.panels.flatMap((panel) => panel.curves.map((curve) => curve.label)); }

  feed(time, columns, isExact) {
    this.isExact = isExact;
    this.described.spans = (about?.done ?? []).filter(({kind}) => kind === "mark").map(({text, time_ns}) => [text, time_ns / NS, time_ns / NS]);
    for (const panel of this.panels) {
      for (const curve of panel.curves) {
        curve.x = time;
        curve.y = columns.get(curve.label) ?? NOTHING;
        curve.isSorted = true;
      }
      panel.described.lines[0][1] = view.now;
      panel.u.setData([null, ...panel.curves.map((curve) => [curve.x, curve.y])], false);
      panel.fit();
      panel.u.redraw();
      this.read(panel, panel.u);
    }
  }

  // Where the mouse is not, values are those of the time that is shown, to the last digit that is told.
  read(panel, u) {
    if (u.cursor.left >= 0) {
      super.read(panel, u);
      if (!this.isExact) this.readout.textContent += " (lowest or highest near it: zoom in for samples)";
      return;
    }
    for (const curve of panel.curves) {
      const value = valueOf(curve.label);
      curve.value.textContent = value === null ? "" : `${written(value)} ${panel.unit}`.trim();
    }
    this.readout.textContent = "";
  }
}

function valueOf(name) {
  const column = places.get(name);
  return row === null || column === undefined ? null : row[column];
}

// --- What is known of a case ---------------------------------------------------------------------

function tableOf({heading, columns, rows, note, remarks, isNamed = true}) {
  const root = element("div");
  if (isNamed) root.append(element("h3", "", heading));
  if (note) root.append(element("p", "quiet", note));
  if (remarks?.length) {
    const list = element("ul", "quiet");
    list.append(...remarks.map((text) => element("li", "", text)));
    root.append(list);
  }
  const region = element("div", "table"), table = element("table");
  region.tabIndex = 0;
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", isNamed ? heading : `${heading}: table`);
  const head = element("tr"), body = element("tbody");
  const isNumber = (value) => typeof value === "number" || value === null;
  columns.forEach((name, i) => {
    const cell = element("th", i && rows.every((values) => isNumber(values[i])) ? "value" : "", name);
    cell.scope = "col";
    head.append(cell);
  });
  for (const values of rows) {
    const line = element("tr");
    values.forEach((value, i) => {
      const isPlain = isNumber(value);
      const cell = element(i ? "td" : "th", isPlain ? "value" : "text", isPlain ? written(value, 5) : String(value));
      if (!i) cell.scope = "row";
      line.append(cell);
    });
    body.append(line);
  }
  const header = element("thead");
  header.append(head);
  table.append(header, body);
  region.append(table);
  root.append(region);
  return root;
}

function showCase(found) {
  const isNew = about === null || about.number !== view.number || (!about.signals && found.signals);
  about = {...found, number: view.number};
  view.version = found.version;
  if (isNew) {
    places = new Map((found.signals?.names ?? []).map((name, i) => [name, i]));
    row = null;
    showDiagram(found.diagram);
    showFigures(found.signals?.figures ?? []);
    showChannels(found.signals?.figures ?? []);
  }
  showTunables();
  showDone(found.done);
  const list = at("tables").querySelector("div");
  list.replaceChildren(...found.sections.map(tableOf));
  (found.plots?.figures ?? []).forEach((described, i) => {
    const root = element("div", "chart"), figure = element("figure");
    figure.append(root, element("figcaption", "", found.captions[i]));
    list.append(figure);
    new Figure(root, described, (place) => unpacked(found.plots.arrays[place]), `found-${i}`);
  });
  at("tables").hidden = !list.childElementCount;
  at("remarks").hidden = !found.remarks.length;
  at("remarks").querySelector("ul").replaceChildren(...found.remarks.map((text) => element("li", "", text)));
}

function showDone(done) {
  const rows = (done ?? []).map((one) => [(one.time_ns / NS).toFixed(6), one.step, one.text]);
  const columns = ["Time [s]", "Step", "What"];
  at("tune").querySelector("div").replaceChildren(...(rows.length ? [tableOf({heading: "Changed and marked", columns, rows})] : []));
}

// What can be tuned, with the values that it has been given since.
function showTunables() {
  const now = new Map((about.tunables ?? []).map((one) => [one.name, {...one}]));
  for (const {kind, name, value} of about.done ?? [])
    if (kind === "set" && now.has(name)) now.get(name).value = name.includes("->") ? value / NS : value;
  tunables = now;
  at("tunables").replaceChildren(...[...now.keys()].map((name) => new Option(name)));
  showTunable();
}

function showTunable() {
  const one = tunables.get(at("tuned").value);
  at("limits").textContent = one ? `now ${typeof one.value === "number" ? written(one.value, 6) : one.value} ${one.unit}${one.limits ? `, ${one.limits}` : ""}` : "";
}

function showDiagram(diagram) {
  at("system").hidden = !diagram;
  wires = [];
  if (!diagram) return;
  const picture = at("system").querySelector(".picture");
  picture.style.setProperty("--full", `${diagram.width}pt`);
  picture.innerHTML = diagram.svg;
  for (const node of picture.querySelectorAll(".wire")) {
    const wire = diagram.wires[node.dataset.wire];
    if (!wire) continue;
    const names = places.has(wire.source) ? [wire.source] : [...places.keys()].filter((name) => name.startsWith(`${wire.source}[`));
    wires.push({...wire, names, node, text: [...node.querySelectorAll("text")].at(-1), title: node.querySelector("title")});
  }
  showValues();
}

// Values of the time that is shown, on the lines.
function showValues() {
  for (const {label, names, age, valid, text, title, node} of wires) {
    const values = names.map(valueOf).filter((value) => value !== null);
    const unit = about?.signals?.units?.[names[0]] ?? "", named = unit && unit !== "1" ? ` ${unit}` : "";
    let said = "–";
    if (values.length === 1) said = written(values[0], 4) + named;
    else if (values.length) said = `|${written(Math.hypot(...values), 4)}|${named}`;
    const old = valueOf(age);
    if (old !== null) said += ` ${written(old * 1000, 3)} ms old`;
    text.textContent = label ? `${label} ${said}` : said;
    text.classList.toggle("invalid", valueOf(valid) === 0);
    node.classList.toggle("invalid", valueOf(valid) === 0);
    title.textContent = names.map((name, i) => `${name} = ${values[i] ?? "not recorded"}`).join("\n") || "not recorded";
  }
}

function showFigures(described) {
  figures = [];
  strips = null;
  const list = at("signals").querySelector("div");
  list.replaceChildren();
  described.forEach((one, i) => {
    const root = element("div", "chart"), fold = element("details", "signals");
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", one.title);
    fold.open = i < 3 && !Object.keys(state?.rig?.signals ?? {}).length;  // else these are chosen
    fold.append(element("summary", "", `${one.title}, ${one.panels.length} panel${one.panels.length === 1 ? "" : "s"}`), root);
    list.append(fold);
    const build = () => {
      if (!fold.open || fold.figure) return;
      figures.push(fold.figure = new LiveFigure(root, one, i));
      if (kept) fold.figure.feed(...kept);
    };
    fold.addEventListener("toggle", build);
    build();
  });
}

function showDevices() {
  const found = new Map();
  for (const name of places.keys()) {
    const parts = COUNTS.exec(name);
    if (parts) found.set(parts[1], {...found.get(parts[1]), [parts[2]]: valueOf(name)});
  }
  at("devices").hidden = !found.size;
  if (!found.size) return;
  const rows = [...found].map(([name, one]) => [
    name, one.valid === undefined ? "–" : one.valid ? "valid" : "not valid",
    one.sample_age === undefined || one.sample_age === null ? null : one.sample_age * 1000,
    ...["lost", "late", "repeated", "malformed", "restarts"].map((key) => one[key] ?? null)]);
  const columns = ["Device", "Samples are", "age [ms]", "lost", "late", "repeated", "malformed", "restarts"];
  at("devices").querySelector("div").replaceChildren(tableOf({heading: "Samples of devices", columns, rows, isNamed: false}));
}

function showTiming(timing) {
  at("timing").hidden = !timing?.away;
  if (!timing?.away) return;
  const longest = Math.log1p(Math.max(...timing.away));
  at("timing").querySelector("tbody").replaceChildren(...timing.away.map((count, i) => {
    const line = element("tr"), bar = element("div", "share"), place = element("td", "shares");
    const end = timing.ends_us[i] ?? timing.ends_us[i - 1];
    const head = element("th", "value", `${i < timing.ends_us.length ? "up to" : "beyond"} ${end} µs`);
    head.scope = "row";
    bar.style.width = `${count ? Math.max(100 * Math.log1p(count) / longest, 1) : 0}%`;
    place.append(bar);
    line.append(head, element("td", "value", String(count)), place);
    return line;
  }));
}

function showRig(rig) {
  at("rig").hidden = !rig;
  if (!rig) return;
  const margins = Object.entries(rig.margins ?? {});
  at("rig").querySelector("div").replaceChildren(...(margins.length ? [tableOf({
    heading: "Margins that are left", columns: ["Command", "Delay [ms]", "Gain [1]"],
    rows: margins.map(([name, one]) => [name, one.delay_s * 1000, one.gain])})] : []));
}

// --- Time ----------------------------------------------------------------------------------------

function go(isGoing) {
  if (isGoing && state?.recorded && view.now >= view.end) view.now = view.begin;
  view.isGoing = isGoing;
  drawnAt = performance.now();
  const [goes, stands] = state?.recorded ? ["play", "pause"] : ["follow", "hold"];
  at("play").textContent = isGoing ? stands : goes;
  at("play").setAttribute("aria-pressed", String(isGoing));
}

function moveTime() {
  const passed = (performance.now() - drawnAt) / 1000;
  drawnAt = performance.now();
  if (view.isGoing) view.now = state.recorded ? view.now + passed * Number(at("speed").value) : view.end;
  if (view.now >= view.end && state.recorded && view.isGoing) { view.now = view.end; go(false); }
  view.now = Math.min(Math.max(view.now, view.begin), view.end);
  const width = Number(at("window").value);
  view.range = view.zoomed ?? (width ? [Math.max(view.now - width, view.begin), Math.max(view.now, view.begin + width)] : [view.begin, Math.max(view.end, view.begin + 1e-3)]);
  at("back").hidden = view.zoomed === null;
  const slider = at("slider");
  Object.assign(slider, {min: view.begin, max: view.end});
  slider.value = view.now;
  at("now").textContent = `${view.now.toFixed(3)} of ${view.end.toFixed(3)} s`;
}

function showState() {
  const cases = state.cases, select = at("case");
  if (select.options.length !== cases.length) select.replaceChildren(...cases.map((one, i) => new Option(one.title === one.name ? one.name : `${one.name}: ${one.title}`, i)));
  if (!view.isPicked && cases.length - 1 !== view.number) pick(cases.length - 1);
  select.value = String(view.number);
  const one = cases[view.number];
  at("speeds").hidden = !state.recorded;
  const word = !one ? "waiting" : state.recorded ? (view.isGoing ? "playing" : "recorded") : one.state;
  at("steer").hidden = !one?.steered;
  for (const id of ["set", "marking"]) at(id).hidden = !one?.tuned;
  at("tune").hidden = !one?.tuned && !at("tune").querySelector("table");
  const isStanding = one?.state === "standing";
  Object.assign(at("pause"), {textContent: isStanding ? "go on" : "pause"}).dataset.wish = isStanding ? "go" : "pause";
  const facts = [];
  if (one?.rows) facts.push(`${(one.end_ns / NS).toFixed(3)}${one.stop_ns === null ? "" : ` of ${one.stop_ns / NS}`} s`, `${one.rows} rows`);
  if (one?.timing) facts.push(`${one.timing.overruns} late steps`, `the last done ${written(-one.timing.late_ns / 1e6, 3)} ms before its deadline`, `computed in ${written(one.timing.computed_ns / 1e6, 3)} ms`);
  setText(at("facts"), facts.join(" · "));
  if (one?.rows) [view.begin, view.end] = [one.begin_ns / NS, one.end_ns / NS];
  showBar(state.rig, one, Boolean(state.ended), word);
  showRig(state.rig);
  showEvents(state.rig);
  showStrips();
  showTiming(one?.timing);
  at("case").disabled = Boolean(state.ended);
  tell(state.ended);
}

function tell(text) {
  at("notice").hidden = !text;
  if (at("notice").textContent !== text) at("notice").textContent = text;
}

function pick(number) {
  Object.assign(view, {number, version: -1, zoomed: null, now: 0});
  about = chosen = null;
}

// --- Going on ------------------------------------------------------------------------------------

// Ask for what is seen; for the last time for everything, which the page keeps.
async function samples(isLast) {
  const seen = figures.filter((figure) => isLast || figure.isSeen);
  const labels = isLast ? [...places.keys()] : [...new Set(seen.flatMap((figure) => figure.labels))];
  const columns = labels.map((name) => places.get(name));
  const width = Math.max(300, ...seen.map((figure) => figure.first.size().width * devicePixelRatio));
  const most = Math.round(isLast ? Math.min(20000, MOST_KEPT / labels.length) : 4 * width);
  const ns = (seconds) => Math.round(seconds * NS);
  const {now: moment} = view, range = isLast ? [view.begin, view.end] : view.range;
  const answer = await ask("samples", {
    case: view.number, columns: columns.join(","), begin_ns: ns(range[0]), end_ns: ns(range[1]),
    at_ns: ns(moment), most});
  const {count, exact} = JSON.parse(answer.headers.get("X-About"));
  const values = new Float64Array(await answer.arrayBuffer());
  row = values.subarray(count * (columns.length ? columns.length + 1 : 0));
  const time = values.subarray(0, count);
  const found = new Map(labels.map((name, i) => [name, values.subarray(count * (i + 1), count * (i + 2))]));
  if (isLast) kept = [time, found, exact];
  for (const figure of seen) figure.feed(time, found, exact);
  showValues();
  showDevices();
  [view.shown, view.shownRange] = [moment, range];
}

let isBusy = false, isWanted = false, failures = 0, answeredAt = [performance.now(), Date.now()];

// What goes on while no answer comes. A clock may stand still while the computer sleeps: the other does not.
function moment() {
  const since = Math.max(performance.now() - answeredAt[0], Date.now() - answeredAt[1], 0) / 1000;
  const age = state === null ? since : ageOf(state, state.cases[view.number], view.end, view.now, state.rig, since);
  showMoment(state?.ended ? null : state?.rig, since, age, failures > 0 && !state?.ended);
}

async function turn() {
  if (isBusy) { isWanted = true; return; }
  isBusy = true;
  const isOver = Boolean(state?.ended), isFirst = state === null;  // over: there is nobody to ask
  try {
    if (!isOver) [state, answeredAt] = [await (await ask("state", {viewer})).json(), [performance.now(), Date.now()]];
    if (isFirst) go(true);
    showState();
    const one = state.cases[view.number];
    if (!isOver && one && one.version !== view.version) showCase(await (await ask("case", {case: view.number})).json());
    moveTime();
    if (isOver) for (const figure of figures) for (const panel of figure.panels) panel.fit();
    else if (one?.rows && about.signals) await samples(Boolean(state.ended));
    if (!isOver && state.ended) await ask("state", {viewer, done: 1});
    failures = 0;
  } catch (error) {
    failures += 1;
    if (failures > 2) tell(`The run does not answer (${error.message}); it is asked again every second.`);
  }
  isBusy = false;
}

async function forever() {
  setInterval(moment, PERIOD);
  while (!state?.ended) {
    const began = performance.now();
    if (!document.hidden) await turn();
    const rest = isWanted ? 0 : Math.max(PERIOD - (performance.now() - began), 10);
    isWanted = false;
    await new Promise((done) => setTimeout(done, failures > 2 ? 1000 : rest));
  }
}

at("steer").addEventListener("click", (event) => {
  const {wish} = event.target.dataset;
  if (wish) ask("wish", {wish}, "POST").then(turn, (error) => tell(error.message));
});
async function wishFor(path, given, answer, said) {
  answer.textContent = "..";
  const {refused} = await ask(path, given, "POST").then((found) => found.json(), (error) => ({refused: error.message}));
  answer.classList.toggle("refused", Boolean(refused));
  answer.textContent = refused ?? said;
  turn();
}

const mark = () => wishFor("mark", {text: at("text").value.trim() || "mark"}, at("answer"), "marked");
at("set").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = {name: at("tuned").value, value: at("value").value, ramp: at("ramp").value};
  wishFor("set", given, at("answer"), `${given.name} = ${given.value}`);
});
at("tuned").addEventListener("input", showTunable);
at("marking").addEventListener("submit", (event) => { event.preventDefault(); mark(); });
function operate(wish) {
  const why = refusalOf(wish, state?.rig, Boolean(state?.ended));
  if (!why) { wishFor("operate", {wish, viewer}, at("operated"), `you: ${wish}`); return; }
  at("operated").classList.add("refused");
  setText(at("operated"), why);
}
for (const id of ["operate", "halt"])
  at(id).addEventListener("click", (event) => { const {wish} = event.target.closest("button")?.dataset ?? {}; if (wish) operate(wish); });
onQuickStop(() => Boolean(state?.rig) && !state.ended, () => operate("quickstop"));
at("add").addEventListener("change", (event) => {
  if (event.target.value) chosen = [...new Set([...(chosen ?? []), event.target.value])];
  event.target.value = "";
  showStrips();
  turn();
});
at("play").addEventListener("click", () => { go(!view.isGoing); if (view.isGoing) view.zoomed = null; turn(); });
at("case").addEventListener("change", (event) => { view.isPicked = Number(event.target.value) !== state.cases.length - 1; pick(Number(event.target.value)); turn(); });
at("window").addEventListener("change", () => { view.zoomed = null; turn(); });
at("back").addEventListener("click", () => { view.zoomed = null; turn(); });
at("slider").addEventListener("input", (event) => { go(false); view.now = Number(event.target.value); turn(); });
document.addEventListener("keydown", (event) => {
  if (event.target.closest("button, select, input, summary") || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "m" && !at("marking").hidden) mark();
  else if (event.key === "p") at("play").click();
  else return;
  event.preventDefault();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach((figure) => figure.redraw()));
forever();
