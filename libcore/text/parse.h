// Reads the text of a module in parts: the lines above `module` (parse_preamble.cpp), declarations, types and states,
// operators with their blocks, schedules. The parser only builds the module; the verifier checks its meaning. Internal
// to libcore/text/parse*.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/lex/lexer.h"
#include "libcore/text/scalar.h"

namespace kasen::text {

// Version, history and the program's own lines, which are not tokens.
struct Preamble {
  int version = 1, level = 1;
  std::vector<std::string> history, source;
  std::string source_name;
  size_t rest = 0;  // where tokens begin
  int rest_line = 1;
};
[[nodiscard]] Preamble read_preamble(std::string_view text, const std::string& file);

// A name in quotes, with \" and \\ for " and backslash.
[[nodiscard]] std::string unquoted(std::string_view text);

inline constexpr LexicalRules rules{.exponents = "e", .sigils = true};

class ModuleParser {
 public:
  ModuleParser(const SourceText& source, Module& module, int version)
      : lexer_(source, rules), m_(module), version_(version) {}

  void parse();

 private:
  // ---- declarations
  bool declaration();
  bool mesh();
  bool dimension();
  void derivation(Dimension& d);
  void sliced(Derivation& derived);
  bool constant();
  bool function();
  Interval interval();
  size_t element_place();
  ElementRange element_range(const ElementType& type);
  bool assumption();
  bool law(std::vector<LawUse>& uses);
  bool memory();
  bool file();
  bool buffer();

  // ---- names, types and states
  FnId function_name();
  DimId dim_name();
  void dims(std::vector<DimId>& dims, std::vector<AxisCut>& cuts);
  AxisCut cut();
  bool nodes();
  void needs_layouts(const Token& at);
  SlaveSet slave_set();
  SlaveAtom slave_atom();
  Axis slave_axis();
  State state();
  bool set_follows();
  Type type();
  ValueId define(const Token& token);
  BufferId buffer_number(const Token& token);

  // ---- operators
  struct WrittenLiteral {
    Token token;
    Scalar scalar;
  };
  ValueId use();
  void operands(Op& op);
  void literal_words(Op& op);
  void literal_word(Op& op);
  void check_literals(const Value& result) const;
  void function_names(Op& op);
  void labels(Op& op);
  void functions(Op& op);
  void onto(Op& op);
  void carried(Op& op);
  void name_text(Op& op);
  void head(Op& op);
  int small_integer(std::string_view what);
  void for_head(Op& op);
  void region_head(Op& op);
  void grid(Op& op);
  void workers_of_tasks(Op& op);
  void additions(Op& op);
  void displaced(Op& slice);
  Location place(const Token& begin);
  void tail(Op& op, const std::vector<Token>& results, const Token& begin);
  void inner_blocks(Op& op);
  Op operation();
  Block block();

  // ---- schedules
  void schedule(Block& block);
  ScheduleLine schedule_line(const Block& block);
  int scheduled_op(const Block& block);
  void scheduled_ops(const Block& block, ScheduleLine& line);
  LineRows scheduled_rows();

  Lexer lexer_;
  Module& m_;
  int version_;
  std::map<std::string, ValueId> values_;
  std::vector<WrittenLiteral> literals_;  // of the operator at hand
  std::map<ValueId, int> scheduled_;      // operators of the block whose schedule is read, by the values that name them
  int depth_ = 0;
};

}  // namespace kasen::text
