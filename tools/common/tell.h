// A part of the frame of every tool (tool.h).
#pragma once

namespace kasen::tools {

// UserError(usage): the environment names a form of messages that there is not.
void check_messages_variable();

}  // namespace kasen::tools
