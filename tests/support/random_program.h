// Random programs of level 1, always valid: integers, so that every plan must give the very same bits. Sums stay far
// from overflow; what a minimum or maximum leaves where nothing was reduced is an infinity, which stays one.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/builder.h"

namespace kasen::testing {

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    n_ = b_.dim("N");
    q_ = b_.dim("Q");
    t_ = b_.dim("T", true, batches);
    declare_functions();
    g_ = matrix("G", Scalar::null, n_, n_);
    h_ = matrix("H", Scalar::i64, n_, n_);
    r_ = matrix("R", Scalar::i64, n_, q_);
    for (const DimId cols : {n_, q_}) {
      Type type = b_.type(Scalar::i64, {t_, n_, cols});
      type.sparse = true;
      batched_.push_back({b_.input(cols == n_ ? "S" : "U", type), n_, cols});
    }
    for (const char* name : {"x", "y"}) known_.push_back({b_.input(name, vector(n_)), vector(n_), 5});
    known_.push_back({b_.input("z", vector(q_)), vector(q_), 5});
    known_.push_back({b_.fill("ones", vector(n_), Word::integer(1)), vector(n_), 1});
    known_.push_back({literal(3), shared_, 2});
    make_list();
    make_pair();
  }

  Module make(int operators) {
    statements(operators, 0);
    int outputs = 0;
    for (size_t i = known_.size(); i-- > 0 && outputs < 5;) {
      if (known_[i].type.list == 0) b_.output("out" + std::to_string(outputs++), known_[i].id);
    }
    return b_.finish();
  }

 private:
  struct Known {
    ValueId id;
    Type type;
    int bits;  // no larger than 2^bits, identities of min and max apart
  };
  static constexpr int small = 11, large = 40, batches = 3;

  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  Type vector(DimId dim) const { return b_.type(Scalar::i64, {dim}); }
  Type list() const {
    Type type = vector(n_);
    type.list = 3;
    return type;
  }
  static Expr p(int i) { return make_param(i, ElementType::of(Scalar::i64)); }
  static Expr k(std::int64_t v) { return make_literal(Scalar::i64, Word::integer(v)); }
  static Expr op(ScalarOp code, Expr a, Expr b) { return make_op(code, {std::move(a), std::move(b)}); }

  FnId fn(const std::string& name, size_t arity, Expr body) {
    return b_.fn(name, std::vector<ElementType>(arity, ElementType::of(Scalar::i64)), std::move(body));
  }

  void declare_functions() {
    add_ = b_.fn(ScalarOp::add, Scalar::i64);
    min_ = b_.fn(ScalarOp::min, Scalar::i64);
    max_ = b_.fn(ScalarOp::max, Scalar::i64);
    mul_ = b_.fn(ScalarOp::mul, Scalar::i64);
    below_ = b_.fn(ScalarOp::lt, Scalar::i64);
    tame_ = fn("tame", 1, op(ScalarOp::mod, p(0), k(1009)));
    same_ = fn("same", 1, p(0));
    unary_ = {fn("triple", 1, op(ScalarOp::mul, k(3), p(0))), fn("shift", 1, op(ScalarOp::add, p(0), k(5))),
              fn("affine", 1, op(ScalarOp::add, k(7), op(ScalarOp::mul, k(2), p(0)))),
              b_.fn(ScalarOp::neg, Scalar::i64), b_.fn(ScalarOp::abs, Scalar::i64)};
    binary_ = {add_, b_.fn(ScalarOp::sub, Scalar::i64), min_, max_,
               fn("apart", 2, make_op(ScalarOp::abs, {op(ScalarOp::sub, p(0), p(1))}))};
    ternary_ =
        fn("choose", 3, make_op(ScalarOp::select, {op(ScalarOp::lt, p(0), p(1)), p(2), op(ScalarOp::add, p(0), p(2))}));
    const ElementType i64 = ElementType::of(Scalar::i64);
    const auto part = [&](int param, int at) { return make_component(make_param(param, pair_.element), at); };
    join_ = b_.fn("join", {i64, i64}, make_tuple({p(0), p(1)}));
    swap_ = b_.fn("swap", {pair_.element}, make_tuple({part(0, 1), part(0, 0)}));
    first_ = b_.fn("first", {pair_.element}, part(0, 0));
    second_ = b_.fn("second", {pair_.element}, part(0, 1));
    both_ = b_.fn("both", {pair_.element, pair_.element},
                  make_tuple({op(ScalarOp::min, part(0, 0), part(1, 0)), op(ScalarOp::add, part(0, 1), part(1, 1))}));
    number_ = b_.fn("number", {ElementType::id(n_)}, make_cast(Scalar::i64, make_param(0, ElementType::id(n_))));
  }

  ValueId matrix(const std::string& name, Scalar scalar, DimId rows, DimId cols) {
    Type type = b_.type(scalar, {rows, cols});
    type.sparse = true;
    return b_.input(name, type);
  }
  ValueId literal(std::int64_t v) { return b_.literal("c", shared_, Word::integer(v)); }

  std::vector<Known> all(const Type& type) const {
    std::vector<Known> list;
    for (const Known& v : known_) {
      if (v.type == type) list.push_back(v);
    }
    return list;
  }
  Known any(const Type& type) {
    const std::vector<Known> list = all(type);  // mostly what was made last
    const int last = static_cast<int>(list.size()) - 1;
    return list[static_cast<size_t>(pick(3) == 0 ? pick(last + 1) : last - std::min(last, pick(3)))];
  }
  // A value of at most 2^bits, brought there if need be.
  Known at_most(const Type& type, int bits) {
    const Known v = any(type);
    return v.bits <= bits ? v : mapped("tame", tame_, {v}, type, small);
  }
  Known note(ValueId id, const Type& type, int bits) {
    known_.push_back({id, type, bits});
    return known_.back();
  }
  Known mapped(const std::string& name, FnId function, const std::vector<Known>& operands, const Type& type, int bits) {
    std::vector<ValueId> ids;
    for (const Known& v : operands) ids.push_back(v.id);
    const bool shared = type.dims.empty();
    return note(shared ? b_.apply(name, type, function, ids) : b_.map(name, type, function, ids), type, bits);
  }
  Type some_type() {
    return std::vector<Type>{vector(n_), vector(n_), vector(q_), shared_}[static_cast<size_t>(pick(4))];
  }
  // An operand of a map over `type`: of that type, or a shared.
  Known operand(const Type& type, int bits) { return at_most(pick(4) == 0 ? shared_ : type, bits); }

  void element_wise() {
    const Type type = some_type();
    const int kind = pick(6);
    const Known a = at_most(type, large);
    if (kind == 0) return void(mapped("u", unary_[static_cast<size_t>(pick(5))], {a}, type, a.bits + 4));
    if (kind == 1) return void(mapped("s", same_, {a}, type, a.bits));
    if (kind == 2) {
      const Known x = at_most(type, small), y = operand(type, small);
      return void(mapped("m", mul_, {x, y}, type, x.bits + y.bits));
    }
    const Known o = operand(type, large);
    if (kind == 3) return void(mapped("t", ternary_, {a, o, operand(type, large)}, type, large + 2));
    const FnId function = binary_[static_cast<size_t>(pick(5))];
    const bool turned = pick(3) == 0;
    mapped("b", function, turned ? std::vector{o, a} : std::vector{a, o}, type, std::max(a.bits, o.bits) + 1);
  }

  void reduction() {
    const Type type = vector(pick(3) == 0 ? q_ : n_);
    const FnId reducers[] = {add_, min_, max_};
    const Known v = at_most(type, large);
    const ValueId made = b_.reduce("r", shared_, reducers[pick(3)], v.id);
    mapped("tame", tame_, {note(made, shared_, 62)}, shared_, small);
  }

  struct Row {
    ValueId matrix;
    DimId rows, cols;
  };

  // A batch of a matrix: at a number, or at a loop's variable that stays below the number of batches.
  Row batch() {
    Row row = batched_[static_cast<size_t>(pick(2))];
    const ValueId index = !turns_.empty() && pick(4) > 0 ? turns_.back() : literal(pick(batches));
    Type type = b_.type(Scalar::i64, {row.rows, row.cols});
    type.sparse = true;
    row.matrix = b_.make(OpCode::batch, "B", type, {row.matrix, index});
    b_.last().over = {t_};
    return row;
  }

  void product() {
    const Row rows[] = {{g_, n_, n_}, {h_, n_, n_}, {r_, n_, q_}};
    const Row row = pick(3) == 0 ? batch() : rows[pick(3)];
    const bool transposed = pick(2) == 0;
    const Type from = vector(transposed ? row.cols : row.rows), to = vector(transposed ? row.rows : row.cols);
    const FnId multiplier = pick(3) == 0 ? add_ : mul_;
    const int reducer = pick(4);
    const Known v = at_most(from, small);
    const ValueId made = b_.product(transposed ? OpCode::mxvt : OpCode::mxv, "p", to, multiplier,
                                    reducer == 0 ? min_ : (reducer == 1 ? max_ : add_), v.id, row.matrix);
    if (reducer > 1) return void(note(made, to, v.bits + 12));
    Known found{made, to, 62};
    if (pick(2) == 0) found = mapped("u", unary_[static_cast<size_t>(pick(2))], {found}, to, 62);
    mapped("tame", tame_, {found}, to, small);
  }

  void make_list() {
    const Known v = at_most(vector(n_), small);
    note(b_.make(OpCode::make_list, "l", list(), {v.id}), list(), small);
  }

  void list_op() {
    const Known l = any(list());
    const int kind = pick(4);
    if (kind == 0) return make_list();
    const ValueId place = literal(pick(3));
    if (kind == 1) return void(note(b_.make(OpCode::get, "g", vector(n_), {l.id, place}), vector(n_), small));
    const Known v = at_most(vector(n_), small);
    if (kind == 2) return void(note(b_.make(OpCode::put, "l", list(), {l.id, place, v.id}), list(), small));
    note(b_.make(OpCode::push, "l", list(), {l.id, v.id}), list(), small);
  }

  Type pairs() const { return {pair_.element, {n_}, false, 0, {}}; }
  void make_pair() {
    const Known a = at_most(vector(n_), small), b = at_most(vector(n_), small);
    mapped("pair", join_, {a, b}, pairs(), small);
  }

  // A pair's components stay small, since nothing brings them there.
  void tuple_op() {
    const Known t = any(pairs());
    const int kind = pick(5);
    if (kind == 0) return make_pair();
    if (kind == 1) return void(mapped("pair", swap_, {t}, pairs(), small));
    if (kind == 2) return void(mapped("v", first_, {t}, vector(n_), small));
    if (kind == 3) return void(mapped("v", second_, {t}, vector(n_), small));
    const ValueId made = b_.reduce("r", pair_, both_, t.id);
    const FnId part = pick(2) == 0 ? first_ : second_;
    const ValueId component = b_.apply("c", shared_, part, {made});
    mapped("tame", tame_, {note(component, shared_, 62)}, shared_, small);
  }

  std::vector<Type> carried_types() {
    std::vector<Type> types;
    const Type choice[] = {vector(n_), vector(n_), vector(q_), shared_, list(), pairs()};
    const int count = 1 + pick(4);
    for (int i = 0; i < count; ++i) types.push_back(choice[pick(6)]);
    return types;
  }
  std::vector<ValueId> values_of(const std::vector<Type>& types) {
    std::vector<ValueId> ids;
    for (const Type& type : types) ids.push_back(at_most(type, small).id);
    return ids;
  }
  std::vector<ValueId> fresh(const std::vector<Type>& types, const std::string& name) {
    std::vector<ValueId> ids;
    for (const Type& type : types) ids.push_back(b_.value(name, type));
    return ids;
  }
  // Runs `make` in a scope of its own, where the values are known, too.
  template <class Make>
  Block scope(const std::vector<ValueId>& args, const std::vector<Type>& types, Make make) {
    const size_t before = known_.size();
    const size_t shift = args.size() - types.size();
    b_.open(args);
    for (size_t i = 0; i < types.size(); ++i) note(args[i + shift], types[i], small);
    Block block = b_.close(make());
    known_.resize(before);
    return block;
  }
  void note_all(const std::vector<ValueId>& ids, const std::vector<Type>& types) {
    for (size_t i = 0; i < types.size(); ++i) note(ids[i], types[i], small);
  }

  void for_loop(int depth) {
    const std::vector<Type> types = carried_types();
    std::vector<ValueId> operands = values_of(types);
    const ValueId lo = literal(0), hi = literal(pick(batches + 1));
    operands.insert(operands.begin(), {lo, hi});
    std::vector<ValueId> args = fresh(types, "a");
    args.insert(args.begin(), b_.value("i", shared_));
    const Block body = scope(args, types, [&] {
      note(args[0], shared_, 3);
      turns_.push_back(args[0]);
      statements(2 + pick(5), depth + 1);
      turns_.pop_back();
      return values_of(types);
    });
    const std::vector<ValueId> results = fresh(types, "f");
    Op& made = b_.add(OpCode::for_loop, operands, results);
    made.blocks = {body};
    made.down = pick(2) == 0;
    note_all(results, types);
  }

  // A map of a carried vector for a product: what may run a turn ahead.
  void begin_iteration(const Known& carried) {
    const Known early = mapped("early", unary_[4], {carried}, carried.type, small);
    note(b_.product(OpCode::mxvt, "p", carried.type, mul_, add_, early.id, h_), carried.type, small + 12);
  }

  // Counts to 1, 2 or 3; the count and the test are carried behind the rest.
  void while_loop(int depth) {
    const std::vector<Type> types = carried_types();
    const Type truth = b_.type(Scalar::boolean);
    std::vector<ValueId> operands = values_of(types), args = fresh(types, "w"), results = fresh(types, "w");
    operands.push_back(literal(0));
    operands.push_back(b_.literal("c", truth, Word::integer(pick(6) > 0 ? 1 : 0)));
    const ValueId limit = literal(1 + pick(3)), one = literal(1);
    std::vector<Type> inside = types;
    inside.push_back(shared_);
    args.push_back(b_.value("count", shared_));
    args.push_back(b_.value("go", truth));
    std::vector<Type> known = inside;
    known.push_back(truth);
    const Block body = scope(args, known, [&] {
      if (types[0] == vector(n_) && pick(2) == 0) begin_iteration({args[0], types[0], small});
      statements(2 + pick(5), depth + 1);
      std::vector<ValueId> yielded = values_of(types);
      yielded.push_back(b_.apply("count", shared_, add_, {args[types.size()], one}));
      yielded.push_back(b_.apply("go", truth, below_, {yielded.back(), limit}));
      return yielded;
    });
    results.push_back(b_.value("count", shared_));
    results.push_back(b_.value("go", truth));
    Op& made = b_.add(OpCode::while_loop, operands, results);
    made.blocks = {body};
    made.test = static_cast<int>(types.size()) + 1;
    made.likely = pick(2) == 0;
    note_all(results, inside);
  }

  // What is likely may be false all the same, always or in some turns of a loop.
  void branch(int depth) {
    const std::vector<Type> types = carried_types();
    const ValueId limit = pick(2) == 0 ? literal(pick(4)) : at_most(shared_, large).id;
    std::vector<ValueId> compared{at_most(shared_, large).id, limit};
    if (pick(2) == 0) std::swap(compared[0], compared[1]);
    const ValueId condition = b_.apply("cond", b_.type(Scalar::boolean), below_, compared);
    std::vector<Block> blocks;
    for (int i = 0; i < 2; ++i) {
      blocks.push_back(scope({}, {}, [&] {
        statements(1 + pick(4), depth + 1);
        return values_of(types);
      }));
    }
    const std::vector<ValueId> results = fresh(types, "i");
    Op& made = b_.add(OpCode::if_else, {condition}, results);
    made.blocks = blocks;
    made.likely = pick(3) > 0;
    note_all(results, types);
  }

  void statements(int count, int depth) {
    for (int i = 0; i < count; ++i) {
      const int kind = pick(depth < 2 ? 17 : 12);
      if (kind < 5) {
        element_wise();
      } else if (kind < 7) {
        product();
      } else if (kind < 8) {
        reduction();
      } else if (kind < 10) {
        list_op();
      } else if (kind == 10) {
        const ValueId id = b_.make(OpCode::index, "id", Type{ElementType::id(n_), {n_}, false, 0, {}}, {});
        b_.last().dim = n_;
        note(b_.map("v", vector(n_), number_, {id}), vector(n_), small);
      } else if (kind == 11) {
        tuple_op();
      } else if (kind == 12) {
        for_loop(depth);
      } else if (kind == 13) {
        while_loop(depth);
      } else {
        branch(depth);
      }
    }
  }

  std::mt19937_64 random_;
  Builder b_{1};
  DimId n_ = no_dim, q_ = no_dim, t_ = no_dim;
  Type shared_ = b_.type(Scalar::i64);
  Type pair_{
      ElementType{{Component{Scalar::i64, no_dim, 0}, Component{Scalar::i64, no_dim, 0}}, true}, {}, false, 0, {}};
  FnId add_ = no_fn, min_ = no_fn, max_ = no_fn, mul_ = no_fn, below_ = no_fn, tame_ = no_fn, same_ = no_fn,
       ternary_ = no_fn, number_ = no_fn, join_ = no_fn, swap_ = no_fn, first_ = no_fn, second_ = no_fn, both_ = no_fn;
  std::vector<FnId> unary_, binary_;
  ValueId g_ = no_value, h_ = no_value, r_ = no_value;
  std::vector<Row> batched_;
  std::vector<ValueId> turns_;  // the variables of the loops around
  std::vector<Known> known_;
};

}  // namespace kasen::testing
