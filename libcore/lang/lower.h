// Lowers the program as written, with the files that it uses, to level 1 IR, in one pass over the statements in order.
//
// The parts from the lowest up; each calls only those before it, and alone changes its state. Parts from Calls on get
// those before Calls (room lang/terms) in one bundle (part.h), and the others that they call by name. Those from Calls
// to Products are the room lang/calls, and Indexed is lang/indexed.
//   Builder        the module that is made: operators, values and their names, functions
//   Scopes, Frames what names stand for: in blocks, and inside functions
//   Functions      which functions can be called, and where operators apply a fn whole
//   Formulas       expressions over nonzeros, and the side at which their leaves stand
//   Patterns       expressions over the nonzeros of several matrices, brought to one pattern (part of Folds)
//   Values         gives terms (term.h) a value: operators, and shapes that declarations require
//   Evaluator      nodes as terms, for every form that has expressions inside. Here the one circle is closed
//   Types          types and dimensions as written
//   Calls, Reducers         scalar functions applied to terms; reducers, their identities and masks
//   Folds to Products       work on whole arrays. Each adds its calls to Functions by name, so that a new one changes
//   its
//                  own part alone. AxisWords stands before calls that name an axis
//   Indexed        index notation
//   Definitions    calls of a def: its body, lowered for each call
//   Lists, Elements, Expressions  lists; elements of arrays; what each node means. Expressions set how the Evaluator
//                  lowers a node
//   Declarations, Assumptions, Control, Statements  the statements; Control lowers bodies by a callback
#pragma once

#include <vector>

#include "libcore/lang/calls/axis.h"
#include "libcore/lang/calls/generate.h"
#include "libcore/lang/calls/linear.h"
#include "libcore/lang/definition.h"
#include "libcore/lang/expression.h"
#include "libcore/lang/indexed/elements.h"
#include "libcore/lang/indexed/indexed.h"
#include "libcore/lang/program.h"
#include "libcore/lang/shapes/axis_words.h"
#include "libcore/lang/shapes/rearrange.h"
#include "libcore/lang/shapes/rename.h"
#include "libcore/lang/statement.h"

namespace kasen::lang {

class Lowering {
 public:
  // `start`: a module that has its name and its source; `source` is that of the program that runs.
  Lowering(const SourceText& source, Module start, const Declarations::Defines& defines, const ReducerRanges& ranges);
  [[nodiscard]] Module run(const Program& program);
  [[nodiscard]] const Reducers& reducers() const { return reducers_; }

 private:
  Builder builder_;
  Scopes scopes_;
  Frames frames_;
  Functions functions_;
  Formulas formulas_;
  Values values_;
  Evaluator evaluator_;
  Types types_;
  Part part_;
  Calls calls_;
  Reducers reducers_;
  Folds folds_;
  Contractions contractions_;
  MatrixProducts matrix_products_;
  Reductions reductions_;
  Views views_;
  Generators generators_;
  AlongAxis along_axis_;
  Rearrangements rearrangements_;
  Renaming renaming_;
  AxisWords axis_words_;
  AxesApart axes_apart_;
  LinearAlgebra linear_;
  Products products_;
  Indexed indexed_;
  Definitions definitions_;
  Lists lists_;
  Elements elements_;
  Expressions expressions_;
  Declarations declarations_;
  Assumptions assumptions_;
  Statements statements_;
};

}  // namespace kasen::lang
