"""Files: tables and models in and out, results that appear whole or not at all."""
