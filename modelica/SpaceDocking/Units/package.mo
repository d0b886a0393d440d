within SpaceDocking;
package Units "SI quantities of this package"
  type Mass = Real(quantity = "Mass", unit = "kg", min = 0) "Mass";
  type Position = Real(quantity = "Length", unit = "m") "Position along an axis";
  type Velocity = Real(quantity = "Velocity", unit = "m/s") "Velocity along an axis";
  type Acceleration = Real(quantity = "Acceleration", unit = "m/s2") "Acceleration along an axis";
  type Force = Real(quantity = "Force", unit = "N") "Force along an axis";
  type Stiffness = Real(quantity = "TranslationalSpringConstant", unit = "N/m", min = 0)
    "Stiffness of a translational spring";
  type Hardening = Real(unit = "N/m3", min = 0) "Force of a spring for each cubic metre";
  type Damping = Real(quantity = "TranslationalDampingConstant", unit = "N.s/m", min = 0)
    "Coefficient of a translational damper";
  type Frequency = Real(quantity = "Frequency", unit = "Hz", min = 0) "Frequency";
  type Inertia = Real(quantity = "MomentOfInertia", unit = "kg.m2") "Moment of inertia";
  type Torque = Real(quantity = "Torque", unit = "N.m") "Torque";
  type Energy = Real(quantity = "Energy", unit = "J") "Energy";
  type Power = Real(quantity = "Power", unit = "W") "Power";
  type Angle = Real(quantity = "Angle", unit = "rad") "Angle";
  type AngularVelocity = Real(quantity = "AngularVelocity", unit = "rad/s") "Angular velocity";
  type AngularMomentum = Real(quantity = "AngularMomentum", unit = "kg.m2/s") "Angular momentum";
  type BendingStiffness = Real(quantity = "BendingStiffness", unit = "N.m2", min = 0)
    "Bending stiffness of a beam or rope";
  type Curvature = Real(quantity = "Curvature", unit = "1/m") "Curvature of a line";
  type Time = Real(quantity = "Time", unit = "s") "Time";
  type AngularAcceleration = Real(quantity = "AngularAcceleration", unit = "rad/s2")
    "Angular acceleration";
  type AngularJerk = Real(quantity = "AngularJerk", unit = "rad/s3") "Angular jerk";
  type RotationalDamping = Real(quantity = "RotationalDampingConstant", unit = "N.m.s/rad", min = 0)
    "Coefficient of a rotational damper";
  type RotationalStiffness = Real(quantity = "RotationalSpringConstant", unit = "N.m/rad", min = 0)
    "Stiffness of a rotational spring";
  type Mobility = Real(unit = "1/kg", min = 0) "One over a mass";
  type Impulse = Real(quantity = "Impulse", unit = "N.s") "Impulse";
  type Momentum = Real(quantity = "Momentum", unit = "kg.m/s") "Momentum";
  type Current = Real(quantity = "ElectricCurrent", unit = "A") "Electric current";
  type Voltage = Real(quantity = "ElectricPotential", unit = "V") "Electric voltage";
  type Resistance = Real(quantity = "Resistance", unit = "Ohm", min = 0) "Electric resistance";
  type Inductance = Real(quantity = "Inductance", unit = "H", min = 0) "Inductance";
  type IntegralGain = Real(unit = "V/rad", min = 0) "Voltage for each radian that has been missed";
  type BackEmf = Real(unit = "V.s/rad", min = 0) "Back-EMF coefficient of a motor";
  type TorqueConstant = Real(unit = "N.m/A", min = 0) "Torque coefficient of a motor";
  type CurrentFeedback = Real(unit = "V/A") "Voltage of a driver for each ampere of error";
  type DampingRatio = Real(quantity = "DampingRatio", unit = "1", min = 0)
    "Damping relative to critical damping";
  annotation (Documentation(info = "<html>
<p>Type aliases with unit and physical limits, so that the package needs no other library.</p>
</html>"));
end Units;
