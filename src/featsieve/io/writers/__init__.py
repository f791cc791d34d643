"""Writers of table files, one per format."""
