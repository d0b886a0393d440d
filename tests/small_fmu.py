"""The description of an FMU with an input and an output, which tests write about C sources."""

SMALL_FMU = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{{{name}}}">
  <CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true"
    canGetAndSetFMUstate="true" canSerializeFMUstate="{serializes}"
    canBeInstantiatedOnlyOncePerProcess="{once}"/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output" initial="exact">
      <Real start="0"/></ScalarVariable>
    <ScalarVariable name="at" valueReference="2" causality="parameter" variability="fixed">
      <Real start="1e9"/></ScalarVariable>
    <ScalarVariable name="phase" valueReference="0" causality="parameter" variability="fixed">
      <Integer start="0"/></ScalarVariable>
    <ScalarVariable name="how" valueReference="1" causality="parameter" variability="fixed">
      <Integer start="0"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>
"""
