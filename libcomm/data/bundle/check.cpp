#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "libcomm/data/bundle/part.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

struct Check {
  const std::string& file;
  void require(bool good, const std::string& name, const char* what) const {
    if (good) return;
    fail(ExitStatus::bad_input, fmt::format("'{}' is not as it was written", file), fmt::format("{}: {}", name, what),
         "make it again");
  }
};

// Strictly ascending, within 0 .. limit - 1.
template <class T>
bool ascends_below(const T* first, const T* last, std::int64_t limit) {
  for (const T* p = first; p != last; ++p)
    if (*p < 0 || *p >= limit || (p != first && p[-1] >= *p)) return false;
  return true;
}

void check_dim(const Check& check, const std::string& name, const PartDim& dim) {
  std::int64_t next = 0;  // the least that may come
  dim.masters.for_each_run(0, dim.masters.size(), [&](std::int64_t first, std::int64_t count) {
    check.require(first >= next && first <= dim.size - count, name, "the masters do not ascend");
    next = first + count;
  });
  const std::vector<std::int64_t>& ids = dim.original;
  check.require(std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end(), name,
                "the ids do not ascend");
}

// Every index has one owner.
void check_others(const Check& check, const std::string& name, const PartDim& dim, int worker) {
  std::vector<bool> owned(static_cast<std::size_t>(dim.size), false);
  for (const std::int64_t i : dim.masters) owned[static_cast<std::size_t>(i)] = true;
  for (const PeerRange& r : dim.other_owners) {
    std::int64_t next = 0;  // the least that may come
    check.require(r.peer != worker, name, "the worker itself is among the others");
    dim.others.for_each_run(r.begin, r.end, [&](std::int64_t first, std::int64_t count) {
      check.require(first >= next && first <= dim.size - count, name, "other masters do not ascend");
      next = first + count;
      for (std::int64_t i = first; i < next; ++i) {
        check.require(!owned[static_cast<std::size_t>(i)], name, "an index has two owners");
        owned[static_cast<std::size_t>(i)] = true;
      }
    });
  }
}

void check_axis(const Check& check, const std::string& name, const AxisSlaves& axis, const PartDim& dim, int worker) {
  const std::int64_t masters = dim.masters.size();
  for (const PeerRange& r : axis.slave_owners) {
    const auto* slaves = axis.slaves.data();
    check.require(r.peer != worker, name, "a worker is its own slave's owner");
    check.require(ascends_below(slaves + r.begin, slaves + r.end, dim.size), name, "slaves do not ascend");
  }
  for (const std::int64_t slave : axis.slaves)
    check.require(!dim.masters.contains(slave), name, "a slave is a master too");
  for (const PeerRange& r : axis.mirror_holders) {
    const auto* mirrors = axis.mirrors.data();
    check.require(r.peer != worker, name, "a worker mirrors its own masters");
    check.require(ascends_below(mirrors + r.begin, mirrors + r.end, masters), name, "mirrors do not ascend");
  }
  check.require(!dim.local || (axis.slaves.empty() && axis.mirrors.empty()), name, "a local dimension has slaves");
}

void check_rows(const Check& check, const std::string& name, const PartMatrix& m, std::int64_t cols) {
  const auto& pointers = m.row_pointers;
  const bool ends = m.on_disk != nullptr || std::cmp_equal(pointers.back(), m.columns.size());
  check.require(ends && pointers.front() == 0 && std::is_sorted(pointers.begin(), pointers.end()), name,
                "row pointers do not ascend");
  if (m.on_disk != nullptr) return;  // count_left looks at them
  const std::int32_t* columns = m.columns.data();
  for (std::size_t r = 0; r + 1 < pointers.size(); ++r)
    check.require(ascends_below(columns + pointers[r], columns + pointers[r + 1], cols), name, "columns do not ascend");
}

// The bytes of bools are 0 or 1, and indices lie in their dimension.
void check_values(const Check& check, const std::string& name, const Array& array) {
  if (array.count == 0) return;
  for (std::int64_t p = 0; p < array.element.planes(); ++p) {
    if (array.element.plane_scalar(p) != Scalar::boolean) continue;
    const auto* bytes = array.as<std::uint8_t>(p);
    check.require(std::all_of(bytes, bytes + array.count, [](std::uint8_t b) { return b <= 1; }), name,
                  "a bool is neither");
  }
}

bool all_bools(const std::byte* bytes, std::int64_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte b) { return b <= std::byte{1}; });
}

void check_compressed(const Check& check, const std::string& name, const CompressedArray& array) {
  const std::string fault = fault_of(array);
  check.require(fault.empty(), name, fault.c_str());
  if (array.scalar != Scalar::boolean) return;
  bool bools = all_bools(array.values.data(), array.values.size());
  for (const ColumnGroup& group : array.groups) {
    if (group.format == GroupFormat::plain)
      bools = bools && all_bools(array.data.data() + group.first_byte, array.rows * group.width);
  }
  check.require(bools, name, "a bool is neither");
}

// Compares the statements of one part about others that were read with it. It looks only at neighbours, since there may
// be many parts. The parts are those of consecutive workers.
struct PairCheck {
  Check check;
  const std::vector<Part>& parts;
  const Part& part;

  [[nodiscard]] const Part* part_of(std::int32_t worker) const {
    const std::int64_t place = worker - std::int64_t{parts.front().worker};
    return place < 0 || place >= std::ssize(parts) ? nullptr : &parts[static_cast<std::size_t>(place)];
  }

  static PeerRange range_of(const std::vector<PeerRange>& ranges, int peer) {
    const auto at = std::lower_bound(ranges.begin(), ranges.end(), peer,
                                     [](const PeerRange& range, int wanted) { return range.peer < wanted; });
    return at != ranges.end() && at->peer == peer ? *at : PeerRange{};
  }

  void others(const std::string& name, const PartDim& dim) const {
    if (!dim.whole) return;
    std::int64_t owners = 0, listed = 0;
    for (const Part& owner : parts)
      if (&owner != &part && !owner.dims.at(name).masters.empty()) ++owners;
    for (const PeerRange& theirs : dim.other_owners) {
      const Part* owner = part_of(theirs.peer);
      if (owner == nullptr) continue;
      ++listed;
      const auto& masters = owner->dims.at(name).masters;
      bool equal = theirs.end - theirs.begin == masters.size();
      for (std::int64_t k = 0; k < masters.size() && equal; ++k) equal = dim.others[theirs.begin + k] == masters[k];
      check.require(equal, name, "the others' masters are not theirs");
    }
    check.require(listed == owners, name, "the others' masters are not theirs");
  }

  // Compares ghosts here with the mirrors of their owners, and mirrors here with the ghosts of their holders.
  void axis(const std::string& name, const PartMatrix& matrix, AxisSlaves PartMatrix::*axis,
            std::string PartMatrix::*dim) const {
    const AxisSlaves& mine = matrix.*axis;
    for (const PeerRange& slaves : mine.slave_owners) {
      const Part* owner = part_of(slaves.peer);
      if (owner == nullptr) continue;
      const AxisSlaves& theirs = owner->matrices.at(name).*axis;
      const PeerRange mirrors = range_of(theirs.mirror_holders, part.worker);
      check.require(slaves.end - slaves.begin == mirrors.end - mirrors.begin, name, "slaves and mirrors do not match");
      const auto& masters = owner->dims.at(matrix.*dim).masters;
      for (std::int64_t k = 0; k < slaves.end - slaves.begin; ++k) {
        const std::int64_t mirror = theirs.mirrors[static_cast<std::size_t>(mirrors.begin + k)];
        check.require(masters[mirror] == mine.slaves[static_cast<std::size_t>(slaves.begin + k)], name,
                      "a slave has another master");
      }
    }
    for (const PeerRange& mirrors : mine.mirror_holders) {
      const Part* holder = part_of(mirrors.peer);
      if (holder == nullptr) continue;
      const PeerRange slaves = range_of((holder->matrices.at(name).*axis).slave_owners, part.worker);
      check.require(slaves.end - slaves.begin == mirrors.end - mirrors.begin, name, "slaves and mirrors do not match");
    }
  }
};

}  // namespace

void check_dims(const std::map<std::string, PartDim>& dims, const std::string& file) {
  for (const auto& [name, dim] : dims) check_dim(Check{file}, name, dim);
}

void check_part(const Part& part, const std::string& file) {
  const Check check{file};
  check_dims(part.dims, file);
  for (const auto& [name, dim] : part.dims) check_others(check, name, dim, part.worker);
  for (const auto& [name, m] : part.matrices) {
    const PartDim& cols = part.dims.at(m.col_dim);
    check_axis(check, name, m.row_slaves, part.dims.at(m.row_dim), part.worker);
    check_axis(check, name, m.col_slaves, cols, part.worker);
    check_rows(check, name, m, static_cast<std::int64_t>(cols.masters.size() + m.col_slaves.slaves.size()));
    check_values(check, name, m.values);
  }
  for (const auto& [name, array] : part.arrays) check_array(name, array, file);
}

void check_array(const std::string& name, const PartArray& array, const std::string& file) {
  const Check check{file};
  if (array.compressed) check_compressed(check, name, *array.compressed);
  check_values(check, name, array.data);
}

void check_together(const std::vector<Part>& parts, const std::string& folder) {
  for (const Part& part : parts) {
    const std::string file = folder + "/" + part_file_name(part.worker);
    const PairCheck check{Check{file}, parts, part};
    for (const auto& [name, dim] : part.dims) check.others(name, dim);
    for (const auto& [name, matrix] : part.matrices) {
      check.axis(name, matrix, &PartMatrix::row_slaves, &PartMatrix::row_dim);
      check.axis(name, matrix, &PartMatrix::col_slaves, &PartMatrix::col_dim);
    }
  }
}

}  // namespace kasen
