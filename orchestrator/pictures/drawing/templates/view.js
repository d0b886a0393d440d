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

