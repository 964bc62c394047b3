// Recursive descent over the tokens: statements in parser.cpp and parser_assignment.cpp, functions in
// parser_functions.cpp, expressions, by precedence climbing, in parser_expression.cpp, types in parser_types.cpp.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/lex/precedence.h"
#include "libcore/syntax/ast.h"

namespace kasen::lang {

// The tokens, the last of kind `end`. Newlines inside ( ) and [ ] are left out, `;` is a newline, and brackets are
// matched here, so that a forgotten one is reported where it was opened. Throws UserError(bad_input).
[[nodiscard]] std::vector<Token> tokenize(const SourceText& source);

class Parser {
 public:
  explicit Parser(const SourceText& source) : tokens_(tokenize(source)), source_(source) {}

  [[nodiscard]] std::vector<Statement> program();
  [[nodiscard]] Node lone_expression();

 private:
  // Tokens.
  [[nodiscard]] const Token& peek(size_t ahead = 0) const;
  const Token& next();
  bool accept(std::string_view symbol);
  bool accept_name(std::string_view word);
  const Token& expect(std::string_view symbol, std::string_view where);
  void skip_newlines();
  void end_statement();
  [[nodiscard]] NameAt new_name(std::string_view what);  // an identifier that is not a keyword

  // Refuses text that is not understood (parser_habits.cpp). Without a remedy it searches one in the text around.
  [[noreturn]] void unexpected(std::string_view wanted, std::string_view remedy = {}) const;
  [[nodiscard]] std::string advice() const;
  [[nodiscard]] bool behind_division() const;
  [[noreturn]] void refuse_beginning() const;
  void refuse_statement_word() const;
  [[noreturn]] void refuse_assignment(const NameAt& name) const;
  [[noreturn]] void refuse_keyword() const;
  [[noreturn]] void refuse_second_keys() const;
  [[noreturn]] void refuse_slice(bool sets) const;
  [[noreturn]] void refuse_method() const;
  [[noreturn]] void refuse_type() const;

  // Statements.
  void statements(std::vector<Statement>& out, bool top);
  void recover();
  void statement(std::vector<Statement>& out, bool top);
  bool declaration(std::vector<Statement>& out, const Token& keyword, bool top);
  [[nodiscard]] bool begins(const Token& word) const;
  Statement dimension();
  void sliced_dimension(Statement& s);
  Statement constant(StatementKind kind);
  [[nodiscard]] Statement with_file(Statement s);
  Statement input();
  Statement output();
  Statement assume();
  Statement list();
  Statement function();
  void function_body(Statement& fn);
  Statement definition();
  void definition_params(Statement& def);
  void definition_body(Statement& def);
  Statement result();
  Statement use();
  Statement while_loop();
  Statement for_loop();
  Statement if_else();
  Statement break_loop();
  std::vector<Statement> loop_body();
  [[nodiscard]] bool names_follow() const;
  Statement assignment();
  [[nodiscard]] const ScalarOpRow* changing_operator() const;
  void change(Statement& s, const ScalarOpRow& row);
  Statement push();
  Statement begin(StatementKind kind);
  Statement named(StatementKind kind, std::string_view what);
  void loop_flags(Statement& loop);
  std::vector<Statement> block();

  // Types.
  TypeNode type();
  ComponentNode component();
  std::vector<ParamNode> params();
  TypeNode param_type();

  // Expressions.
  struct Grammar;  // of operators
  [[nodiscard]] bool at_not() const;
  Node expression();
  Node postfix();
  Node renamed(Node array);
  Node index_expression(bool sets = false);
  Node primary();
  Node number();
  Node parenthesized();
  Node bracketed();
  Node conditional();
  Node call(const Token& callee);
  Node coordinate_loop(ScalarOp op, const Token& at);
  Node argument(bool first = false);
  [[nodiscard]] bool at_keys(size_t ahead) const;
  Node clauses();
  Node lambda();
  [[nodiscard]] bool at_lambda() const;
  [[nodiscard]] Node make(NodeKind kind, Mark mark, std::vector<Node> args = {}) const;

  [[nodiscard]] Nesting nested(int& level, int limit) const;

  std::vector<Token> tokens_;
  const SourceText& source_;
  size_t at_ = 0;
  int nesting_ = 0;
  int blocks_ = 0;
  int loops_ = 0;        // around this place
  int def_blocks_ = -1;  // their number at the body of the def that is read; -1: of none
  std::vector<Diagnostic> faults_;
};

// The operator between two operands that is spelled as a word, or as in Python: `and`, `or`, `**`. Null: another token.
// No name can stand there.
[[nodiscard]] const ScalarOpRow* word_operator(const Token& token);
[[nodiscard]] bool is_type_name(std::string_view name);  // of numbers and bool

// Words with a meaning of their own, which are not names.
[[nodiscard]] bool is_keyword(std::string_view word);

}  // namespace kasen::lang
