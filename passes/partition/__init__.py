"""Dividing a program among the ranks of a mesh: from how its arrays lie to the program of each rank."""
