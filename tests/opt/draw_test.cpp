// Drawing: text that is never markup, elements of SVG, and which numbers stand along an axis.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libopt/draw/page_text.h"
#include "libopt/draw/plot.h"
#include "libopt/draw/scale.h"

namespace kasen {
namespace {

TEST(PageText, IsNeverMarkup) {
  EXPECT_EQ(page_text("<a href='x' b=\"y\">&amp;"), "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;");
  EXPECT_EQ(page_text("a\tb\nc\x01"), "a b\nc ");
}

TEST(PageText, IsUtf8) {
  EXPECT_EQ(page_text("\xce\xbb\xe2\x82\xac\xf0\x9f\x98\x80"), "\xce\xbb\xe2\x82\xac\xf0\x9f\x98\x80");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(page_text("\xffz"), bad + "z");
  EXPECT_EQ(page_text("\xc0\x80"), bad + bad);            // longer than needed
  EXPECT_EQ(page_text("\xed\xa0\x80"), bad + bad + bad);  // half of a pair
  EXPECT_EQ(page_text("\xf4\x90\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(page_text("\xe2\x82"), bad + bad);          // cut off
  EXPECT_EQ(page_text("\xef\xbf\xbf<"), bad + "&lt;");  // XML has no such character
  EXPECT_EQ(text_width("\xce\xbb\xff<"), 3u);
  EXPECT_EQ(clipped("\xce\xbb\xce\xbb\xce\xbb", 2), "\xce\xbb\xe2\x80\xa6");
  EXPECT_EQ(clipped("abc", 3), "abc");
}

using Numbers = std::vector<double>;

std::string drawn(Canvas&& canvas) {
  const std::string text = std::move(canvas).markup();
  return text.substr(text.find('\n') + 1);
}

TEST(Canvas, EscapesEveryText) {
  const std::string evil = "<b a='\"'>&", safe = "&lt;b a=&#39;&quot;&#39;&gt;&amp;";
  Canvas canvas = Canvas::in_page(10, 20, evil, evil);
  canvas.begin("g", {{"id", evil}}, evil);
  canvas.text({1, 2}, evil, {{"class", evil}}, evil);
  canvas.circle({1, 2}, 3, {}, evil);
  canvas.end();
  const std::string text = std::move(canvas).markup();
  EXPECT_EQ(text.find("<b"), std::string::npos);
  size_t found = 0;
  for (size_t at = text.find(safe); at != std::string::npos; at = text.find(safe, at + 1)) ++found;
  EXPECT_EQ(found, 8u);
  EXPECT_NE(plot_svg({evil, evil, evil, false, false, false, {}, {{evil, {{1, 1}}}}}).find(safe), std::string::npos);
}

TEST(Canvas, WritesElements) {
  Canvas canvas = Canvas::in_page(10.4, 20, "t", "c");
  canvas.rect({1, 2, 3.04, 4}, 6);
  canvas.line({0, 1}, {2, 3}, {{"class", "grid"}, {"id", ""}});
  canvas.polyline({{0, 0}, {1, 0}, {1, 1}}, {}, true);
  canvas.curve({{0, 0}, {1, 0}, {1, 1}, {2, 2}}, {});
  canvas.begin("a", {{"href", "#x"}});
  canvas.text({1, 2}, "w", {}, "!");
  canvas.end();
  EXPECT_EQ(drawn(std::move(canvas)),
            "<rect x=\"1.0\" y=\"2.0\" width=\"3.0\" height=\"4.0\" rx=\"6\"/>\n"
            "<path class=\"grid\" d=\"M0.0 1.0L2.0 3.0\"/>\n"
            "<path d=\"M0.0 0.0L1.0 0.0L1.0 1.0z\"/>\n"
            "<path d=\"M0.0 0.0C1.0 0.0 1.0 1.0 2.0 2.0\"/>\n"
            "<a href=\"#x\"><text x=\"1.0\" y=\"2.0\">w<tspan class=\"bad\">!</tspan></text></a>\n"
            "</svg>\n");
}

Scale rounded(ScaleKind kind, const Numbers& numbers) {
  Scale scale(kind, 0, 100);
  for (const double number : numbers) scale.take(number);
  scale.round_out();
  return scale;
}

TEST(Scale, TicksAreRound) {
  EXPECT_EQ(rounded(ScaleKind::linear, {1, 9}).ticks(), (Numbers{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(rounded(ScaleKind::linear, {59.6, 78.3}).ticks(), (Numbers{55, 60, 65, 70, 75, 80}));
  EXPECT_EQ(rounded(ScaleKind::linear, {-1, 1}).ticks(), (Numbers{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(rounded(ScaleKind::whole, {1, 3}).ticks(), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(rounded(ScaleKind::logarithmic, {1e-3, 40}).ticks().back(), 100);
  EXPECT_EQ(rounded(ScaleKind::logarithmic, {2, 40}).ticks(), (Numbers{1, 2, 5, 10, 20, 50, 100}));
  EXPECT_EQ(rounded(ScaleKind::logarithmic, {1, 1e12}).ticks(), (Numbers{1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12}));
  EXPECT_EQ(number_text(1e-9), "1e-09");
  EXPECT_EQ(number_text(2500), "2500");
}

TEST(Scale, TicksAreFewAndInside) {
  for (const auto kind : {ScaleKind::linear, ScaleKind::whole, ScaleKind::logarithmic}) {
    for (double low = 1e-9; low < 1e9; low *= 7.3) {
      for (double width = 1e-3; width < 1e12; width *= 5.1) {
        const Scale scale = rounded(kind, {low, low * (1 + width)});
        const Numbers ticks = scale.ticks();
        EXPECT_LE(ticks.size(), 13u) << low << " " << width;
        EXPECT_TRUE(std::is_sorted(ticks.begin(), ticks.end()));
        EXPECT_TRUE(std::all_of(ticks.begin(), ticks.end(), [&](double tick) { return scale.has(tick); }));
        EXPECT_TRUE(scale.has(low) && scale.has(low * (1 + width))) << low << " " << width;
        EXPECT_GE(ticks.size() + (kind == ScaleKind::whole ? 2 : 0), 2u) << low << " " << width;
      }
    }
  }
}

TEST(Scale, HoldsWhatHasNoWidth) {
  for (const auto kind : {ScaleKind::linear, ScaleKind::logarithmic}) {
    for (const Numbers& numbers : {Numbers{}, Numbers{5, 5}, Numbers{1e12, 1e12}}) {
      Numbers wild = numbers;
      wild.insert(wild.end(), {INFINITY, -INFINITY, NAN});
      const Scale scale = rounded(kind, wild);
      for (const double number : numbers) EXPECT_TRUE(scale.has(number));
      EXPECT_FALSE(scale.ticks().empty());
    }
  }
}

TEST(Plot, LeavesOutWhatHasNoPlace) {
  Plot plot{"t", "x", "y", true, true, false, {}, {{"s", {{0, 1}, {1, -1}, {2, 2}, {4, 8}}}}};
  const std::string text = plot_svg(plot);
  size_t circles = 0;
  for (size_t at = text.find("<circle"); at != std::string::npos; at = text.find("<circle", at + 1)) ++circles;
  EXPECT_EQ(circles, 3u);  // and one in the legend
  EXPECT_EQ(plot_svg(plot), text);
  EXPECT_NE(plot_svg({}).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace kasen
