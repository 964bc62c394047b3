/// \file
/// When the tasks of a region run.
#pragma once

#include "libcore/blocks/tasks.h"

namespace kasen {

/// Gives each task its round, and each object that tasks make that of the last of them. A task runs behind all that it
/// needs, and right before the first task that reads what it makes: so few contributions are alive at once. Tasks
/// stand behind those whose objects they read.
void give_rounds(BlockTasks& made);

}  // namespace kasen
