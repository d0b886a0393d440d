"""What is read off finished runs: measures, energy ledgers, predictions."""
