// The dependence graph as a file of its own, in the page's colours: a legend, then the program and what it holds
// folded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "libcore/ir/module.h"
#include "libopt/draw/page_text.h"
#include "libopt/picture/page.h"
#include "libopt/report/report.h"

namespace kasen {
namespace {

constexpr double border = 16, heading_height = 24, key_height = 20, key_mark = 12, letter = 6.7, least_width = 560;
constexpr size_t longest_heading = 80;

struct Key {
  const char *style, *words;
};
constexpr std::array<Key, 7> legend_keys{{{"node part", "P: on its master alone"},
                                          {"node cons", "C: masters and slaves agree"},
                                          {"node pre", "PR: shares, to be reduced"},
                                          {"node shared", "whole on every worker"},
                                          {"node matrix", "matrix"},
                                          {"node network", "gather or scatter, with the bytes it sends"},
                                          {"frame region", "region: one fused loop"}}};

struct KeyPlace {
  Point at;
  const Key* key = nullptr;
};

// In rows, each as wide as the picture.
std::vector<KeyPlace> places_of_keys(double width) {
  std::vector<KeyPlace> places;
  Point at{border, border + heading_height};
  for (const Key& key : legend_keys) {
    const double wide = key_mark + 6 + letter * static_cast<double>(text_width(key.words)) + 18;
    if (at.x > border && at.x + wide > width - border) at = {border, at.y + key_height};
    places.push_back({at, &key});
    at.x += wide;
  }
  return places;
}

std::vector<Placed> places_of(const std::vector<Picture>& pictures, const PageParts& parts) {
  const std::string graphs = parts.place ? dot_text(pictures, parts.most_arrows) : "";
  const std::optional<std::string> answer = graphs.empty() ? std::nullopt : parts.place(graphs);
  if (answer) {
    if (auto placed = read_placing(*answer, pictures, parts.most_arrows)) return *std::move(placed);
  }
  std::vector<Placed> placed;
  for (const Picture& picture : pictures) placed.push_back(place_in_order(picture));
  return placed;
}

void draw_keys(Canvas& canvas, const std::vector<KeyPlace>& places) {
  canvas.begin("g", {{"class", "ddag"}});
  for (const KeyPlace& place : places) {
    canvas.begin("g", {{"class", place.key->style}});
    canvas.rect({place.at.x, place.at.y, key_mark, key_mark}, 3);
    canvas.end();
    canvas.text({place.at.x + key_mark + 6, place.at.y + key_mark - 2}, place.key->words);
  }
  canvas.end();
}

}  // namespace

std::string report_svg(const Module& module, const Sizes* sizes, const PageParts& parts) {
  const ReportContext context(module, sizes);
  const std::vector<Picture> pictures = pictures_of(context, [](int) { return OperatorNote(); });
  const std::vector<Placed> placed = places_of(pictures, parts);
  double width = least_width;
  for (const Placed& one : placed) width = std::max(width, one.width + 2 * border);
  const std::vector<KeyPlace> legend = places_of_keys(width);
  const double top = legend.back().at.y + key_height + border / 2;
  const double height = std::accumulate(placed.begin(), placed.end(), top, [](double sum, const Placed& one) {
    return sum + one.height + heading_height + border;
  });
  const std::string file = module.source_name.substr(module.source_name.rfind('/') + 1);
  const std::string title = file.empty() ? module.name : module.name + ", from " + file;
  Canvas canvas = Canvas::as_file(width, height, title, graph_style());
  canvas.text({border, border + 6}, clipped(title, longest_heading), {{"class", "title"}, {"font-weight", "bold"}});
  draw_keys(canvas, legend);
  double at = top;
  for (size_t i = 0; i < pictures.size(); ++i) {
    if (i > 0) canvas.text({border, at + 14}, clipped(pictures[i].title, longest_heading), {{"font-weight", "bold"}});
    at += i > 0 ? heading_height : 0;
    canvas.begin("g", {{"class", "ddag"}, {"transform", fmt::format("translate({:.1f} {:.1f})", border, at)}});
    draw_picture(canvas, pictures[i], placed[i]);
    canvas.end();
    at += placed[i].height + border;
  }
  return std::move(canvas).markup();
}

}  // namespace kasen
