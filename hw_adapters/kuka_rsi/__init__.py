"""KUKA robots by the Robot Sensor Interface (RSI): the robot is the clock, 4 ms or 12 ms."""
