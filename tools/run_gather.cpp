#include "tools/run_gather.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "libcore/checked.h"

namespace kasen::tools {
namespace {

// Plain bytes one after another: both ends are the same program.
class Writer {
 public:
  template <class T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <class T>
  void put_all(std::span<const T> values) {
    put(static_cast<std::int64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  [[nodiscard]] bool more() const { return at_ < bytes_.size(); }
  template <class T>
  T get() {
    T value{};
    copy(&value, sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    std::vector<T> values(static_cast<size_t>(get<std::int64_t>()));
    copy(values.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  void copy(void* target, size_t size) {
    if (size > bytes_.size() - at_) throw InternalError("a rank's message is too short");
    if (size > 0) std::memcpy(target, bytes_.data() + at_, size);
    at_ += size;
  }
  const std::string& bytes_;
  size_t at_ = 0;
};

const PartDim& dim_of(const Part& part, const std::string& name) {
  const auto it = part.dims.find(name);
  if (it == part.dims.end()) throw InternalError("a part lacks the dimension " + name);
  return it->second;
}

// A part's masters and their elements; plane after plane.
void write_part(Writer& writer, const Module& module, const Type& type, const Part& part, const Array& data) {
  const DimId cut = cut_dim(module, type);
  if (cut != no_dim) {
    const PartDim& dim = dim_of(part, module.dim(cut).name);
    writer.put_all(std::span(dim.masters));
    writer.put_all(std::span(dim.original));
  }
  for (std::int64_t p = 0; p < data.element.planes(); ++p) {
    const auto bytes = static_cast<size_t>(data.count * scalar_bytes(data.element.plane_scalar(p)));
    writer.put_all(std::span(data.plane(p), bytes));
  }
}

// Elements of consecutive masters come from the message's planes and go to their global places.
void read_part(Reader& reader, WholeOutput& whole, bool shared, std::int64_t inner) {
  std::vector<std::int64_t> masters{0};
  std::vector<std::int64_t> original;
  if (!shared) {
    masters = reader.get_all<std::int64_t>();
    original = reader.get_all<std::int64_t>();
  }
  if (!original.empty()) whole.original.resize(static_cast<size_t>(whole.data.count / std::max<std::int64_t>(inner, 1)));
  for (size_t k = 0; k < original.size(); ++k) whole.original[static_cast<size_t>(masters[k])] = original[k];
  for (std::int64_t p = 0; p < whole.data.element.planes(); ++p) {
    const auto plane = reader.get_all<std::byte>();
    const std::int64_t row = inner * scalar_bytes(whole.data.element.plane_scalar(p));
    for (size_t k = 0; k < masters.size() && row > 0; ++k) {
      std::memcpy(whole.data.plane(p) + masters[k] * row, plane.data() + static_cast<std::int64_t>(k) * row, static_cast<size_t>(row));
    }
  }
}

WholeOutput empty_output(const Module& module, const Output& output, const Part& part) {
  WholeOutput whole;
  whole.name = output.name;
  whole.type = output.type;
  std::int64_t count = 1;
  for (const DimId d : output.type.dims) {
    whole.dims.push_back(module.dim(d).name);
    whole.sizes.push_back(dim_of(part, module.dim(d).name).size);
    count = checked_mul(count, whole.sizes.back(), "a result's size");
  }
  whole.data = Array(output.type.element, count);
  return whole;
}

std::int64_t inner_of(const Module& module, const Type& type, const WholeOutput& whole) {
  const DimId cut = cut_dim(module, type);
  std::int64_t inner = 1;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (type.dims[i] != cut) inner *= whole.sizes[i];
  }
  return inner;
}

}  // namespace

std::vector<WholeOutput> gather_outputs(Cluster& cluster, const Module& module, const RunResult& result,
                                        const std::vector<Part>& parts) {
  std::vector<WholeOutput> all;
  for (const Output& output : result.outputs) {
    const bool shared = is_shared(module, output.type);
    Writer writer;
    for (size_t p = 0; p < output.parts.size() && !(shared && (p > 0 || cluster.rank() > 0)); ++p) {
      write_part(writer, module, output.type, parts[p], output.parts[p].data);
    }
    const std::vector<std::string> messages = cluster.gather(writer.take());
    if (cluster.rank() != 0) continue;
    WholeOutput whole = empty_output(module, output, parts.front());
    const std::int64_t inner = inner_of(module, output.type, whole);
    for (const std::string& message : messages) {
      Reader reader(message);
      while (reader.more()) read_part(reader, whole, shared, inner);
    }
    all.push_back(std::move(whole));
  }
  return all;
}

RunResult gather_counts(Cluster& cluster, const RunResult& result) {
  Writer writer;
  writer.put_all(std::span(result.ops));
  writer.put_all(std::span(result.parts));
  writer.put(result.traffic);
  writer.put(result.late_allocations);
  writer.put(result.seconds);
  const std::vector<std::string> messages = cluster.gather(writer.take());
  RunResult total;
  for (const std::string& message : messages) {
    Reader reader(message);
    const auto ops = reader.get_all<OpCount>();
    if (total.ops.empty()) {
      total.ops = ops;
    } else {
      for (size_t i = 0; i < ops.size() && i < total.ops.size(); ++i) {
        total.ops[i].read_bytes += ops[i].read_bytes;
        total.ops[i].written_bytes += ops[i].written_bytes;
        total.ops[i].network_bytes += ops[i].network_bytes;
        total.ops[i].seconds = std::max(total.ops[i].seconds, ops[i].seconds);
      }
    }
    const auto counts = reader.get_all<PartCount>();
    total.parts.insert(total.parts.end(), counts.begin(), counts.end());
    const auto traffic = reader.get<Traffic>();
    total.traffic.worker_bytes += traffic.worker_bytes;
    total.traffic.rank_bytes += traffic.rank_bytes;
    total.traffic.rank_messages += traffic.rank_messages;
    total.late_allocations += reader.get<std::int64_t>();
    total.seconds = std::max(total.seconds, reader.get<double>());
  }
  return total;
}

}  // namespace kasen::tools
