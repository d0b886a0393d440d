"""Force and torque sensors by RDT: ATI Net F/T and Axia, SCHUNK FTN; up to 7 kHz."""
