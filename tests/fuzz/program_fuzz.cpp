// A program, behind lines `-D NAME=VALUE` as many as there are: lowered to IR that reads back as it is written.
#include <map>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"

namespace kasen::fuzz {
namespace {

std::map<std::string, std::string> take_defines(std::string_view& text) {
  std::map<std::string, std::string> defines;
  while (text.starts_with("-D ")) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t equals = line.find('=');
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (equals != std::string_view::npos) defines.emplace(line.substr(3, equals - 3), line.substr(equals + 1));
  }
  return defines;
}

}  // namespace

void fuzz_program(std::string_view content) {
  const auto defines = take_defines(content);
  const Module module = compile_program(content, "program.ks", defines);
  const std::string text = print_module(module);
  const Module again = parse_module(text, "printed.kir");
  require(print_module(again) == text, "IR that is written reads back as it is", text);
  TrialLawChecker laws(64);
  const bool right = verify_module(module, laws).empty();
  require(right == verify_module(again, laws).empty(), "the verifier says the same of a module that was read back",
          text);
}

}  // namespace kasen::fuzz
