#include "tools/run/cluster.h"

#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "libcomm/exchange/mpi_session.h"
#include "libcomm/exchange/mpi_transport.h"
#include "tools/common/tool.h"
#include "tools/run/node.h"
#include "tools/system/last_words.h"

namespace kasen::tools {
namespace {

class SingleProcess : public Cluster {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int ranks() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Transport> transport(int workers, bool /*check_messages*/) override {
    return make_simulated_transport(workers);
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
  [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> to) override { return to; }
  [[nodiscard]] std::int64_t largest(std::int64_t mine) override { return mine; }
  void together(const std::function<void()>& step) override { step(); }
  [[nodiscard]] std::vector<std::int64_t> on_node(std::span<const std::int64_t> mine) override {
    return {mine.begin(), mine.end()};
  }
  void broadcast(std::string& /*bytes*/) override {}
  [[nodiscard]] NodeBoard board(std::int64_t bytes) override {
    const auto own = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(bytes));
    return {.ranks = {0}, .places = {own->data()}, .own = 0, .memory = own};
  }
  void record_waits(WaitRecord* /*record*/) override {}
  [[noreturn]] void abort(ExitStatus status) override { std::_Exit(static_cast<int>(status)); }
};

class MpiCluster : public Cluster {
 public:
  MpiCluster(int argc, char** argv) : session_(&argc, &argv) {}
  [[nodiscard]] int rank() const override { return session_.rank(); }
  [[nodiscard]] int ranks() const override { return session_.ranks(); }
  [[nodiscard]] std::unique_ptr<Transport> transport(int workers, bool check_messages) override {
    return make_mpi_transport(session_, workers, {.check_messages = check_messages});
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& bytes) override { return session_.gather(bytes); }
  [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> to) override {
    return session_.exchange(std::move(to));
  }
  [[nodiscard]] std::int64_t largest(std::int64_t mine) override {
    session_.all_reduce_max(std::span(&mine, 1));
    return mine;
  }
  [[nodiscard]] std::vector<std::int64_t> on_node(std::span<const std::int64_t> mine) override {
    return gather_on_node(session_, mine);
  }
  void broadcast(std::string& bytes) override { session_.broadcast(bytes); }
  [[nodiscard]] NodeBoard board(std::int64_t bytes) override { return make_node_board(session_, bytes); }
  void record_waits(WaitRecord* record) override { session_.record_waits(record); }
  [[noreturn]] void abort(ExitStatus status) override { session_.abort_all(status); }

  void together(const std::function<void()>& step) override {
    std::optional<Failure> mine;
    try {
      step();
    } catch (const UserError& error) {
      mine = Failure{rank(), error.status(), message_of("kasen-run", error)};
    } catch (const std::bad_alloc&) {
      mine = Failure{rank(), ExitStatus::limit, std::string(no_memory())};
    }
    const std::optional<Failure> first = session_.first_failure(mine);
    if (first) throw JobFailed{first->status, first->text};
  }

 private:
  MpiSession session_;
};

}  // namespace

std::unique_ptr<Cluster> make_single_process() { return std::make_unique<SingleProcess>(); }

std::unique_ptr<Cluster> make_mpi_cluster(int argc, char** argv) {
  yield_where_crowded();
  return std::make_unique<MpiCluster>(argc, argv);
}

// Open MPI's mpirun sets the first, srun with PMIx or PMI the others. A batch script alone sets none of them.
bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace kasen::tools
