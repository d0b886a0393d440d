// Draws the figures that a page holds, each when it comes into view.

function drawFigures(data) {
  const arrays = new Map(), built = new Map();
  const array = (place) => {
    if (!arrays.has(place)) arrays.set(place, unpacked(data.arrays[place]));
    return arrays.get(place);
  };
  const roots = [...document.querySelectorAll("[data-figure]")];
  const build = (root) => {
    const number = Number(root.dataset.figure);
    if (!built.has(root)) built.set(root, new Figure(root, data.figures[number], array, number));
  };
  const redraw = () => built.forEach((figure) => figure.redraw());
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); build(entry.target); }
  }, {rootMargin: "300px"});
  roots.forEach((root) => seen.observe(root));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printed");
    document.querySelectorAll("details.case").forEach((one) => { one.open = true; });
    roots.forEach(build);
    redraw();
  });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("printed"); redraw(); });
}

drawFigures(window.softdockFigures ?? JSON.parse(document.getElementById("figure-data").textContent));
