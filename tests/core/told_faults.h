// The faults that a program has, and where and how each is told.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "libcore/lang/lang.h"

namespace kasen::testing {

// None if the program is right.
inline std::vector<Diagnostic> faults_of_text(const std::string& text,
                                              const std::map<std::string, std::string>& defines = {}) {
  try {
    (void)compile_program(text, "test.ks", defines);
  } catch (const UserError& error) {
    return error.diagnostics();
  }
  return {};
}

struct ToldFault {
  std::string text;  // behind the head of the test's programs
  int line, column;
  std::string what;  // a part of the message
  std::string rest;  // a part of the reason and the advice
};

// The first fault of the program `head` + fault.text.
inline void expect_told(const std::string& head, const ToldFault& fault) {
  const std::vector<Diagnostic> found = faults_of_text(head + fault.text + '\n');
  ASSERT_FALSE(found.empty()) << fault.text;
  const Diagnostic& d = found[0];
  EXPECT_EQ(d.where, (Location{"test.ks", fault.line, fault.column})) << fault.text << '\n' << format_diagnostic(d);
  EXPECT_NE(d.what.find(fault.what), std::string::npos) << fault.text << '\n' << format_diagnostic(d);
  EXPECT_NE((d.why + ' ' + d.remedy).find(fault.rest), std::string::npos) << fault.text << '\n' << format_diagnostic(d);
  EXPECT_FALSE(d.source_line.empty()) << fault.text;
}

}  // namespace kasen::testing
