// Lowers the program as written to level 1 IR, in one pass over the statements in order. It looks up names, checks
// types and gives terms values. It is split over declare.cpp (dimensions, inputs), assume.cpp, expression.cpp and
// function.cpp (names, expressions, functions), primitive.cpp, aggregate.cpp, random.cpp, product.cpp and reducer.cpp
// (reductions and products), view.cpp (ranges, indices), statement.cpp (assignments, lists) and control.cpp (loops and
// branches).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/module.h"
#include "libcore/lang/ranges.h"
#include "libcore/lang/term.h"
#include "libcore/syntax/ast.h"

namespace kasen::lang {

// The meaning of a name of the program.
struct Binding {
  // formula: an expression over nonzeros; poisoned: its definition had an error
  enum class Kind { value, constant, dimension, formula, poisoned };
  Kind kind = Kind::value;
  ValueId id = no_value;
  Term term;  // constants and formulas
  DimId dim = no_dim;
  std::string fixed;  // why it cannot be assigned ("" if it can)
};

// Names inside a function, a lambda or a coordinate loop. A lambda sees the frame that contains it.
struct Frame {
  const Frame* parent = nullptr;
  bool function = false;  // whole-array work is not possible inside
  bool closed = false;    // a `fn`: of the program's names, only consts are visible
  std::map<std::string, Term> names;
};

class Lowering {
 public:
  Lowering(const SourceText& source, const std::map<std::string, std::string>& defines, const ReducerRanges& ranges);
  [[nodiscard]] Module run(const std::vector<Statement>& program);
  // The reducers of the module that have a presence mask, with their forms without it.
  [[nodiscard]] const std::map<FnId, ScalarFunction>& unmasked() const { return masked_; }

 private:
  // Thrown for a poisoned name: the errors of its definition are reported there, once.
  struct Poisoned {};
  using Names = std::vector<std::string>;

  // Declarations.
  void declare(const Statement& s);
  void dimension(const Statement& s);
  void constant(const Statement& s);
  void param(const Statement& s);
  void input(const Statement& s);
  void output(const Statement& s);
  void assume(const Statement& s);
  void assume_law(const Statement& s);
  void assume_range(const Node& node);
  [[nodiscard]] Interval compared_range(const Node& node, bool turned);
  [[nodiscard]] const Op* source_named(const Node& side) const;
  [[nodiscard]] int assumed_place(const Node& side, const Op& op);
  void require_numbers(const Op& op, int place, Mark mark) const;
  void register_functions(const std::vector<Statement>& program);
  void register_identities(const std::vector<Statement>& program);
  void register_identity(const Statement& s);
  void check_functions(const std::vector<Statement>& program);
  void check_defines() const;
  [[nodiscard]] ElementType element_type(const TypeNode& node);
  [[nodiscard]] Type array_type(const TypeNode& node);
  [[nodiscard]] DimId dim_named(const NameAt& name);
  [[nodiscard]] std::int64_t constant_count(const Node& node, std::int64_t lowest, const std::string& what);
  [[nodiscard]] bool is_id_param(const Statement& s);
  [[nodiscard]] Term written_value(const Statement& s);
  [[nodiscard]] Term default_of(const Statement& s);

  // Scopes.
  Binding* find(const std::string& name);
  void define(const std::string& name, Mark mark, Binding binding);
  void rebind(const std::string& name, ValueId id);
  [[nodiscard]] Names visible_names() const;
  [[nodiscard]] Binding value_binding(ValueId id) const;

  // Expressions.
  Term eval(const Node& node);     // anything, matrices and lists as bare leaves
  Term element(const Node& node);  // an operand of element-wise work
  Term require_element(Term term, const Node& node) const;
  Term literal(const Node& node);
  Term name(const Node& node);
  Term name_of_program(const Node& node);
  Term operation(const Node& node);
  Term index(const Node& node, const std::string& hint);
  [[noreturn]] void refuse_element(const Term& array, const Node& node) const;
  Term loop(const Node& node);
  Term call(const Node& node, const std::string& hint);
  Term scalar_call(const Node& node);
  Term call_fn(const Statement& fn, std::vector<Term> args, Mark mark);
  Term call_lambda(const Node& node, std::vector<Term> args);
  void bind_params(Frame& frame, const std::vector<ParamNode>& params, std::vector<Term> args, Mark mark,
                   const std::string& what);
  Term apply_function(const Node& fn, std::vector<Term> args, Mark mark);
  std::vector<Term> elements(const std::vector<Node>& nodes, size_t from = 0);
  [[noreturn]] void unknown_function(const std::string& name, size_t arguments, Mark mark);
  [[nodiscard]] bool in_function() const;
  Term charge(Term term);  // counts the work of copying a term
  template <class F>
  auto at(Mark mark, F&& body) -> decltype(body());  // gives a UserError without a location this one

  // Primitives: each takes the call and the name of its result.
  struct Primitive {
    std::string_view name;
    Term (Lowering::*call)(const Node&, const std::string&);
    bool yields = false;  // a program may have a fn of that name instead
  };
  static const Primitive* find_primitive(const std::string& name);
  static Names primitive_names();
  Term map_call(const Node& node, const std::string& hint);
  Term reduce_call(const Node& node, const std::string& hint);
  Term product_call(const Node& node, const std::string& hint);
  Term reduction_call(const Node& node, const std::string& hint);
  Term mean_call(const Node& node, const std::string& hint);
  Term squares_call(const Node& node, const std::string& hint);
  Term place_call(const Node& node, const std::string& hint);
  Term aggregated(const Node& node);
  Term dot_call(const Node& node, const std::string& hint);
  Term fill_call(const Node& node, const std::string& hint);
  Term index_call(const Node& node, const std::string& hint);
  Term size_call(const Node& node, const std::string& hint);
  Term random_call(const Node& node, const std::string& hint);
  Term product(const Node& node, const std::string& hint);
  Term range_call(const Node& node, const std::string& hint);
  Term transposed(Term matrix, Mark mark, const std::string& hint);
  [[noreturn]] void refuse_transpose(const std::vector<DimId>& dims, Mark mark) const;
  Term at_call(const Node& node, const std::string& hint);
  DimId sliced_dim(const Term& array, const std::string& view, const std::string& call, const Node* over, Mark mark);
  void require_local(DimId dim, const std::string& view, Mark mark);
  void require_slice_inside(const RangeSizes& sizes, ValueId begin, Mark mark);
  Term outer_call(const Node& node, const std::string& hint);
  Term outer(const Node& fn, std::vector<Term> args, Mark mark);
  Term reduce(const Node& fn, Term array, const Node* over, Mark mark, const std::string& hint);
  ValueId emit_reduce(FnId fn, ValueId array, const std::vector<DimId>& over, Mark mark, const std::string& hint);
  std::vector<DimId> named_dims(const std::vector<DimId>& whole, const Node* over, Mark mark);
  ValueId emit_index(DimId dim, Mark mark, const std::string& hint);
  ValueId emit_size(DimId dim, Mark mark, const std::string& hint);
  Term multiply(const Node& times, const Node& plus, Term vector, Term matrix, bool transposed, Mark mark,
                const std::string& hint);
  [[nodiscard]] bool is_sparse(const Term& term) const;

  // Expressions over nonzeros (entries.cpp).
  [[nodiscard]] bool is_entries(const Term& term) const;
  [[nodiscard]] Term entries_term(Term matrix) const;
  [[nodiscard]] Term sided_term(ValueId value, EntrySide side, std::vector<DimId> dims, Mark mark);
  [[nodiscard]] Term pairs_product(Term left, Term right, Mark mark);
  [[nodiscard]] bool gives_pairs(const Term& left, const Term& right) const;
  void refuse_entries(const Term& term, Mark mark) const;
  void require_absent(const Term& term, Mark mark) const;
  struct SidedLeaf {
    ValueId value;
    EntrySide side;
  };
  [[nodiscard]] ValueId matrix_of(const Term& formula, Mark mark) const;
  [[nodiscard]] SidedLeaf side_of(ValueId leaf, ValueId matrix, Mark mark) const;
  void cover_side(Term& formula, ValueId matrix, EntrySide side, Mark mark);
  [[nodiscard]] ValueId emit_fold(Term formula, FnId reducer, EntrySide side, std::vector<DimId> dims, Mark mark,
                                  const std::string& hint);
  [[nodiscard]] Term reduce_entries(const Node& fn, Term entries, const Node* over, Mark mark, const std::string& hint);
  [[nodiscard]] Term multiply_entries(const Node& times, const Node& plus, Term vector, Term entries, bool transposed,
                                      Mark mark, const std::string& hint);
  [[nodiscard]] bool define_formula(const std::string& name, const Term& term, Mark mark);
  [[nodiscard]] bool matrix_is_left(const Term& left, const Term& right) const;
  void refuse_sparse_columns(const Term& vector, Mark mark) const;
  DimId dim_argument(const Node& node);
  FnId instantiate(const Node& fn, const std::vector<ElementType>& types, Mark mark, const std::string& what);
  [[nodiscard]] ElementType entry_type(const Node& fn, const ElementType& vector, const ElementType& matrix, Mark mark);
  FnId in_known_range(FnId reducer, const Node& fn, size_t functions);
  FnId reducer(const Node& fn, ElementType type, Mark mark);  // by value: it may grow the module
  struct Reducer {
    FnId fn = no_fn;
    bool masked = false;      // elements carry whether they hold a value
    std::vector<Word> empty;  // the stated identity, if there is one
  };
  Reducer reducer_with_mask(const Node& fn, const ElementType& type, Mark mark);
  std::vector<Word> stated_identity(const std::string& fn, const ElementType& type,
                                    const std::optional<std::vector<Word>>& found);
  [[nodiscard]] static Term with_mask(const Term& array);
  FnId with_mask(FnId multiplier);
  Term without_mask(ValueId value, const ElementType& type, const Reducer& reducer);
  Expr constant_of(const Component& c, const std::vector<Word>& words);
  Node function_node(const std::string& name, Mark mark) const;

  // Values.
  ValueId emit(OpCode code, Mark mark, const std::string& hint, Type type, const std::function<void(Op&)>& fill);
  ValueId add_value(const std::string& hint, Type type);
  void cover(Term& term, Mark mark);
  ValueId materialise(Term term, const std::string& hint, Mark mark, bool copy = false);
  ValueId constant_value(const Term& term, const std::string& hint, Mark mark);
  Term conform(Term term, const Type& type, Mark mark, const std::string& what);
  Term typed_element(const Node& node, const ElementType& wanted);
  Term fill_element(const Term& term, const ElementType& element);
  ValueId shared(const Node& node, Scalar scalar, const std::string& hint, const std::string& what);
  Term value_term(ValueId id, bool named);
  void require_array(const Term& term, Mark mark, const std::string& what);

  // Statements.
  void statements(const std::vector<Statement>& list);
  void statement(const Statement& s);
  void assign(const Statement& s);
  void put(const Statement& s);
  void push(const Statement& s);
  void list(const Statement& s);
  Binding& list_named(const NameAt& name);
  void while_loop(const Statement& s);
  void for_loop(const Statement& s);
  void unrolled(const Statement& s, Mark mark);
  void if_else(const Statement& s);
  std::vector<ValueId> branch(const std::vector<Statement>& body, const Names& carried, Block& block);
  [[nodiscard]] Names carried_names(const std::vector<const std::vector<Statement>*>& bodies, Mark mark,
                                    const std::string& what);
  void begin_body(Block& block, const Names& carried);  // arguments and a scope for them
  std::vector<ValueId> end_scope(const Names& carried);
  void finish_control(Op op, const Names& carried, std::vector<ValueId> initial, bool test);
  void poison(const Statement& s);

  const SourceText& source_;
  const std::map<std::string, std::string>& defines_;
  const ReducerRanges& reducer_ranges_;
  std::map<FnId, ScalarFunction> masked_;
  Module module_;
  Block* block_ = nullptr;
  std::vector<std::map<std::string, Binding>> scopes_;
  const Frame* frame_ = nullptr;
  std::map<std::string, const Statement*> functions_;
  std::set<const Statement*> active_;      // fns being expanded, to refuse recursion
  std::vector<std::string> base_names_;    // of each value: the user's name, without a number
  std::unordered_set<std::string> names_;  // of the module's values
  std::map<std::string, int> name_numbers_;
  std::vector<Op> outputs_;
  std::set<std::string> defined_;  // -D names that were found
  struct Instance {
    FnId fn;
    std::vector<int> operand_of;  // parameter of the user's fn -> operand
  };
  std::map<std::string, std::vector<Instance>> instances_;
  std::vector<SidedLeaf> sided_;                   // operands at one side of nonzeros
  std::map<std::string, const Node*> identities_;  // `assume identity(f, e)`: e by f
  std::vector<Statement> assumptions_;
  std::vector<Diagnostic> faults_;
  std::string hint_;
  int depth_ = 0;
  int loops_ = 0;
  std::int64_t work_ = 0;
  std::int64_t ops_ = 0;
};

template <class F>
auto Lowering::at(Mark mark, F&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    if (d.where.line > 0) throw;
    source_.fail(mark, d.what, d.why, d.remedy);
  }
}

}  // namespace kasen::lang
