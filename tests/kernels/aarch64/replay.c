// Calls the kernels of emit_cases.cpp on the processor that they were generated for, and compares the memory that they
// leave with that of the processor they were recorded on, bit by bit; a NaN is as good as any other. `functions`, in
// the order of the cases, is made by aarch64_test.py.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Loop)(const int64_t* words, int64_t begin, int64_t end, unsigned char* partials, unsigned char* scratch);
typedef void (*Rows)(const int64_t* words, int64_t begin, int64_t end, unsigned char* scratch);
typedef void (*Reduction)(const int64_t* words, const void* places, int64_t begin, int64_t end, unsigned char* scratch);
extern void* const functions[];
extern const char* const names[];

struct Word {
  int64_t value, is_place;
};
struct Region {
  int64_t place, bytes, real;
};

static FILE* file;

static int read_number(int64_t* number) { return fread(number, sizeof *number, 1, file) == 1; }

static void* read_list(size_t item, int64_t* count) {
  if (!read_number(count)) exit(2);
  void* items = aligned_alloc(64, ((size_t)*count * item + 127) / 64 * 64);
  if (items == NULL || fread(items, item, (size_t)*count, file) != (size_t)*count) exit(2);
  return items;
}

static int is_nan(const unsigned char* at, int64_t bytes) {
  double wide;
  float narrow;
  if (bytes == 8) memcpy(&wide, at, sizeof wide);
  if (bytes == 4) memcpy(&narrow, at, sizeof narrow);
  return bytes == 8 ? isnan(wide) : isnan(narrow);
}

static int64_t differing(const struct Region* r, const unsigned char* got, const unsigned char* wanted) {
  int64_t count = 0;
  const int64_t step = r->real != 0 ? r->real : 1;
  for (int64_t at = r->place; at < r->place + r->bytes; at += step) {
    if (memcmp(got + at, wanted + at, (size_t)step) == 0) continue;
    if (r->real != 0 && is_nan(got + at, step) && is_nan(wanted + at, step)) continue;
    ++count;
  }
  return count;
}

int main(int argc, char** argv) {
  if (argc != 2 || (file = fopen(argv[1], "rb")) == NULL) return 2;
  int64_t kind, end, partials, scratch, word_count, region_count, bytes, calls = 0, numbers = 0, wrong = 0;
  while (read_number(&kind) && read_number(&end) && read_number(&partials) && read_number(&scratch)) {
    struct Word* table = read_list(sizeof *table, &word_count);
    struct Region* regions = read_list(sizeof *regions, &region_count);
    unsigned char* memory = read_list(1, &bytes);
    unsigned char* wanted = read_list(1, &bytes);
    int64_t* words = calloc((size_t)word_count + 1, sizeof *words);
    for (int64_t k = 0; k < word_count; ++k) words[k] = table[k].value + table[k].is_place * (int64_t)(intptr_t)memory;
    if (kind == 0) {
      ((Loop)functions[calls])(words, 0, end, partials < 0 ? NULL : memory + partials, memory + scratch);
    } else if (kind == 2) {
      ((Reduction)functions[calls])(words, memory + partials, 0, end, memory + scratch);
    } else {
      ((Rows)functions[calls])(words, 0, end, memory + scratch);
    }
    for (int64_t k = 0; k < region_count; ++k) {
      const int64_t different = differing(&regions[k], memory, wanted);
      numbers += regions[k].bytes;
      if (different > 0) printf("%s, result %d: %d differ\n", names[calls], (int)k, (int)different);
      wrong += different;
    }
    ++calls;
    free(table), free(regions), free(memory), free(wanted), free(words);
  }
  printf("%d calls, %d bytes compared, %d differ\n", (int)calls, (int)numbers, (int)wrong);
  return wrong > 0 || calls == 0;
}
