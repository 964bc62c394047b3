// From text to IR: parse, lower, done.
#include "libcore/lang/lang.h"

#include <algorithm>
#include <utility>

#include "libcore/base/printable.h"
#include "libcore/base/text_kind.h"
#include "libcore/lang/lower.h"

namespace kasen {
namespace lang {
namespace {

// `examples/page-rank.ks` is module page_rank.
std::string module_name(const std::string& file) {
  std::string name = file.substr(file.find_last_of('/') + 1);
  name = name.substr(0, name.find_last_of('.'));
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!good) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "program_" + name;
  return name;
}

Module empty_module(const SourceText& source) {
  Module module;
  module.name = module_name(source.file);
  // These names are for display, and IR carries them from file to file.
  module.source_name = printable(source.file);
  for (const std::string_view line : source.lines()) module.source.push_back(printable(line));
  return module;
}

// One message instead of one for each line of a file that is no program.
void refuse_other_files(std::string_view text, const SourceText& source) {
  const TextKind kind = text_kind(text);
  if (kind == TextKind::empty) {
    source.fail({}, "the program is empty", "a program has at least one output", "name a file: kasen plan PROGRAM.ks");
  }
  if (kind == TextKind::program || kind == TextKind::unknown) return;
  source.fail({1, 1}, "this is not a program", std::string(kind_text(kind)),
              kind == TextKind::ir     ? "give it to kasen fuse, or name the program (*.ks)"
              : kind == TextKind::data ? "name the program (*.ks); data go to kasen partition and kasen go, behind it"
                                       : "name the program (*.ks)");
}

}  // namespace

}  // namespace lang

Module compile_program(std::string_view text, const std::string& file,
                       const std::map<std::string, std::string>& defines, const ReadFile& read) {
  lang::refuse_other_files(text, SourceText{text, file});
  const lang::Program program(text, file, read);
  const SourceText& source = program.source();
  constexpr int most_iterations = 4;  // a program lowered with ranges sometimes has other ranges
  lang::ReducerRanges ranges;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    lang::Lowering lowering(source, lang::empty_module(source), defines, ranges);
    Module module = lowering.run(program);
    if (!lang::learn_ranges(module, lowering.reducers().without_masks(), ranges)) return module;
  }
  ranges.clear();
  return lang::Lowering(source, lang::empty_module(source), defines, ranges).run(program);
}

std::string whole_program(std::string_view text, const std::string& file, const ReadFile& read) {
  return std::string(lang::Program(text, file, read).source().text);
}

}  // namespace kasen
