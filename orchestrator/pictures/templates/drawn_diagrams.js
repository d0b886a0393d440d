// Values on the lines of block diagrams: of which case, and which of its values.

for (const root of document.querySelectorAll("figure[data-values]")) {
  const {wires, cases, figures} = JSON.parse(root.querySelector("script").textContent);
  const bar = element("div", "chosen");
  const choice = (name, items) => {
    const label = element("label", "", `${name} `), select = element("select");
    select.append(...items.map((item) => new Option(item)));
    select.addEventListener("change", () => show());
    label.append(select);
    label.hidden = items.length < 2;
    bar.append(label);
    return select;
  };
  const ofCase = choice("Case", Object.keys(cases)), ofFigure = choice("Values", figures);
  const show = () => {
    const found = cases[ofCase.value], place = ofFigure.selectedIndex;
    for (const node of root.querySelectorAll(".wire")) {
      const wire = wires[node.dataset.wire], text = [...node.querySelectorAll("text")].at(-1);
      if (!wire || !text) continue;
      const values = found[wire.source];
      text.textContent = `${wire.label} ${values?.[place] ?? "–"}`.trim();
      const told = values ? figures.map((name, i) => `${name} ${values[i]}`) : ["not recorded"];
      node.querySelector("title").textContent = [wire.source, ...told].join("\n");
    }
  };
  root.prepend(bar);
  show();
}
