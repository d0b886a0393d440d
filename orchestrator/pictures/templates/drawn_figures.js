// Draws the figures that a page holds, each when it comes into view.

// One time for all figures over time of a report; where they begin and end is found when it is first moved.
function timeSlider(figures, array, moved) {
  const main = document.querySelector("main");
  const times = figures.filter(({kind}) => kind === "time").flatMap(({panels}) => panels.flatMap(({curves}) => curves.map(({x}) => x)));
  if (!main || !times.length) return null;
  const bar = element("label", "at-time", "Time "), input = element("input"), said = element("output", "", "move it to read all figures at one time");
  Object.assign(input, {type: "range", min: 0, max: 1000, value: 0});
  const slider = {time: null};
  let range = null;
  input.addEventListener("input", () => {
    if (!range) {
      range = [Infinity, -Infinity];
      for (const place of new Set(times)) extremes(array(place), 0, array(place).length, false, range);
    }
    slider.time = range[0] + (range[1] - range[0]) * Number(input.value) / 1000;
    said.textContent = `${written(slider.time, 6)} s`;
    moved();
  });
  bar.append(input, said);
  main.prepend(bar);
  return slider;
}

function drawFigures(data) {
  const arrays = new Map(), built = new Map();
  const array = (place) => {
    if (!arrays.has(place)) arrays.set(place, unpacked(data.arrays[place]));
    return arrays.get(place);
  };
  const roots = [...document.querySelectorAll("[data-figure]")];
  const slider = timeSlider(data.figures, array, () => {
    built.forEach((figure) => figure.showTime(slider.time));
    dispatchEvent(new CustomEvent("shown-time", {detail: {time: slider.time}}));
  });
  const build = (root) => {
    const number = Number(root.dataset.figure);
    if (built.has(root)) return;
    const figure = new Figure(root, data.figures[number], array, number);
    built.set(root, figure);
    if (slider && slider.time !== null) requestAnimationFrame(() => figure.showTime(slider.time));
  };
  const redraw = () => built.forEach((figure) => figure.redraw());
  const rebuild = () => built.forEach((figure) => figure.rebuild());
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); build(entry.target); }
  }, {rootMargin: "300px"});
  roots.forEach((root) => seen.observe(root));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printed");
    roots.filter((root) => root.closest("details:not([open])") === null).forEach(build);
    rebuild();
  });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("printed"); rebuild(); });
}

// One button that unfolds everything, for a page on paper that holds all.
function unfolding() {
  const folded = [...document.querySelectorAll("details.case")], nav = document.querySelector("nav");
  if (!nav || !folded.length) return;
  const button = element("button", "unfold", "Unfold all");
  button.type = "button";
  button.addEventListener("click", () => {
    const isOpen = folded.every((one) => one.open);
    for (const one of folded) one.open = !isOpen;
    show();
  });
  const show = () => { button.textContent = folded.every((one) => one.open) ? "Fold all" : "Unfold all"; };
  folded.forEach((one) => one.addEventListener("toggle", show));
  nav.append(button);
  show();
}

unfolding();
drawFigures(window.softdockFigures ?? JSON.parse(document.getElementById("figure-data").textContent));
