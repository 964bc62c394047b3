#include "tools/go/graph_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "libcore/system/temporaries.h"
#include "tools/system/files.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

constexpr int most_drawn = 150;  // arrows of a picture

// Whether both are there, and the first was written later.
bool newer(const std::string& file, const std::string& other) {
  std::error_code fault, fault_of_other;
  const auto time = fs::last_write_time(file, fault), time_of_other = fs::last_write_time(other, fault_of_other);
  return !fault && !fault_of_other && time >= time_of_other;
}

std::int64_t arrows_of(const std::string& graph) {
  std::istringstream lines(graph);
  std::int64_t arrows = 0;
  for (std::string line; std::getline(lines, line);) arrows += line.find("->") == std::string::npos ? 0 : 1;
  return arrows;
}

// A picture that Graphviz is drawing, under a temporary name.
class Drawing {
 public:
  Drawing(const std::string& graph, std::string picture)
      : picture_(std::move(picture)),
        half_(temporary_name(picture_)),
        guard_(half_),
        drawn_(run_process_meanwhile({"dot", "-Tsvg", graph, "-o", half_})) {}

  [[nodiscard]] bool finish() const {
    std::error_code fault;
    const bool done = drawn_().status == 0;
    if (done) fs::rename(half_, picture_, fault);
    if (done && !fault) return true;
    fs::remove(half_, fault);
    return false;
  }

 private:
  std::string picture_, half_;
  Temporary guard_;
  std::function<Ended()> drawn_;
};

}  // namespace

GraphFile::GraphFile(std::string graph, std::string picture)
    : graph_(std::move(graph)),
      picture_(std::move(picture)),
      drawn_before_(newer(picture_, graph_) ? read_text(graph_) : "") {}

std::function<std::string()> GraphFile::draw() const {
  std::error_code fault;
  const std::string text = read_text(graph_);
  if (!drawn_before_.empty() && text == drawn_before_) {
    fs::last_write_time(picture_, fs::file_time_type::clock::now(), fault);
    if (!fault) return [picture = picture_] { return picture; };
  }
  fs::remove(picture_, fault);
  if (!command_exists("dot")) return [graph = graph_] { return graph; };
  if (const std::int64_t arrows = arrows_of(text); arrows > most_drawn)
    return [graph = graph_, arrows] { return fmt::format("{} (its {} arrows may take dot long)", graph, arrows); };
  return [graph = graph_, picture = picture_, drawing = std::make_shared<const Drawing>(graph_, picture_)] {
    return drawing->finish() ? picture : fmt::format("{} (dot could not draw it)", graph);
  };
}

}  // namespace kasen::tools
