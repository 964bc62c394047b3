// What the verifier's tests share: modules of a body's text, and the faults that are found in them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"

namespace kasen::testing {

inline std::vector<std::string> faults_of(const Module& module) {
  TrialLawChecker laws;
  std::vector<std::string> texts;
  for (const Diagnostic& fault : verify_module(module, laws)) texts.push_back(format_diagnostic(fault));
  return texts;
}

inline const std::string functions = R"(
  dim N
  dim M
  dim K local = 3
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn sub(x: f64, y: f64) -> f64 = x - y
  fn half(x: f64) -> f64 = 0.5 * x
  fn lse(x: f64, y: f64) -> f64 = log1p(expm1(x) + expm1(y))
  fn peak(x: f64, y: f64) -> f64 = max(x, max(y, 0.0))
  fn count(x: i64) -> i64 = x + 1
  fn less(x: i64) -> bool = x < 10
)";

inline Module module_of(int level, const std::string& body) {
  return parse_module("kir 1 level " + std::to_string(level) + "\nmodule t {" + functions + body + "\n}\n##end\n",
                      "t.kir");
}

inline std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + '\n';
  return all;
}

inline void expect_right(int level, const std::string& body) {
  EXPECT_EQ(joined(faults_of(module_of(level, body))), "") << body;
}

// Every fault found is the one that is wanted.
inline void expect_fault(int level, const std::string& body, const std::string& wanted) {
  const std::vector<std::string> found = faults_of(module_of(level, body));
  EXPECT_FALSE(found.empty()) << body << "\nwanted: " << wanted;
  for (const std::string& text : found)
    EXPECT_NE(text.find(wanted), std::string::npos) << text << "\nwanted: " << wanted;
}

// A matrix and a vector of level 3.
inline const std::string sources3 = "%G = input \"G\" : f64[N,N] sparse @part\n%x = input \"x\" : f64[N] @part\n";

}  // namespace kasen::testing
