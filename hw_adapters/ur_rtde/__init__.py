"""Robots of Universal Robots by the Real-Time Data Exchange (RTDE), 500 Hz both ways."""
