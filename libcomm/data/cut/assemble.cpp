#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/cut/entry_groups.h"
#include "libcomm/data/cut/part_builder.h"

namespace kasen {
namespace {

// The entries of one worker in groups of whole chunks, if no chunk has rows before those of the chunk before. Formats
// with one row a line give such chunks, and so does sorting. Else none.
std::vector<EntryList> runs_of_chunks(EntryList& entries, std::int64_t most) {
  std::vector<EntryChunk>& chunks = entries.chunks;
  const auto descends = [](const EntryChunk& a, const EntryChunk& b) { return a.rows.largest() > b.rows.smallest(); };
  if (chunks.empty() || std::adjacent_find(chunks.begin(), chunks.end(), descends) != chunks.end()) return {};
  const std::int64_t some = entries.count() / most;
  std::int64_t before = 0, last_row = -1, longest_chunk = 0;
  std::vector<std::size_t> firsts;  // chunks that begin a run
  std::vector<std::int64_t> counts;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const bool enough = before >= std::ssize(firsts) * some;
    if (firsts.empty() || (enough && chunks[c].rows.smallest() > last_row)) {
      firsts.push_back(c);
      counts.push_back(0);
    }
    before += chunks[c].count();
    counts.back() += chunks[c].count();
    longest_chunk = std::max(longest_chunk, chunks[c].count());
    last_row = chunks[c].rows.largest();
  }
  // Where each chunk goes on with the row of the one before, there would be one run.
  if (*std::max_element(counts.begin(), counts.end()) > 2 * (some + longest_chunk)) return {};
  std::vector<EntryList> runs;
  for (std::size_t c = 0, next = 0; c < chunks.size(); ++c) {
    if (next < firsts.size() && firsts[next] == c) {
      runs.emplace_back(entries.element);
      ++next;
    }
    runs.back().chunks.push_back(std::move(chunks[c]));
  }
  chunks.clear();
  return runs;
}

// The groups of all workers, as many for each.
std::vector<EntryList> cut_entries(EntryList&& from, const EntryRule& rule, std::size_t workers) {
  EntryList entries = std::move(from);
  std::vector<EntryList> cut;
  if (workers == 1) {
    cut = runs_of_chunks(entries, EntryGroups::most_ranges(entries));
  }
  if (!cut.empty()) return cut;
  const EntryGroups groups(rule, static_cast<int>(workers), entries);
  return regroup(std::move(entries), groups.count(), groups);
}

MatrixCut matrix_cut(const InputData& input, const EntryRule& rule) {
  return {.name = input.name, .element = input.element, .row = rule.row, .col = rule.col, .batches = rule.batches};
}

// Of one worker's matrix.
class SpilledGroups : public SpilledEntries {
 public:
  SpilledGroups(MatrixCut cut, Layouts layouts, int worker, std::vector<EntryList> groups)
      : cut_(std::move(cut)),
        layouts_(std::move(layouts)),
        groups_(std::move(groups)),
        worker_(worker),
        builder_(cut_, worker_, groups_) {}

  [[nodiscard]] std::int64_t count() const override { return builder_.count(); }
  [[nodiscard]] PartMatrix list(AxisNumbers& rows, AxisNumbers& cols) { return builder_.list(rows, cols); }
  void pass(PartMatrix& matrix, const Take& take) override {
    builder_.pass(matrix, static_cast<std::size_t>(data_threads()), take);
  }

 private:
  MatrixCut cut_;
  Layouts layouts_;  // that the cut is along
  std::vector<EntryList> groups_;
  int worker_;
  PartBuilder builder_;
};

// Reserves the memory of ghosts, as if each worker had as many as the one that has most so far: a refusal then says
// what is enough for all, and not for one worker after another.
class HeldGhosts {
 public:
  HeldGhosts(SpillRoom& room, std::string matrix, std::size_t workers)
      : room_(room), matrix_(std::move(matrix)), workers_(static_cast<std::int64_t>(workers)) {}

  void add(std::size_t ghosts) {
    constexpr std::int64_t listed = sizeof(std::int64_t) + sizeof(std::int32_t);  // by its worker, and by its owner
    const std::int64_t bytes = workers_ * listed * static_cast<std::int64_t>(ghosts);
    if (bytes <= reserved_) return;
    const std::int64_t likely = bytes + bytes / 16;  // others have a few more
    room_.reserve(likely - reserved_, fmt::format("the ghosts of '{}'", matrix_));
    reserved_ = likely;
  }

 private:
  SpillRoom& room_;
  std::string matrix_;
  std::int64_t workers_, reserved_ = 0;
};

}  // namespace

void assemble_matrix(const InputData& input, EntryList&& from, const EntryRule& rule, std::vector<Part>& parts) {
  std::vector<EntryList> cut = cut_entries(std::move(from), rule, parts.size());
  const auto threads = static_cast<std::size_t>(data_threads());
  const MatrixCut matrix = matrix_cut(input, rule);
  const std::size_t each = cut.size() / parts.size();
  struct Scratch {
    AxisNumbers rows, cols;
  };
  // A thread for each part or, if parts are few, for each group of one part after the other.
  const bool few = parts.size() < std::min(threads, each);
  std::vector<Scratch> scratch(few ? 1 : threads);
  const auto build = [&](std::int64_t w, int thread) {
    Scratch& mine = scratch[static_cast<std::size_t>(thread)];
    const auto at = static_cast<std::size_t>(w);
    PartBuilder builder(matrix, static_cast<int>(w), std::span(cut).subspan(at * each, each));
    parts[at].matrices.emplace(input.name, builder.build(mine.rows, mine.cols, few ? threads : 1));
  };
  if (!few) return parallel_for(static_cast<std::int64_t>(parts.size()), build);
  for (std::size_t w = 0; w < parts.size(); ++w) build(static_cast<std::int64_t>(w), 0);
}

void list_matrix(const InputData& input, EntryList&& from, const EntryRule& rule, const Layouts& layouts,
                 std::vector<Part>& parts, std::vector<SpilledMatrices>& spilled) {
  const std::shared_ptr<PieceFile> spill = from.spill;
  std::vector<EntryList> cut = cut_entries(std::move(from), rule, parts.size());
  const std::size_t each = cut.size() / parts.size();
  AxisNumbers rows, cols;
  HeldGhosts held(spill->room(), input.name, parts.size());
  for (std::size_t w = 0; w < parts.size(); ++w) {
    std::vector<EntryList> mine;
    for (std::size_t g = w * each; g < (w + 1) * each; ++g) mine.push_back(std::move(cut[g]));
    auto groups =
        std::make_unique<SpilledGroups>(matrix_cut(input, rule), layouts, static_cast<int>(w), std::move(mine));
    PartMatrix& matrix = parts[w].matrices.emplace(input.name, groups->list(rows, cols)).first->second;
    held.add(matrix.row_slaves.slaves.size() + matrix.col_slaves.slaves.size());
    spilled[w].emplace(input.name, std::move(groups));
  }
}

}  // namespace kasen
