// Pictures of plans: boxes where they belong.
#include <gtest/gtest.h>

#include "libopt/picture/layout.h"

namespace kasen {
namespace {

Picture some_picture() {
  Picture picture;
  picture.frames = {{1, "while at line 2", "loop", 2, -1}, {2, "iter_on_vec", "region", 3, 0}};
  for (const int frame : {-1, 0, 1, 1}) {
    PictureNode node;
    node.lines = {"name", "map f"};
    node.frame = frame;
    picture.nodes.push_back(node);
  }
  picture.edges = {{0, 1, false, false}, {1, 2, false, false}, {2, 3, true, false}, {3, 1, false, true}};
  return picture;
}

bool holds(const Rect& outer, const Rect& inner) {
  return outer.x <= inner.x && outer.y <= inner.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

TEST(Placing, InOrderKeepsBoxesInTheirFrames) {
  const Placed placed = place_in_order(some_picture());
  EXPECT_TRUE(holds(placed.frames[0], placed.frames[1]));
  EXPECT_TRUE(holds(placed.frames[0], placed.nodes[1]));
  EXPECT_TRUE(holds(placed.frames[1], placed.nodes[2]) && holds(placed.frames[1], placed.nodes[3]));
  EXPECT_FALSE(holds(placed.frames[0], placed.nodes[0]));
  for (size_t n = 1; n < placed.nodes.size(); ++n) {
    EXPECT_GE(placed.nodes[n].y, placed.nodes[n - 1].y + placed.nodes[n - 1].height);
  }
  EXPECT_EQ(placed.edges.size(), 4u);
}

TEST(Placing, TakesNoAnswerThatIsNone) {
  const std::vector<Picture> pictures{some_picture()};
  const std::string node = R"({"name": "n0", "_gvid": 0, "pos": "30,30"})";
  for (const std::string& answer :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"bb": "0,0"})"),
        std::string(R"({"bb": "0,0,9,9"})"), R"({"bb": "0,0,9,9", "objects": [)" + node + "]}",
        std::string(R"({"bb": "0,0,9,9", "objects": [{"name": "n99", "_gvid": 0, "pos": "1,1"}]})"),
        std::string(R"({"bb": "0,0,9,9", "objects": [{"name": "cluster_x", "bb": "0,0,1,1"}]})")}) {
    EXPECT_FALSE(read_placing(answer, pictures, 400)) << answer;
  }
}

TEST(Placing, GraphvizSeesNoText) {
  std::vector<Picture> pictures{some_picture()};
  pictures[0].nodes[0].lines[0] = "\"];evil";
  pictures[0].frames[0].title = "</TABLE>evil";
  const std::string text = dot_text(pictures, 400);
  EXPECT_EQ(text.find("evil"), std::string::npos);
  EXPECT_NE(text.find("n3 -> n1 [constraint=false]"), std::string::npos);
}

}  // namespace
}  // namespace kasen
