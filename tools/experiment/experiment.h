// kasen experiment: runs each point of a matrix of settings as often as asked, keeps a row of each run, and reports.
#pragma once

namespace kasen::tools {

[[nodiscard]] int experiment_main(int argc, char** argv);

}  // namespace kasen::tools
