// Arrays and samples of figures: nothing here knows of a page.

const NANOSECONDS = 1e9;

// The packed form of an array: equal values, steps of whole nanoseconds, or bytes as base64.
function unpacked(packed) {
  if (packed.step !== undefined) {
    const {first, step} = packed;
    return Float64Array.from({length: packed.count}, (_, i) => (first + step * i) / NANOSECONDS);
  }
  if (packed.value !== undefined) return new Float64Array(packed.count).fill(packed.value);
  const bytes = Uint8Array.from(atob(packed.f8 ?? packed.f4), (c) => c.charCodeAt(0));
  return packed.f8 === undefined ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
}

function isSorted(values) {
  for (let i = 1; i < values.length; i++) if (!(values[i] >= values[i - 1])) return false;
  return true;
}

// The first place in a sorted array whose value is not below the one that is looked for.
function firstFrom(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

function nearest(sorted, value) {
  const after = firstFrom(sorted, value);
  if (after === 0) return 0;
  if (after === sorted.length) return after - 1;
  return value - sorted[after - 1] <= sorted[after] - value ? after - 1 : after;
}

// The places of a sorted array that are between two values, and one more on each side.
function within(sorted, low, high) {
  return [Math.max(firstFrom(sorted, low) - 1, 0), Math.min(firstFrom(sorted, high) + 1, sorted.length)];
}

// Least and largest finite value (above zero if it is for a logarithm) of some places.
function extremes(values, begin, end, isLog, found = [Infinity, -Infinity]) {
  for (let i = begin; i < end; i++) {
    const value = values[i];
    if (!Number.isFinite(value) || (isLog && value <= 0)) continue;
    if (value < found[0]) found[0] = value;
    if (value > found[1]) found[1] = value;
  }
  return found;
}

// A range with a margin on each side, where there is anything.
function padded([low, high], share, isLog) {
  if (low > high) return isLog ? [0.1, 1] : [0, 1];
  if (isLog) {
    const room = high > low ? (high / low) ** share : 2;
    return [low / room, high * room];
  }
  const room = high > low ? share * (high - low) : Math.abs(low) * 0.05 || 1;
  return [low - room, high + room];
}

// Draws a line through samples. Where several lie in one column of pixels, the first, the lowest, the
// highest and the last of them stand for all, so that no peak is lost (Jugel et al., M4, VLDB 2014).
function traced(line, x, y, begin, end, toX, toY, width) {
  const isDense = end - begin > 4 * width;
  let isOpen = false;
  const to = (px, py) => {
    if (isOpen) line.lineTo(px, py); else line.moveTo(px, py);
    isOpen = true;
  };
  let column = NaN, low = 0, high = 0, last = 0;
  const close = () => {
    if (Number.isNaN(column)) return;
    if (low !== high) { to(column, low); to(column, high); }
    to(column, last);
    column = NaN;
  };
  for (let i = begin; i < end; i++) {
    const px = toX(x[i]), py = toY(y[i]);
    if (!Number.isFinite(px) || !Number.isFinite(py)) {
      close();
      isOpen = false;
    } else if (!isDense) {
      to(px, py);
    } else if (Math.round(px) === column) {
      low = Math.min(low, py);
      high = Math.max(high, py);
      last = py;
    } else {
      close();
      to(px, py);
      [column, low, high, last] = [Math.round(px), py, py, py];
    }
  }
  close();
}

// A number as people write it.
function written(value, digits = 6) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return String(Number(value.toPrecision(digits)).toExponential());
  return String(Number(value.toPrecision(digits)));
}

// The unit at the end of a label: "Force [N]".
function unitOf(label) {
  const found = /\[([^\]]*)\]$/.exec(label);
  return found && found[1] !== "1" && found[1] !== "-" ? found[1] : "";
}
