// Puts data, stage, charts and controls together, and lets time pass.
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const { count, begin, step } = data; // pictures; seconds of the run
  const length = (count - 1) * step;
  const cases = data.cases.map((one) => Scene.build(data, one));
  const asked = new URLSearchParams(location.hash.slice(1));

  cases.forEach(({ group, labels }, i) => {
    if (data.beside) group.position.fromArray(data.beside.map((part) => i * part));
    Stage.room.add(group);
    if (data.beside) {
      const above = new MeshCat.THREE.Object3D();
      const around = Stage.bounds(group);
      around.getCenter(above.position).setZ(around.max.z + 0.06 * (around.max.z - around.min.z));
      above.position.sub(group.position);
      group.add(above);
      Stage.label(data.cases[i].title, above, "case");
    }
    // Beside each other all cases look alike: the first one has the names.
    if (!data.beside || i === 0) labels.forEach(({ text, object, lift }) => Stage.label(text, object, "name", lift));
  });
  const box = Stage.bounds(Stage.room);
  Stage.light(box);

  let chosen = 0;
  const dashOf = (i) => (data.beside ? 2 * i : 0);
  const visible = (i) => Boolean(data.beside) || i === chosen;

  // Charts: curves of the cases that are shown, and those of a case of their own once.
  let from = 0;
  const charts = data.charts.map(({ ylabel, curves }, number) => {
    const first = from;
    from += curves.length;
    const shown = () => curves.flatMap((curve, k) => cases
      .map(({ curves: tracks }, i) => ({ ...curve, i, values: tracks[first + k].values }))
      .filter(({ i }) => (curve.once ? i === chosen : visible(i)))
      .map(({ values, colour, dashed, i }) => ({ values, colour, dash: dashed ? 1 : dashOf(i) })));
    const names = curves.map(({ label, colour, dashed }) => ({ label, colour, dash: Number(dashed) }));
    if (data.beside) names.push(...data.cases.map(({ title }, i) => ({ label: title, colour: "#7b8794", dash: dashOf(i) })));
    const spans = () => data.cases.filter((_, i) => visible(i)).flatMap(({ events }) => events);
    return Charts.chart($(`chart-${number}`), ylabel, { begin, length, step }, { shown, names, spans }, (t) => seek(t));
  });

  let now = begin;
  let playing = false;
  let rate = 1;
  function show() {
    const picture = Math.min(Math.max((now - begin) / step, 0), count - 1);
    cases.forEach(({ group, show: place }, i) => {
      group.visible = visible(i);
      if (group.visible) place(picture);
    });
    charts.forEach(({ cursor }) => cursor(now));
    $("time").textContent = `${now.toFixed(3)} s`;
    $("slider").value = picture;
    const told = data.cases.filter((_, i) => visible(i)).flatMap(({ title, ends, events }) => {
      const acting = events.filter((event) => now >= event.from && (event.until === null || now < event.until));
      const texts = acting.map(({ text }) => `${title}: ${text}`);
      return now > ends + 1e-9 ? [...texts, `${title}: the run ended at ${ends.toPrecision(4)} s`] : texts;
    });
    $("events").replaceChildren(...told.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    Stage.dirty();
  }
  function seek(t) {
    now = Math.min(Math.max(t, begin), begin + length);
    show();
  }
  function play(on) {
    playing = on && count > 1;
    $("play").textContent = playing ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  }
  function choose(i) {
    chosen = i;
    document.querySelectorAll("#cases button").forEach((button, k) => button.setAttribute("aria-pressed", k === i));
    charts.forEach(({ repaint }) => repaint());
    show();
  }
  function button(parent, text, act) {
    const made = document.createElement("button");
    made.textContent = text;
    made.addEventListener("click", act);
    $(parent).appendChild(made);
  }

  if (!data.beside && cases.length > 1) data.cases.forEach(({ title }, i) => button("cases", title, () => choose(i)));
  data.views.forEach((view) => button("views", view.name, () => Stage.look(view, box)));
  if (!data.views.length) button("views", "whole", () => Stage.look(null, box));
  $("play").addEventListener("click", () => {
    if (!playing && now >= begin + length) seek(begin);
    play(!playing);
  });
  $("slider").addEventListener("input", (event) => seek(begin + event.target.value * step));
  $("rate").addEventListener("change", (event) => { rate = Number(event.target.value); });
  $("names").addEventListener("change", (event) => Stage.names(event.target.checked));
  document.addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName)) return;
    const keys = { " ": () => $("play").click(), ArrowRight: () => seek(now + step), ArrowLeft: () => seek(now - step), Home: () => seek(begin) };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  window.addEventListener("resize", () => { charts.forEach(({ repaint }) => repaint()); show(); });

  const view = data.views.find(({ name }) => name === asked.get("view")) || data.views[0];
  Stage.fit();
  Stage.look(view, box);
  choose(Math.max(data.cases.findIndex(({ name }) => name === asked.get("case")), 0));
  seek(asked.has("t") ? Number(asked.get("t")) || 0 : begin);
  play(!asked.has("t"));

  let last = null;
  function tick(wall) {
    // A page in the background gets no ticks: it goes on where it was.
    const passed = last === null ? 0 : Math.min((wall - last) / 1000, 0.1);
    last = wall;
    if (playing) {
      const next = now + passed * data.speed * rate;
      seek(next > begin + length ? begin : next);
    }
    Stage.draw();
    requestAnimationFrame(tick);
  }
  requestAnimationFrame(tick);
})();
