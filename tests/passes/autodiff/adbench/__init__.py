"""Problems whose derivatives are known to be hard to get right or fast, from their published definitions.

The four of ADBench (Srajer, Kukelova, Fitzgibbon: "A benchmark of selected algorithmic differentiation tools
on some problems in computer vision and machine learning", 2018) and five classics, each written once for any
library with the namespace of NumPy, at sizes that a test can afford.
"""
