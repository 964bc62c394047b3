// kasen verify: what Kasen writes, looked at by every rule that there is for it.
#pragma once

namespace kasen::tools {

[[nodiscard]] int verify_main(int argc, char** argv);

}  // namespace kasen::tools
