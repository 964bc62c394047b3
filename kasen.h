/// \file
/// All of Kasen for other programs, in one header. Two headers need MPI and are separate:
/// libcomm/exchange/mpi_session.h and libcomm/exchange/mpi_transport.h.
///
/// \mainpage Kasen
/// A program passes through these steps, each a function or two:
///
/// | step | function |
/// | --- | --- |
/// | data files to parts, one a worker | kasen::read_matrix, kasen::partition, kasen::write_bundle, kasen::read_parts |
/// | text to a module | kasen::compile_program, kasen::parse_module |
/// | module to plan | kasen::optimize, with a kasen::LawChecker (kasen::Prover) |
/// | plan to a report of every byte | kasen::measure, kasen::report_text |
/// | numbers of nonzeros, for plans with sparse values | kasen::number_entries |
/// | plan to results | kasen::execute, with a kasen::Transport and a kasen::KernelSet (kasen::make_generated_kernels) |
/// | reference results | kasen::interpret |
///
/// Functions throw kasen::UserError (the caller's input is wrong, with a location and a remedy) or kasen::InternalError
/// (a bug of Kasen). They never print, exit or abort. Sizes are 64-bit integers, in bytes unless stated otherwise.
///
/// This program runs all steps:
/// \include outside/program.cpp
#pragma once

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/bundle/entries.h"
#include "libcomm/data/checkpoint/checkpoint.h"
#include "libcomm/data/cut/partition.h"
#include "libcomm/data/read/readers.h"
#include "libcomm/data/results/results.h"
#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libcore/reference/interpreter.h"
#include "libcore/run/executor.h"
#include "libcore/system/memory_limit.h"
#include "libkernels/kernels.h"
#include "libopt/cost/cost.h"
#include "libopt/optimize/optimize.h"
#include "libopt/prover/prover.h"
#include "libopt/report/report.h"
