#include "libcore/text/parse.h"

#include <fmt/format.h>

#include <algorithm>

namespace kasen {

void text::ModuleParser::parse() {
  lexer_.expect("module");
  m_.name = std::string(lexer_.expect(TokenKind::name, "the module's name").text);
  lexer_.expect("{");
  while (declaration()) {
  }
  m_.body = block();
  if (lexer_.peek().kind != TokenKind::end) lexer_.fail_at(lexer_.peek(), "text after the module's end");
}

Module parse_module(std::string_view text, const std::string& file) {
  text::Preamble head = text::read_preamble(text, file);
  std::string_view whole = text;
  while (!whole.empty() && (whole.back() == '\n' || whole.back() == '\r' || whole.back() == ' '))
    whole.remove_suffix(1);
  if (!whole.ends_with("\n##end")) {
    const int lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    fail(ExitStatus::bad_input, "the IR is cut off", "its last line is not '##end'",
         "the tool before this one failed, or the file is incomplete", Location{file, std::max(lines, 1), 0});
  }
  Module module;
  module.level = head.level;
  module.history = std::move(head.history);
  module.source = std::move(head.source);
  module.source_name = std::move(head.source_name);
  module.text_name = file;
  const SourceText source{text.substr(head.rest), file, head.rest_line};
  text::ModuleParser(source, module, head.version).parse();
  return module;
}

}  // namespace kasen
