// kasen verify: checks the files that Kasen writes by every rule for them.
#pragma once

namespace kasen::tools {

[[nodiscard]] int verify_main(int argc, char** argv);

}  // namespace kasen::tools
