// RUN: hlopass rewrite %s
// There is nothing here.
