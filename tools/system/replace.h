// No tool replaces a file that Kasen did not make, unless --force allows it. A file that stands where an output goes is
// ours if it has our mark (mark_made) and was not changed since, or if its first bytes tell that Kasen made it.
#pragma once

#include <string>
#include <string_view>

namespace kasen::tools {

// --force: from now on, here and in forks of this process, any file may be replaced.
void replace_any_file(bool any);

// Marks a file that is complete, with its size and time of change in an extended attribute. A file that others write in
// its place has no mark, nor has a copy; one that they change does not fit it. Where a file system has no such
// attributes, nothing is marked.
void mark_made(const std::string& path);

// The part of a text by which files of its kind are known: of JSON all before the first value (of a report also that,
// its kind), of a page or picture its first tags, else the first line.
[[nodiscard]] std::string_view kind_of_text(std::string_view text);

// Refuses (cannot_create) to replace a regular file by `text`, or by what begins so, unless the file is marked, has
// these bytes already, or tells that it is of the same kind and that Kasen made it. An empty file may go.
void require_replaceable(const std::string& path, std::string_view text);
// The same, where `is_ours` decides by the first bytes of a file that is not marked.
void require_replaceable(const std::string& path, bool (*is_ours)(std::string_view beginning));

// By the first bytes: an HDF5 file with an attribute of Kasen's, a .npy file or an archive of such in the form that
// Kasen writes and NumPy does not.
[[nodiscard]] bool is_our_hdf5(std::string_view beginning);
[[nodiscard]] bool is_our_npy(std::string_view beginning);
[[nodiscard]] bool is_our_mtx(std::string_view beginning);  // with the comment that Kasen writes

}  // namespace kasen::tools
