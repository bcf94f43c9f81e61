// RUN: hlopass rewrite %s

module @nothing {
}
