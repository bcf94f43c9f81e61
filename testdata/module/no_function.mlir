// RUN: hlopass rewrite %s

module @weights {
  "vendor.constant"() {value = dense<0.0> : tensor<4xf32>} : () -> ()
  "ml_program.global"() {sym_name = "counter"} : () -> ()
}
