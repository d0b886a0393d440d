// Values on the lines of block diagrams: of which case, and which of its values.

for (const root of document.querySelectorAll("figure[data-values]")) {
  const {wires, cases, figures, series} = JSON.parse(root.querySelector("script").textContent);
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
  // The value of a line at the time of the slider; nothing if that is not used, or not in the case.
  const moment = element("output");
  let time = null;
  const valueAt = (source) => {
    const {time: times, of} = series[ofCase.value];
    if (!of[source] || !times.length) return null;
    return of[source][nearest(times, Math.min(Math.max(time, times[0]), times.at(-1)))];
  };
  ofFigure.addEventListener("change", () => { time = null; show(); });
  addEventListener("shown-time", ({detail}) => { time = detail.time; show(); });
  const show = () => {
    moment.textContent = time === null ? "" : `values at ${written(time, 6)} s`;
    const found = cases[ofCase.value], place = ofFigure.selectedIndex;
    for (const node of root.querySelectorAll(".wire")) {
      const wire = wires[node.dataset.wire], text = [...node.querySelectorAll("text")].at(-1);
      if (!wire || !text) continue;
      const values = found[wire.source];
      text.textContent = `${wire.label} ${(time === null ? values?.[place] : valueAt(wire.source)) ?? "–"}`.trim();
      const told = values ? figures.map((name, i) => `${name} ${values[i]}`) : ["not recorded"];
      node.querySelector("title").textContent = [wire.source, ...told].join("\n");
    }
  };
  bar.append(moment);
  root.prepend(bar);
  show();
}
