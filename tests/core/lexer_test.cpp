// Tokens: what both texts share, and what the rules of each make of the same characters.
#include "libcore/lex/lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kasen {
namespace {

constexpr LexicalRules of_programs{.exponents = "eE", .points = true, .line_ends = true};
constexpr LexicalRules of_ir{.exponents = "e", .sigils = true};

// "line:column kind text" of each token.
std::string tokens(std::string_view text, const LexicalRules& rules, int first_line = 1) {
  constexpr std::string_view kinds = "nN\"s;.%$@~";
  const SourceText source{text, "file", first_line};
  std::string all;
  for (Lexer lexer(source, rules); lexer.peek().kind != TokenKind::end;) {
    const Token token = lexer.take();
    const std::string_view shown = token.kind == TokenKind::newline ? "" : token.text;
    all += fmt::format("{}:{}{}{} ", token.mark.line, token.mark.column, kinds[static_cast<size_t>(token.kind)], shown);
  }
  return all;
}

TEST(Lexer, NamesNumbersSymbolsAndPlacesAreTheSame) {
  const std::string_view text = "a_1 <= 12i64 # b\n\t2.5e-3f32->//x";
  EXPECT_EQ(tokens(text, of_ir, 7), "7:1na_1 7:5s<= 7:8N12i64 8:2N2.5e-3f32 8:11s-> 8:13s// 8:15nx ");
  EXPECT_EQ(tokens(text, of_programs, 7), "7:1na_1 7:5s<= 7:8N12i64 7:17; 8:2N2.5e-3f32 8:11s-> 8:13s// 8:15nx ");
}

TEST(Lexer, PointsOfAProgram) {
  EXPECT_EQ(tokens("1. t.0.1 0..m 1E5", of_programs),
            "1:1N1. 1:4nt 1:5s. 1:6N0 1:7s. 1:8N1 1:10N0 1:11s.. 1:13nm 1:15N1E5 ");
  EXPECT_EQ(tokens("1. t.0.1 0..m", of_ir), "1:1N1 1:2s. 1:4nt 1:5s. 1:6N0.1 1:10N0 1:11s. 1:12s. 1:13nm ");
}

TEST(Lexer, SigilsAndStringsOfTheIr) {
  EXPECT_EQ(tokens(R"(%v $0 @? @part ~b1 "a\"b" % x)", of_ir),
            R"(1:1%v 1:4$0 1:7@? 1:10@part 1:16~b1 1:20"a\"b 1:27s% 1:29nx )");
  EXPECT_EQ(tokens("%v @x", of_programs), "1:1s% 1:2nv 1:4s@ 1:5nx ");
}

TEST(Lexer, FaultsHaveTheirPlaceAndLine) {
  const SourceText source{"a\n  \"b", "file", 4};
  Lexer lexer(source, of_ir);
  try {
    lexer.take();
    FAIL() << "a string without its end was taken";
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_EQ(d.where, (Location{"file", 5, 3}));
    EXPECT_EQ(d.source_line, "  \"b");
  }
}

}  // namespace
}  // namespace kasen
