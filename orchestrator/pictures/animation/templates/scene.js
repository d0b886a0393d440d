// The scene: what every case draws, and where it is at a picture.
const Scene = (() => {
  const THREE = MeshCat.THREE;
  const { solids, between, mesh } = Shapes;

  // Tracks of a case: rows of numbers, one for each picture or a single one.
  function unpack(coded) {
    const bytes = Uint8Array.from(atob(coded.values), (c) => c.charCodeAt(0));
    let from = 0;
    return coded.tracks.map(([rows, width]) => {
      const values = new Float32Array(bytes.buffer, from, rows * width);
      from += 4 * rows * width;
      return { rows, width, values };
    });
  }

  // Part i of a track between two pictures.
  function between_(track, picture, offset, target) {
    const first = Math.min(Math.floor(picture), track.rows - 1);
    const second = Math.min(first + 1, track.rows - 1);
    const share = Math.min(picture - first, 1);
    const { values, width } = track;
    for (let i = 0; i < target.length; i += 1) {
      const a = values[first * width + offset + i];
      target[i] = a + share * (values[second * width + offset + i] - a);
    }
    return target;
  }

  function attitude(track, picture, target) {
    const first = Math.min(Math.floor(picture), track.rows - 1);
    const second = Math.min(first + 1, track.rows - 1);
    const q = (row) => {
      const [w, x, y, z] = track.values.subarray(row * 7 + 3, row * 7 + 7);
      return new THREE.Quaternion(x, y, z, w);
    };
    return target.copy(q(first)).slerp(q(second), Math.min(picture - first, 1));
  }

  function copy(part, frame, labels, ghost) {
    part.at.forEach((at, i) => {
      const made = solids[part.shape](part, ghost);
      const holder = new THREE.Group();
      const [w, x, y, z] = part.attitude;
      holder.position.set(...at);
      holder.quaternion.set(x, y, z, w).normalize();
      holder.add(made);
      frame.add(holder);
      if (part.label && i === 0 && !ghost) labels.push({ text: part.label, object: holder });
    });
  }

  function lines(part, tracks, first, group, labels) {
    const moved = [];
    for (let i = 0; i < part.segments; i += 1) {
      const track = tracks[first + i];
      const [ax, ay, az, bx, by, bz] = track.values;
      const shape = between[part.shape](part, Math.hypot(bx - ax, by - ay, bz - az));
      group.add(shape.object);
      const middle = new THREE.Object3D();
      group.add(middle);
      moved.push({ track, shape, middle, arrow: part.shape === "arrow" });
      if (part.label && i === 0) labels.push({ text: part.label, object: middle, lift: part.shape === "arrow" ? 18 : 0 });
    }
    if (part.shape === "arm") {
      moved.filter((_, i) => i % 2).forEach((one) => {
        one.elbow = mesh(new THREE.SphereGeometry(1.5 * part.radius, 24, 16), part, false);
        group.add(one.elbow);
      });
    }
    return moved;
  }

  function build(data, coded) {
    const tracks = unpack(coded);
    const group = new THREE.Group();
    const labels = [];
    const frames = data.frames.map((name, i) => {
      const object = new THREE.Group();
      group.add(object);
      return { object, track: tracks[i] };
    });
    let next = frames.length;
    let moved = [];
    data.parts.forEach((part) => {
      if (part.segments !== undefined) {
        moved = moved.concat(lines(part, tracks, next, group, labels));
        next += part.segments;
        return;
      }
      copy(part, frames[part.frame].object, labels, false);
      if (part.ghost !== null) copy(part, frames[part.ghost].object, labels, true);
    });

    const a = new THREE.Vector3();
    const b = new THREE.Vector3();
    const six = new Float64Array(6);
    const three = new Float64Array(3);
    function show(picture) {
      frames.forEach(({ object, track }) => {
        object.position.fromArray(between_(track, picture, 0, three));
        attitude(track, picture, object.quaternion);
      });
      moved.forEach((one) => {
        between_(one.track, picture, 0, six);
        a.set(six[0], six[1], six[2]);
        b.set(six[3], six[4], six[5]);
        one.shape.place(a, b);
        if (one.arrow) one.middle.position.copy(b);
        else one.middle.position.lerpVectors(a, b, 0.5);
        if (one.elbow) one.elbow.position.copy(a);
      });
    }
    show(0);
    return { group, labels, show, curves: tracks.slice(next) };
  }

  return { build };
})();
