within SpaceDocking.Examples;
model DockingSwing "A captured spacecraft swings on the contact and on the manipulator"
  Docking.AxialDockingIdeal docking "Docking on one axis";
  annotation (
    experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-9, Interval = 0.01),
    Documentation(info = "<html>
<p>The spacecraft begins 10 mm beside the rest of the contact. A vibration of 4.1 Hz, mostly of the
end-effector, fades within seconds; one of 0.7 Hz, mostly of the spacecraft, remains.</p>
</html>"));
end DockingSwing;
