"""The paper's experiments as an application of twinwl: ``python -m reproduction table1 …``.

It uses public names of twinwl only. Results of every fold are kept in ``results/``; tables, charts and pages
are generated from them.
"""
