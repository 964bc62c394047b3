// The program as written: the parser's output and the lowering's input. Plain data; names are not yet looked up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/lex/source.h"
#include "libcore/scalar/scalar.h"

namespace kasen::lang {

// The depth of nesting that the recursive passes can handle; the parser refuses deeper programs.
inline constexpr int max_depth = 400;
inline constexpr int max_block_depth = 60;

enum class NodeKind {
  integer,      // text, suffix
  real,         // text, suffix; also inf and nan
  boolean,      // text
  name,         // text
  operation,    // op, args: an operator of scalar_operators.def by symbol, and `if c then a else b`
  call,         // text, args; callee may be a primitive, a fn or a built-in
  index,        // args[0] [ args[1], ... ]
  component,    // args[0] . count
  tuple,        // ( args... )
  small_array,  // [ args... ]
  loop,         // names the variables, args their counts or dimensions and then the body; op (sum_over ... build), or
                // suffix: any, all; of mean both
  transpose,    // args[0] '
  product,      // args[0] @ args[1]
  lambda,       // params -> args[0]
  op_ref,       // text: an operator symbol used as a function
  over,  // names: the dimensions of a reduction, or those that a def takes; args: the keys of `by k in K`, and K as
         // a name, which may be missing
};

struct Node;

struct ComponentNode {  // f64, id[N], [f64; d]
  Mark mark;
  std::string scalar;
  std::string id_of;
  std::vector<Node> count;  // none: a plain scalar
};

// The text of the call that `X as [N, G]` is, of X and `over N, G`. No program can call it so.
inline constexpr const char* renaming_call = "X as [...]";

struct NameAt {
  std::string text;
  Mark mark;
};

struct TypeNode {
  Mark mark;
  bool tuple = false;
  std::vector<ComponentNode> components;
  std::vector<NameAt> dims;
  std::string storage;  // "", "dense", "sparse"
};

struct ParamNode {
  std::string name;
  Mark mark;
  std::vector<TypeNode> type;  // none: a template parameter; of a def without components: its dimensions alone
  std::vector<Node> usual;     // none or one: the value where a call of a def has none
};

struct Node {
  NodeKind kind = NodeKind::name;
  Mark mark;
  std::string text;
  std::string suffix;
  ScalarOp op = ScalarOp::constant;
  int component = 0;
  int depth = 1;
  std::vector<Node> args;
  std::vector<ParamNode> params;
  std::vector<NameAt> names;
};

enum class StatementKind {
  assign,      // name [: type] = value; names = value
  put,         // name [ index ] = value
  push,        // push(name, value)
  list,        // list name [ index ] : type = value
  while_loop,  // while value { body }
  for_loop,    // for name in index..value { body }
  if_else,     // if value { body } else { other }
  break_loop,  // break
  output,      // output name = value
  dimension,   // dim name [local] [= value], or value [ slice ]
  constant,    // const name [: type] = value
  param,       // param name [: type] = value
  input,       // input name : type
  function,    // fn name(params) body, value
  definition,  // def name(params, over names) body, arguments: the results
  result,      // return arguments; the parser moves them to their def
  use,         // use name: a file or a library
  assume,      // assume name(arguments), or assume value (a comparison)
};

struct Statement {
  StatementKind kind = StatementKind::assign;
  Mark mark;
  NameAt name;
  std::vector<TypeNode> type;   // none or one
  std::string file;             // of an input: the one that the program names
  std::vector<Node> value;      // none or one
  std::vector<NameAt> names;    // of an assignment to several names: all of them; the dimensions that a def takes
  std::vector<Node> index;      // none or one
  std::vector<Node> arguments;  // assume; the results of a def
  std::vector<ParamNode> params;
  std::vector<Statement> body, other;
  std::vector<Node> expect;                // none or one
  bool some = false, fills = false;        // of a dimension: some of the value's indices; as many as it lacks
  std::vector<std::optional<Node>> slice;  // of a dimension: none, or begin, end and step as far as written
  bool local = false, workers = false, likely = false, down = false, unroll = false;
  bool in_blocks = false;  // of a dimension: its value is the size of a block
};

// Throws UserError(bad_input) with every syntax error found (ten at most).
[[nodiscard]] std::vector<Statement> parse_program(const SourceText& source);
// One expression and nothing else (`-D NAME=VALUE`).
[[nodiscard]] Node parse_expression(const SourceText& source);

}  // namespace kasen::lang
