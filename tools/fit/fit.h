// kasen fit and kasen predict: models of tables by one command. Each makes a program of those in examples/models, and
// runs it by kasen go.
#pragma once

namespace kasen::tools {

int fit_main(int argc, char** argv);
int predict_main(int argc, char** argv);

}  // namespace kasen::tools
