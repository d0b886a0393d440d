"""FMUs of Python blocks: of their equations where these can be traced, else with Python inside."""
