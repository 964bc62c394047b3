/// \file
/// The IR: one typed SSA form for every level (docs/ir.md). A module is plain data. Passes rebuild it, and the verifier
/// checks it. The printer and the parser convert it to text and back without loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/id.h"
#include "libcore/base/types.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

using ValueId = Id<struct ValueTag>;  ///< index in Module::values
inline constexpr ValueId no_value{-1};
using BufferId = Id<struct BufferTag>;  ///< index in Module::buffers
inline constexpr BufferId no_buffer{-1};

enum class OpCode : std::uint8_t {
#define IR_OP(code, name, level, group, counts, text, types, states, ranges, run, doc) code,
#include "libcore/ir/operators.def"
#undef IR_OP
};
enum class OpGroup : std::uint8_t {
  source,
  vector,
  product,
  contraction,
  entries,
  join,
  axis,
  linear,
  shared,
  transition,
  tier,
  list,
  control,
  end
};

inline constexpr std::size_t operator_count = 0
#define IR_OP(code, name, level, group, counts, text, types, states, ranges, run, doc) +1
#include "libcore/ir/operators.def"
#undef IR_OP
    ;

/// The form of an operator's text after its name.
enum class TextForm : std::uint8_t {
  functions,      ///< [f, g; over K] %a, %b
  name,           ///< "X"
  named,          ///< "X" %a
  words,          ///< 0.5
  default_words,  ///< "c" = 0.5
  dim,            ///< [N]
  dim_of,         ///< [K of N] %a, %b
  along,          ///< [N] %a, %b
  derived,        ///< [S of N, M] %a, %b
  observed,       ///< [K] %n
  relayout,       ///< %a; [S of N, M] %a, %b
  labels,         ///< [f, g; ij, jk -> ik] %a, %b
  rows,           ///< [f, g] %a, %b rows 1
  while_loop,     ///< (%p : f64 = %p0) test 0
  for_loop,       ///< %i : i64 in %lo, %hi (%p : f64 = %p0)
  region,         ///< kind (%a, %b)
};

inline constexpr int any_operands = std::numeric_limits<int>::max();
struct OpCounts {
  int least, most;           ///< operands
  int results, fns, blocks;  ///< any_operands: the blocks give the number
  bool top;                  ///< only in the program's own block
};

struct OpRow {
  OpCode code;
  std::string_view name;
  int level;
  OpGroup group;
  OpCounts counts;
  TextForm text;
  std::string_view doc;
};

[[nodiscard]] std::span<const OpRow> op_rows();
[[nodiscard]] const OpRow& row(OpCode code);
[[nodiscard]] const OpRow* find_op(std::string_view name);

/// Region templates. The registry of libopt makes them; the executor and kernels know the operators that each may hold.
enum class RegionKind : std::uint8_t {
  iter_on_vec,  ///< vector operators over one dimension
  mxm,  ///< products with one matrix, none of which needs another's result; if sparse, in one direction, folds too
  product_epilogue,  ///< one product, its gather, and the vector work that follows each row
  row_chain,         ///< products with one dense matrix, some of which need others' rows, and the vector work between
  rows,              ///< all work on the rows of arrays that are cut along one dimension
  blocks,            ///< operators on dense arrays, block by block, each block on a worker of its own (libcore/blocks)
};
[[nodiscard]] std::string_view region_name(RegionKind kind);  ///< "iter_on_vec", "mxm", ...

/// The blocks of a dimension in a region of blocks: `count` equal runs, the first ones longer by one; or, if `count` is
/// 0, runs of `size` indices, the last of which may be shorter.
struct GridCut {
  DimId dim = no_dim;
  std::int64_t count = 0, size = 0;
  friend bool operator==(const GridCut&, const GridCut&) = default;
};

/// One addition of a block's contributions. Operands are numbered: first the contributions, then the additions before
/// this one.
struct TreeAdd {
  int left = 0, right = 0;
  int worker = 0;
  friend bool operator==(const TreeAdd&, const TreeAdd&) = default;
};

struct Op;

/// What a line of a schedule does (level 4; libcore/schedule/schedule.h, docs/ir.md).
enum class LineKind : std::uint8_t {
  alloc,  ///< makes the memory of buffers, and of arrays without one
  whole,  ///< makes memory for values that operators read or make in the order of the whole array
  form,   ///< brings a sparse matrix into the form that products read
  free,   ///< frees a form
  run,    ///< runs an operator, or some rows of it
  start,  ///< starts an exchange
  wait,   ///< waits for it and unpacks or combines what has arrived
  move,   ///< at the end of a block: arrays are handed on with their memory
  copy,   ///< at the end of a block: arrays are handed on by a copy
};
/// The rows that a line of a sparse product computes. Lines of one operator cover all of its rows.
enum class LineRows : std::uint8_t {
  all,     ///< all that no line before it has computed
  ready,   ///< owned rows that read no ghost
  ghosts,  ///< rows of ghosts, which travel to their owners
  rest,    ///< owned rows that are not ready
  joined,  ///< the vector work of rows for which contributions have arrived
};

struct ScheduleLine {
  LineKind kind = LineKind::run;
  LineRows rows = LineRows::all;
  int op = -1;                    ///< run, start, wait: the operator's index in the block
  int count = 1;                  ///< start, wait: so many operators from there on travel together
  int form = -1;                  ///< form, free: its number
  std::vector<ValueId> values;    ///< alloc, whole, move, copy: the values; form: the results of its products
  std::vector<BufferId> buffers;  ///< alloc
  Location where;                 ///< in the text that it was read from

  /// True for the same line, wherever it was written.
  friend bool operator==(const ScheduleLine& a, const ScheduleLine& b) {
    return a.kind == b.kind && a.rows == b.rows && a.op == b.op && a.count == b.count && a.form == b.form &&
           a.values == b.values && a.buffers == b.buffers;
  }
};

struct Block {
  std::vector<ValueId> args;
  std::vector<Op> ops;                 ///< the last of a nested block is `yield`
  std::vector<ScheduleLine> schedule;  ///< level 4, but not in regions
};

/// One operator. Which fields count depends on the code:
///   input, param, output  name;  param, literal, fill: literal words (one a plane of the element type)
///   map, apply            fns[0]; operands in the order of the function's parameters
///   reduce                fns[0] the reducer; operands[0]; `over` the dimensions reduced (empty: all, to rank 0)
///   range                 operands: array, begin; over[0] the array's dimension that is cut down, `dim` the result's
///                         dimension, which has its indices from begin on
///   transpose             operands[0] the matrix
///   mxv, mxvt             fns[0] multiplier Z(vector element, matrix element), fns[1] reducer;
///                         operands[0] the vector, operands[1] the matrix. A nonzero of a null matrix is the constant
///                         1 of the multiplier's second parameter's type.
///   contract              fns[0] multiplier Z(element of operands[0], element of operands[1]), fns[1] reducer, which
///                         is missing if no label is summed; `name` the labels, as "ij,jk->ik" (contraction.h);
///                         operands[2], if there: an array of the result's axes that the terms are reduced onto
///   scan, sort, argsort   over[0] the dimension along which they work; scan: fns[0] the function (axis_ops.h)
///   take                  operands: the array, the places; over[0] the array's dimension that they are places of
///   reduce_by             fns[0] the reducer; operands: the array (or a single value), the keys; `over` the dimensions
///                         that the result's dimension of keys replaces (axis_ops.h)
///   slice, concat, reshape  `dim` a derived dimension, `over` its sources (axis_ops.h); concat: one operand for each
///   solve                 operands: the matrix, the right side
///   qr, eigh, svd         operands[0] the matrix; two or three results
///   fold_rows, fold_cols  fns[0] F(nonzero, operands...), fns[1] reducer; operands[0] a matrix, then `at_rows` arrays
///                         over its rows, then arrays over its columns, then arrays over its nonzeros, then shareds
///                         (entries.h)
///   entries               fns[0] F(nonzero, operands...); operands as those of fold_rows (entries.h)
///   align                 operands: two matrices over the same dimensions, and a sparse value of the second (joins.h)
///   meet                  operands: places of a pattern, and places and values of each factor (joins.h)
///   index, size           dim
///   batch                 operands: a sparse input with batches, i; over[0] the dimension that counts them
///   get                   operands: list, i.  put: list, i, array.  push: list, array
///   make_list             operands[0] and the result type's list length
///   while_loop            operands: initial values; blocks[0] with one argument each; `test`: the number of the one,
///                         a shared bool, that is read before each iteration (true: another follows)
///   for_loop              operands: lo, hi (shared i64), then initial values; blocks[0]: args i, carried...;
///                         `down`: i runs from hi-1 down to lo
///   if_else               operands[0] the condition; blocks[0] then, blocks[1] else, both yield the results
///   region                kind; operands: every value from outside that is used inside, in order of first use;
///                         blocks[0] without arguments; results are what it yields. Of blocks: blocks[0] has an
///                         argument for each operand, `grid` the blocks of dimensions; each operator inside has the
///                         workers of its tasks (`on`) and the order of its additions (`tree`; libcore/blocks/tasks.h)
struct Op {
  OpCode code = OpCode::map;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<FnId> fns;
  std::vector<Block> blocks;
  std::string name;
  std::vector<Word> literal;
  std::vector<DimId> over;
  DimId dim = no_dim;
  RegionKind kind = RegionKind::iter_on_vec;
  std::vector<GridCut> grid;
  std::vector<int> on;
  std::vector<TreeAdd> tree;
  int test = -1;
  int at_rows = 0;
  bool down = false;
  bool likely = false;       ///< may enable work, never changes a result
  bool speculated = false;   ///< computed early, for the next iteration or a likely branch, and maybe in vain
  std::int64_t expect = -1;  ///< trip count for the cost model alone
  Location where;  ///< in the program's source (file may be empty: Module::source_name), or in Module::text_name
};

struct Value {
  std::string name;  ///< unique in the module, without '%'
  Type type;
  BufferId buffer = no_buffer;  ///< level 3: its buffer; a list of m arrays owns m buffers from this one on
};

/// Memory for one array on each worker: the owned elements of its first distributed dimension (times the local ones)
/// and the ghosts of the largest of `holds`. A buffer is a name. Binding a carried value swaps the arrays of two names,
/// and nothing moves.
struct BufferDecl {
  ElementType element;
  std::vector<DimId> dims;
  std::vector<SlaveSet> holds;  ///< empty: owned elements only
  std::vector<AxisCut> cuts;    ///< like those of the types that it holds
  bool on_disk = false;         ///< it takes no memory: store writes it, and load reads it (tiers.h)
  friend bool operator==(const BufferDecl&, const BufferDecl&) = default;
};

enum class LawKind : std::uint8_t { exchange, pushdown, distributive, associative, commutative, identity, idempotent };
[[nodiscard]] std::string_view law_name(LawKind kind);

/// A law that a plan relies on, with its basis. Every reader of the plan checks it again.
struct LawUse {
  LawKind kind = LawKind::exchange;
  FnId fn = no_fn;
  FnId reducer = no_fn;
  int operand = 0;    ///< the number of the pre-reduced operand
  std::string basis;  ///< "built-in" (by its shape), "trial", "proven" (by a solver), "assumed"
  Location where;     ///< of an assumption; like an operator's

  /// True for the same law on the same basis, wherever it was stated.
  friend bool operator==(const LawUse& a, const LawUse& b) {
    return a.kind == b.kind && a.fn == b.fn && a.reducer == b.reducer && a.operand == b.operand && a.basis == b.basis;
  }
};

/// The user's assumption about the numbers of all elements of an input or a param (`assume weight > 0, x.1 >= 0`).
struct RangeAssumption {
  std::string name;  ///< of the input or param
  Interval range;
  int place = -1;  ///< of an element (element_range.h); -1: all of its numbers
  friend bool operator==(const RangeAssumption&, const RangeAssumption&) = default;
};

/// One axis of the mesh of workers, named by a letter: `mesh a = 2, b = 3`. Worker (i, j) is number 3 i + j. Workers at
/// two places of an axis that crosses nodes (`nodes a`) are on two nodes: what they send goes through the network.
struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  bool crosses_nodes = false;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

struct Constant {  // `const k = 5`, fixed by plan
  std::string name;
  Scalar scalar = Scalar::i64;
  Word value{};
};

struct Module {
  int level = 1;
  std::string name;
  std::vector<MeshAxis> mesh;  ///< empty: one axis `w` of all workers
  IdMap<DimId, Dimension> dims;
  IdMap<FnId, ScalarFunction> functions;
  IdMap<ValueId, Value> values;
  IdMap<BufferId, BufferDecl> buffers;  ///< level 3
  std::int64_t memory = 0;              ///< bytes that the buffers of a worker may take in memory; 0: no limit
  std::vector<LawUse> laws;             ///< of maps (level 2 on), and of reducers whose laws are not obvious
  std::vector<LawUse> assumptions;      ///< the user's (`assume`)
  std::vector<RangeAssumption> ranges;
  std::vector<Constant> constants;
  std::map<std::string, std::string> files;  ///< of inputs: those that the program names, beside it (resolved_files)
  Block body;                                ///< no arguments; ends with outputs
  std::string source_name;                   ///< the program's file name
  std::vector<std::string> source;           ///< its lines
  std::vector<std::string> history;          ///< one line a tool: "kasen-plan 0.1 pagerank.ks"
  std::string fitted_to;                     ///< digest of the bundle it was planned for (may be empty)
  std::string planned_by;                    ///< the options that made the plan (libopt/options/record.h; may be empty)
  std::string text_name;  ///< the file that it was read from: the location of operators that name none

  [[nodiscard]] const Value& value(ValueId id) const { return values[id]; }
  [[nodiscard]] Value& value(ValueId id) { return values[id]; }
  [[nodiscard]] const Type& type(ValueId id) const { return value(id).type; }
  [[nodiscard]] const ScalarFunction& fn(FnId id) const { return functions[id]; }
  [[nodiscard]] const Dimension& dim(DimId id) const { return dims[id]; }
  [[nodiscard]] DimId find_dim(std::string_view name) const;  ///< or no_dim

  /// Adds a value whose name is `hint`, with a number appended if it is taken. It searches all names only on a clash.
  ValueId add_value(std::string_view hint, Type type);
  /// Returns the function with the same body and parameter types if there is one, else adds this one.
  FnId add_function(ScalarFunction fn);
};

/// The text form. print(parse(t)) == t for text that print made, parse(print(m)) == m always.
/// `with_history` false leaves out the `##` tool lines (for golden tests).
[[nodiscard]] std::string print_module(const Module& module, bool with_history = true);
/// Throws UserError (bad_input) with file:line:column; refuses newer versions and text without the closing `##end`.
/// Does not verify: call verify_module.
[[nodiscard]] Module parse_module(std::string_view text, const std::string& file);
[[nodiscard]] std::string print_type(const Module& module, const Type& type);
[[nodiscard]] std::string print_element_type(const Module& module, const ElementType& type);
[[nodiscard]] std::string print_function(const Module& module, const ScalarFunction& fn);
/// "run %y ready", "start %a, %b", "free form 0"; `block` holds the line.
[[nodiscard]] std::string print_line(const Module& module, const Block& block, const ScheduleLine& line);
[[nodiscard]] std::string_view rows_name(LineRows rows);  ///< "ready"; empty for `all`

/// Checks all rules of docs/ir.md for the module's level: types, dimensions by name, SSA and scopes, purity, reducers
/// through `laws`, the state rules by number, regions, buffers. Returns every error found (empty: valid).
class LawChecker;
[[nodiscard]] std::vector<Diagnostic> verify_module(const Module& module, LawChecker& laws);
/// Throws UserError(bad_input) if anything is wrong.
void require_valid(const Module& module, LawChecker& laws);

/// Preorder over all operators (a region's inner operators come after it, too).
void for_each_op(const Module& module, const std::function<void(const Op& op, int number, int depth)>& visit);

/// The name of a matrix in the data, and so in a slave set: the name of its input, also for one of the input's batches.
[[nodiscard]] const std::string& matrix_name(const Module& module, ValueId matrix);

}  // namespace kasen
