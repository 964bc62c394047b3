// While an exchange is under way, rows that need nothing of it are computed: seen from the transport and the kernels.
#include "libcore/transport/transport.h"
#include "tests/kernels/epilogue_support.h"

namespace kasen::testing {
namespace {

// What happened, in order: '(' an exchange starts, ')' it is finished, and each product call's rows and work.
struct Log {
  std::string events;
  std::int64_t rows_meanwhile = 0, rows = 0;
  int open = 0;
};

class LoggingTransport : public Transport {
 public:
  LoggingTransport(int workers, Log& log) : moves_(make_simulated_transport(workers)), log_(log) {}
  [[nodiscard]] int workers() const override { return moves_->workers(); }
  [[nodiscard]] int first_worker() const override { return moves_->first_worker(); }
  [[nodiscard]] int local_workers() const override { return moves_->local_workers(); }
  int start(std::int64_t step, std::span<const Message> sends, std::span<const Message> receives) override {
    log_.events += '(';
    ++log_.open;
    return moves_->start(step, sends, receives);
  }
  void finish(int ticket) override {
    log_.events += ')';
    --log_.open;
    moves_->finish(ticket);
  }
  void moved_here(std::int64_t bytes) override { moves_->moved_here(bytes); }
  [[nodiscard]] const Traffic& traffic() const override { return moves_->traffic(); }

 private:
  std::unique_ptr<Transport> moves_;
  Log& log_;
};

class LoggingKernels : public KernelSet {
 public:
  explicit LoggingKernels(Log& log) : computes_(make_interpreter_kernels()), log_(log) {}
  [[nodiscard]] std::unique_ptr<KernelSet> another() const override { return std::make_unique<LoggingKernels>(log_); }
  void prepare(const Module& module) override { computes_->prepare(module); }
  void elementwise(const ElementwiseCall& call) override { computes_->elementwise(call); }
  void product(const ProductCall& call) override {
    if (call.work != RowWork::vector) {
      log_.rows += call.range.size();
      log_.rows_meanwhile += log_.open > 0 ? call.range.size() : 0;
      log_.events += call.work == RowWork::all ? 'a' : 'p';
    } else {
      log_.events += 'v';
    }
    computes_->product(call);
  }
  void dense_product(const DenseProductCall& call) override { computes_->dense_product(call); }
  void rows(const RowsCall& call) override { computes_->rows(call); }
  void axis(const AxisCall& call) override { computes_->axis(call); }
  void carry(const CarryCall& call) override { computes_->carry(call); }
  void copy_masters(const ElementType& element, std::span<const Mirrored> lists) override {
    computes_->copy_masters(element, lists);
  }
  void combine(FnId reducer, std::span<const Mirrored> lists) override { computes_->combine(reducer, lists); }
  [[nodiscard]] AccessCount accesses() const override { return computes_->accesses(); }

 private:
  std::unique_ptr<KernelSet> computes_;
  Log& log_;
};

Log log_of(const Module& plan, const std::vector<Part>& parts) {
  Log log;
  LoggingTransport transport(static_cast<int>(parts.size()), log);
  LoggingKernels kernels(log);
  static_cast<void>(execute(plan, parts, transport, kernels, {}));
  return log;
}

// Entries lie with their rows: the product reads slaves and contributes to none.
const std::string program =
    "dim N\ninput G : null[N, N]\npr : f64[N] = 1\nfor k in 0..2 {\n  pr = 0.15 + 0.85 * (G @ pr)\n}\noutput pr\n";

TEST(Overlap, RowsThatNeedNoSlaveWhileTheScatterIsUnderWay) {
  const std::vector<Part> parts = split(band(2, 20000, Scalar::null));
  const Module joined = make_plan(program, true);
  const Log log = log_of(joined, parts);
  EXPECT_NE(log.events.find("(aa)"), std::string::npos) << log.events;
  EXPECT_GT(log.rows_meanwhile, log.rows / 2);
  EXPECT_EQ(log.open, 0);
  expect_agreement(joined, make_plan(program, false), parts, 1e-12, "two workers");
}

// Without the order few rows come first; nothing is computed before what it needs has arrived.
TEST(Overlap, AProductByItself) {
  for (const int workers : {1, 2, 3}) {
    const std::vector<Part> parts = split(band(workers, 20000, Scalar::null));
    const Log log = log_of(make_plan(program, false), parts);
    EXPECT_EQ(log.open, 0);
    EXPECT_GT(log.rows, 0);
  }
}

}  // namespace
}  // namespace kasen::testing
