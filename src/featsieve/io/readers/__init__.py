"""Readers of table files, one per format: each returns table, labels and names as they are."""
