"""Components and buses: where behaviour comes from and how it is run."""
