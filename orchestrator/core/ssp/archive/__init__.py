"""Where SSP files lie: folders, .ssp archives, and what the sources of components refer to."""
