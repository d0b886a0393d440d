// Figures of a page: panels of uPlot with a legend that switches curves and shows values.

const SHARED = new Set(["mousemove", "mouseleave"]);
const DASHES_WIDTH = 1.5;
const PRINTED_HEIGHT = 145;

function element(tag, className, text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

// Colours of the page as it is now: light, dark or printed.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {ink: of("--ink"), quiet: of("--quiet"), grid: of("--line"), paper: of("--paper"),
          curve: (colour) => typeof colour === "number" ? of(`--curve-${colour}`) : colour};
}

// On paper a figure is drawn so much larger than it is shown, because a canvas has the pixels of the screen.
function sharpness() { return document.documentElement.classList.contains("printed") ? 2 : 1; }

// How a scale turns values into pixels of the canvas.
function projection(u, key) {
  const {min, max, distr} = u.scales[key], {left, top, width, height} = u.bbox;
  const scaled = distr === 3 ? Math.log10 : (value) => value;
  const low = scaled(min), span = scaled(max) - low || 1;
  return key === "x" ? (value) => left + width * (scaled(value) - low) / span
                     : (value) => top + height * (1 - (scaled(value) - low) / span);
}

class Panel {
  constructor(figure, described) {
    this.figure = figure;
    this.described = described;
    this.isLog = {x: figure.described.log.includes("x"), y: figure.described.log.includes("y")};
    this.curves = described.curves.map((curve) => {
      const x = figure.array(curve.x), y = figure.array(curve.y);
      const band = curve.band && curve.band.map((place) => figure.array(place));
      return {...curve, x, y, band, isSorted: isSorted(x), isShown: true};
    });
    this.root = element("div", "panel");
    this.legend = element("div", "legend");
    this.place = element("div", "plot");
    this.root.append(this.legend, this.place);
    this.curves.forEach((curve, i) => this.legend.append(this.entry(curve, i)));
    for (const [label, value, axis, dash] of described.lines) {
      const entry = element("span", "entry");
      entry.append(swatch(null, dash, false), `${label || written(value)}`);
      if (label && axis === "y") entry.title = `${written(value)} ${this.unit}`;
      this.legend.append(entry);
    }
  }

  get unit() { return unitOf(this.described.ylabel); }

  // The name is left to the legend where it is longer than the axis.
  get ylabel() {
    const {ylabel} = this.described;
    return ylabel.length * 6.5 > this.size().height / sharpness() - 35 ? /\[[^\]]*\]$/.exec(ylabel)?.[0] ?? ylabel : ylabel;
  }

  get xlabel() { return this.described.xlabel || this.figure.described.xlabel; }

  // One curve in the legend: a button that takes it away and back.
  entry(curve, i) {
    const button = element("button", "entry");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    curve.value = element("span", "value");  // no output: a reader of the screen would say each number
    const label = curve.label || this.described.ylabel;
    const drawn = curve.count > curve.x.length ? `: drawn from ${curve.count} samples, of which all peaks are kept` : "";
    button.title = `Take ${label} away, or back${drawn}`;
    button.append(swatch(curve.colour, curve.dash, curve.marked), element("span", "name", label), curve.value);
    button.addEventListener("click", () => {
      curve.isShown = !curve.isShown;
      button.setAttribute("aria-pressed", String(curve.isShown));
      this.u.setSeries(i + 1, {show: curve.isShown});
      this.fit();
    });
    return button;
  }

  // Range of the horizontal axis in which anything is.
  reach(found) {
    for (const curve of this.curves) extremes(curve.x, 0, curve.x.length, this.isLog.x, found);
    for (const [, value, axis] of this.described.lines) if (axis === "x") extremes([value], 0, 1, this.isLog.x, found);
    return found;
  }

  // Range of the vertical axis for what is seen.
  height(view) {
    if (view.y) return view.y;
    if (!view.isZoomed && this.described.limits) return this.described.limits;
    const found = [Infinity, -Infinity];
    for (const curve of this.curves) {
      if (!curve.isShown) continue;
      const [begin, end] = curve.isSorted ? within(curve.x, ...view.x) : [0, curve.x.length];
      for (const values of [curve.y, ...(curve.band ?? [])]) extremes(values, begin, end, this.isLog.y, found);
    }
    if (!view.isZoomed)
      for (const [, value, axis] of this.described.lines) if (axis === "y") extremes([value], 0, 1, this.isLog.y, found);
    return padded(found, 0.05, this.isLog.y);
  }

  size() {
    const isTime = this.figure.described.kind === "time";
    const width = Math.max(this.place.clientWidth, 200), sharp = sharpness();
    if (sharp > 1) return {width: sharp * width, height: sharp * (isTime ? width > 420 ? PRINTED_HEIGHT + 45 : PRINTED_HEIGHT : 0.55 * Math.min(width, 420))};
    return {width, height: isTime ? this.figure.described.height ?? 210 : Math.min(380, Math.max(260, 0.6 * width))};
  }

  build() {
    const {kind, ticks, columns} = this.figure.described, {panels} = this.figure, sharp = sharpness();
    const font = `${(sharp > 1 ? 10.5 : 12) * sharp}px system-ui, sans-serif`;
    const isNamed = kind !== "time" || panels.indexOf(this) >= panels.length - columns;
    const axis = (label, more) => ({
      label, labelSize: label ? 22 * sharp : 0, labelFont: font, font,
      stroke: () => theme().ink, grid: {stroke: () => theme().grid, width: sharp}, ticks: {show: false}, gap: 6 * sharp,
      values: (_, places) => places.map((value) => value === null ? "" : written(value)), ...more,
    });
    const scale = (key, range) => ({time: false, auto: false, distr: this.isLog[key] ? 3 : 1, range});
    const named = ticks && {splits: () => ticks[0], values: () => ticks[1]};
    this.u = new uPlot({
      mode: 2,
      ...this.size(),
      padding: [10 * sharp, 12 * sharp, 0, 0],
      series: [null, ...this.curves.map((curve) => this.series(curve))],
      scales: {x: scale("x", () => this.figure.view(this).x), y: scale("y", () => this.height(this.figure.view(this)))},
      axes: [axis(isNamed ? this.xlabel : undefined, {size: 28 * sharp, space: 50 * sharp, ...named}), axis(this.ylabel, {size: 62 * sharp, space: (sharp > 1 ? 24 : 34) * sharp})],
      legend: {show: false},
      cursor: {
        y: kind !== "time",
        drag: {x: true, y: kind !== "time", uni: 30, setScale: false},
        sync: kind === "time" ? {key: this.figure.key, scales: ["x", null], filters: {pub: (type) => SHARED.has(type), sub: () => true}} : undefined,
        bind: {dblclick: () => () => this.figure.zoom(this, null)},
        dataIdx: (u, i) => this.sample(u, this.curves[i - 1]),
        points: {size: 7, width: 2, stroke: (u, i) => theme().curve(this.curves[i - 1].colour), fill: () => theme().paper},
      },
      hooks: {
        drawAxes: [(u) => { this.shade(u); this.bands(u); }],
        drawSeries: [(u, i) => this.marks(u, this.curves[i - 1])],
        draw: [(u) => this.references(u)],
        setCursor: [(u) => this.figure.read(this, u)],
        setSelect: [(u) => this.selected(u)],
      },
    }, [null, ...this.curves.map((curve) => [curve.x, curve.y])], this.place);
    this.u.root.tabIndex = 0;
    this.u.root.setAttribute("role", "application");
    this.u.root.setAttribute("aria-label", `${this.described.ylabel}: arrows move the cursor, + and - zoom, 0 shows all`);
    this.u.root.addEventListener("keydown", (event) => this.pressed(event));
  }

  series(curve) {
    return {
      facets: [{scale: "x", auto: false}, {scale: "y", auto: false}],
      auto: false,
      show: curve.isShown,
      label: curve.label,
      stroke: () => theme().curve(curve.colour),
      width: curve.width * sharpness(),
      dash: curve.dash && curve.dash.length ? curve.dash.map((part) => part * DASHES_WIDTH * sharpness()) : undefined,
      points: {show: false},
      paths: (u) => {
        if (curve.dash === null) return null;
        const line = new Path2D();
        const [begin, end] = this.visible(u, curve);
        const width = curve.isSorted ? u.bbox.width : Infinity;
        traced(line, curve.x, curve.y, begin, end, projection(u, "x"), projection(u, "y"), width);
        return {stroke: line, fill: null, clip: null, band: null, gaps: null, flags: 0};
      },
    };
  }

  visible(u, curve) {
    return curve.isSorted ? within(curve.x, u.scales.x.min, u.scales.x.max) : [0, curve.x.length];
  }

  // The sample of a curve that is nearest to the cursor.
  sample(u, curve) {
    if (!curve.isShown || curve.x.length === 0) return null;
    let found = null;
    if (curve.isSorted) {
      found = nearest(curve.x, u.posToVal(u.cursor.left, "x"));
    } else {
      const toX = projection(u, "x"), toY = projection(u, "y"), ratio = devicePixelRatio || 1;
      const x = u.bbox.left + ratio * u.cursor.left, y = u.bbox.top + ratio * u.cursor.top;
      let least = Infinity;
      for (let i = 0; i < curve.x.length; i++) {
        const away = (toX(curve.x[i]) - x) ** 2 + (toY(curve.y[i]) - y) ** 2;
        if (away < least) [least, found] = [away, i];
      }
    }
    return found !== null && Number.isFinite(curve.y[found]) ? found : null;
  }

  clipped(u, draw) {
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx, bbox, sharpness() * (devicePixelRatio || 1));
    ctx.restore();
  }

  // Times in which something was different; what lasts all the time is only named.
  shade(u) {
    const {spans} = this.figure.described;
    if (!spans.length) return;
    const toX = projection(u, "x"), colours = theme(), isFirst = this.figure.panels[0] === this;
    this.clipped(u, (ctx, {left, top, width, height}, ratio) => {
      const taken = [];
      ctx.font = `${11 * ratio}px system-ui, sans-serif`;
      ctx.textBaseline = "top";
      ctx.textAlign = "left";
      for (const [label, begin, end] of spans) {
        const from = toX(begin), until = end === null ? left + width : toX(end);
        if (until < left || from > left + width) continue;
        if (from > left || until < left + width) {
          ctx.fillStyle = colours.quiet;
          ctx.globalAlpha = 0.18;
          ctx.fillRect(from, top, until - from, height);
          ctx.globalAlpha = 0.7;
          ctx.fillRect(from, top, ratio, height);
        }
        ctx.globalAlpha = 1;
        if (!isFirst) continue;
        const room = ctx.measureText(label).width + 8 * ratio;
        const at = Math.max(left, Math.min(Math.max(from, left) + 4 * ratio, left + width - room));
        let row = taken.findIndex((reached) => reached <= at);
        if (row < 0) row = taken.length;
        taken[row] = at + room;
        ctx.fillStyle = colours.quiet;
        ctx.fillText(label, at, top + (3 + 13 * row) * ratio);
      }
    });
  }

  bands(u) {
    const toX = projection(u, "x"), toY = projection(u, "y");
    for (const curve of this.curves) {
      if (!curve.band || !curve.isShown) continue;
      this.clipped(u, (ctx) => {
        ctx.globalAlpha = 0.2;
        ctx.fillStyle = theme().curve(curve.colour);
        const [begin, end] = this.visible(u, curve), [low, high] = curve.band;
        let run = [];
        const fill = () => {
          ctx.beginPath();
          for (const i of run) ctx.lineTo(toX(curve.x[i]), toY(high[i]));
          for (const i of run.reverse()) ctx.lineTo(toX(curve.x[i]), toY(low[i]));
          ctx.fill();
          run = [];
        };
        for (let i = begin; i < end; i++) if (Number.isFinite(low[i]) && Number.isFinite(high[i])) run.push(i); else fill();
        fill();
      });
    }
  }

  marks(u, curve) {
    if (!curve.marked || !curve.isShown) return;
    const toX = projection(u, "x"), toY = projection(u, "y");
    this.clipped(u, (ctx, _, ratio) => {
      ctx.fillStyle = theme().curve(curve.colour);
      curve.x.forEach((x, i) => {
        ctx.beginPath();
        ctx.arc(toX(x), toY(curve.y[i]), 3.2 * ratio, 0, 2 * Math.PI);
        ctx.fill();
      });
    });
  }

  references(u) {
    const {lines} = this.described;
    if (!lines.length) return;
    const toX = projection(u, "x"), toY = projection(u, "y");
    this.clipped(u, (ctx, {left, top, width, height}, ratio) => {
      ctx.strokeStyle = theme().quiet;
      ctx.lineWidth = 1.2 * ratio;
      for (const [, value, axis, dash] of lines) {
        ctx.setLineDash((dash ?? []).map((part) => part * DASHES_WIDTH * ratio));
        ctx.beginPath();
        if (axis === "y") { ctx.moveTo(left, toY(value)); ctx.lineTo(left + width, toY(value)); }
        else { ctx.moveTo(toX(value), top); ctx.lineTo(toX(value), top + height); }
        ctx.stroke();
      }
    });
  }

  // What was dragged over becomes what is seen.
  selected(u) {
    const {left, top, width, height} = u.select;
    if (width < 4 && height < 4) return;
    const all = u.over.getBoundingClientRect();
    const between = (begin, end, key) => [u.posToVal(begin, key), u.posToVal(end, key)].sort((a, b) => a - b);
    const x = width < all.width - 1 ? between(left, left + width, "x") : null;
    const y = height < all.height - 1 ? between(top, top + height, "y") : null;
    u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    if (x || y) this.figure.zoom(this, x ?? [u.scales.x.min, u.scales.x.max], y);
  }

  pressed(event) {
    const {u} = this, {width, height} = u.over.getBoundingClientRect();
    const at = u.cursor.left >= 0 ? u.cursor.left : width / 2;
    const move = (to) => u.setCursor({left: Math.min(Math.max(to, 0), width), top: height / 2}, true, true);
    const keys = {
      ArrowLeft: () => move(at - (event.shiftKey ? 1 : width / 50)),
      ArrowRight: () => move(at + (event.shiftKey ? 1 : width / 50)),
      Home: () => move(0), End: () => move(width),
      "+": () => this.closer(0.5), "=": () => this.closer(0.5), "-": () => this.closer(2),
      "0": () => this.figure.zoom(this, null), Escape: () => this.figure.zoom(this, null),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    keys[event.key]();
    event.preventDefault();
  }

  // Show so much of the axis around the cursor, or around the middle.
  closer(factor) {
    const {u} = this, width = u.over.getBoundingClientRect().width;
    const at = u.cursor.left >= 0 ? u.cursor.left : width / 2;
    const begin = at - at * factor, end = at + (width - at) * factor;
    const whole = this.figure.whole(this);
    const range = [Math.max(u.posToVal(begin, "x"), whole[0]), Math.min(u.posToVal(end, "x"), whole[1])];
    this.figure.zoom(this, range[0] <= whole[0] && range[1] >= whole[1] ? null : range);
  }

  // Draw it with the sizes and colours of the medium that the page has now.
  rebuild() {
    this.u.destroy();
    this.build();
  }

  fit() {
    const view = this.figure.view(this), [min, max] = this.height(view);
    this.u.batch(() => {
      this.u.setScale("x", {min: view.x[0], max: view.x[1]});
      this.u.setScale("y", {min, max});
    });
  }
}

// A sample of a line for the legend.
function swatch(colour, dash, isMarked) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 26 10");
  svg.setAttribute("aria-hidden", "true");
  svg.style.color = colour === null ? "var(--quiet)" : typeof colour === "number" ? `var(--curve-${colour})` : colour;
  const add = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    svg.append(made);
  };
  if (dash) add("path", {d: "M0 5H26", stroke: "currentColor", "stroke-width": 2.4, "stroke-dasharray": dash.map((part) => part * 2).join(" ")});
  if (isMarked) add("circle", {cx: 13, cy: 5, r: 3.6, fill: "currentColor"});
  return svg;
}

class Figure {
  constructor(root, described, array, number) {
    Object.assign(this, {root, described, array, key: `figure-${number}`, views: new Map(), frame: 0});
    this.panels = described.panels.map((panel) => new Panel(this, panel));
    const bar = element("div", "bar");
    this.readout = element("output", "readout");
    const tools = [["+", "Zoom in", () => this.first.closer(0.5)], ["−", "Zoom out", () => this.first.closer(2)],
                   ["whole", "Show everything (double click)", () => this.panels.forEach((panel) => this.zoom(panel, null))]];
    const buttons = tools.map(([sign, title, act]) => {
      const button = element("button", "tool", sign);
      Object.assign(button, {type: "button", title});
      button.setAttribute("aria-label", sign === "whole" ? `${sign}: ${title}` : title);
      button.addEventListener("click", act);
      return button;
    });
    bar.append(element("strong", "name", described.title), this.readout, ...buttons);
    const grid = element("div", "panels");
    grid.style.setProperty("--columns", described.columns);
    grid.append(...this.panels.map((panel) => panel.root));
    root.replaceChildren(bar, grid);
    for (const panel of this.panels) panel.build();
    new ResizeObserver(() => this.resize()).observe(root);
  }

  get first() { return this.panels[0]; }
  get isShared() { return this.described.kind === "time"; }

  whole(panel) {
    const found = [Infinity, -Infinity];
    for (const one of this.isShared ? this.panels : [panel]) one.reach(found);
    return padded(found, this.isShared ? 0 : 0.05, panel.isLog.x);
  }

  // What is seen of a panel; over time it is the same in all.
  view(panel) {
    return this.views.get(this.isShared ? this : panel) ?? {x: this.whole(panel), y: null, isZoomed: false};
  }

  zoom(panel, x, y = null) {
    const key = this.isShared ? this : panel;
    if (x === null) this.views.delete(key); else this.views.set(key, {x, y, isZoomed: true});
    for (const one of this.isShared ? this.panels : [panel]) one.fit();
  }

  // Say where the cursor is, and what the curves are there.
  read(panel, u) {
    const isInside = u.cursor.left >= 0;
    panel.curves.forEach((curve, i) => {
      const at = isInside ? u.cursor.idxs[i + 1] : null;
      curve.value.textContent = at === null || at === undefined ? "" : `${written(curve.y[at])} ${panel.unit}`;
    });
    const unit = unitOf(panel.xlabel), name = panel.xlabel.replace(/\s*\[[^\]]*\]$/, "");
    const value = isInside ? this.abscissa(panel, u) : null;
    this.readout.textContent = value === null ? "" : `${name} ${value} ${unit}`;
  }

  abscissa(panel, u) {
    for (const [i, curve] of panel.curves.entries()) {
      const at = u.cursor.idxs[i + 1];
      if (at === null || at === undefined) continue;
      const named = this.described.ticks && this.described.ticks[1][this.described.ticks[0].indexOf(curve.x[at])];
      return named || written(curve.x[at], 9);
    }
    return null;
  }

  // Put the cursor to a time, in all panels.
  showTime(time) {
    if (!this.isShared) return;
    const {u} = this.first, left = u.valToPos(time, "x"), {width, height} = u.over.getBoundingClientRect();
    u.setCursor(left >= 0 && left <= width ? {left, top: height / 2} : {left: -10, top: -10}, true, true);
  }

  resize() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      for (const panel of this.panels) {
        const size = panel.size();
        if (size.width !== panel.u.width || size.height !== panel.u.height) panel.u.setSize(size);
      }
    });
  }

  rebuild() { for (const panel of this.panels) panel.rebuild(); }

  redraw() { for (const panel of this.panels) panel.u.redraw(false, true); }
}
