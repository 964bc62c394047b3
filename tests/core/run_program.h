// Small programs run by the interpreter, and what they give.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libcore/reference/interpreter.h"

namespace kasen::meaning {

using Outputs = std::map<std::string, Array>;

inline Array reals_of(const std::vector<double>& values) {
  Array a(ElementType::of(Scalar::f64), static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), a.as<double>());
  return a;
}

inline Outputs run_text(const std::string& text, const WholeInputs& inputs = {},
                        const std::map<std::string, std::string>& defines = {}) {
  const Module module = compile_program(text, "test.ks", defines);
  TrialLawChecker laws;
  require_valid(module, laws);
  return interpret(module, inputs);
}

inline double real(const Outputs& out, const std::string& name) { return out.at(name).as<double>()[0]; }
inline std::int64_t whole(const Outputs& out, const std::string& name) { return out.at(name).as<std::int64_t>()[0]; }
inline bool truth(const Outputs& out, const std::string& name) { return out.at(name).as<std::uint8_t>()[0] != 0; }

// The value of one expression of literals, through a param so that nothing is known to plan.
inline double value_of(const std::string& expression) {
  return real(run_text("param one = 1.0\noutput z = " + expression + "\n"), "z");
}

inline std::int64_t whole_of(const std::string& expression) {
  return whole(run_text("param one = 1\noutput z = " + expression + "\n"), "z");
}

}  // namespace kasen::meaning
