// Precedence climbing by itself: a grammar whose nodes are texts with all of their parentheses.
#include "libcore/lex/precedence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kasen {
namespace {

struct TextGrammar {
  Lexer lexer;
  int depth = 0, longest = 0;

  Nesting nested() { return Nesting(depth); }
  Infix prefix() const { return prefix_of(lexer.peek()); }
  Infix infix() const { return lexer.at("@") ? Infix{nullptr, 13} : infix_of(lexer.peek()); }
  void refuse_chain() const {}
  Token take() { return lexer.take(); }
  Token take_infix(int links) {
    longest = std::max(longest, links);
    return lexer.take();
  }
  std::string leaf() { return std::string(lexer.take().text); }
  static std::string built(const ScalarOpRow* /*row*/, const Token& token, const std::vector<std::string>& operands) {
    return "(" + (operands.size() == 1 ? "" : operands[0]) + std::string(token.text) + operands.back() + ")";
  }
};

// The expression, and what it leaves.
std::string climbed(std::string_view text) {
  const SourceText source{text, "file"};
  static constexpr LexicalRules rules{.exponents = "e"};
  TextGrammar grammar{Lexer(source, rules)};
  const std::string expression = climb(grammar, 0);
  EXPECT_EQ(grammar.depth, 0);
  return expression + std::string(grammar.lexer.peek().text);
}

TEST(Precedence, IsThatOfTheTable) {
  EXPECT_EQ(climbed("a || b && c == d + e * f"), "(a||(b&&(c==(d+(e*f)))))");
  EXPECT_EQ(climbed("a * b + c == d && e || f"), "(((((a*b)+c)==d)&&e)||f)");
  for (const ScalarOpRow& row : scalar_op_rows()) {
    if (row.symbol.empty() || row.arity != 2) continue;
    const std::string symbol(row.symbol);
    const bool above = row.precedence > ::kasen::row(ScalarOp::mul).precedence;
    EXPECT_EQ(climbed("a * b " + symbol + " c"), above ? "(a*(b" + symbol + "c))" : "((a*b)" + symbol + "c)");
  }
}

TEST(Precedence, BindsToTheLeftAndPowersToTheRight) {
  EXPECT_EQ(climbed("a - b - c"), "((a-b)-c)");
  EXPECT_EQ(climbed("a ^ b ^ c"), "(a^(b^c))");
  EXPECT_EQ(climbed("a @ b @ c ^ d"), "((a@b)@(c^d))");
}

TEST(Precedence, OfPrefixOperators) {
  EXPECT_EQ(climbed("-a ^ b * c"), "((-(a^b))*c)");
  EXPECT_EQ(climbed("-a @ b"), "(-(a@b))");
  EXPECT_EQ(climbed("a ^ -b ^ c"), "(a^(-(b^c)))");
  EXPECT_EQ(climbed("!a == b"), "((!a)==b)");
}

TEST(Precedence, AComparisonOfAComparisonIsLeft) {
  EXPECT_EQ(climbed("a < b < c"), "(a<b)<");
  EXPECT_EQ(climbed("a < b && c < d"), "((a<b)&&(c<d))");
}

}  // namespace
}  // namespace kasen
