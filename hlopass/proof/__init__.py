"""Compiles and runs programs through PJRT, in a process that may die, and says what it saw."""
