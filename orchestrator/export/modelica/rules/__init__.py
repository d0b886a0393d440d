"""What Modelica forbids and rumoca lets pass, and what it drops without a word."""
