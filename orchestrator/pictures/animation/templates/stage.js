// The stage: MeshCat's renderer and mouse, our light, camera and labels.
const Stage = (() => {
  const THREE = MeshCat.THREE;
  const pane = document.getElementById("stage");
  function opened() {
    try {
      return new MeshCat.Viewer(pane, false);
    } catch (error) {
      pane.textContent = "This browser shows no pictures in three dimensions: WebGL is missing or switched off.";
      throw error;
    }
  }
  const viewer = opened();
  viewer.gui.domElement.remove();
  ["Grid", "Axes", "Lights"].forEach((name) => viewer.delete_path([name]));
  viewer.hide_background();
  const room = new THREE.Group();
  viewer.scene.add(room);

  // Coordinates have z upwards; the camera stands in a frame with y upwards.
  const upright = ([x, y, z]) => new THREE.Vector3(x, z, -y);

  function light(box) {
    const size = Math.max(box.getSize(new THREE.Vector3()).length(), 0.1);
    const middle = box.getCenter(new THREE.Vector3());
    const sun = new THREE.DirectionalLight(0xffffff, 0.7);
    sun.position.copy(middle).add(new THREE.Vector3(0.5, -0.7, 1.1).multiplyScalar(size));
    sun.target.position.copy(middle);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    const reach = 0.62 * size;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * size, far: 4 * size });
    sun.shadow.normalBias = size / 600;
    sun.shadow.bias = -0.0006;
    viewer.scene.add(new THREE.HemisphereLight(0xffffff, 0xb4bec8, 0.78));
    room.add(sun, sun.target);
    viewer.camera.near = size / 500;
    viewer.camera.far = 20 * size;
    viewer.camera.fov = 38;
  }

  function bounds(object) {
    viewer.scene.updateMatrixWorld(true);
    const turned = new THREE.Box3().setFromObject(object);
    const flat = new THREE.Box3();
    const back = new THREE.Matrix4().copy(viewer.scene.matrixWorld).invert();
    return flat.copy(turned).applyMatrix4(back);
  }

  function look(view, box) {
    let { eye, target } = view || {};
    if (!view) {
      const middle = box.getCenter(new THREE.Vector3());
      const away = 1.25 * box.getSize(new THREE.Vector3()).length();
      target = middle.toArray();
      eye = middle.add(new THREE.Vector3(0.62, -0.72, 0.36).multiplyScalar(away)).toArray();
    }
    viewer.camera.position.copy(upright(eye));
    viewer.controls.target.copy(upright(target));
    viewer.set_dirty();
  }

  // Texts beside parts are elements of the page: sharp, and never read as anything but text.
  const labels = [];
  function label(text, object, kind, lift = 0) {
    const element = document.createElement("span");
    element.className = kind;
    element.textContent = text;
    pane.appendChild(element);
    labels.push({ element, object, lift, size: [element.offsetWidth, element.offsetHeight] });
  }

  // A label that would lie on another one moves up, and is left out if there is no room.
  function free(taken, x, y, width, height) {
    for (let up = 0; up < 4; up += 1) {
      const box = { x: x - width / 2, y: y - height / 2 - up * (height + 2) };
      const hits = taken.some((o) => box.x < o.x + o.width && o.x < box.x + width && box.y < o.y + o.height && o.y < box.y + height);
      if (!hits) {
        taken.push({ ...box, width, height });
        return box;
      }
    }
    return null;
  }

  let named = true;
  const spot = new THREE.Vector3();
  function place() {
    const { clientWidth: width, clientHeight: height } = pane;
    const taken = [];
    labels.forEach(({ element, object, lift, size }) => {
      let shown = named;
      for (let o = object; o; o = o.parent) shown = shown && o.visible;
      if (shown) {
        object.getWorldPosition(spot).project(viewer.camera);
        shown = spot.z < 1 && Math.abs(spot.x) < 1.05 && Math.abs(spot.y) < 1.05;
      }
      const x = (0.5 + 0.5 * spot.x) * width;
      const y = (0.5 - 0.5 * spot.y) * height - lift;
      const box = shown ? free(taken, x, y, ...size) : null;
      element.style.visibility = box ? "visible" : "hidden";
      if (box) element.style.transform = `translate(${Math.round(box.x)}px, ${Math.round(box.y)}px)`;
    });
  }

  viewer.set_3d_pane_size = () => {
    const { clientWidth: width, clientHeight: height } = pane;
    if (!width || !height) return;
    viewer.camera.aspect = width / height;
    viewer.renderer.setSize(width, height);
    viewer.set_dirty();
  };
  new ResizeObserver(() => viewer.set_3d_pane_size()).observe(pane);

  function draw() {
    if (!viewer.needs_render) return;
    viewer.render();
    place();
  }

  function names(shown) {
    named = shown;
    viewer.set_dirty();
  }

  return { room, light, bounds, look, label, draw, names, dirty: () => viewer.set_dirty(), fit: () => viewer.set_3d_pane_size() };
})();
