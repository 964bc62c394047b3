#include "libcomm/data/cut/entry_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcomm/data/base/parallel.h"

namespace kasen {
namespace {

constexpr int ranges_a_thread = 32;  // of rows, in total, about: each thread unpacks one at a time

// Of an entry of a group: its row, column and place, a count of its row, its local column, and its value with a copy.
std::int64_t assembled_bytes(const ElementType& element) { return 44 + 2 * element.bytes(); }

// The ranges of rows with as many entries as there is room for at a time.
std::int64_t ranges_of_room(const EntryList& entries) {
  const std::int64_t most = entries.spill->room().entries_at_a_time(assembled_bytes(entries.element));
  return entries.count() / most + 1;
}

// A hash spreads each range over all workers, twice as many entries here as there at most; blocks do not.
int ranges_of(const EntryRule& rule, int workers, const EntryList& entries) {
  if (entries.spill == nullptr) return std::max(1, ranges_a_thread * data_threads() / workers);
  constexpr std::int64_t most = std::int64_t{1} << 20;
  const std::int64_t ranges = ranges_of_room(entries);
  return static_cast<int>(std::min(most, rule.by_column ? 2 * ranges / workers + 1 : ranges));
}

// The runs of rows by which entries are counted, at least.
constexpr std::int64_t least_runs = 4096, runs_a_range = 32;

// Calls each(row) for all entries.
template <class Each>
void for_each_row(const EntryList& entries, const Each& each) {
  std::vector<std::int64_t> rows;
  for (const EntryChunk& chunk : entries.chunks) {
    rows.resize(static_cast<std::size_t>(chunk.count()));
    chunk.rows.unpack(rows.data());
    for (const std::int64_t row : rows) each(row);
  }
}

}  // namespace

std::int64_t EntryGroups::most_ranges(const EntryList& entries) {
  return entries.spill != nullptr ? ranges_of_room(entries)
                                  : static_cast<std::int64_t>(ranges_a_thread) * data_threads();
}

EntryGroups::EntryGroups(const EntryRule& rule, int workers, const EntryList& entries)
    : rule_(rule), ranges_(ranges_of(rule, workers, entries)), workers_(workers) {
  if (ranges_ == 1 || entries.count() == 0) {
    add_section(rule_.batches, 1);
    return;
  }
  if (rule_.batches == 1) {
    add_section(1, ranges_);
  } else {
    cut_batches(weigh_batches(entries));
  }
  cut_rows(entries);
}

std::int32_t EntryGroups::whole(const EntryChunk& chunk) const {
  if (workers_ > 1) return -1;
  const std::int32_t group = within(0, line_of(chunk.rows.smallest()));
  return group == within(0, line_of(chunk.rows.largest())) ? group : -1;
}

void EntryGroups::find(const LooseEntries& entries, std::vector<std::int32_t>& groups) const {
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const Line line = line_of(entries.rows[k]);
    const int worker = rule_.worker(line.row, entries.cols[k]);
    groups[k] = worker * per_worker_ + within(worker, line);
  }
}

EntryGroups::Line EntryGroups::line_of(std::int64_t row) const {
  if (rule_.batches == 1) return {0, row};
  return {row / rule_.row->size, row % rule_.row->size};
}

const EntryGroups::Section& EntryGroups::section_of(const Line& line) const {
  return sections_[static_cast<std::size_t>(section_[static_cast<std::size_t>(line.batch)])];
}

std::vector<std::int64_t> EntryGroups::weigh_batches(const EntryList& entries) const {
  std::vector<std::int64_t> weight(static_cast<std::size_t>(rule_.batches));
  for_each_row(entries, [&](std::int64_t row) { ++weight[static_cast<std::size_t>(line_of(row).batch)]; });
  return weight;
}

// Cuts the batches into sections that have an equal share of the entries at most, or are of one batch that has more.
void EntryGroups::cut_batches(const std::vector<std::int64_t>& weight) {
  const std::int64_t total = std::accumulate(weight.begin(), weight.end(), std::int64_t{0});
  const std::int64_t share = std::max<std::int64_t>(1, total / ranges_);
  std::int64_t batches = 0, entries = 0;  // of a section that is not added yet
  const auto end_section = [&] {
    if (batches > 0) add_section(batches, 1);
    batches = entries = 0;
  };
  for (const std::int64_t here : weight) {
    if (entries + here > share) end_section();
    ++batches;
    entries += here;
    if (here <= share) continue;
    add_section(std::exchange(batches, 0), static_cast<int>((here + share - 1) / share));
    entries = 0;
  }
  end_section();
}

void EntryGroups::add_section(std::int64_t batches, int own) {
  Section section{.first = per_worker_, .own = own};
  const bool ghosts = !rule_.row->local && rule_.by_column && !rule_.col->local;
  if (ghosts && own > 1) {
    section.owners = std::min(workers_ - 1, own);
    section.foreign = section.owners == 0 ? 0 : std::max(1, own / workers_);
  }
  section_.resize(section_.size() + static_cast<std::size_t>(batches), static_cast<std::int32_t>(sections_.size()));
  per_worker_ += section.groups();
  sections_.push_back(section);
}

// Cuts the rows of a section so that each range has an equal share of the entries, by counts over some thousand runs of
// rows.
void EntryGroups::cut_rows(const EntryList& entries) {
  const auto cut = std::count_if(sections_.begin(), sections_.end(), [](const Section& s) { return s.own > 1; });
  if (cut == 0) return;
  std::int64_t runs = 0;
  for (Section& section : sections_) {
    if (section.own == 1) continue;
    const std::int64_t most = std::max<std::int64_t>(least_runs / cut, runs_a_range * section.own);
    while (rule_.row->size >> section.shift > most) ++section.shift;
    section.first_run = runs;
    runs += section.runs(rule_.row->size);
  }
  std::vector<std::int64_t> weight(static_cast<std::size_t>(runs));
  for_each_row(entries, [&](std::int64_t row) {
    const Line line = line_of(row);
    const Section& section = section_of(line);
    if (section.own > 1) ++weight[section.run_of(line.row)];
  });
  for (const Section& section : sections_) {
    if (section.own == 1) continue;
    const auto first = weight.begin() + section.first_run, end = first + section.runs(rule_.row->size);
    const auto total = static_cast<double>(std::max<std::int64_t>(1, std::accumulate(first, end, std::int64_t{0})));
    std::int64_t before = 0;
    for (auto w = first; w != end; before += *w++) {
      const double share = static_cast<double>(before) / total;  // of the entries before this run of rows
      own_range_.push_back(std::min(section.own - 1, static_cast<int>(share * section.own)));
      foreign_range_.push_back(
          std::clamp(static_cast<int>(share * section.foreign), 0, std::max(0, section.foreign - 1)));
    }
  }
}

std::int32_t EntryGroups::within(int worker, const Line& line) const {
  const Section& section = section_of(line);
  if (section.own == 1) return section.first;
  const std::size_t run = section.run_of(line.row);
  const std::int32_t own = section.first + own_range_[run];
  if (section.owners == 0) return own;
  const int owner = rule_.row->owner[static_cast<std::size_t>(line.row)];
  if (owner == worker) return own;
  const int place = owner - (owner > worker ? 1 : 0);  // among the workers - 1 others
  const int group = static_cast<int>(static_cast<std::int64_t>(place) * section.owners / (workers_ - 1));
  const std::int32_t range = section.owners == workers_ - 1 ? foreign_range_[run] : 0;
  return section.first + section.own + group * section.foreign + range;
}

}  // namespace kasen
