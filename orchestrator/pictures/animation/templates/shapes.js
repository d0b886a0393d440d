// Shapes of parts, in metres, as objects of three.js. A shape between two points has `place(a, b)`.
const Shapes = (() => {
  const THREE = MeshCat.THREE;
  const UP = new THREE.Vector3(0, 1, 0); // the axis of three.js's cylinders
  const ROUND = 40;

  function material(part, ghost) {
    const opacity = ghost ? 0.2 : part.opacity;
    return new THREE.MeshStandardMaterial({
      color: new THREE.Color(part.colour), roughness: 0.62, metalness: 0.12, opacity,
      transparent: opacity < 1, depthWrite: opacity === 1,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, // edges lie before faces
    });
  }

  function mesh(geometry, part, ghost) {
    const made = new THREE.Mesh(geometry, material(part, ghost));
    made.castShadow = made.receiveShadow = !ghost && part.opacity === 1;
    return made;
  }

  function edged(geometry, part, ghost) {
    const group = new THREE.Group();
    group.add(mesh(geometry, part, ghost));
    const ink = new THREE.LineBasicMaterial({ color: 0x1b2733, transparent: true, opacity: ghost ? 0.25 : 0.45 });
    group.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 35), ink));
    return group;
  }

  function along(object, axis) {
    const direction = new THREE.Vector3(...axis).normalize();
    object.quaternion.setFromUnitVectors(UP, direction);
    const group = new THREE.Group();
    group.add(object);
    return group;
  }

  const solids = {
    box: (part, ghost) => edged(new THREE.BoxGeometry(...part.size), part, ghost),
    sphere: (part, ghost) => mesh(new THREE.SphereGeometry(part.radius, ROUND, ROUND / 2), part, ghost),
    cylinder(part, ghost) {
      const top = part.top === null ? part.radius : part.top;
      return along(edged(new THREE.CylinderGeometry(top, part.radius, part.length, ROUND), part, ghost), part.axis);
    },
    ring(part, ghost) {
      const torus = new THREE.TorusGeometry(part.radius, part.wire, 14, 72);
      torus.rotateX(Math.PI / 2);
      return along(mesh(torus, part, ghost), part.axis);
    },
    triad(part, ghost) {
      const group = new THREE.Group();
      [[1, 0, 0, "#c0392b"], [0, 1, 0, "#1e8449"], [0, 0, 1, "#1f5fa8"]].forEach(([x, y, z, colour]) => {
        const one = arrow({ colour, opacity: 1, radius: part.size / 40, heads: 1 }, ghost);
        one.place(new THREE.Vector3(), new THREE.Vector3(x, y, z).multiplyScalar(part.size));
        group.add(one.object);
      });
      return group;
    },
  };

  // Where a shape of length 1 along UP has to go to reach from a to b.
  function stretch(object, a, b, unit) {
    const way = b.clone().sub(a);
    const length = way.length();
    object.visible = length > 1e-6;
    if (!object.visible) return;
    object.position.copy(a);
    object.quaternion.setFromUnitVectors(UP, way.divideScalar(length));
    object.scale.set(1, length / unit, 1);
  }

  function bar(part) {
    const geometry = new THREE.CylinderGeometry(part.radius, part.radius, 1, 20);
    geometry.translate(0, 0.5, 0);
    const object = mesh(geometry, part, false);
    return { object, place: (a, b) => stretch(object, a, b, 1) };
  }

  class Helix extends THREE.Curve {
    constructor(turns, radius, length) {
      super();
      Object.assign(this, { turns, radius, length });
    }
    getPoint(t, target = new THREE.Vector3()) {
      const angle = 2 * Math.PI * this.turns * t;
      const radius = this.radius * Math.min(1, 2 * this.turns * t, 2 * this.turns * (1 - t));
      return target.set(radius * Math.cos(angle), this.length * t, radius * Math.sin(angle));
    }
  }

  function coil(part, length) {
    const unit = Math.max(length, 4 * part.wire);
    const helix = new Helix(part.turns, part.radius, unit);
    const object = mesh(new THREE.TubeGeometry(helix, 28 * part.turns, part.wire, 8), part, false);
    return { object, place: (a, b) => stretch(object, a, b, unit) };
  }

  function arrow(part, ghost) {
    const object = new THREE.Group();
    const shaft = mesh(new THREE.CylinderGeometry(part.radius, part.radius, 1, 16), part, ghost);
    shaft.geometry.translate(0, 0.5, 0);
    const tip = 6 * part.radius;
    const heads = [];
    for (let i = 0; i < part.heads; i += 1) {
      const cone = mesh(new THREE.ConeGeometry(2.6 * part.radius, tip, 24), part, ghost);
      cone.geometry.translate(0, -tip / 2, 0);
      heads.push(cone);
    }
    object.add(shaft, ...heads);
    function place(a, b) {
      const way = b.clone().sub(a);
      const length = way.length();
      object.visible = length > 1e-4;
      if (!object.visible) return;
      object.position.copy(a);
      object.quaternion.setFromUnitVectors(UP, way.divideScalar(length));
      const size = Math.min(1, length / (tip * part.heads)); // a short arrow has small heads
      heads.forEach((cone, i) => {
        cone.position.y = length - i * 0.7 * tip * size;
        cone.scale.setScalar(size);
      });
      shaft.scale.set(size, Math.max(length - tip * size, 1e-6), size);
    }
    return { object, place };
  }

  const between = { line: bar, arm: bar, spring: coil, arrow: (part) => arrow(part, false) };
  return { solids, between, mesh };
})();
