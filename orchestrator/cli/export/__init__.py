"""Commands that write FMUs and portable archives."""
