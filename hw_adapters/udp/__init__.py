"""Rigs of one's own over UDP: the datagrams are declared field by field."""
