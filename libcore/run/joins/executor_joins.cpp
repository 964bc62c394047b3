// Steps of operators on the nonzeros of several patterns (libcore/entries/joins.h).
#include <algorithm>
#include <cstring>
#include <vector>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/entries/joins.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

constexpr std::int64_t some_places = 4096;  // of a piece, about

void count(Execution& run, int number, std::int64_t read, std::int64_t written) {
  run.count(number).read_bytes += read;
  run.count(number).written_bytes += written;
}

Array copy_of(const Array& from) {
  Array made(from.element, from.count);
  if (made.bytes.size() > 0) std::memcpy(made.bytes.data(), from.bytes.data(), static_cast<size_t>(made.bytes.size()));
  return made;
}

// The numbers of nonzeros are found once. The parts' nonzeros may be gone when the run begins, so that a matrix's own
// values are copied.
class AlignStep : public Step {
 public:
  AlignStep(Execution& run, const Op& decoded, int at) : Step(decoded, at) {
    for (size_t p = 0; p < run.parts.size(); ++p) {
      const Part& part = run.parts[p];
      const PartMatrix &to = matrix(run, part, 0), &from = matrix(run, part, 1);
      if (from.on_disk != nullptr || to.on_disk != nullptr)
        throw InternalError("a matrix on a disk whose nonzeros meet those of another");
      places_.push_back(aligned_entries(part, to, from));
      values_.push_back(op.operands.size() > 2 || is_null(run) ? Array() : copy_of(from.values));
      from_entries_.push_back(from.entries());
      const std::int64_t bytes = 4 * std::ssize(places_.back()) +
                                 (values_.back().count > 0 ? values_.back().element.bytes() * values_.back().count : 0);
      run.result.parts[p].matrix_bytes += bytes;
      own_bytes_ += bytes;
    }
  }

  [[nodiscard]] std::int64_t own_bytes() const override { return own_bytes_; }

  void run(Execution& run) override {
    const ElementType& element = run.module.type(op.results[0]).element;
    for (int p = 0; p < run.part_count(); ++p) {
      const auto at = static_cast<size_t>(p);
      const std::int64_t made = std::ssize(places_[at]);
      const View to = run.storage.view(op.results[0], p);
      for (std::int64_t plane = 0; plane < element.planes(); ++plane) align(run, p, to, plane);
      const bool ones = op.operands.size() == 2 && is_null(run);
      count(run, number, 4 * made + (ones ? 0 : element.bytes() * from_entries_[at]), element.bytes() * made);
    }
  }

 private:
  [[nodiscard]] bool is_null(const Execution& run) const {
    return run.module.type(op.operands[1]).element.is(Scalar::null);
  }

  [[nodiscard]] const PartMatrix& matrix(const Execution& run, const Part& part, size_t operand) const {
    return part.matrices.at(matrix_name(run.module, op.operands[operand]));
  }

  void align(Execution& run, int part, const View& to, std::int64_t plane) const {
    const std::vector<std::int32_t>& places = places_[static_cast<size_t>(part)];
    const Array& own = values_[static_cast<size_t>(part)];
    const ElementType& element = run.module.type(op.results[0]).element;
    std::byte* const made = to.data + plane_offset(element, to.capacity, plane);
    const std::byte* values = nullptr;  // of a null matrix: 1.0
    if (op.operands.size() > 2) {
      const View view = run.storage.view(op.operands[2], part);
      values = view.data + plane_offset(element, view.capacity, plane);
    } else if (!is_null(run)) {
      values = own.plane(plane);
    }
    const std::int64_t count = std::ssize(places), pieces = (count + some_places - 1) / some_places;
    const auto of_size = [&](auto zero, auto one) {
      using Number = decltype(zero);
      auto* const out = reinterpret_cast<Number*>(made);
      const auto* const in = reinterpret_cast<const Number*>(values);
      run.kernels.run_pieces(pieces, [&](int, std::int64_t piece) {
        const std::int64_t end = std::min(count, (piece + 1) * some_places);
        for (std::int64_t e = piece * some_places; e < end; ++e) {
          const std::int32_t at = places[static_cast<size_t>(e)];
          out[e] = at < 0 ? zero : in == nullptr ? one : in[at];
        }
      });
    };
    const std::int64_t bytes = scalar_bytes(element.plane_scalar(plane));
    if (op.operands.size() == 2 && is_null(run)) return of_size(0.0, 1.0);
    if (bytes == 8) return of_size(std::uint64_t{0}, std::uint64_t{0});
    if (bytes == 4) return of_size(std::uint32_t{0}, std::uint32_t{0});
    of_size(std::uint8_t{0}, std::uint8_t{0});
  }

  std::vector<std::vector<std::int32_t>> places_;  // [part], as the next ones
  std::vector<Array> values_;                      // of the matrix, where they are read
  std::vector<std::int64_t> from_entries_;
  std::int64_t own_bytes_ = 0;
};

class MeetStep : public Step {
 public:
  using Step::Step;

  void run(Execution& run) override {
    const auto size = [&](size_t operand, size_t axis) {
      const Type& type = run.module.type(op.operands[operand]);
      return run.module.dim(type.element.components.at(axis).id_of).size;
    };
    for (int p = 0; p < run.part_count(); ++p) {
      Meeting meeting;
      meeting.places = places(run, p, 0);
      meeting.places.count = run.storage.masters(op.results[0], p);  // the operand may have ghosts, too
      meeting.length = size(1, 1);
      require_places(meeting.places, size(0, 0), size(0, 1));
      meeting.scalar = run.module.type(op.results[0]).element.scalar();
      const OrderedFactor left = factor(run, p, 1, size(0, 0), meeting.length, meeting.scalar);
      OrderedFactor right;
      if (op.operands.size() > 3) {
        right = factor(run, p, 3, meeting.length, size(0, 1), meeting.scalar);
        meeting.right = &right.factor;
        meeting.right_values = right.values.data();
      }
      meeting.left = &left.factor;
      meeting.left_values = left.values.data();
      meeting.result = run.storage.view(op.results[0], p).data;
      meet(run, meeting);
      count(run, number, 16 * meeting.places.count, scalar_bytes(meeting.scalar) * meeting.places.count);
    }
  }

 private:
  struct OrderedFactor {
    Factor factor;
    std::vector<std::byte> values;
  };

  // Of the places and values at these operands: the left factor by its rows, the right one by its columns.
  [[nodiscard]] OrderedFactor factor(Execution& run, int part, size_t operand, std::int64_t rows, std::int64_t cols,
                                     Scalar scalar) const {
    const Places at = places(run, part, operand);
    require_places(at, rows, cols);
    const bool turned = operand > 1;
    OrderedFactor made{make_factor(at, turned ? cols : rows, turned), {}};
    made.values = ordered_values(made.factor, run.storage.view(op.operands[operand + 1], part).data, scalar);
    return made;
  }

  [[nodiscard]] Places places(Execution& run, int part, size_t operand) const {
    const ValueId v = op.operands[operand];
    const View view = run.storage.view(v, part);
    const ElementType& element = run.module.type(v).element;
    const std::int64_t count = run.storage.elements(v, part);
    const auto plane = [&](std::int64_t p) {
      return reinterpret_cast<const std::int64_t*>(view.data + plane_offset(element, view.capacity, p));
    };
    return {plane(0), plane(1), count};
  }

  // A piece begins with a row of places, so that each row of the left factor is spread out once.
  static void meet(Execution& run, const Meeting& meeting) {
    std::vector<std::int64_t> begins{0};
    const Places& places = meeting.places;
    for (std::int64_t e = 1; e < places.count; ++e) {
      const bool enough = e - begins.back() >= some_places;
      if (enough && places.rows[e] != places.rows[e - 1]) begins.push_back(e);
    }
    begins.push_back(places.count);
    run.kernels.run_pieces(std::ssize(begins) - 1, [&](int, std::int64_t piece) {
      meet_some(meeting, begins[static_cast<size_t>(piece)], begins[static_cast<size_t>(piece) + 1]);
    });
  }
};

}  // namespace

std::unique_ptr<Step> make_join_step(Execution& run, const Op& op, int number) {
  if (op.code == OpCode::align) return std::make_unique<AlignStep>(run, op, number);
  return std::make_unique<MeetStep>(op, number);
}

}  // namespace kasen::executor
