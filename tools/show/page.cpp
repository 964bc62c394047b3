#include "tools/show/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "libcomm/data/view/view.h"
#include "libopt/text/report_parts.h"
#include "tools/show/index_names.h"
#include "tools/show/shown.h"

namespace kasen::tools {
namespace {

constexpr std::int64_t most_points = 200;
constexpr size_t bins = 40;

// Goes over an array twice: for its range, then for the counts.
class Distribution {
 public:
  explicit Distribution(PageResult& page) : page_(page) {}

  void take_range(const ViewRow& row) {
    for (const ViewCell& cell : row.cells) {
      const double value = cell.number();
      ++all_;
      if (std::isnan(value)) ++nan_;
      if (std::isinf(value)) ++infinite_;
      if (!std::isfinite(value)) continue;
      page_.lowest = any_ ? std::min(page_.lowest, value) : value;
      page_.highest = any_ ? std::max(page_.highest, value) : value;
      any_ = true;
    }
  }
  [[nodiscard]] bool spreads() const {
    return any_ && std::isfinite(page_.highest - page_.lowest) && page_.highest > page_.lowest;
  }
  void count(const ViewRow& row) {
    for (const ViewCell& cell : row.cells) {
      const double value = cell.number();
      if (!std::isfinite(value)) continue;
      const double part = (value - page_.lowest) / (page_.highest - page_.lowest);
      ++page_.counts[std::min(bins - 1, static_cast<size_t>(part * static_cast<double>(bins)))];
    }
  }
  void tell() const {
    if (nan_ > 0) page_.note += fmt::format("{} of {} numbers are NaN. ", grouped(nan_), grouped(all_));
    if (infinite_ > 0) page_.note += fmt::format("{} of {} numbers are infinite. ", grouped(infinite_), grouped(all_));
    if (any_) page_.note += fmt::format("From {:.6g} to {:.6g}.", page_.lowest, page_.highest);
  }

 private:
  PageResult& page_;
  std::int64_t all_ = 0, nan_ = 0, infinite_ = 0;
  bool any_ = false;
};

// The numbers of a vector that has few.
void add_points(PageResult& page, const ViewArray& array, const ViewRow& row) {
  if (array.dims.size() != 1 || array.sparse || row.cells.size() != 1 || array.rows > most_points) return;
  const bool named = row.ids[0].kind == ViewCell::Kind::word;  // of CSV
  const double across = named ? static_cast<double>(page.points.size()) : row.ids[0].number();
  page.points.push_back({across, row.cells[0].number()});
}

PageResult page_result(const ResultView& view, size_t number, const IndexNames& names) {
  const ViewArray& array = view.arrays()[number];
  PageResult page{.name = array.name};
  const ShowStyle style;
  const ShownTable table = shown_table(view, number, style, index_names(array, names));
  page.title = table.head;
  page.head = table.lines.empty() ? std::vector<std::string>() : table.lines.front();
  if (!table.lines.empty()) page.rows.assign(table.lines.begin() + 1, table.lines.end());
  if (table.scalar) return page;
  page.across = array.dims.empty() || array.dims[0].empty() ? "index" : array.dims[0];
  Distribution distribution(page);
  view.rows(number, [&](const ViewRow& row) {
    distribution.take_range(row);
    add_points(page, array, row);
    return true;
  });
  distribution.tell();
  if (page.points.empty() && array.rows > 1 && distribution.spreads()) {
    page.counts.assign(bins, 0);
    view.rows(number, [&](const ViewRow& row) {
      distribution.count(row);
      return true;
    });
  }
  return page;
}

}  // namespace

std::vector<PageResult> page_results(const std::string& path, ResultFormat format,
                                     const std::vector<std::string>& outputs) {
  std::vector<PageResult> pages;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none) || outputs.empty()) return pages;
  const std::unique_ptr<ResultView> view = view_result(path, outputs.front(), format);
  const IndexNames names = names_beside(path);
  for (const size_t number : in_order(*view, outputs)) pages.push_back(page_result(*view, number, names));
  return pages;
}

}  // namespace kasen::tools
