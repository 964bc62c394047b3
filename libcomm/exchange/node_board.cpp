#include "libcomm/exchange/node_board.h"

#include <mpi.h>

#include <cstring>
#include <exception>

#include "libcomm/exchange/mpi_check.h"

namespace kasen {
namespace {

// A window of MPI and the communicator of its ranks.
class SharedWindow {
 public:
  explicit SharedWindow(int rank) {
    check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node_),
              "MPI_Comm_split_type");
    MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
    int count = 0;
    check_mpi(MPI_Comm_size(node_, &count), "MPI_Comm_size");
    ranks_.resize(static_cast<std::size_t>(count));
    check_mpi(MPI_Allgather(&rank, 1, MPI_INT, ranks_.data(), 1, MPI_INT, node_), "MPI_Allgather");
  }
  ~SharedWindow() {
    if (std::uncaught_exceptions() != exceptions_) return;  // the others may never come
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    MPI_Comm_free(&node_);
  }
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  // The places of all ranks, or nothing where there is no such memory.
  std::vector<std::byte*> allocate(std::int64_t bytes) {
    void* own = nullptr;
    int made = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node_, static_cast<void*>(&own),
                                       &window_) == MPI_SUCCESS;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, node_), "MPI_Allreduce");
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
    check_mpi(MPI_Barrier(node_), "MPI_Barrier");  // all places are zeros
    return places;
  }

  // Of the node, by their ranks in the job.
  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }

 private:
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<int> ranks_;
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

}  // namespace kasen
