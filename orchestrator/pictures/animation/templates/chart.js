// Strips of curves over time under the picture, with a line at the present time.
const Charts = (() => {
  const LEFT = 74;
  const RIGHT = 14;
  const NAMES = 16; // height of a row of names of curves
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

  function ticks(low, high, most) {
    const raw = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((f) => f * power >= raw);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) found.push(i * step);
    return found;
  }

  // Where each name stands, in as many rows as the width needs.
  function listed(pen, names, width) {
    let [left, row] = [LEFT + 8, 0];
    const placed = names.map((name) => {
      const long = 43 + pen.measureText(name.label).width;
      if (left > LEFT + 8 && left + long - 16 > width) [left, row] = [LEFT + 8, row + 1];
      const spot = { ...name, left, y: 13 + row * NAMES };
      left += long;
      return spot;
    });
    return { placed, height: (row + 1) * NAMES + 8 };
  }

  const written = (value) => (Math.abs(value) < 1e-12 ? "0" : String(Number(value.toPrecision(6))));

  // shown(): the curves to draw now, each {values, colour, dash}; names: what colours and dashes
  // mean; spans(): what went wrong from when until when; seek(t) goes to a time.
  function chart(canvas, ylabel, time, { shown, names, spans }, seek) {
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    let still = null; // all but the cursor

    function paint() {
      const scale = window.devicePixelRatio || 1;
      const width = canvas.clientWidth;
      const height = canvas.clientHeight;
      canvas.width = width * scale;
      canvas.height = height * scale;
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      const curves = shown();
      let low = Infinity;
      let high = -Infinity;
      curves.forEach(({ values }) => values.forEach((v) => {
        if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
      }));
      if (!(low <= high)) [low, high] = [-1, 1];
      const pad = 0.06 * (high - low) || 0.06 * Math.abs(high) || 1;
      [low, high] = [low - pad, high + pad];
      pen.font = "11px system-ui, sans-serif";
      const { placed, height: top } = listed(pen, names, width - RIGHT);
      const base = height - 18;
      const y = (v) => top + (base - top) * (1 - (v - low) / (high - low));
      const x = (t) => LEFT + (width - LEFT - RIGHT) * ((t - time.begin) / time.length);
      pen.lineWidth = 1;
      pen.fillStyle = "#52606d";
      pen.strokeStyle = "#dfe4e9";
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      ticks(low, high, 4).forEach((v) => {
        pen.beginPath(); pen.moveTo(LEFT, y(v)); pen.lineTo(width - RIGHT, y(v)); pen.stroke();
        pen.fillText(written(v), LEFT - 6, y(v));
      });
      pen.textAlign = "center";
      pen.textBaseline = "top";
      ticks(time.begin, time.begin + time.length, Math.min(10, width / 60)).forEach((t) => pen.fillText(`${written(t)} s`, x(t), base + 4));
      pen.save();
      pen.translate(11, (top + base) / 2);
      pen.rotate(-Math.PI / 2);
      pen.textBaseline = "middle";
      pen.fillText(ylabel, 0, 0);
      pen.restore();
      pen.save();
      pen.beginPath(); pen.rect(LEFT, 0, width - LEFT - RIGHT, height); pen.clip();
      pen.fillStyle = "#e69f0033";
      spans().forEach(({ from, until }) => {
        const end = until === null ? time.begin + time.length : until;
        pen.fillRect(x(from), top, Math.max(x(end) - x(from), 1), base - top);
      });
      pen.lineWidth = 1.6;
      curves.forEach(({ values, colour, dash }) => {
        pen.strokeStyle = colour;
        pen.setLineDash(DASHES[dash % DASHES.length]);
        pen.beginPath();
        let broken = true;
        values.forEach((v, i) => {
          const at = x(time.begin + i * time.step);
          if (!Number.isFinite(v)) { broken = true; return; }
          if (broken) pen.moveTo(at, y(v)); else pen.lineTo(at, y(v));
          broken = false;
        });
        if (values.length === 1) pen.lineTo(width, y(values[0]));
        pen.stroke();
      });
      pen.restore();
      pen.textAlign = "left";
      pen.textBaseline = "top";
      placed.forEach(({ label, colour, dash, left, y: row }) => {
        pen.strokeStyle = colour;
        pen.lineWidth = 2;
        pen.setLineDash(DASHES[dash % DASHES.length]);
        pen.beginPath(); pen.moveTo(left, row); pen.lineTo(left + 22, row); pen.stroke();
        pen.fillStyle = "#1f2933";
        pen.fillText(label, left + 27, row - 5);
      });
      pen.setLineDash([]);
      still = pen.getImageData(0, 0, canvas.width, canvas.height);
      return x;
    }

    let x = paint();
    function cursor(t) {
      pen.putImageData(still, 0, 0);
      pen.strokeStyle = "#c0392b";
      pen.lineWidth = 1.5;
      pen.beginPath(); pen.moveTo(x(t), 0); pen.lineTo(x(t), canvas.clientHeight - 18); pen.stroke();
    }
    function point(event) {
      if (!(event.buttons & 1)) return;
      const share = (event.offsetX - LEFT) / (canvas.clientWidth - LEFT - RIGHT);
      seek(time.begin + time.length * Math.min(Math.max(share, 0), 1));
    }
    canvas.addEventListener("pointerdown", point);
    canvas.addEventListener("pointermove", point);
    return { cursor, repaint: () => { x = paint(); } };
  }

  return { chart };
})();
