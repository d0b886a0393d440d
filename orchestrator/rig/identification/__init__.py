"""What is found out about devices: excitations, estimators, and the file of a twin."""
