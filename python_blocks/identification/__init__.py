"""Identification: blocks that find out what the contact is made of while it acts."""
