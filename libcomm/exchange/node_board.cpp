#include "libcomm/exchange/node_board.h"

#include <mpi.h>

#include <cstring>
#include <exception>

#include "libcomm/exchange/mpi_check.h"

namespace kasen {
namespace {

// The communicator of a node's ranks.
class NodeRanks {
 public:
  explicit NodeRanks(int rank) {
    check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node_),
              "MPI_Comm_split_type");
    MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
    check_mpi(MPI_Comm_size(node_, &count_), "MPI_Comm_size");
  }
  ~NodeRanks() {
    if (std::uncaught_exceptions() == exceptions_) MPI_Comm_free(&node_);  // else the others may never come
  }
  NodeRanks(const NodeRanks&) = delete;
  NodeRanks& operator=(const NodeRanks&) = delete;

  [[nodiscard]] MPI_Comm communicator() const { return node_; }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(count_); }

 private:
  MPI_Comm node_ = MPI_COMM_NULL;
  int count_ = 0;
  int exceptions_ = std::uncaught_exceptions();
};

// A window of MPI and the communicator of its ranks.
class SharedWindow {
 public:
  explicit SharedWindow(int rank) : node_(rank), ranks_(node_.count()) {
    check_mpi(MPI_Allgather(&rank, 1, MPI_INT, ranks_.data(), 1, MPI_INT, node_.communicator()), "MPI_Allgather");
  }
  ~SharedWindow() {
    if (std::uncaught_exceptions() == exceptions_ && window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  // The buffers of all ranks, or nothing if there is no such memory.
  std::vector<std::byte*> allocate(std::int64_t bytes) {
    void* own = nullptr;
    MPI_Comm node = node_.communicator();
    int made = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node, static_cast<void*>(&own),
                                       &window_) == MPI_SUCCESS;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
    std::vector<std::byte*> places;
    if (made == 0) return places;
    std::memset(own, 0, static_cast<std::size_t>(bytes));
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      MPI_Aint size = 0;
      int unit = 0;
      void* place = nullptr;
      check_mpi(MPI_Win_shared_query(window_, static_cast<int>(r), &size, &unit, static_cast<void*>(&place)),
                "MPI_Win_shared_query");
      places.push_back(static_cast<std::byte*>(place));
    }
    check_mpi(MPI_Barrier(node), "MPI_Barrier");  // all buffers are zeros
    return places;
  }

  // Of the node, by their ranks in the job.
  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }

 private:
  NodeRanks node_;
  std::vector<int> ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace

NodeBoard make_node_board(const MpiSession& session, std::int64_t bytes) {
  const Waiting waiting = session.agree("the making of a board", bytes);
  NodeBoard board;
  const auto window = std::make_shared<SharedWindow>(session.rank());
  board.ranks = window->ranks();
  board.places = window->allocate(bytes);
  board.memory = window;
  if (board.places.empty()) {
    const auto own = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(bytes));
    board.ranks = {session.rank()};
    board.places = {own->data()};
    board.memory = own;
  }
  while (board.ranks.at(board.own) != session.rank()) ++board.own;
  return board;
}

std::vector<std::int64_t> gather_on_node(const MpiSession& session, std::span<const std::int64_t> mine) {
  const Waiting waiting = session.agree("a gather among the ranks of each node", std::ssize(mine));
  const NodeRanks node(session.rank());
  std::vector<std::int64_t> all(node.count() * mine.size());
  const auto count = static_cast<int>(mine.size());
  check_mpi(MPI_Allgather(mine.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, node.communicator()),
            "MPI_Allgather");
  return all;
}

}  // namespace kasen
