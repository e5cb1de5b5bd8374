"""Control flow as users write it: cond, switch, while_loop, fori_loop, scan, map, associative_scan.

Each traces its functions as private functions and records one op that refers to them. Outside a trace, Python
itself is the control flow: the functions run eagerly, step by step.
"""

from .branches import cond as cond
from .branches import switch as switch
from .prefix_scan import associative_scan as associative_scan
from .scans import map as map
from .scans import scan as scan
from .while_loops import fori_loop as fori_loop
from .while_loops import while_loop as while_loop
