"""Foretide: floors for tidal load, moved before the tide comes."""
