// What is known of what was clicked, and loops to follow.

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

