"""Reading of rumoca's flat model: variables and equations as CasADi expressions."""
