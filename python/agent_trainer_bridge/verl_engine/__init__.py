"""verl as an engine: Ray's workers train, inference servers sample. Imports verl only when started.

Written for verl 0.8 and 0.9; where they differ, the code looks at what is there.
"""
