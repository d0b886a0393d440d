"""Master algorithms: what each decides for a system, in a plan, and the checks of plans."""
