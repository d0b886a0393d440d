within ;
package SpaceDocking "Plants for docking rigs: spacecraft, robots and mechanical contact"
  annotation (
    version = "0.1.0",
    Documentation(info = "<html>
<p>Plants for hardware-in-the-loop docking simulation, meant to be exported as FMUs and joined by a
co-simulation. All quantities are in SI units; positions and forces of the one-dimensional models are
counted along the docking axis, positive from the chaser to the target.</p>
<p>Delays are not modelled here: the delay of a controller, a bus or a sensor belongs on the
connection between two FMUs, where the orchestrator knows it.</p>
</html>"));
end SpaceDocking;
