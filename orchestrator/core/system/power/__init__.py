"""Power ports: an effort and a flow that are one physical connection."""
