"""Write the nodes and segments of the ropes for animations; run it to write ropes.scene.toml.

python examples/snare/scene.py
"""

from __future__ import annotations

from pathlib import Path

NODES = 16
COLOURS = ("#c0392b", "#1e8449", "#2471a3")


def scene() -> str:
    """Return the text of the file."""
    frames = [
        "#:schema ../schemas/scene.json\n",
        "# Nodes and segments of the ropes; written by scene.py.\n\n[frame]\n",
    ]
    parts = ["\n[part]\n"]
    for rope, colour in enumerate(COLOURS, start=1):
        for node in range(1, NODES + 1):
            place = ", ".join(f'"rope_{rope}.nodes[{node},{j}]"' for j in (1, 2, 3))
            frames.append(f"node_{rope}_{node} = {{ position = [{place}] }}\n")
        for node in range(1, NODES):
            ends = [f'{{ in = "node_{rope}_{n}", at = [0, 0, 0] }}' for n in (node, node + 1)]
            parts.append(
                f'rope_{rope}_{node} = {{ shape = "line", from = {ends[0]}, to = {ends[1]},'
                f' radius = 0.0015, colour = "{colour}" }}\n'
            )
    return "".join(frames + parts)


if __name__ == "__main__":
    (Path(__file__).parent / "ropes.scene.toml").write_text(scene())
