within SpaceDocking.Examples;
model MotorStick "A motor follows a sine that fades below its friction, and sticks"
  parameter Units.Voltage peak = 3 "Amplitude of the voltage at the start";
  parameter Units.Frequency frequency = 2 "Frequency of the voltage";
  parameter Units.Time decay(min = 1e-6) = 0.5 "Time constant of the amplitude";
  Drives.DcMotor motor "Motor";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
equation
  motor.voltage = peak*exp(-time/decay)*sin(2*pi*frequency*time);
  motor.load = 0;
  annotation (
    experiment(StartTime = 0, StopTime = 1.5, Tolerance = 1e-9, Interval = 0.001),
    Documentation(info = "<html>
<p>The shaft stands still while the torque is below friction, and for good once the amplitude is below
<code>coulomb*R/KT</code> = 0.69 V.</p>
</html>"));
end MotorStick;
