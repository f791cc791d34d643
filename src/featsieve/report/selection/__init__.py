"""The report of one selection: a plain dict of facts, and the page that shows them."""
