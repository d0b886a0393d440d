"""Tables and plots of ledgers, of real time and of verification, for pages and terminal."""
