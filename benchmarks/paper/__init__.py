"""The evaluation of PREDIcT (VLDB 2013, section 5) remade, a module a figure or table."""
