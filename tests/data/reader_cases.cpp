#include "tests/data/reader_cases.h"

#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace kasen::testing {
namespace {

double number(const Array& values, std::int64_t i) {
  switch (values.element.scalar()) {
    case Scalar::f64:
      return values.as<double>()[i];
    case Scalar::f32:
      return static_cast<double>(values.as<float>()[i]);
    case Scalar::i32:
      return values.as<std::int32_t>()[i];
    case Scalar::boolean:
      return static_cast<double>(values.plane(0)[i]);
    case Scalar::null:
      return 1;
    default:
      return static_cast<double>(values.as<std::int64_t>()[i]);
  }
}

template <class Read>
Refusal refusal_of(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    const Location& where = error.diagnostics().at(0).where;
    return {error.status(), error.what(), where.line, where.column};
  }
  return {};
}

}  // namespace

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate failed");
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

std::string xz(std::string_view text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  const lzma_ret status =
      lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                              text.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size());
  if (status != LZMA_OK) throw std::runtime_error("lzma failed");
  packed.resize(size);
  return packed;
}

std::string zstd(std::string_view text, int window) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  if (window > 0) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  for (const ZSTD_EndDirective step : {ZSTD_e_flush, ZSTD_e_end}) {  // of a stream whose length is not known
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    if (ZSTD_compressStream2(context.get(), &out, &in, step) != 0) throw std::runtime_error("zstd failed");
    text = {};
  }
  packed.resize(out.pos);
  return packed;
}

ReadOptions matrix_of(Scalar scalar) {
  ReadOptions options;
  options.element = ElementType::of(scalar);
  return options;
}

ReadOptions table_of(Scalar scalar) {
  ReadOptions options = matrix_of(scalar);
  options.sparse = false;
  return options;
}

Refusal matrix_refusal(const std::string& path, const ReadOptions& options) {
  return refusal_of([&] { (void)read_matrix(path, options); });
}

Refusal table_refusal(const std::string& path, const ReadOptions& options) {
  return refusal_of([&] { (void)read_table(path, options); });
}

std::vector<Entry> entries_of(const RawMatrix& matrix) {
  const std::vector<std::int64_t> rows = matrix.entries.rows(), cols = matrix.entries.cols();
  const Array values = matrix.entries.values();
  std::vector<Entry> entries;
  for (size_t i = 0; i < rows.size(); ++i)
    entries.emplace_back(rows[i], cols[i], number(values, static_cast<std::int64_t>(i)));
  return entries;
}

std::vector<double> numbers_of(const RawTable& table) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < table.values.count; ++i) numbers.push_back(number(table.values, i));
  return numbers;
}

}  // namespace kasen::testing
