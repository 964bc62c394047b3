// kasen show: the numbers of a result, on the terminal or as CSV or JSON.
#pragma once

namespace kasen::tools {

[[nodiscard]] int show_main(int argc, char** argv);

}  // namespace kasen::tools
