"use strict";

// One page of a block diagram. Everything that comes from the system is set as text, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const stage = document.getElementById("stage");
const SVG = "http://www.w3.org/2000/svg";
const state = { view: -1, svg: null, box: null, picked: null, loop: -1, trail: [], folded: new Set() };

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function drawn(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// --- Views ---------------------------------------------------------------------------------------

function show(number) {
  if (state.svg) state.svg.remove();
  const template = stage.querySelector(`template[data-number="${number}"]`);
  state.svg = template.content.firstElementChild.cloneNode(true);
  state.view = number;
  stage.append(state.svg);
  for (const wire of state.svg.querySelectorAll(".wire")) {
    const reach = wire.querySelector("path").cloneNode();
    reach.setAttribute("class", "reach");
    reach.removeAttribute("stroke-dasharray");
    wire.append(reach);
  }
  for (const frame of state.svg.querySelectorAll(".frame")) addFold(frame);
  fit();
  for (const button of document.querySelectorAll("#depths button"))
    button.setAttribute("aria-pressed", String(Number(button.dataset.number) === number));
  showCrumbs();
  pick(state.picked);
  follow(state.loop);
}

function addFold(frame) {
  const outline = frame.querySelector(":scope > rect");
  const x = Number(outline.getAttribute("x")) + Number(outline.getAttribute("width")) - 20;
  const y = Number(outline.getAttribute("y")) + 6;
  const sign = drawn("g", { class: "fold", tabindex: "0", role: "button" });
  const label = drawn("text", { x: x + 7, y: y + 11, "font-size": 12, "text-anchor": "middle", fill: "#444444" });
  const title = drawn("title", {});
  sign.append(title, drawn("rect", { x, y, width: 14, height: 14, rx: 3, fill: "#ffffff", stroke: "#888888" }), label);
  frame.insertBefore(sign, frame.querySelector(":scope > .content"));
  const set = (folded) => {
    frame.classList.toggle("folded", folded);
    label.textContent = folded ? "+" : "−";
    title.textContent = folded ? "Unfold" : "Fold";
    if (folded) state.folded.add(frame.dataset.part);
    else state.folded.delete(frame.dataset.part);
  };
  sign.addEventListener("click", (event) => {
    event.stopPropagation();
    set(!frame.classList.contains("folded"));
  });
  sign.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") set(!frame.classList.contains("folded"));
  });
  set(state.folded.has(frame.dataset.part));
}

function viewOf(path) {
  return data.views.findIndex((view) => view.name !== "" && view.name === path);
}

function enter(path) {
  const number = viewOf(path);
  if (number < 0 || number === state.view) return;
  state.trail.push(state.view);
  show(number);
}

function showCrumbs() {
  const crumbs = document.getElementById("crumbs");
  crumbs.replaceChildren();
  if (data.views[state.view].name === "") {
    state.trail = [];
    return;
  }
  const back = element("button", `← back from ${data.views[state.view].name}`);
  back.addEventListener("click", () => show(state.trail.pop() ?? data.first));
  crumbs.append(back);
}

// --- Pan and zoom --------------------------------------------------------------------------------

function setBox(x, y, width, height) {
  state.box = { x, y, width, height };
  state.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
}

function fit() {
  const template = stage.querySelector(`template[data-number="${state.view}"]`);
  setBox(...template.content.firstElementChild.getAttribute("viewBox").split(" ").map(Number));
}

function pointAt(event) {
  const matrix = state.svg.getScreenCTM().inverse();
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
}

function zoom(factor, at) {
  const { x, y, width, height } = state.box;
  const centre = at ?? { x: x + width / 2, y: y + height / 2 };
  const wide = Math.min(Math.max(width * factor, 20), 1e6);
  const share = wide / width;
  setBox(centre.x - (centre.x - x) * share, centre.y - (centre.y - y) * share, wide, height * share);
}

stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 30 : 1;
  zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY * lines)) / 400), pointAt(event));
}, { passive: false });

const fingers = new Map();
let travelled = 0;

stage.addEventListener("pointerdown", (event) => {
  if (event.button > 0 || event.target.closest("#crumbs, .fold")) return;
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  travelled = 0;
});

stage.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const scale = 1 / state.svg.getScreenCTM().a;
  const others = [...fingers.entries()].filter(([id]) => id !== event.pointerId);
  if (others.length === 1) {
    const [, other] = others[0];
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    const is = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    if (is > 0) zoom(was / is, pointAt({ clientX: other.x, clientY: other.y }));
  } else {
    const { x, y, width, height } = state.box;
    setBox(x - (event.clientX - before.x) * scale, y - (event.clientY - before.y) * scale, width, height);
  }
  travelled += Math.abs(event.clientX - before.x) + Math.abs(event.clientY - before.y);
  if (travelled > 4) {
    stage.classList.add("dragging");
    stage.setPointerCapture(event.pointerId);
  }
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});

for (const name of ["pointerup", "pointercancel", "pointerleave"])
  stage.addEventListener(name, (event) => {
    fingers.delete(event.pointerId);
    stage.classList.remove("dragging");
  });

// --- Selection -----------------------------------------------------------------------------------

function find(key) {
  if (!key) return [];
  const name = key.kind === "wires" ? "wire" : "part";
  return [...state.svg.querySelectorAll(`[data-${name}]`)].filter((node) => node.dataset[name] === key.name);
}

function pick(key) {
  state.picked = key;
  for (const node of state.svg.querySelectorAll(".picked")) node.classList.remove("picked");
  for (const node of find(key)) node.classList.add("picked");
  if (key && data[key.kind][key.name]) tell(key);
}

function tell(key) {
  const facts = data[key.kind][key.name];
  const panel = document.getElementById("selected");
  panel.replaceChildren(element("h2", facts.title));
  const list = element("dl");
  for (const [name, text] of facts.rows) list.append(element("dt", name), element("dd", text));
  panel.append(list);
  if (key.kind === "parts" && viewOf(key.name) >= 0 && viewOf(key.name) !== state.view) {
    const button = element("button", "Show it alone");
    button.addEventListener("click", () => enter(key.name));
    panel.append(button);
  }
  const loops = data.loops.map((loop, number) => [loop, number]).filter(([loop]) => loop[key.kind].includes(key.name));
  if (loops.length) {
    panel.append(element("p", "In the loops:", { class: "quiet" }));
    const items = element("ul");
    for (const [loop] of loops) items.append(element("li", `${loop.path}: ${loop.text}`));
    panel.append(items);
  }
  if (facts.ports && facts.ports.length) panel.append(ports(facts.ports));
}

function ports(rows) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const title of ["Connector", "Causality", "Type", "Unit", "Value"]) head.append(element("th", title, { scope: "col" }));
  const body = table.createTBody();
  for (const [name, causality, type, unit, value, description] of rows) {
    const row = body.insertRow();
    row.append(element("th", name, { scope: "row" }));
    for (const text of [causality, type, unit, value]) row.append(element("td", text));
    if (description) row.title = description;
  }
  return table;
}

function keyAt(target) {
  const node = target.closest?.(".wire, .part, .frame");
  if (!node) return null;
  return node.classList.contains("wire") ? { kind: "wires", name: node.dataset.wire } : { kind: "parts", name: node.dataset.part };
}

stage.addEventListener("click", (event) => {
  if (travelled > 4 || event.target.closest("#crumbs")) return;
  const key = keyAt(event.target);
  if (key) pick(key);
});

stage.addEventListener("dblclick", (event) => {
  const key = keyAt(event.target);
  if (key && key.kind === "parts") enter(key.name);
});

// --- Loops ---------------------------------------------------------------------------------------

function follow(number) {
  state.loop = number;
  for (const node of state.svg.querySelectorAll(".follow")) node.remove();
  for (const node of state.svg.querySelectorAll(".on")) node.classList.remove("on");
  state.svg.classList.toggle("following", number >= 0);
  for (const button of document.querySelectorAll("#loops button"))
    button.setAttribute("aria-pressed", String(Number(button.dataset.number) === number));
  if (number < 0) return;
  const loop = data.loops[number];
  for (const name of loop.wires)
    for (const wire of find({ kind: "wires", name })) {
      wire.classList.add("on");
      const band = drawn("path", { class: "follow", d: wire.querySelector("path").getAttribute("d"), stroke: loop.colour });
      wire.prepend(band);
    }
  for (const name of loop.parts) for (const part of find({ kind: "parts", name })) part.classList.add("on");
  const around = loop.parts.flatMap((name) => name.split("/").map((_, i, all) => all.slice(0, i + 1).join("/")));
  for (const name of around) for (const part of find({ kind: "parts", name })) part.classList.add("on");
}

function listLoops() {
  const list = document.querySelector("#loops ol");
  document.getElementById("loops").hidden = data.loops.length === 0;
  data.loops.forEach((loop, number) => {
    const button = element("button", `${loop.path}: ${loop.text}`, { "data-number": number, "aria-pressed": "false" });
    button.style.borderLeftColor = loop.colour;
    if (loop.algebraic) button.prepend(element("span", "algebraic ", { class: "algebraic" }));
    button.addEventListener("click", () => follow(state.loop === number ? -1 : number));
    const item = element("li");
    item.append(button);
    list.append(item);
  });
}

// --- Search --------------------------------------------------------------------------------------

const MOST_FOUND = 40;
const names = [
  ...Object.keys(data.parts).map((name) => ({ kind: "parts", name, text: name })),
  ...Object.entries(data.parts).flatMap(([name, part]) => part.ports.map((port) => ({ kind: "parts", name, text: `${name}.${port[0]}` }))),
  ...Object.keys(data.wires).map((name) => ({ kind: "wires", name, text: name })),
];

function search(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const found = names.filter((entry) => entry.text.toLowerCase().includes(wanted));
  return found.sort((a, b) => a.text.length - b.text.length).slice(0, MOST_FOUND);
}

function offer(text) {
  const list = document.getElementById("found");
  const found = search(text);
  list.replaceChildren();
  for (const entry of found) {
    const button = element("button", entry.text);
    button.addEventListener("click", () => {
      list.hidden = true;
      go(entry);
    });
    const item = element("li");
    item.append(button);
    list.append(item);
  }
  if (text.trim() && !found.length) list.append(element("li", "nothing of that name"));
  list.hidden = !text.trim();
}

// Show something: in this view, else where everything is open.
function go(key) {
  if (!find(key).length) show(data.views.findLastIndex((view) => view.name === ""));
  const node = find(key)[0];
  for (let frame = node.closest(".folded"); frame; frame = frame.parentElement.closest(".folded"))
    frame.querySelector(":scope > .fold").dispatchEvent(new Event("click"));
  const target = node.getBoundingClientRect();
  const middle = pointAt({ clientX: target.x + target.width / 2, clientY: target.y + target.height / 2 });
  const wide = Math.min(state.box.width, 900);
  const high = (state.box.height * wide) / state.box.width;
  setBox(middle.x - wide / 2, middle.y - high / 2, wide, high);
  pick(key);
}

// --- Start ---------------------------------------------------------------------------------------

const depths = document.getElementById("depths");
const whole = data.views.filter((view) => view.name === "");
if (whole.length > 1) {
  depths.append(element("span", "Nested systems:", { class: "quiet" }));
  whole.forEach((view, number) => {
    const button = element("button", view.label, { "data-number": number });
    button.addEventListener("click", () => show(number));
    depths.append(button);
  });
}
document.getElementById("closer").addEventListener("click", () => zoom(0.8));
document.getElementById("farther").addEventListener("click", () => zoom(1.25));
document.getElementById("fit").addEventListener("click", fit);
const field = document.getElementById("search");
field.addEventListener("input", () => offer(field.value));
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") document.querySelector("#found button")?.click();
  if (event.key === "Escape") document.getElementById("found").hidden = true;
});
stage.addEventListener("keydown", (event) => {
  const { x, y, width, height } = state.box;
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (event.key in moves) {
    const [dx, dy] = moves[event.key];
    setBox(x + dx * width * 0.1, y + dy * height * 0.1, width, height);
    event.preventDefault();
  } else if (event.key === "+") zoom(0.8);
  else if (event.key === "-") zoom(1.25);
  else if (event.key === "0") fit();
});
listLoops();
show(data.first);
