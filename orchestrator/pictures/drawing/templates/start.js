// Search, keys, and the start.

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
  if (!node) return;
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

// An address may end in the name of a component or line, or in the number of a loop.
function open(address) {
  const wanted = decodeURIComponent(address.slice(1));
  const loop = /^loop-(\d+)$/.exec(wanted);
  if (loop && data.loops[loop[1] - 1]) follow(loop[1] - 1);
  const entry = names.find((name) => name.text === wanted);
  if (entry) go(entry);
}

open(location.hash);
window.addEventListener("hashchange", () => open(location.hash));
