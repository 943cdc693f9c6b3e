"""The relay preset's folder; `sample` builds a database to try it on."""
