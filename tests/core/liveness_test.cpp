#include "libcore/analysis/liveness.h"

#include <gtest/gtest.h>

#include "tests/support/builder.h"

namespace kasen {
namespace {

using testing::Builder;

class LivenessTest : public ::testing::Test {
 protected:
  Builder b;
  DimId n = b.dim("N");
  Type vector = b.type(Scalar::f64, {n});
  Type list = [this] {
    Type type = vector;
    type.list = 3;
    return type;
  }();
  Type index = b.type(Scalar::i64);
  FnId neg = b.fn(ScalarOp::neg, Scalar::f64);
  FnId add = b.fn(ScalarOp::add, Scalar::f64);

  ValueId fill(const std::string& name) { return b.fill(name, vector, Word::real(1)); }
  ValueId negate(const std::string& name, ValueId x) { return b.map(name, vector, neg, {x}); }
};

TEST_F(LivenessTest, ValueDiesAtItsLastUse) {
  const ValueId x = fill("x");                        // 0
  const ValueId y = negate("y", x);                   // 1
  const ValueId z = b.map("z", vector, add, {x, y});  // 2
  negate("unused", z);                                // 3
  b.output("z", z);                                   // 4
  const Liveness live(b.finish());
  EXPECT_TRUE(live.at(1).dies.empty());
  EXPECT_EQ(live.at(2).dies, (std::vector<ValueId>{x, y}));
  EXPECT_EQ(live.at(3).dies.size(), 1U);
  EXPECT_EQ(live.at(4).dies, std::vector<ValueId>{z});
  EXPECT_EQ(live.last_use(x), 2);
}

TEST_F(LivenessTest, LoopKeepsOuterValuesAndMovesCarriedOnes) {
  const ValueId x = fill("x");                                  // 0: carried, dead afterwards
  const ValueId kept = fill("k");                               // 1: used in the body and carried: copied in
  const ValueId lo = b.literal("lo", index, Word::integer(0));  // 2
  const ValueId p = b.value("p", vector), q = b.value("q", vector), i = b.value("i", index);
  b.open({i, p, q});
  const ValueId y = b.map("y", vector, add, {p, kept});  // 4 (the loop itself is 3)
  const Block body = b.close({y, y});                    // 5
  const ValueId rp = b.value("rp", vector), rq = b.value("rq", vector);
  b.add(OpCode::for_loop, {lo, lo, x, kept}, {rp, rq}).blocks = {body};
  b.output("rp", rp);
  const Liveness live(b.finish());
  const OpLiveness& loop = live.at(3);
  ASSERT_EQ(loop.entry.size(), 2U);
  EXPECT_EQ(loop.entry[0].how, Handover::move);
  EXPECT_EQ(loop.entry[1].how, Handover::copy);
  EXPECT_EQ(loop.back[0].how, Handover::move);
  EXPECT_EQ(loop.back[1].how, Handover::copy);  // the same value for the second time
  EXPECT_EQ(loop.exit[0].how, Handover::move);
  EXPECT_EQ(loop.dies, (std::vector<ValueId>{rq, x, kept, lo}));
  EXPECT_EQ(live.last_use(kept), 3);
  EXPECT_TRUE(live.at(4).dies == std::vector<ValueId>{p});  // kept is needed in the next turn
}

TEST_F(LivenessTest, OuterValueYieldedByALoopIsCopied) {
  const ValueId x = fill("x"), kept = fill("k");
  const ValueId lo = b.literal("lo", index, Word::integer(0));
  const ValueId p = b.value("p", vector), i = b.value("i", index), r = b.value("r", vector);
  b.open({i, p});
  const Block body = b.close({kept});
  b.add(OpCode::for_loop, {lo, lo, x}, {r}).blocks = {body};
  b.output("r", r);
  const Liveness live(b.finish());
  EXPECT_EQ(live.at(3).back[0].how, Handover::copy);
  EXPECT_EQ(live.at(3).entry[0].how, Handover::move);
}

TEST_F(LivenessTest, BranchesAreApart) {
  const ValueId c = b.literal("c", b.type(Scalar::boolean), Word::integer(1));  // 0
  const ValueId x = fill("x"), y = fill("y");                                   // 1, 2
  b.open();
  Block yes = b.close({x});  // 4
  b.open();
  const ValueId z = b.map("z", vector, add, {x, y});  // 5
  Block no = b.close({z});                            // 6
  const ValueId r = b.value("r", vector);
  b.add(OpCode::if_else, {c}, {r}).blocks = {yes, no};  // 3
  b.map("s", vector, add, {r, y});                      // 7
  const Liveness live(b.finish());
  EXPECT_EQ(live.at(3).then_branch[0].how, Handover::move);  // the other branch's use does not count
  EXPECT_EQ(live.at(3).else_branch[0].how, Handover::move);
  EXPECT_EQ(live.last_use(x), 3);
  EXPECT_EQ(live.last_use(y), 7);
}

TEST_F(LivenessTest, ValueUsedAfterTheIfIsCopied) {
  const ValueId c = b.literal("c", b.type(Scalar::boolean), Word::integer(1));
  const ValueId x = fill("x"), y = fill("y");
  b.open();
  Block yes = b.close({x});
  b.open();
  Block no = b.close({y});
  const ValueId r = b.value("r", vector);
  b.add(OpCode::if_else, {c}, {r}).blocks = {yes, no};
  b.map("s", vector, add, {r, x});
  const Liveness live(b.finish());
  EXPECT_EQ(live.at(3).then_branch[0].how, Handover::copy);
  EXPECT_EQ(live.at(3).else_branch[0].how, Handover::move);
}

TEST_F(LivenessTest, InputsAndViewsAreNeverMoved) {
  const ValueId x = b.input("x", vector);                        // 0
  const ValueId s = b.make(OpCode::make_list, "s", list, {x});   // 1
  const ValueId s2 = b.make(OpCode::push, "s2", list, {s, x});   // 2
  const ValueId at = b.literal("at", index, Word::integer(0));   // 3
  const ValueId v = b.make(OpCode::get, "v", vector, {s2, at});  // 4
  const ValueId t = b.make(OpCode::make_list, "t", list, {x});   // 5
  const ValueId t2 = b.make(OpCode::push, "t2", list, {t, v});   // 6
  b.output("t", b.make(OpCode::get, "w", vector, {t2, at}));     // 7, 8
  const Liveness live(b.finish());
  EXPECT_EQ(live.at(2).list[0].how, Handover::move);
  EXPECT_EQ(live.at(2).element[0].how, Handover::copy);
  EXPECT_EQ(live.at(6).element[0].how, Handover::copy);
  EXPECT_TRUE(live.is_view(v));
  EXPECT_EQ(live.last_use(s2), 6);  // through its view
}

TEST_F(LivenessTest, ViewBecomesACopyWhenItsListIsRotatedUnderIt) {
  const ValueId x = fill("x");                                   // 0
  const ValueId s = b.make(OpCode::make_list, "s", list, {x});   // 1
  const ValueId at = b.literal("at", index, Word::integer(0));   // 2
  const ValueId v = b.make(OpCode::get, "v", vector, {s, at});   // 3
  const ValueId w = b.make(OpCode::get, "w", vector, {s, at});   // 4
  const ValueId y = negate("y", w);                              // 5
  const ValueId s2 = b.make(OpCode::push, "s2", list, {s, y});   // 6
  const ValueId s3 = b.make(OpCode::push, "s3", list, {s2, v});  // 7
  b.output("o", b.make(OpCode::get, "u", vector, {s3, at}));
  const Liveness live(b.finish());
  EXPECT_TRUE(live.copied_view(v));
  EXPECT_FALSE(live.copied_view(w));
  EXPECT_EQ(live.at(6).list[0].how, Handover::move);
  EXPECT_EQ(live.at(7).element[0].how, Handover::move);  // the copy has storage of its own
  EXPECT_EQ(live.last_use(s), 6);
}

TEST_F(LivenessTest, ListUsedLaterIsCopied) {
  const ValueId x = fill("x");
  const ValueId s = b.make(OpCode::make_list, "s", list, {x});
  const ValueId s2 = b.make(OpCode::push, "s2", list, {s, x});  // 2
  const ValueId s3 = b.make(OpCode::push, "s3", list, {s, x});  // 3
  const ValueId at = b.literal("at", index, Word::integer(0));
  b.output("a", b.make(OpCode::get, "u", vector, {s2, at}));
  b.output("b", b.make(OpCode::get, "w", vector, {s3, at}));
  const Liveness live(b.finish());
  EXPECT_EQ(live.at(2).list[0].how, Handover::copy);
  EXPECT_EQ(live.at(3).list[0].how, Handover::move);
  EXPECT_EQ(live.at(2).element[0].how, Handover::copy);
  EXPECT_EQ(live.at(3).element[0].how, Handover::move);
}

TEST_F(LivenessTest, DifferentStatesOrBuffersAreCopied) {
  Type part = vector, cons = vector;
  part.state = State::part();
  cons.state = State::cons({{"G", Axis::rows}});
  b.module.level = 2;
  const ValueId x = b.fill("x", cons, Word::real(1));
  const ValueId lo = b.literal("lo", index, Word::integer(0));
  const ValueId p = b.value("p", part), i = b.value("i", index), r = b.value("r", part);
  b.open({i, p});
  const Block body = b.close({p});
  b.add(OpCode::for_loop, {lo, lo, x}, {r}).blocks = {body};
  const Liveness live(b.finish());
  EXPECT_EQ(live.at(2).entry[0].how, Handover::copy);
  EXPECT_EQ(live.at(2).back[0].how, Handover::move);
}

}  // namespace
}  // namespace kasen
